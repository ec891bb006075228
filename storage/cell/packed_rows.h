/* packed_rows: INSERTs that are packed for the log as they are made, for writers of very many rows.
 *
 * Successive rows of one partition, in the table's order, are a *span*: one mutation of the log
 * (docs/FORMATS.md "Mutation").
 *
 * packed_rows_begin gets the number of cells; the row is complete when so many were added:
 *
 *     packed_rows_begin(rows, table, token, key, &clustering, 2);
 *     packed_rows_value(rows, 3, clicks);
 *     packed_rows_null(rows, 4);
 *
 * The marker and all cells of a row have the server's timestamp (mutation.h). */
#ifndef DAYBOOK_STORAGE_CELL_PACKED_ROWS_H
#define DAYBOOK_STORAGE_CELL_PACKED_ROWS_H

#include "storage/cell/mutation.h"

struct packed_span {
    uint32_t table_id;
    int64_t token;                     /* murmur3_token of key */
    struct bytes key;                  /* owned by the caller of packed_rows_begin */
    uint32_t row_first;
    uint32_t row_count;
};

struct packed_row {
    uint32_t end;                      /* offset in `bytes` behind the row */
    uint16_t columns;                  /* see packed_rows_columns */
    bool has_others;
};

/* All-zero: no rows. */
struct packed_rows {
    struct packed_span *spans;
    uint32_t span_count, span_capacity;
    struct packed_row *rows;           /* private from here on */
    uint32_t row_count, row_capacity;
    struct buffer bytes;               /* of the rows, back to back */
    const struct table *table;
    uint32_t cells_left;
    uint32_t column_id;
};

void packed_rows_release(struct packed_rows *rows);
void packed_rows_clear(struct packed_rows *rows);            /* keeps the memory */

/* Begin a row of a table that is not an event table.  `key` is borrowed as long as the rows are
 * used; the clustering is copied. */
void packed_rows_begin(struct packed_rows *rows, const struct table *table, int64_t token,
                       struct bytes key, const struct clustering *clustering, uint32_t cell_count);
/* Add a value, a tombstone, or an element of a set.  Column ids, and the elements of a set, must
 * ascend.  The table must have the column, and a value or element must be of its type. */
void packed_rows_value(struct packed_rows *rows, uint32_t column_id, struct bytes value);
void packed_rows_null(struct packed_rows *rows, uint32_t column_id);
void packed_rows_element(struct packed_rows *rows, uint32_t column_id, struct bytes element);

/* The bytes of a row, with TIMESTAMP_SERVER: a view, valid until a row is added. */
struct bytes packed_rows_get(const struct packed_rows *rows, uint32_t row);

/* Bit i: the row has column id i.  Zero: the row has no cells, or has complex columns, or ids of 16
 * or more. */
uint16_t packed_rows_columns(const struct packed_rows *rows, uint32_t row);

/* Append the span as mutation_pack writes a mutation.  packed_rows_span_bytes: the most bytes that
 * packed_rows_pack_span appends. */
void packed_rows_pack_span(const struct packed_rows *rows, const struct packed_span *span,
                           struct buffer *buffer);
size_t packed_rows_span_bytes(const struct packed_rows *rows, const struct packed_span *span);
#endif
