/* mutation: one write to one partition, in the form that every door makes and the log keeps.
 *
 * Packed form: FORMATS.md "Mutation". */
#ifndef DAYBOOK_STORAGE_CELL_MUTATION_H
#define DAYBOOK_STORAGE_CELL_MUTATION_H

#include "storage/cell/row.h"

/* Stands for the server's timestamp: the timestamp of the batch, plus 1, plus the mutation's index
 * in the batch.  A deletion at TIMESTAMP_SERVER also gets its local_s from the server's
 * timestamp. */
#define TIMESTAMP_SERVER (INT64_MIN + 1)

struct mutation {
    uint32_t table_id;
    int64_t token;                        /* murmur3_token of key */
    struct bytes key;
    struct deletion deletion;             /* of the partition; TIMESTAMP_NONE: none */
    const struct unfiltered *items;       /* the static row if it is written, then rows and bounds
                                           * in clustering order; a range deletion is two bounds, as
                                           * in stream.h */
    uint32_t item_count;
};

void mutation_pack(const struct mutation *mutation, struct buffer *buffer);
/* Pack all but the items, for a caller that has these packed already and appends them. */
void mutation_pack_head(const struct mutation *mutation, struct buffer *buffer);
/* ERROR_CORRUPT unless the mutation can be read back: its table exists, and its key components,
 * clustering counts, order of items, column ids and kinds, and values fit the table. */
must_check int mutation_check(const struct mutation *mutation, const struct schema *schema,
                              struct error *err);

/* The same for one row or bound. */
must_check int mutation_check_item(const struct table *table, const struct unfiltered *item,
                                   struct error *err);

/* Leave out cells that hold no value of their column's type, instead of refusing the mutation: an
 * earlier version of the program wrote such cells. */
struct cell_salvage {
    void (*skipped)(void *context, const char *text);        /* called for each such cell; `text`
                                                              * says what is wrong with the cell */
    void *context;
};

/* Read a mutation as views of the reader's bytes, with arrays from `arena`; the result passes
 * mutation_check.  `salvage` NULL: no cell is left out.  ERROR_CORRUPT if the bytes are damaged or
 * do not fit the schema.  A mutation of a table that the schema keeps as bytes (schema_is_unread)
 * is skipped: only `table_id` is set. */
must_check int mutation_unpack(struct reader *reader, const struct schema *schema,
                               struct arena *arena, const struct cell_salvage *salvage,
                               struct mutation *mutation_out, struct error *err);

/* Copies with `server_us` wherever TIMESTAMP_SERVER stands; bytes still belong to the original. */
struct deletion mutation_fill_deletion(struct deletion deletion, int64_t server_us);
void mutation_fill_row(const struct row *row, int64_t server_us, struct arena *arena,
                       struct row *filled_out);
void mutation_fill(const struct mutation *mutation, int64_t server_us, struct arena *arena,
                   struct mutation *filled_out);

/* The least timestamp that a client gave, in microseconds; INT64_MAX when all are the server's. */
int64_t mutation_oldest_us(const struct mutation *mutation);

/* ---- making common mutations ---- */

struct column_value {
    uint32_t column_id;
    bool is_null;                         /* a cell tombstone; not for key columns */
    struct bytes value;                   /* serialized */
};

/* Make an INSERT, which has a marker, or without `with_marker` an UPDATE, which has none.  Every
 * value that is not of a key column becomes a cell.  The values are of simple columns, among them
 * all partition columns and, unless only static columns are written, all clustering columns.  The
 * mutation and copies of the values are in `arena`. */
void mutation_insert(const struct table *table, const struct column_value *values,
                     uint32_t count, bool with_marker, struct arena *arena,
                     struct mutation *mutation_out);
/* Make a DELETE: of one row if the values have all key columns, of the whole partition if they have
 * only the partition columns. */
void mutation_delete(const struct table *table, const struct column_value *values,
                     uint32_t count, struct arena *arena, struct mutation *mutation_out);
#endif
