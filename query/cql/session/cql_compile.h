/* cql_compile: compiles a statement's text to its plan: resolves names and types, and refuses what
 * no bound values can make right.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_COMPILE_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_COMPILE_H

#include "query/cql/common/cql_compiled.h"

/* Compile a text into `arena`.  `arena` has the execution's budget and outlives the result.
 * The caller owns one reference.  NULL with the execution's fault: the text is refused. */
struct cql_compiled *cql_compile(struct cql_execution *execution, struct arena *arena,
                                 struct bytes text, const char *keyspace);
/* The same in a new arena of the result.  The execution's budget counts this arena only until the
 * statement is compiled. */
struct cql_compiled *cql_compile_to_keep(struct cql_execution *execution, struct bytes text,
                                         const char *keyspace);
/* The columns of the statement's rows; count 0: there are none, or they are known only when it is
 * carried out. */
struct cql_metadata cql_compile_results(const struct cql_compiled *compiled);
/* Whether the statement is an INSERT, UPDATE or DELETE; a BATCH is not. */
bool cql_compile_changes_rows(const struct cql_compiled *compiled);
#endif
