/* text_rows: see text_rows.h. */
#include "ingest/parse/text_rows.h"

#include "ingest/connection/ingest_private.h"
#include "base/memory.h"

/* ---- the pool ---- */

static void part_free(struct row_part *part)
{
    block_free(part->block);
    reject_list_release(&part->rejects);
    memory_free(part);
}

void part_pool_release(struct part_pool *pool)
{
    while (pool->count > 0)
        part_free(pool->parts[--pool->count]);
    memory_free(pool->parts);
    *pool = (struct part_pool){0};
}

struct row_part *part_pool_take(struct ingest *ingest, const struct ingest_stream *stream)
{
    struct part_pool *pool = &ingest->parts;
    const struct table *table;
    struct row_part *part;

    /* The one used last first: its memory is warm. */
    for (uint32_t i = pool->count; i-- > 0;) {
        part = pool->parts[i];
        if (part->block->table_id != stream->table_id)
            continue;
        pool->parts[i] = pool->parts[--pool->count];
        return part;
    }
    table = schema_table(store_schema(ingest->options.store), stream->table_id);
    if (table == NULL)
        return NULL;
    part = memory_zeroed(1, sizeof *part);
    part->block = block_new(table, 0);
    part->block->is_checked = true;
    return part;
}

void part_pool_give(struct part_pool *pool, struct row_part *part)
{
    if (part == NULL)
        return;
    if (pool->count == PART_POOL_MAX || block_memory(part->block) > PART_POOL_BYTES_MAX) {
        part_free(part);
        return;
    }
    if (pool->parts == NULL)
        pool->parts = memory_zeroed(PART_POOL_MAX, sizeof(struct row_part *));
    block_clear(part->block);
    reject_list_clear(&part->rejects);
    pool->parts[pool->count++] = part;
}

/* ---- rows ---- */

void text_rows_release(struct text_rows *rows, struct part_pool *pool)
{
    text_rows_clear(rows, pool);
    row_builder_free(rows->builder);
    memory_free(rows->parts);
    *rows = (struct text_rows){0};
}

void text_rows_clear(struct text_rows *rows, struct part_pool *pool)
{
    while (rows->count > 0)
        part_pool_give(pool, rows->parts[--rows->count]);
    if (rows->builder != NULL)
        row_builder_clear(rows->builder);
}

size_t text_rows_bytes(const struct text_rows *rows)
{
    size_t bytes = rows->builder != NULL ? row_builder_bytes(rows->builder) : 0;

    for (uint32_t i = 0; i < rows->count; i++)
        bytes += block_memory(rows->parts[i]->block) + reject_list_bytes(&rows->parts[i]->rejects);
    return bytes;
}

static void rows_push(struct text_rows *rows, struct row_part *part)
{
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 4 : rows->capacity * 2;
        rows->parts = memory_resize(rows->parts, rows->capacity * sizeof(struct row_part *));
    }
    rows->parts[rows->count++] = part;
}

void text_rows_append(struct text_rows *rows, struct ingest *ingest, struct row_part *part)
{
    struct row_builder *builder = rows->builder;

    if (builder->block->rows > 0 || builder->rejects.count > 0) {
        struct row_part *before = part_pool_take(ingest, builder->stream);

        check(before != NULL);
        row_builder_emit(builder, before);
        rows_push(rows, before);
    }
    rows_push(rows, part);
}

const struct reject_list *text_rows_finish(struct text_rows *rows)
{
    struct reject_list *all;

    check(rows->builder != NULL);
    row_builder_finish(rows->builder);
    if (rows->count == 0)
        return &rows->builder->rejects;
    all = &rows->parts[0]->rejects;
    for (uint32_t i = 1; i < rows->count; i++) {
        reject_list_append(all, &rows->parts[i]->rejects);
        reject_list_clear(&rows->parts[i]->rejects);
    }
    reject_list_append(all, &rows->builder->rejects);
    reject_list_clear(&rows->builder->rejects);
    return all;
}

uint64_t text_rows_accepted(const struct text_rows *rows)
{
    uint64_t accepted = rows->builder->block->rows;

    for (uint32_t i = 0; i < rows->count; i++)
        accepted += rows->parts[i]->block->rows;
    return accepted;
}

void text_rows_add_blocks(const struct text_rows *rows, struct write_batch *batch)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->parts[i]->block->rows > 0)
            write_batch_add_block(batch, rows->parts[i]->block);
    if (rows->builder->block->rows > 0)
        write_batch_add_block(batch, rows->builder->block);
}
