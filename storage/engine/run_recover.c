#include "storage/engine/run_recover.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "storage/manifest/manifest_snapshot.h"

struct recovery {
    struct run_set *runs;
    const struct run_rebuild_parts *parts;
};

/* ---- files that no manifest names ---- */

struct orphan_search {
    const struct manifest_state *state;
    char **names;
    uint32_t count;
};

static void orphan_found(void *context, const char *name)
{
    struct orphan_search *search = context;
    char path[64];
    char found[80];
    if (strcmp(name, MANIFEST_SNAPSHOT_NAME) == 0)
        return;
    int length = snprintf(found, sizeof(found), "segments/%s", name);
    if (length < 0 || (size_t)length >= sizeof(found))
        return;
    for (uint32_t i = 0; i < search->state->segment_count; i++) {
        segment_path(search->state->segments[i].id, path);
        if (strcmp(path, found) == 0)
            return;
    }
    search->names = memory_resize(search->names, (search->count + 1) * sizeof(char *));
    search->names[search->count++] = memory_string(found);
}

static int remove_orphans(const struct recovery *recovery, struct error *err)
{
    struct disk *disk = recovery->runs->env->world->disk;
    struct orphan_search search = {.state = manifest_state(recovery->runs->manifest)};
    int rc = disk->make_directory(disk, "segments");
    if (rc == 0)
        rc = disk->list(disk, "segments", orphan_found, &search);
    for (uint32_t i = 0; i < search.count; i++) {
        if (rc == 0)
            rc = disk->remove(disk, search.names[i]);
        memory_free(search.names[i]);
    }
    memory_free(search.names);
    return rc == 0 ? 0 : error_set(err, rc, "clear up segments/: %s", error_text(rc));
}

/* ---- damaged segments ---- */

/* If a crash leaves the damaged file, the next opening removes it. */
static int replace_damaged(const struct recovery *recovery, const struct segment_info *info,
                           struct segment **segment, struct error *err)
{
    struct disk *disk = recovery->runs->env->world->disk;
    struct segment *made;
    char path[64];
    int rc = run_rebuild(recovery->runs, recovery->parts, info, &made, err);
    if (rc == 0) {
        segment_unref(*segment);
        *segment = made;
        segment_path(info->id, path);
        (void)disk->remove(disk, path);
    }
    return rc;
}

static void call_notice(const struct engine_options *options, const struct error *what)
{
    if (options->notice != NULL)
        options->notice(options->notice_context, what->text);
}

static int mend(const struct recovery *recovery, const struct segment_info *info,
                struct segment **segment, const struct error *damage, struct error *err)
{
    const struct table *table = schema_table(recovery->parts->schema, info->table_id);
    struct error why = {0}, what = {0};
    char advice[RUN_REBUILD_ADVICE_MAX];
    if (recovery->runs->env->options.read_only) {
        run_rebuild_advise(recovery->runs->env->world, info, table, "daybook serve", advice);
        return error_set(err, ERROR_CORRUPT, "%.230s; %s", damage->text, advice);
    }
    if (replace_damaged(recovery, info, segment, &why) == 0) {
        error_set(&what, 0, "%.400s; it was made again from the log, bit by bit", damage->text);
        call_notice(&recovery->runs->env->options, &what);
        return 0;
    }
    run_rebuild_damage(info, table, why.text, advice);
    error_set(&what, ERROR_CORRUPT, "%.230s; %s", damage->text, advice);
    if (*segment != NULL) {
        call_notice(&recovery->runs->env->options, &what);
        return 0;
    }
    return error_set(err, ERROR_CORRUPT, "%s", what.text);
}

static int open_or_mend(const struct recovery *recovery, const struct segment_info *info,
                        struct segment **segment_out, struct error *err)
{
    const struct table *table = schema_table(recovery->parts->schema, info->table_id);
    struct error damage = {0};
    int rc = run_set_open_segment(recovery->runs, info, table, segment_out, &damage);
    if (rc == 0 && recovery->runs->env->options.salvage && !recovery->runs->env->options.read_only)
        rc = segment_check_pages(*segment_out, &damage);
    if (rc == -ENOENT) {
        return error_set(err, ERROR_CORRUPT,
                         "segments/%016" PRIx64 ".seg is gone, which the manifest names: "
                         "restore it, or the whole directory, from a backup",
                         info->id);
    }
    if (rc == ERROR_CORRUPT)
        return mend(recovery, info, segment_out, &damage, err);
    if (rc != 0) {
        segment_unref(*segment_out);
        return error_set(err, rc, "%s", damage.text);
    }
    return 0;
}

/* ---- all of them ---- */

static int open_all(const struct recovery *recovery, const struct segment_info *infos,
                    uint32_t count, struct error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        struct segment *segment;
        rc = open_or_mend(recovery, &infos[i], &segment, err);
        if (rc == 0) {
            run_set_add(recovery->runs, segment);
            run_set_index_segment(recovery->runs, segment);
        }
    }
    return rc;
}

int run_recover(struct run_set *runs, const struct run_rebuild_parts *parts, struct error *err)
{
    const struct recovery recovery = {runs, parts};
    const struct manifest_state *state = manifest_state(runs->manifest);
    uint32_t count = state->segment_count;
    check(runs->count == 0);
    /* A salvage may use an older manifest, so it removes no file that the manifest does not
     * name. */
    if (!runs->env->options.read_only && !runs->env->options.salvage) {
        int rc = remove_orphans(&recovery, err);
        if (rc != 0)
            return rc;
    }
    /* The infos are copied, because making a segment again changes the manifest. */
    struct segment_info *infos = memory_alloc(count * sizeof(struct segment_info));
    if (count > 0)
        memcpy(infos, state->segments, count * sizeof(struct segment_info));
    int rc = open_all(&recovery, infos, count, err);
    memory_free(infos);
    return rc;
}
