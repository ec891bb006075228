/* cql_row: a row as statements see it: whole values of columns, collections put together.
 *
 * A value is serialized; null is a view whose data is NULL.
 *
 * Its specification is tests/cql/rows.cql and tests/cql/collections.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_ROW_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_ROW_H

#include "base/arena.h"
#include "storage/engine/store.h"

#define CQL_NULL ((struct bytes){0})

/* What was put together for a row: each column's at most once, however often a statement names
 * it.  Lives as long as the row and the arena that it was made in. */
struct cql_row_memo {
    struct cql_row_part *parts;
};

struct cql_row {
    const struct table *table;
    struct bytes key;
    const struct row *row;               /* NULL: the partition has a static row only */
    const struct row *static_row;        /* NULL: none */
    struct cql_row_memo *memo;           /* NULL: nothing is kept */
};

/* The value of a column; what is put together lives in `arena`. */
struct bytes cql_row_value(const struct cql_row *row, const struct column *column,
                           struct arena *arena);

/* The items of a list, set or map, frozen or not; of a map keys and values in turn.  A set's items
 * and a map's keys are in order.  None: it is null. */
struct cql_items {
    const struct bytes *items;
    uint32_t count;
};
struct cql_items cql_row_items(const struct cql_row *row, const struct column *column,
                               struct arena *arena);
/* The item of a set that equals `key`, or the value of a map at it; CQL_NULL: there is none. */
struct bytes cql_row_element(const struct cql_row *row, const struct column *column,
                             struct bytes key, struct arena *arena);
/* Whether `value` is an item of a list or set, or a key or, by `part` 1, a value of a map. */
bool cql_row_contains(const struct cql_row *row, const struct column *column, uint32_t part,
                      struct bytes value, struct arena *arena);

/* The live cells of a column, in order of their paths. */
const struct cell *cql_row_cells(const struct cql_row *row, const struct column *column,
                                 uint32_t *count_out);

/* Put `count` items, NULL data for a null, together as a value of a collection, tuple or UDT; a
 * map's are key and value in turn.  Not sorted: type_normalize does that. */
struct bytes cql_row_collection(const struct type *type, const struct bytes *items, uint32_t count,
                            struct arena *arena);
#endif
