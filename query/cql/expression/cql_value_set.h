/* cql_value_set: a sorted set of values of one type, for binary search.
 *
 * Because of binary search, the time to compare n values with a row of m items is not proportional
 * to n * m.
 *
 * Its specification is tests/cql/cassandra/read_restrictions.cql. */
#ifndef DAYBOOK_QUERY_CQL_EXPRESSION_CQL_VALUE_SET_H
#define DAYBOOK_QUERY_CQL_EXPRESSION_CQL_VALUE_SET_H

#include "base/arena.h"
#include "storage/schema/type.h"

struct cql_value_set {
    const struct type *type;
    struct bytes *values;                /* sorted, without duplicates; a null comes first */
    uint32_t count;
};

/* Sorts in place and drops duplicates. */
struct cql_value_set cql_value_set_sort(const struct type *type, struct bytes *values,
                                        uint32_t count);
/* Make a set of the items that are not null; its array is in `arena`. */
struct cql_value_set cql_value_set_of(const struct type *type, struct type_items *items,
                                      struct arena *arena);
bool cql_value_set_has(const struct cql_value_set *set, struct bytes value);

/* Returns the index of the first value that is not less than `value`; `count`: there is none.  The
 * values are sorted, `stride` bytes apart. */
uint32_t cql_value_set_place(const struct type *type, const void *values, size_t stride,
                         uint32_t count, struct bytes value);
#endif
