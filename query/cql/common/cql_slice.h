/* cql_slice: the engine thread's time, shared by requests in slices.
 *
 *     cql_run ──▶ slice ──▶ answer
 *                   │ ▲
 *     used up, or   │ │ in a later turn of the loop, of the
 *     the loop's turn is ▼ │ session that has used least
 *                  ready
 *
 * Requests of a turn of the loop get TURN_MAX_US together; what comes then waits for the next turn,
 * and so does a request whose slice is used up where it can be cut: between two rows, or two
 * statements of a batch.  A session that asks for little goes first, whatever others ask for.
 *
 * Its specification is tests/e2e/test_hostile.py. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_SLICE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_SLICE_H

#include "query/cql/common/cql_private.h"

void cql_slice_init(struct cql *cql);
void cql_slice_stop(struct cql *cql);

/* Go on at execution->resume: now, or in a later turn of the loop. */
void cql_slice_start(struct cql_execution *execution);
/* In a later turn. */
void cql_slice_yield(struct cql_execution *execution,
                     void (*resume)(struct cql_execution *execution));
/* Whether the slice of what is running is used up; outside of one it is not. */
bool cql_slice_is_over(const struct cql *cql);

/* Around what the store calls back for an execution, which may run within a slice or be one. */
struct cql_slice {
    bool is_outermost;
};
struct cql_slice cql_slice_begin(struct cql_execution *execution);
void cql_slice_end(struct cql *cql, struct cql_slice slice);
/* The execution is answered: what it used is its session's. */
void cql_slice_account(struct cql_execution *execution);
#endif
