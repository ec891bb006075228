#include "storage/engine/run_change.h"

#include "base/memory.h"

int run_change_add(struct run_change *change, const struct segment_info *info,
                   const struct table *table, struct error *err)
{
    uint32_t place = change->added_count;
    if (info->rows == 0 && info->partitions == 0)
        return 0;
    change->infos = memory_resize(change->infos, (place + 1) * sizeof(*change->infos));
    change->added = memory_resize(change->added, (place + 1) * sizeof(*change->added));
    change->infos[place] = *info;
    int rc = run_set_open_segment(change->runs, info, table, &change->added[place], err);
    if (rc != 0) {
        /* No manifest will name this file: another attempt writes a file with another id. */
        char path[64];
        segment_path(info->id, path);
        (void)change->runs->env->world->disk->remove(change->runs->env->world->disk, path);
    }
    change->added_count += rc == 0;
    return rc;
}

void run_change_remove(struct run_change *change, const struct segment *segment)
{
    change->removed =
        memory_resize(change->removed, (change->removed_count + 1) * sizeof(*change->removed));
    change->removed[change->removed_count++] = segment_info(segment)->id;
}

int run_change_publish(const struct run_change *change, struct manifest_edit edit,
                       struct error *err)
{
    edit.added = change->infos;
    edit.added_count = change->added_count;
    edit.removed = change->removed;
    edit.removed_count = change->removed_count;
    return manifest_apply(change->runs->manifest, &edit, err);
}

void run_change_apply(struct run_change *change)
{
    for (uint32_t i = 0; i < change->removed_count; i++)
        run_set_remove(change->runs, change->removed[i]);
    for (uint32_t i = 0; i < change->added_count; i++)
        run_set_add(change->runs, change->added[i]);
    change->added_count = 0;
}

void run_change_discard(struct run_change *change)
{
    for (uint32_t i = 0; i < change->added_count; i++)
        segment_remove_at_close(change->added[i]);
}

void run_change_release(struct run_change *change)
{
    for (uint32_t i = 0; i < change->added_count; i++)
        segment_unref(change->added[i]);
    memory_free(change->infos);
    memory_free(change->added);
    memory_free(change->removed);
}
