/* cql_select_plan: a SELECT with names and types resolved, before its values are bound.
 *
 * Its specification is tests/cql/select.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PLAN_H
#define DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PLAN_H

#include "query/cql/read/cql_restrict.h"

struct cql_select_plan {
    const struct table *table;
    bool is_virtual;                     /* see cql_scope_is_virtual */
    struct cql_restrict_plan where;
    struct cql_expression **selectors;
    uint32_t selector_count;
    const char *const *names;            /* of the selectors, or their aliases */
    struct cql_metadata metadata;        /* with JSON one column */
    struct cql_aggregate *aggregates;
    uint32_t aggregate_count;
    bool is_aggregate;
    bool has_group_by;
    bool by_stats;                       /* the answer is made from statistics */
    uint32_t group_clustering;
    struct cql_expression *group_function;   /* of one more clustering column; NULL: none */
    bool is_json;
    bool is_distinct;
    bool is_reversed;
    bool has_order;
    uint32_t order_columns;              /* clustering columns up to the last one of ORDER BY */
    bool reads_statics;
    struct cql_expression *limit;
    struct cql_expression *partition_limit;
};
#endif
