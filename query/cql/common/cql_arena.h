/* cql_arena: the arenas of requests, kept for reuse when a request has ended.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_ARENA_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_ARENA_H

#include "query/cql/common/cql_private.h"

struct arena *cql_arena_take(struct cql *cql);
/* Give an arena back: it is kept for reuse or freed, and its budget no longer counts it. */
void cql_arena_give(struct cql *cql, struct arena *arena);
void cql_arena_free_all(struct cql *cql);
#endif
