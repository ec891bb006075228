/* packed_rows: INSERTs that are packed for the log as they are made, for writers of very many rows.
 *
 * An ordinary mutation is made of structs, which are packed for the log, and again for the memtable
 * when the server's time is known.  These rows are packed once: the log takes their bytes, and the
 * memtable takes them with the time filled in.  Rows of one partition that are added one after the
 * other, in the table's order, are a *span*, which is one mutation of the log (FORMATS.md
 * "Mutation").
 *
 * A row is complete when as many cells were added as packed_rows_begin was given:
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
    uint32_t row_first;                /* index of its first row */
    uint32_t row_count;
};

struct packed_row {
    uint32_t end;                      /* offset in `bytes` behind the row */
    uint16_t columns;                  /* a bit for each simple column of the row whose id is below
                                        * 16 */
    bool has_others;                   /* the row has cells of other columns */
};

/* All-zero: no rows. */
struct packed_rows {
    struct packed_span *spans;
    uint32_t span_count, span_capacity;
    struct packed_row *rows;           /* private from here on */
    uint32_t row_count, row_capacity;
    struct buffer bytes;               /* of the rows, back to back */
    const struct table *table;         /* table of the row that was begun last */
    uint32_t cells_left;               /* cells still to be added to that row */
    uint32_t column_id;                /* column of its last cell */
};

void packed_rows_release(struct packed_rows *rows);
void packed_rows_clear(struct packed_rows *rows);            /* keeps the memory */

/* Begin a row of a table that is no event table.  `key` must stay valid as long as the rows are
 * used; the clustering is copied. */
void packed_rows_begin(struct packed_rows *rows, const struct table *table, int64_t token,
                       struct bytes key, const struct clustering *clustering, uint32_t cell_count);
/* Add a cell to the row: a value, a tombstone, or an element of a set.  Column ids ascend, and so
 * do the elements of a set.  The table must have the column, and a value or element must be of its
 * type: packed_rows_value and packed_rows_element check that, because mutation_check is not called
 * for these rows. */
void packed_rows_value(struct packed_rows *rows, uint32_t column_id, struct bytes value);
void packed_rows_null(struct packed_rows *rows, uint32_t column_id);
void packed_rows_element(struct packed_rows *rows, uint32_t column_id, struct bytes element);

/* The bytes of the row with index `row`, whose timestamps are TIMESTAMP_SERVER.  They are a view,
 * valid until a row is added. */
struct bytes packed_rows_get(const struct packed_rows *rows, uint32_t row);

/* The columns of a row: bit i stands for column id i.  0: the row has no cells, or it has an
 * element of a set or a column whose id is 16 or more. */
uint16_t packed_rows_columns(const struct packed_rows *rows, uint32_t row);

/* packed_rows_pack_span appends the span as mutation_pack writes a mutation;
 * packed_rows_span_bytes returns how many bytes that takes at most. */
void packed_rows_pack_span(const struct packed_rows *rows, const struct packed_span *span,
                           struct buffer *buffer);
size_t packed_rows_span_bytes(const struct packed_rows *rows, const struct packed_span *span);
#endif
