/* cql_guard: the memory and the time that one request may take, and how it ends when they are used
 * up.
 *
 *     cql_run ─▶ guard [ compile, bind ] ─▶ store ─▶ guard [ rows of a page ] ─▶ store ─▶ answer
 *                  └── too much: unwound ──▶ 0x1001, 0x2200, 0x1200 or 0x1100
 *
 * All that a request makes lies in arenas of its budget (base/arena.h), and every loop over
 * what a client sent or stored counts its items there.  So the budget is asked at each chunk and
 * once in so many items; where it says no, the guarded step ends as if it had returned
 * ERROR_LIMIT, with the execution's fault filled.
 *
 * What makes that safe: a guarded step owns nothing but arenas of the budget and what its execution
 * releases at its end; it calls neither the store nor the answer.  Outside of guarded steps little
 * is made, and it is counted though it may pass the limit.
 *
 * Its specification is tests/unit/test_cql_session.c and tests/e2e/test_memory.py. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_GUARD_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_GUARD_H

#include "query/cql/common/cql_private.h"

/* The execution's budget, of which its arena is the first part. */
void cql_guard_begin(struct cql_execution *execution);
/* Only the execution's own arena is left, and nothing is charged for it any more. */
void cql_guard_end(struct cql_execution *execution);
/* An arena of the execution's budget beside its own; given back before the execution ends. */
struct arena *cql_guard_arena(struct cql_execution *execution);

/* Call `step`: what it returned, or ERROR_LIMIT and the fault if it was unwound. */
must_check int cql_guard(struct cql_execution *execution, int (*step)(void *context),
                         void *context);

/* Whether the execution may go on: not past its time, nor for a client that is gone, nor when the
 * server stops.  ERROR_LIMIT and the fault if not; asked where an execution goes on that has
 * waited. */
must_check int cql_guard_look(struct cql_execution *execution);
#endif
