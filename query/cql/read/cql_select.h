/* cql_select: SELECT: compiled, and carried out.
 *
 * Its specification is tests/cql/select.cql and tests/cql/cassandra/read_page.cql. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_SELECT_H
#define DAYBOOK_QUERY_CQL_READ_CQL_SELECT_H

#include "query/cql/common/cql_scope.h"

struct cql_select_plan;

int cql_select_compile(struct cql_scope *scope, const struct cql_select *select,
                       struct cql_select_plan **plan_out);
/* The columns of the result's rows. */
struct cql_metadata cql_select_metadata(const struct cql_select_plan *plan);
/* Which markers make up the partition key; 0: not all of its parts are markers. */
uint32_t cql_select_key_markers(const struct cql_select_plan *plan, struct arena *arena,
                                const uint16_t **indexes_out);

/* Carry the SELECT out, up to cql_execution_finish. */
void cql_select_run(struct cql_execution *execution);
#endif
