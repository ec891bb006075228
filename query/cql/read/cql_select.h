/* cql_select: compiles a SELECT and carries it out.
 *
 * Its specification is tests/cql/select.cql and tests/cql/cassandra/read_page.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_SELECT_H
#define DAYBOOK_QUERY_CQL_READ_CQL_SELECT_H

#include "query/cql/read/cql_select_plan.h"

int cql_select_compile(struct cql_scope *scope, const struct cql_select *select,
                       struct cql_select_plan **plan_out);

/* The SELECT ends with cql_execution_finish, perhaps before this function returns. */
void cql_select_run(struct cql_execution *execution);
#endif
