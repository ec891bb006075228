/* cql_value_set: values of one type in their order, to be looked for by halves.
 *
 * A statement may name as many values as it has bytes for, and a row may hold as many: whatever
 * compares the two goes through one of these.
 *
 * Its specification is tests/cql/cassandra/read_restrictions.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_VALUE_SET_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_VALUE_SET_H

#include "base/arena.h"
#include "storage/schema/type.h"

struct cql_value_set {
    const struct type *type;
    struct bytes *values;                /* in order, each once; a null, if there is one, first */
    uint32_t count;
};

/* Sort `count` values in place; of equal ones one is left. */
struct cql_value_set cql_value_set_sort(const struct type *type, struct bytes *values,
                                        uint32_t count);
/* Of the items of a collection that are no nulls; the views are in `arena`. */
struct cql_value_set cql_value_set_of(const struct type *type, struct type_items *items,
                                      struct arena *arena);
bool cql_value_set_has(const struct cql_value_set *set, struct bytes value);

/* The first of `count` values in order that is not less than `value`, `stride` bytes apart. */
uint32_t cql_value_set_place(const struct type *type, const void *values, size_t stride,
                         uint32_t count, struct bytes value);
#endif
