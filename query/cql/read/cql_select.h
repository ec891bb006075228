/* cql_select: compiles a SELECT and carries it out.
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
/* Find the markers that give the columns of the partition key.  Returns the number of columns, or 0
 * if one of them has no marker. */
uint32_t cql_select_key_markers(const struct cql_select_plan *plan, struct arena *arena,
                                const uint16_t **indexes_out);

/* Carry the SELECT out.  It ends with cql_execution_finish, possibly before this returns. */
void cql_select_run(struct cql_execution *execution);
#endif
