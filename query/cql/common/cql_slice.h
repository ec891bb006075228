/* cql_slice: shares the engine thread's time among requests, in slices.
 *
 *     cql_run ──▶ slice ──▶ answer
 *                   │ ▲
 *     used up, or   │ │ in a later turn of the loop, of the
 *     the loop's turn is ▼ │ session that has used least
 *                  ready
 *
 * All requests of one turn of the loop get TURN_MAX_US together; later ones wait for the next turn.
 * A request whose slice is used up waits as well, where it can be interrupted: between two rows or
 * two statements of a batch.  The session that has used the least time goes first.
 *
 * Its specification is tests/e2e/test_hostile.py. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_SLICE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_SLICE_H

#include "query/cql/common/cql_private.h"

void cql_slice_init(struct cql *cql);
void cql_slice_stop(struct cql *cql);

/* Call execution->resume: now, or in a later turn of the loop. */
void cql_slice_start(struct cql_execution *execution);
/* Call `resume` in a later turn. */
void cql_slice_yield(struct cql_execution *execution,
                     void (*resume)(struct cql_execution *execution));
/* Whether the present slice is used up; false outside of slices. */
bool cql_slice_is_over(const struct cql *cql);

/* To be called around a callback of the store for an execution, which becomes a slice of its own
 * unless it runs within one. */
struct cql_slice {
    bool is_outermost;
};
struct cql_slice cql_slice_begin(struct cql_execution *execution);
void cql_slice_end(struct cql *cql, struct cql_slice slice);
/* Charge the time of the slice to the session of an execution that is answered. */
void cql_slice_account(struct cql_execution *execution);
#endif
