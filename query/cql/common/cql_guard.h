/* cql_guard: limits the memory and the time of a request, and ends a request that passes a limit.
 *
 *     cql_run ─▶ guard [ compile, bind ] ─▶ store ─▶ guard [ rows of a page ] ─▶ store ─▶ answer
 *                  └── too much: unwound ──▶ error 0x1001, 0x2200, 0x1200 or 0x1100
 *
 * Large data of a request is in arenas of its budget (base/arena.h).  A loop over a client's data
 * calls arena_count.  The budget checks the limits at each new chunk and every ARENA_LOOK_ITEMS
 * items.  When a limit is passed, the step ends with ERROR_LIMIT and a fault.
 *
 * A limit ends a step by longjmp.  The step may therefore own only arenas of the budget and data of
 * its execution.  The step must not call the store, and must not answer the request.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/e2e/test_memory.py. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_GUARD_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_GUARD_H

#include "query/cql/common/cql_private.h"

void cql_guard_begin(struct cql_execution *execution);
/* All arenas of the budget but the execution's own must have been given back. */
void cql_guard_end(struct cql_execution *execution);
/* Returns a further arena of the budget.  The caller gives it back by cql_arena_give before the
 * execution ends. */
struct arena *cql_guard_arena(struct cql_execution *execution);

/* Charge the execution's quota for memory that is not in an arena: raise `*held` to `bytes`.  A
 * negative status with the fault: the quota is used up.  The caller gives `*held` back to the quota
 * by quota_charge before the execution ends. */
must_check int cql_guard_hold(struct cql_execution *execution, size_t *held, size_t bytes);

/* Returns the step's result, or ERROR_LIMIT with the fault. */
must_check int cql_guard(struct cql_execution *execution, int (*step)(void *context),
                         void *context);

/* ERROR_LIMIT with the fault: the time is over, the client has left, or the server stops. */
must_check int cql_guard_look(struct cql_execution *execution);
#endif
