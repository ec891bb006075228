/* cql_guard: the limits on the memory and the time of one request, and its end when it passes one.
 *
 *     cql_run ─▶ guard [ compile, bind ] ─▶ store ─▶ guard [ rows of a page ] ─▶ store ─▶ answer
 *                  └── too much: unwound ──▶ 0x1001, 0x2200, 0x1200 or 0x1100
 *
 * All memory of a request is in arenas of its budget (base/arena.h), and every loop over what a
 * client sent or stored counts its items there.  The budget therefore checks the limits at each
 * chunk and once in ARENA_LOOK_ITEMS items.  When a limit is passed, the guarded step ends as if it
 * had returned ERROR_LIMIT, with the execution's fault filled.
 *
 * What makes that safe: a guarded step owns nothing but arenas of the budget and what its execution
 * releases at its end, and it calls neither the store nor the answer.  Outside of guarded steps
 * requests take little memory; it is counted, but not refused.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/e2e/test_memory.py. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_GUARD_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_GUARD_H

#include "query/cql/common/cql_private.h"

/* Begin the execution's budget; its arena is the first one to be counted. */
void cql_guard_begin(struct cql_execution *execution);
/* End it: only the execution's own arena is left, and it is not counted any more. */
void cql_guard_end(struct cql_execution *execution);
/* Another arena of the execution's budget; the caller gives it back before the execution ends. */
struct arena *cql_guard_arena(struct cql_execution *execution);

/* Call `step`.  The result is what it returned, or ERROR_LIMIT with the fault if it was ended. */
must_check int cql_guard(struct cql_execution *execution, int (*step)(void *context),
                         void *context);

/* Whether an execution may go on after it has waited: not past its time, not when its client has
 * left, and not when the server stops.  ERROR_LIMIT with the fault if not. */
must_check int cql_guard_look(struct cql_execution *execution);
#endif
