/* stream_rows: see the header. */
#include "ingest/parse/stream_rows.h"

#include <string.h>

#include "base/memory.h"

void stream_rows_open(struct stream_rows *rows, struct part_pool *pool)
{
    *rows = (struct stream_rows){.pool = pool};
    line_parser_init(&rows->parser);
}

static void rows_forget(struct stream_rows *rows)
{
    stream_rows_spare(rows);
    ndjson_free(rows->ndjson);
    rows->ndjson = NULL;
    line_parser_release(&rows->parser);
    click_dedup_free(rows->dedup);
    rows->dedup = NULL;
    buffer_release(&rows->names);
    rows->columns = (struct line_columns){0};
}

void stream_rows_release(struct stream_rows *rows)
{
    rows_forget(rows);
    *rows = (struct stream_rows){0};
}

/* The names are copied, because the schema that has them may be freed while the connection is
 * open. */
static bool stream_columns(struct stream_rows *rows)
{
    const struct ingest_stream *stream = rows->stream;
    const struct table *table = schema_table(store_schema(rows->pool->store), stream->table_id);
    size_t at = 0;

    for (int i = 0; i < RECORD_FIELDS_MAX; i++) {
        uint32_t id = i < RECORD_FIELDS ? stream->column_ids[i] : stream->click_id_column_id;
        const struct column *column = table == NULL ? NULL : schema_column(table, id);

        if (column == NULL && (i < RECORD_FIELDS || id != 0))
            return false;
        rows->columns.names[i].size = column == NULL ? 0 : strlen(column->name);
        if (column != NULL)
            buffer_append_text(&rows->names, column->name);
    }
    for (int i = 0; i < RECORD_FIELDS_MAX; i++) {
        rows->columns.names[i].data = rows->names.data + at;
        at += rows->columns.names[i].size;
    }
    return true;
}

bool stream_rows_choose(struct stream_rows *rows, const struct ingest_stream *stream)
{
    rows_forget(rows);
    rows->stream = stream;
    rows->format = RECORDS_UNKNOWN;
    rows->is_first = true;
    rows->settings++;
    line_parser_init(&rows->parser);
    if (!stream_columns(rows))
        return false;
    line_parser_fields(&rows->parser, line_parser_column_count(&rows->columns));
    if (stream->click_id_column_id != 0)
        rows->dedup = click_dedup_new(rows->pool->store, rows->pool->world, stream);
    return true;
}

int stream_rows_prepare(struct stream_rows *rows, struct error *err)
{
    check(rows->stream != NULL);
    if (rows->builder != NULL)
        return 0;
    return part_pool_builder(rows->pool, rows->stream, &rows->builder, err);
}

struct ndjson *stream_rows_ndjson(struct stream_rows *rows)
{
    if (rows->ndjson == NULL)
        rows->ndjson = ndjson_new(&rows->columns);
    return rows->ndjson;
}

static void rows_push(struct stream_rows *rows, struct row_part *part)
{
    rows->parts = memory_make_room(rows->parts, rows->part_count, &rows->part_capacity,
                                   sizeof(struct row_part *));
    rows->parts[rows->part_count++] = part;
}

struct row_part *stream_rows_part(struct stream_rows *rows)
{
    struct row_part *part = part_pool_take(rows->pool, rows->stream);

    check(part != NULL);
    return part;
}

void stream_rows_append(struct stream_rows *rows, struct row_part *part)
{
    if (!row_builder_is_empty(rows->builder)) {
        struct row_part *before = stream_rows_part(rows);

        row_builder_emit(rows->builder, before);
        rows_push(rows, before);
    }
    rows_push(rows, part);
}

size_t stream_rows_bytes(const struct stream_rows *rows)
{
    size_t bytes = rows->builder != NULL ? row_builder_bytes(rows->builder) : 0;

    if (rows->dedup != NULL)
        bytes += click_dedup_bytes(rows->dedup);
    for (uint32_t i = 0; i < rows->part_count; i++)
        bytes += block_memory(rows->parts[i]->block) + reject_list_bytes(&rows->parts[i]->rejects);
    return bytes;
}

bool stream_rows_is_idle(const struct stream_rows *rows)
{
    return rows->builder != NULL && rows->part_count == 0 && row_builder_is_empty(rows->builder);
}

const struct reject_list *stream_rows_finish(struct stream_rows *rows)
{
    check(rows->builder != NULL);
    row_builder_finish(rows->builder);
    if (rows->part_count == 0)
        return &rows->builder->rejects;
    struct reject_list *all = &rows->parts[0]->rejects;
    for (uint32_t i = 1; i < rows->part_count; i++) {
        reject_list_append(all, &rows->parts[i]->rejects);
        reject_list_clear(&rows->parts[i]->rejects);
    }
    reject_list_append(all, &rows->builder->rejects);
    reject_list_clear(&rows->builder->rejects);
    return all;
}

uint64_t stream_rows_accepted(const struct stream_rows *rows)
{
    uint64_t accepted = rows->builder->block->rows;

    for (uint32_t i = 0; i < rows->part_count; i++)
        accepted += rows->parts[i]->block->rows;
    return accepted;
}

void stream_rows_add_blocks(const struct stream_rows *rows, struct write_batch *batch)
{
    for (uint32_t i = 0; i < rows->part_count; i++)
        if (rows->parts[i]->block->rows > 0)
            write_batch_add_block(batch, rows->parts[i]->block);
    if (rows->builder->block->rows > 0)
        write_batch_add_block(batch, rows->builder->block);
}

void stream_rows_clear(struct stream_rows *rows)
{
    while (rows->part_count > 0)
        part_pool_give(rows->pool, rows->parts[--rows->part_count]);
    if (rows->builder != NULL)
        row_builder_clear(rows->builder);
}

void stream_rows_spare(struct stream_rows *rows)
{
    stream_rows_clear(rows);
    row_builder_free(rows->builder);
    rows->builder = NULL;
    memory_free(rows->parts);
    rows->parts = NULL;
    rows->part_capacity = 0;
}
