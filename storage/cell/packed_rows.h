/* packed_rows: INSERTs that are packed for the log as they are made, for one who writes very many.
 *
 * An ordinary mutation is structs, which are packed for the log, and again for the memtable when
 * the server's time is known.  These rows are packed once: the log takes their bytes, and so does
 * the memtable, with the time in its place.  Rows of one partition that come one after the other,
 * in the table's order, are a *span*, and one mutation of the log (FORMATS.md "Mutation").
 *
 * A row is whole when it has as many cells as it was begun with:
 *
 *     packed_rows_begin(rows, table, token, key, &clustering, 2);
 *     packed_rows_value(rows, 3, clicks);
 *     packed_rows_null(rows, 4);
 *
 * Its marker and all cells have the server's timestamp (mutation.h). */
#ifndef DAYBOOK_STORAGE_CELL_PACKED_ROWS_H
#define DAYBOOK_STORAGE_CELL_PACKED_ROWS_H

#include "storage/cell/mutation.h"

struct packed_span {
    uint32_t table_id;
    int64_t token;                     /* murmur3_token of key */
    struct bytes key;                  /* the writer's */
    uint32_t row_first;                /* number of its first row */
    uint32_t row_count;
};

struct packed_row {
    uint32_t end;                      /* in `bytes` */
    uint16_t columns;                  /* packed_rows_columns, but for what it has besides */
    bool has_others;
};

/* All-zero is an empty one. */
struct packed_rows {
    struct packed_span *spans;
    uint32_t span_count, span_capacity;
    struct packed_row *rows;           /* private, as the next */
    uint32_t row_count, row_capacity;
    struct buffer bytes;               /* of the rows, back to back */
    const struct table *table;         /* of the row that was begun last, */
    uint32_t cells_left;               /* what it lacks */
    uint32_t column_id;                /* and its last cell's column */
};

void packed_rows_release(struct packed_rows *rows);
void packed_rows_clear(struct packed_rows *rows);            /* keeps the memory */

/* Begin a row of a table that is not ranked.  `key` lives as long as the rows are used; all else is
 * copied. */
void packed_rows_begin(struct packed_rows *rows, const struct table *table, int64_t token,
                       struct bytes key, const struct clustering *clustering, uint32_t cell_count);
/* Its cells, columns ascending: a value, a cell tombstone, an element of a set, elements ascending.
 * Columns are the table's and values of their types, which is checked: these rows pass by
 * mutation_check. */
void packed_rows_value(struct packed_rows *rows, uint32_t column_id, struct bytes value);
void packed_rows_null(struct packed_rows *rows, uint32_t column_id);
void packed_rows_element(struct packed_rows *rows, uint32_t column_id, struct bytes element);

/* Row number `row`, packed, as yet at the server's time.  A view until a row is added. */
struct bytes packed_rows_get(const struct packed_rows *rows, uint32_t row);

/* The columns of a row that has simple values alone, as bits by their numbers; 0: it has others, or
 * one beyond the bits. */
uint16_t packed_rows_columns(const struct packed_rows *rows, uint32_t row);

/* The span as mutation_pack writes a mutation, appended; and how many bytes that is at most. */
void packed_rows_pack_span(const struct packed_rows *rows, const struct packed_span *span,
                           struct buffer *buffer);
size_t packed_rows_span_bytes(const struct packed_rows *rows, const struct packed_span *span);
#endif
