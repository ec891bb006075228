/* stream_rows: see the header. */
#include "ingest/parse/stream_rows.h"

void stream_rows_open(struct stream_rows *rows, struct part_pool *pool)
{
    *rows = (struct stream_rows){.pool = pool};
    line_parser_init(&rows->parser);
}

static void rows_forget(struct stream_rows *rows)
{
    row_parts_release(&rows->parts, rows->pool);
    ndjson_free(rows->ndjson);
    rows->ndjson = NULL;
    line_parser_release(&rows->parser);
    click_dedup_free(rows->dedup);
    rows->dedup = NULL;
}

void stream_rows_release(struct stream_rows *rows)
{
    rows_forget(rows);
    *rows = (struct stream_rows){0};
}

static bool stream_columns(const struct part_pool *pool, const struct ingest_stream *stream,
                           struct line_columns *columns)
{
    const struct table *table = schema_table(store_schema(pool->store), stream->table_id);

    for (int i = 0; i < RECORD_FIELDS; i++) {
        const struct column *column =
            table == NULL ? NULL : schema_column(table, stream->column_ids[i]);

        if (column == NULL)
            return false;
        columns->names[i] = bytes_text(column->name);
    }
    columns->names[FIELD_CLICK_ID] =
        stream->click_id_column_id == 0
            ? bytes_of(NULL, 0)
            : bytes_text(schema_column(table, stream->click_id_column_id)->name);
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
    if (!stream_columns(rows->pool, stream, &rows->columns))
        return false;
    line_parser_fields(&rows->parser, line_parser_column_count(&rows->columns));
    if (stream->click_id_column_id != 0)
        rows->dedup = click_dedup_new(rows->pool->store, stream);
    return true;
}

int stream_rows_prepare(struct stream_rows *rows, struct error *err)
{
    check(rows->stream != NULL);
    if (rows->parts.builder != NULL)
        return 0;
    return part_pool_builder(rows->pool, rows->stream, &rows->parts.builder, err);
}

struct ndjson *stream_rows_ndjson(struct stream_rows *rows)
{
    if (rows->ndjson == NULL)
        rows->ndjson = ndjson_new(&rows->columns);
    return rows->ndjson;
}

void stream_rows_clear(struct stream_rows *rows)
{
    row_parts_clear(&rows->parts, rows->pool);
}

void stream_rows_spare(struct stream_rows *rows)
{
    row_parts_release(&rows->parts, rows->pool);
}

bool stream_rows_is_idle(const struct stream_rows *rows)
{
    const struct row_parts *parts = &rows->parts;

    return parts->builder != NULL && parts->count == 0 && row_builder_is_empty(parts->builder);
}
