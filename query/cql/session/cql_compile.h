/* cql_compile: from a statement's text to its plan: names, types, and what is refused whatever the
 * values are.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_SESSION_CQL_COMPILE_H
#define DAYBOOK_QUERY_CQL_SESSION_CQL_COMPILE_H

#include "query/cql/common/cql_compiled.h"

/* One reference, in an arena of the execution's budget that outlives it.  NULL and the execution's
 * fault when the text is refused. */
struct cql_compiled *cql_compile(struct cql_execution *execution, struct arena *arena,
                                 struct bytes text, const char *keyspace);
/* The same in a separate arena, which is not counted for the execution once the statement is
 * compiled. */
struct cql_compiled *cql_compile_to_keep(struct cql_execution *execution, struct bytes text,
                                         const char *keyspace);
/* The columns of its rows; count 0: it has none, or columns that depend on what it meets. */
struct cql_metadata cql_compile_results(const struct cql_compiled *compiled);
/* Whether it is an INSERT, UPDATE or DELETE, by itself. */
bool cql_compile_changes_rows(const struct cql_compiled *compiled);
#endif
