/* mutation: one write to one partition.
 *
 * docs/FORMATS.md "Mutation" has the packed form. */
#ifndef DAYBOOK_STORAGE_CELL_MUTATION_H
#define DAYBOOK_STORAGE_CELL_MUTATION_H

#include "storage/cell/row.h"

/* Stands for the server's timestamp: the timestamp of the batch, plus 1, plus the mutation's index
 * in the batch.  A deletion at TIMESTAMP_SERVER gets its local_s from that timestamp, too. */
#define TIMESTAMP_SERVER (INT64_MIN + 1)

struct mutation {
    uint32_t table_id;
    int64_t token;                        /* murmur3_token of key */
    struct bytes key;
    struct deletion deletion;             /* of the whole partition; TIMESTAMP_NONE: none */
    const struct unfiltered *items;       /* the static row if written, then rows and bounds in
                                           * clustering order; a range deletion is two bounds
                                           * (stream.h) */
    uint32_t item_count;
};

void mutation_pack(const struct mutation *mutation, struct buffer *buffer);
/* Pack all but the items, which the caller appends. */
void mutation_pack_head(const struct mutation *mutation, struct buffer *buffer);
/* ERROR_CORRUPT: the mutation does not fit the schema, or its items are out of order. */
must_check int mutation_check(const struct mutation *mutation, const struct schema *schema,
                              struct error *err);

must_check int mutation_check_item(const struct table *table, const struct unfiltered *item,
                                   struct error *err);

/* For leaving out cells whose value is not of their column's type.  An earlier version wrote such
 * cells. */
struct cell_salvage {
    void (*skipped)(void *context, const char *text);
    void *context;
};

/* The mutation has views of the reader's bytes, and arrays from `arena`.  It passes mutation_check.
 * `salvage` NULL: no cell is left out.  ERROR_CORRUPT if the bytes are damaged or do not fit the
 * schema.  A mutation of a table whose definition could not be read (schema_is_unread) is skipped:
 * only `table_id` is set. */
must_check int mutation_unpack(struct reader *reader, const struct schema *schema,
                               struct arena *arena, const struct cell_salvage *salvage,
                               struct mutation *mutation_out, struct error *err);

/* Make copies with `server_us` in place of TIMESTAMP_SERVER; their bytes still belong to the
 * original. */
struct deletion mutation_fill_deletion(struct deletion deletion, int64_t server_us);
void mutation_fill_row(const struct row *row, int64_t server_us, struct arena *arena,
                       struct row *filled_out);
void mutation_fill(const struct mutation *mutation, int64_t server_us, struct arena *arena,
                   struct mutation *filled_out);

/* The least timestamp that a client gave; INT64_MAX: no client gave one. */
int64_t mutation_oldest_us(const struct mutation *mutation);

/* ---- making common mutations ---- */

struct column_value {
    uint32_t column_id;
    bool is_null;                         /* a cell tombstone; not for key columns */
    struct bytes value;
};

/* Make an INSERT, or without `with_marker` an UPDATE.  No column may be complex (type.h).  All
 * partition columns must have a value, and all clustering columns unless only static columns are
 * written.  The mutation is in `arena`, and copies the values. */
void mutation_insert(const struct table *table, const struct column_value *values,
                     uint32_t count, bool with_marker, struct arena *arena,
                     struct mutation *mutation_out);
/* Delete one row, or without clustering values the whole partition. */
void mutation_delete(const struct table *table, const struct column_value *values,
                     uint32_t count, struct arena *arena, struct mutation *mutation_out);
#endif
