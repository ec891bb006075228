/* cql_arena: arenas for the time of one request: empty ones that were kept, or new ones.
 *
 * Its specification is tests/unit/test_cql_session.c. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_ARENA_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_ARENA_H

#include "query/cql/common/cql_private.h"

struct arena *cql_arena_take(struct cql *cql);
/* It has no budget any more, and is kept for the next request if it is small. */
void cql_arena_give(struct cql *cql, struct arena *arena);
/* The server ends: those that were kept go. */
void cql_arena_free_all(struct cql *cql);
#endif
