/* cql_compile: compiles a statement's text to its plan.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_COMPILE_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_COMPILE_H

#include "query/cql/common/cql_compiled.h"

/* Compile a text into `arena`, which has the execution's budget and must outlive the result.  The
 * caller owns one reference.  NULL: the text is refused, and the execution's fault says why. */
struct cql_compiled *cql_compile(struct cql_execution *execution, struct arena *arena,
                                 struct bytes text, const char *keyspace);
/* Compile into a new arena, which is freed with the result.  The execution's budget counts the
 * arena only until the statement is compiled. */
struct cql_compiled *cql_compile_to_keep(struct cql_execution *execution, struct bytes text,
                                         const char *keyspace);
/* Returns the columns of the result.  Count 0: the statement returns no rows, or its columns are
 * known only when it runs. */
struct cql_metadata cql_compile_results(const struct cql_compiled *compiled);
/* Whether the statement is an INSERT, UPDATE or DELETE; a BATCH is not. */
bool cql_compile_changes_rows(const struct cql_compiled *compiled);
#endif
