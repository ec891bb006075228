/* cql_write_plan: an INSERT, UPDATE, DELETE or BATCH with its names and types resolved, before its
 * values are bound.
 *
 * Its specification is tests/cql/cassandra/write_insert.cql and
 * tests/cql/cassandra/write_delete.cql. */
#ifndef DAYBOOK_QUERY_CQL_WRITE_CQL_WRITE_PLAN_H
#define DAYBOOK_QUERY_CQL_WRITE_CQL_WRITE_PLAN_H

#include "query/cql/index/cql_index.h"
#include "query/cql/read/cql_restrict.h"

enum cql_operation_kind {
    CQL_SET,                             /* the column gets the value; null deletes the column */
    CQL_SET_ELEMENT,                     /* column[key] */
    CQL_SET_FIELD,
    CQL_ADD,                             /* to the end of a list, to a set, map or counter */
    CQL_PREPEND,
    CQL_SUBTRACT,                        /* from a list or set: values; from a map: keys; from a
                                          * counter: a number */
    CQL_DELETE_ELEMENT
};

struct cql_operation {
    enum cql_operation_kind kind;
    const struct column *column;
    struct cql_expression *key;
    struct cql_expression *value;        /* NULL: the value null */
    uint32_t field;
};

enum cql_write_kind { CQL_INSERT, CQL_UPDATE, CQL_DELETE };

struct cql_write_plan {
    enum cql_write_kind kind;
    const struct table *table;
    struct cql_restrict_plan where;      /* for an INSERT, its key columns are relations with = */
    struct cql_operation *operations;
    uint32_t operation_count;
    struct cql_expression *timestamp;
    struct cql_expression *ttl;
    struct cql_expression *json;         /* the text of INSERT JSON; NULL: not JSON */
    uint32_t json_marker;                /* number of the first column's marker; the columns'
                                          * markers follow the statement's own */
    bool json_leaves_out;                /* DEFAULT UNSET: columns not in the text keep their
                                          * values */
    struct cql_restriction *conditions;
    bool if_exists;
    bool if_not_exists;
    bool is_conditional;
    bool is_static;                      /* writes only the static row */
    bool is_ranked;                      /* INSERT of a click without its rank; needs a request
                                          * id */
    bool is_ignored;                     /* a stream keeps this counter table, and ignores clients'
                                          * updates of it */
    bool is_counter;
    bool reads_first;                    /* the statement changes elements of lists, or deletes
                                          * counters */
    const struct cql_index *indexes;
    uint32_t index_count;
};

struct cql_batch_plan {
    struct cql_write_plan **statements;
    uint32_t count;
    enum cql_batch_kind kind;
    struct cql_expression *timestamp;
};
#endif
