/* cql_select_plan: the compiled form of a SELECT: its names and types are resolved, its values are
 * not known yet.
 *
 * Its specification is tests/cql/select.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PLAN_H
#define DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PLAN_H

#include "query/cql/read/cql_restrict.h"

struct cql_select_plan {
    const struct table *table;
    struct cql_restrict_plan where;
    struct cql_expression **selectors;
    uint32_t selector_count;
    const char *const *names;            /* of the selectors, aliases applied */
    struct cql_metadata metadata;        /* what the client gets: with JSON one column */
    struct cql_aggregate *aggregates;
    uint32_t aggregate_count;
    bool is_aggregate;                   /* rows come from groups */
    bool has_group_by;
    bool by_stats;                       /* the store's partition stats are the answer */
    uint32_t group_clustering;           /* clustering columns by which rows are grouped */
    struct cql_expression *group_function;   /* groups by one more clustering column; NULL: none */
    bool is_json;
    bool is_distinct;
    bool is_reversed;
    bool has_order;
    uint32_t order_columns;              /* clustering columns up to the last one of ORDER BY */
    bool reads_statics;
    struct cql_expression *limit;        /* NULL: none */
    struct cql_expression *partition_limit;
};
#endif
