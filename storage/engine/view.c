#include "storage/engine/view.h"

#include <string.h>

#include "base/memory.h"

void view_take(const struct memtable_set *memtables, const struct run_set *runs, uint32_t table_id,
               bool with_columnar, uint64_t frame, struct view *view)
{
    *view = (struct view){.schema = schema_ref(memtables->schema), .frame = frame};
    view->frozen = memory_alloc(memtables->frozen_count * sizeof(struct memtable *));
    for (uint32_t i = 0; i < memtables->frozen_count; i++)
        view->frozen[view->frozen_count++] = memtable_ref(memtables->frozen[i]);
    view->segments = memory_alloc(runs->count * sizeof(struct segment *));
    for (uint32_t i = 0; i < runs->count; i++) {
        const struct segment_info *info = segment_info(runs->segments[i]);
        if ((table_id == 0 || info->table_id == table_id) &&
            (with_columnar || info->kind == SEGMENT_ROW))
            view->segments[view->segment_count++] = segment_ref(runs->segments[i]);
    }
}

void view_release(struct view *view)
{
    for (uint32_t i = 0; i < view->frozen_count; i++)
        memtable_unref(view->frozen[i]);
    for (uint32_t i = 0; i < view->segment_count; i++)
        segment_unref(view->segments[i]);
    memory_free(view->frozen);
    memory_free(view->segments);
    schema_unref(view->schema);
    memset(view, 0, sizeof(*view));
}
