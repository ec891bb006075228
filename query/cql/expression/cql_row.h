/* cql_row: the values of a row's columns.
 *
 * A value is serialized; null is a view whose data is NULL.
 *
 * Its specification is tests/cql/rows.cql and tests/cql/collections.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_ROW_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_ROW_H

#include "base/arena.h"
#include "storage/engine/store.h"

#define CQL_NULL ((struct bytes){0})

/* Keeps the values made for a row, so that each is made once.  The memo is valid as long as the row
 * and the values' arena. */
struct cql_row_memo {
    struct cql_row_part *parts;
};

struct cql_row {
    const struct table *table;
    struct bytes key;
    const struct row *row;               /* NULL: there is only a static row */
    const struct row *static_row;        /* NULL: there is none */
    struct cql_row_memo *memo;           /* NULL: each call makes values anew */
};

/* Returns the column's value.  The value of a collection is made in `arena`. */
struct bytes cql_row_value(const struct cql_row *row, const struct column *column,
                           struct arena *arena);

/* The items of a list, set or map, frozen or not; a map has key, value, key, ...  Sets and maps are
 * sorted.  A null has no items. */
struct cql_items {
    const struct bytes *items;
    uint32_t count;
};
struct cql_items cql_row_items(const struct cql_row *row, const struct column *column,
                               struct arena *arena);
/* Returns the item of a set, or the value of a key in a map; CQL_NULL: there is none. */
struct bytes cql_row_element(const struct cql_row *row, const struct column *column,
                             struct bytes key, struct arena *arena);
/* Whether `value` is an item; in a map, a key (`part` 0) or a value (1). */
bool cql_row_contains(const struct cql_row *row, const struct column *column, uint32_t part,
                      struct bytes value, struct arena *arena);

/* Returns the column's live cells, in the order of their paths. */
const struct cell *cql_row_cells(const struct cql_row *row, const struct column *column,
                                 uint32_t *count_out);

/* Make the value of a collection from its items; for a map these are key, value, key, ...  Items
 * whose data is NULL are null.  The items keep their order; type_normalize sorts them. */
struct bytes cql_row_collection(const struct type *type, const struct bytes *items, uint32_t count,
                            struct arena *arena);
#endif
