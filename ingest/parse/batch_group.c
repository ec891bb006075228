/* batch_group: see the header. */
#include "ingest/parse/batch_group.h"

bool batch_group_admits(const struct batch_group *group, const struct row_builder *builder,
                        uint64_t sequence, uint64_t lines)
{
    uint32_t rows = builder->block->rows;

    return rows <= BATCH_GROUP_ROWS_MAX && lines <= BATCH_GROUP_ROWS_MAX - rows &&
           (group->count == 0 || (group->count < BATCH_GROUP_MAX &&
                                  sequence == group->batches[group->count - 1].sequence + 1));
}

void batch_group_add(struct batch_group *group, const struct row_builder *builder,
                     const struct hash128_stream *hash, size_t bytes)
{
    struct batch_group_member *batch = &group->batches[group->count];

    check(group->count < BATCH_GROUP_MAX);
    group->count++;
    batch->hash = hash128_stream_digest(hash);
    batch->bytes = bytes;
    batch->rows_end = builder->block->rows;
    batch->rejects_end = builder->rejects.count;
}

struct reject_list batch_group_rejects(const struct batch_group *group, uint32_t index)
{
    const struct reject_list *all = &group->part->rejects;
    uint32_t first = index == 0 ? 0 : group->batches[index - 1].rejects_end;
    struct reject_list view = {.count = group->batches[index].rejects_end - first,
                               .bytes = all->bytes};

    check(index < group->count);
    if (view.count > 0)
        view.items = all->items + first;
    for (uint32_t i = 0; i < view.count; i++)
        view.counts[view.items[i].code]++;
    return view;
}

uint32_t batch_group_rows(const struct batch_group *group, uint32_t index, uint32_t *first_out)
{
    check(index < group->count);
    *first_out = index == 0 ? 0 : group->batches[index - 1].rows_end;
    return group->batches[index].rows_end - *first_out;
}
