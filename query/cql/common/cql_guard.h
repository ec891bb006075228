/* cql_guard: limits the memory and the time of a request, and ends one that passes a limit.
 *
 *     cql_run ─▶ guard [ compile, bind ] ─▶ store ─▶ guard [ rows of a page ] ─▶ store ─▶ answer
 *                  └── too much: unwound ──▶ 0x1001, 0x2200, 0x1200 or 0x1100
 *
 * Large data of a request is in arenas of its budget (base/arena.h), and every loop over data that
 * a client sent or stored counts its items by arena_count.  The budget checks the limits at each
 * new chunk and once in ARENA_LOOK_ITEMS items.  When a limit is passed, the guarded step ends as
 * if it had returned ERROR_LIMIT, with the execution's fault filled.
 *
 * The jump out of a guarded step leaks nothing: the step owns only arenas of the budget and data
 * that the end of its execution releases, and it neither reads nor writes the store, nor answers.
 * Outside of guarded steps requests take little memory, which is counted but not refused.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/e2e/test_memory.py. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_GUARD_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_GUARD_H

#include "query/cql/common/cql_private.h"

/* Begin the execution's budget with the execution's own arena. */
void cql_guard_begin(struct cql_execution *execution);
/* End the budget; the execution's own arena, the last one left, is not counted any more. */
void cql_guard_end(struct cql_execution *execution);
/* Take another arena on the execution's budget; the caller gives it back (cql_arena_give) before
 * the execution ends. */
struct arena *cql_guard_arena(struct cql_execution *execution);

/* Call `step`.  The result is the step's, or ERROR_LIMIT with the fault if a limit ended it. */
must_check int cql_guard(struct cql_execution *execution, int (*step)(void *context),
                         void *context);

/* Check whether an execution may go on after it has waited.  ERROR_LIMIT with the fault: its time
 * is over, its client has left, or the server stops. */
must_check int cql_guard_look(struct cql_execution *execution);
#endif
