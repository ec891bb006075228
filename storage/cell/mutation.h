/* mutation: one write to one partition, in the form every door makes and the log keeps.
 *
 * Packed form: FORMATS.md "Mutation". */
#ifndef DAYBOOK_STORAGE_CELL_MUTATION_H
#define DAYBOOK_STORAGE_CELL_MUTATION_H

#include "storage/cell/row.h"

/* A timestamp that stands for the server's own: frame base plus the mutation's index in it.  A
 * deletion that has it also gets its local time (local_s) from there. */
#define TIMESTAMP_SERVER (INT64_MIN + 1)

struct mutation {
    uint32_t table_id;
    int64_t token;                        /* murmur3_token of key */
    struct bytes key;
    struct deletion deletion;             /* of the partition; TIMESTAMP_NONE: none */
    const struct unfiltered *items;       /* static row first, then in clustering order; a range
                                           * deletion is two bounds, as stream.h has them */
    uint32_t item_count;
};

void mutation_pack(const struct mutation *mutation, struct buffer *buffer);
/* The same without the items, for one who has them packed already. */
void mutation_pack_head(const struct mutation *mutation, struct buffer *buffer);
/* Whether the mutation can be read back: table, key components, clustering counts, the order of
 * items, column ids and kinds, and that every value is one of its column's type.  ERROR_CORRUPT. */
must_check int mutation_check(const struct mutation *mutation, const struct schema *schema,
                              struct error *err);

/* The same of one row or bound. */
must_check int mutation_check_item(const struct table *table, const struct unfiltered *item,
                                   struct error *err);

/* For a reader that goes on without cells that hold no value of their column's type: an earlier
 * version wrote such cells. */
struct cell_salvage {
    void (*skipped)(void *context, const char *text);        /* told of each: which, and why */
    void *context;
};

/* Views into the reader's bytes, arrays from `arena`; mutation_check holds for the result.
 * `salvage` NULL: no cell is left out.  ERROR_CORRUPT.  Of a table that the schema keeps as bytes
 * (schema_is_unread) it has the number and nothing else. */
must_check int mutation_unpack(struct reader *reader, const struct schema *schema,
                               struct arena *arena, const struct cell_salvage *salvage,
                               struct mutation *mutation_out, struct error *err);

/* With `server_us` wherever TIMESTAMP_SERVER stands; other bytes are the original's. */
struct deletion mutation_fill_deletion(struct deletion deletion, int64_t server_us);
void mutation_fill_row(const struct row *row, int64_t server_us, struct arena *arena,
                       struct row *filled_out);
void mutation_fill(const struct mutation *mutation, int64_t server_us, struct arena *arena,
                   struct mutation *filled_out);

/* The least timestamp that a client gave; INT64_MAX when all are the server's. */
int64_t mutation_oldest_us(const struct mutation *mutation);

/* ---- building the common ones ---- */

struct column_value {
    uint32_t column_id;
    bool is_null;                         /* a cell tombstone; not for key columns */
    struct bytes value;                   /* serialized */
};

/* INSERT: marker, and a cell for every value that is no key.  UPDATE: no marker.  Values name all
 * key columns; simple columns only.  Everything from `arena`; `values` is copied. */
void mutation_insert(const struct table *table, const struct column_value *values,
                     uint32_t count, bool with_marker, struct arena *arena,
                     struct mutation *mutation_out);
/* DELETE of one row (all key columns) or, with partition columns only, of the partition. */
void mutation_delete(const struct table *table, const struct column_value *values,
                     uint32_t count, struct arena *arena, struct mutation *mutation_out);
#endif
