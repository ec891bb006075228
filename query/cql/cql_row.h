/* cql_row: a row as statements see it: whole values of columns, collections put together.
 *
 * A value is serialized; null is a view whose data is NULL. */
#ifndef DAYBOOK_QUERY_CQL_CQL_ROW_H
#define DAYBOOK_QUERY_CQL_CQL_ROW_H

#include "storage/base/arena.h"
#include "storage/store.h"

#define CQL_NULL ((struct bytes){0})

struct cql_row {
    const struct table *table;
    struct bytes key;
    const struct row *row;               /* NULL: the partition has a static row only */
    const struct row *static_row;        /* NULL: none */
};

/* The value of a column; what is put together lives in `arena`. */
struct bytes cql_row_value(const struct cql_row *row, const struct column *column,
                           struct arena *arena);

/* The live cells of a column, in order of their paths. */
const struct cell *cql_row_cells(const struct cql_row *row, const struct column *column,
                                 uint32_t *count_out);

/* Put `count` items, NULL data for a null, together as a value of a collection, tuple or UDT; a
 * map's are key and value in turn.  Not sorted: type_normalize does that. */
struct bytes cql_collection(const struct type *type, const struct bytes *items, uint32_t count,
                            struct arena *arena);
#endif
