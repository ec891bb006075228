/* packed_rows: see the header.
 *
 * mutation_unpack must be able to read a span.  Therefore a row that is not after the row before,
 * in clustering order, begins another span. */
#include "storage/cell/packed_rows.h"

#include "base/memory.h"

enum { SPAN_HEAD_MAX = 4 * VARINT_SIZE_MAX };

void packed_rows_release(struct packed_rows *rows)
{
    memory_free(rows->spans);
    memory_free(rows->rows);
    buffer_release(&rows->bytes);
    *rows = (struct packed_rows){0};
}

void packed_rows_clear(struct packed_rows *rows)
{
    check(rows->cells_left == 0);
    rows->span_count = 0;
    rows->row_count = 0;
    buffer_clear(&rows->bytes);
}

/* ---- adding ---- */

static bool joins_span(const struct packed_rows *rows, const struct table *table, int64_t token,
                       struct bytes key, const struct clustering *clustering)
{
    if (rows->span_count == 0)
        return false;
    const struct packed_span *last = &rows->spans[rows->span_count - 1];
    if (last->table_id != table->id || last->token != token || !bytes_equal(last->key, key))
        return false;
    struct reader reader = reader_of(packed_rows_get(rows, rows->row_count - 1));
    struct clustering before;
    row_unfiltered_unpack_clustering(&reader, &before);
    return row_clustering_compare(table, &before, clustering) < 0;
}

static void span_begin(struct packed_rows *rows, const struct table *table, int64_t token,
                       struct bytes key)
{
    check((table->flags & TABLE_OF_EVENTS) == 0);
    rows->spans =
        memory_make_room(rows->spans, rows->span_count, &rows->span_capacity, sizeof(*rows->spans));
    rows->spans[rows->span_count++] = (struct packed_span){
        .table_id = table->id, .token = token, .key = key, .row_first = rows->row_count};
}

static void row_set_end(struct packed_rows *rows)
{
    check(rows->bytes.size <= UINT32_MAX);
    rows->rows[rows->row_count - 1].end = (uint32_t)rows->bytes.size;
}

void packed_rows_begin(struct packed_rows *rows, const struct table *table, int64_t token,
                       struct bytes key, const struct clustering *clustering, uint32_t cell_count)
{
    check(rows->cells_left == 0);
    if (!joins_span(rows, table, token, key, clustering))
        span_begin(rows, table, token, key);
    rows->spans[rows->span_count - 1].row_count++;
    rows->rows =
        memory_make_room(rows->rows, rows->row_count, &rows->row_capacity, sizeof(*rows->rows));
    rows->rows[rows->row_count++] = (struct packed_row){0};
    rows->table = table;
    rows->cells_left = cell_count;
    rows->column_id = 0;
    row_pack_insert(clustering, TIMESTAMP_SERVER, cell_count, &rows->bytes);
    row_set_end(rows);
}

/* `path` has data only in a complex column; `value` is NULL for a tombstone. */
static void add_cell(struct packed_rows *rows, uint32_t column_id, struct bytes path,
                     const struct bytes *value)
{
    enum { BITS = 16 };
    struct packed_row *row = &rows->rows[rows->row_count - 1];
    check(rows->cells_left > 0 && rows->column_id <= column_id);
    rows->cells_left--;
    rows->column_id = column_id;
    row_pack_insert_cell(column_id, path, value, &rows->bytes);
    row_set_end(rows);
    if (path.data == NULL && column_id < BITS)
        row->columns |= (uint16_t)(1U << column_id);
    else
        row->has_others = true;
}

static const struct type *type_of(const struct packed_rows *rows, uint32_t column_id)
{
    const struct column *column = schema_column(rows->table, column_id);
    check(column != NULL);
    return column->type;
}

void packed_rows_value(struct packed_rows *rows, uint32_t column_id, struct bytes value)
{
    check(type_validate(type_of(rows, column_id), value, NULL) == 0);
    add_cell(rows, column_id, bytes_of(NULL, 0), &value);
}

void packed_rows_null(struct packed_rows *rows, uint32_t column_id)
{
    add_cell(rows, column_id, bytes_of(NULL, 0), NULL);
}

void packed_rows_element(struct packed_rows *rows, uint32_t column_id, struct bytes element)
{
    const struct bytes empty = bytes_of("", 0);
    check(type_validate(type_path(type_of(rows, column_id)), element, NULL) == 0);
    add_cell(rows, column_id, element, &empty);
}

/* ---- reading ---- */

static struct bytes rows_bytes(const struct packed_rows *rows, uint32_t first, uint32_t count)
{
    size_t start = first == 0 ? 0 : rows->rows[first - 1].end;
    return bytes_of(rows->bytes.data + start, rows->rows[first + count - 1].end - start);
}

struct bytes packed_rows_get(const struct packed_rows *rows, uint32_t row)
{
    check(row < rows->row_count);
    return rows_bytes(rows, row, 1);
}

uint16_t packed_rows_columns(const struct packed_rows *rows, uint32_t row)
{
    check(row < rows->row_count);
    return rows->rows[row].has_others ? 0 : rows->rows[row].columns;
}

void packed_rows_pack_span(const struct packed_rows *rows, const struct packed_span *span,
                           struct buffer *buffer)
{
    const struct mutation head = {.table_id = span->table_id,
                                  .key = span->key,
                                  .deletion = DELETION_NONE,
                                  .item_count = span->row_count};
    check(rows->cells_left == 0);
    mutation_pack_head(&head, buffer);
    buffer_append_bytes(buffer, rows_bytes(rows, span->row_first, span->row_count));
}

size_t packed_rows_span_bytes(const struct packed_rows *rows, const struct packed_span *span)
{
    return SPAN_HEAD_MAX + span->key.size + rows_bytes(rows, span->row_first, span->row_count).size;
}
