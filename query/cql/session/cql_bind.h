/* cql_bind: binds a client's values to the markers of a compiled statement.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/cql/cassandra/write_bound.cql. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_BIND_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_BIND_H

#include "query/cql/common/cql_compiled.h"

/* Set `*values_out` to the checked values, in the order of the markers' numbers and in the
 * execution's arena.  ERROR_INVALID or ERROR_LIMIT with the fault: a value is missing, wrong or too
 * large. */
int cql_bind(struct cql_execution *execution, const struct cql_compiled *compiled,
             const struct cql_value *values, uint32_t value_count, bool are_named,
             const struct cql_value **values_out);
#endif
