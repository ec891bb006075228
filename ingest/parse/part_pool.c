/* part_pool: see the header. */
#include "ingest/parse/part_pool.h"

#include "base/hash64.h"
#include "base/memory.h"

static void part_free(struct row_part *part)
{
    block_free(part->block);
    reject_list_release(&part->rejects);
    memory_free(part);
}

void part_pool_open(struct part_pool *pool, struct store *store, const struct world *world,
                    uint64_t seed)
{
    *pool = (struct part_pool){.store = store, .world = world, .seed = seed};
}

void part_pool_close(struct part_pool *pool)
{
    while (pool->count > 0)
        part_free(pool->parts[--pool->count]);
    memory_free(pool->parts);
    schema_unref(pool->schema);
    *pool = (struct part_pool){0};
}

static const struct table *stream_table(const struct part_pool *pool,
                                        const struct ingest_stream *stream)
{
    return schema_table(store_schema(pool->store), stream->table_id);
}

struct row_part *part_pool_take(struct part_pool *pool, const struct ingest_stream *stream)
{
    struct row_part *part;

    for (uint32_t i = pool->count; i-- > 0;) {
        part = pool->parts[i];
        if (part->block->table_id != stream->table_id)
            continue;
        pool->parts[i] = pool->parts[--pool->count];
        return part;
    }
    const struct table *table = stream_table(pool, stream);
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

int part_pool_builder(struct part_pool *pool, const struct ingest_stream *stream,
                      struct row_builder **builder_out, struct error *err)
{
    const struct table *table = stream_table(pool, stream);
    uint64_t numbered[2] = {pool->seed, ++pool->builders};

    *builder_out = NULL;
    if (table == NULL)
        return error_set(err, ERROR_INVALID, "the stream's table is not there");
    if (stream->click_id_column_id != 0) {
        if (pool->schema == NULL)
            pool->schema = row_builder_schema(stream);
        table = schema_table(pool->schema, ROW_BUILDER_TABLE);
    }
    return row_builder_new(stream, table, hash64(numbered, sizeof numbered), builder_out, err);
}
