/* backup_prune: see the header.
 *
 * The removal of points is synced before their files are removed, so that a crash leaves no point
 * without its files.  Files with unknown names are not removed. */
#include "storage/backup/backup_prune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "storage/backup/backup_point.h"
#include "base/memory.h"
#include "storage/log/commit_log_private.h"
#include "storage/segment/segment.h"

struct prune {
    struct disk *target;
    uint64_t *segments; /* ids of needed ones, ascending */
    size_t segment_count;
    uint32_t log_first; /* log files with lower ids are not needed */
    const char *directory;
    bool has_removed;
    int rc;
};

static int id_order(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void need_point(struct prune *prune, const struct backup_point *point)
{
    uint32_t count = point->state.segment_count;
    prune->segments =
        memory_resize(prune->segments, (prune->segment_count + count) * sizeof(prune->segments[0]));
    for (uint32_t i = 0; i < count; i++)
        prune->segments[prune->segment_count++] = point->state.segments[i].id;
    if (point->log_count == 0)
        prune->log_first = 0;
    else if (point->log[0].extent.file_id < prune->log_first)
        prune->log_first = point->log[0].extent.file_id;
}

static int need_points(struct prune *prune, const uint64_t *numbers, size_t count,
                       struct error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct backup_point point;
        rc = backup_point_read(prune->target, numbers[i], &point, err);
        if (rc == 0) {
            need_point(prune, &point);
            backup_point_release(&point);
        }
    }
    if (prune->segment_count > 0)
        qsort(prune->segments, prune->segment_count, sizeof(prune->segments[0]), id_order);
    return rc;
}

static bool is_name_of(const char *name, const char *path)
{
    return strcmp(path + strlen("segments/"), name) == 0;
}

/* No segment is copied meanwhile, so a file with a temporary name is of an interrupted copy. */
static bool segment_is_needed(const struct prune *prune, const char *name)
{
    uint64_t id = 0;
    char again[BACKUP_PATH];
    if (sscanf(name, "%16" SCNx64, &id) != 1)
        return true;
    backup_point_temporary_path(id, again);
    if (is_name_of(name, again))
        return false;
    segment_path(id, again);
    if (!is_name_of(name, again))
        return true;
    return prune->segment_count > 0 && bsearch(&id, prune->segments, prune->segment_count,
                                               sizeof(prune->segments[0]), id_order) != NULL;
}

static void remove_file(struct prune *prune, const char *name)
{
    char path[BACKUP_PATH];
    snprintf(path, sizeof(path), "%s/%s", prune->directory, name);
    int rc = prune->target->remove(prune->target, path);
    prune->has_removed = true;
    prune->rc = prune->rc == 0 ? rc : prune->rc;
}

static void prune_segment(void *context, const char *name)
{
    struct prune *prune = context;
    if (!segment_is_needed(prune, name))
        remove_file(prune, name);
}

static void prune_log(void *context, const char *name)
{
    struct prune *prune = context;
    uint32_t id;
    if (commit_log_name_parse(name, &id) && id < prune->log_first)
        remove_file(prune, name);
}

static int prune_directory(struct prune *prune, const char *directory,
                           void (*each)(void *context, const char *name), struct error *err)
{
    prune->directory = directory;
    prune->has_removed = false;
    int rc = prune->target->list(prune->target, directory, each, prune);
    rc = rc == 0 ? prune->rc : rc;
    if (rc == 0 && prune->has_removed)
        rc = prune->target->sync_directory(prune->target, directory);
    return rc == 0 ? 0 : error_set(err, rc, "backup: clear up %s: %s", directory, error_text(rc));
}

static int remove_points(struct prune *prune, const uint64_t *numbers, size_t count,
                         struct error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        char path[BACKUP_PATH];
        backup_point_path(numbers[i], path);
        rc = prune->target->remove(prune->target, path);
    }
    rc = rc == 0 ? prune->target->sync_directory(prune->target, "points") : rc;
    return rc == 0 ? 0 : error_set(err, rc, "backup: remove old points: %s", error_text(rc));
}

int backup_prune(struct disk *target, uint32_t keep, struct error *err)
{
    struct prune prune = {.target = target, .log_first = UINT32_MAX};
    uint64_t *numbers;
    size_t count;
    check(keep > 0);
    int rc = backup_point_list(target, &numbers, &count, err);
    size_t gone = count > keep ? count - keep : 0;
    if (rc == 0 && gone > 0) {
        rc = need_points(&prune, numbers + gone, count - gone, err);
        rc = rc == 0 ? remove_points(&prune, numbers, gone, err) : rc;
        rc = rc == 0 ? prune_directory(&prune, "segments", prune_segment, err) : rc;
        rc = rc == 0 ? prune_directory(&prune, "log", prune_log, err) : rc;
    }
    memory_free(prune.segments);
    memory_free(numbers);
    return rc;
}
