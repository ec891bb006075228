/* row_parts: see row_parts.h. */
#include "ingest/parse/row_parts.h"

#include "base/memory.h"

void row_parts_release(struct row_parts *rows, struct part_pool *pool)
{
    row_parts_clear(rows, pool);
    row_builder_free(rows->builder);
    memory_free(rows->parts);
    *rows = (struct row_parts){0};
}

void row_parts_clear(struct row_parts *rows, struct part_pool *pool)
{
    while (rows->count > 0)
        part_pool_give(pool, rows->parts[--rows->count]);
    if (rows->builder != NULL)
        row_builder_clear(rows->builder);
}

size_t row_parts_bytes(const struct row_parts *rows)
{
    size_t bytes = rows->builder != NULL ? row_builder_bytes(rows->builder) : 0;

    for (uint32_t i = 0; i < rows->count; i++)
        bytes += block_memory(rows->parts[i]->block) + reject_list_bytes(&rows->parts[i]->rejects);
    return bytes;
}

static void rows_push(struct row_parts *rows, struct row_part *part)
{
    rows->parts =
        memory_make_room(rows->parts, rows->count, &rows->capacity, sizeof(struct row_part *));
    rows->parts[rows->count++] = part;
}

void row_parts_append(struct row_parts *rows, struct part_pool *pool, struct row_part *part)
{
    struct row_builder *builder = rows->builder;

    if (builder->block->rows > 0 || builder->rejects.count > 0) {
        struct row_part *before = part_pool_take(pool, builder->stream);

        check(before != NULL);
        row_builder_emit(builder, before);
        rows_push(rows, before);
    }
    rows_push(rows, part);
}

const struct reject_list *row_parts_finish(struct row_parts *rows)
{
    check(rows->builder != NULL);
    row_builder_finish(rows->builder);
    if (rows->count == 0)
        return &rows->builder->rejects;
    struct reject_list *all = &rows->parts[0]->rejects;
    for (uint32_t i = 1; i < rows->count; i++) {
        reject_list_append(all, &rows->parts[i]->rejects);
        reject_list_clear(&rows->parts[i]->rejects);
    }
    reject_list_append(all, &rows->builder->rejects);
    reject_list_clear(&rows->builder->rejects);
    return all;
}

uint64_t row_parts_accepted(const struct row_parts *rows)
{
    uint64_t accepted = rows->builder->block->rows;

    for (uint32_t i = 0; i < rows->count; i++)
        accepted += rows->parts[i]->block->rows;
    return accepted;
}

void row_parts_add_blocks(const struct row_parts *rows, struct write_batch *batch)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->parts[i]->block->rows > 0)
            write_batch_add_block(batch, rows->parts[i]->block);
    if (rows->builder->block->rows > 0)
        write_batch_add_block(batch, rows->builder->block);
}
