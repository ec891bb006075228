#include "storage/engine/view.h"

#include <string.h>

#include "base/memory.h"

void view_take(const struct memtable_set *memtables, const struct run_set *runs, uint32_t table_id,
               uint64_t frame, struct view *view)
{
    *view = (struct view){.schema = schema_ref(memtables->schema), .frame = frame};
    view->frozen = memory_alloc(memtables->frozen_count * sizeof(struct memtable *));
    for (uint32_t i = 0; i < memtables->frozen_count; i++)
        view->frozen[view->frozen_count++] = memtable_ref(memtables->frozen[i]);
    view->segments = memory_alloc(runs->count * sizeof(struct segment *));
    for (uint32_t i = 0; i < runs->count; i++)
        if (table_id == 0 || segment_info(runs->segments[i])->table_id == table_id)
            view->segments[view->segment_count++] = segment_ref(runs->segments[i]);
}

void view_leave_columnar(struct view *view)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < view->segment_count; i++)
        if (segment_info(view->segments[i])->kind == SEGMENT_COLUMNAR)
            segment_unref(view->segments[i]);
        else
            view->segments[count++] = view->segments[i];
    view->segment_count = count;
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
