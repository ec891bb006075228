/* cql_slice: shares the engine thread's time among requests, in slices.
 *
 *     cql_run ──▶ slice ──▶ answer
 *                  │  ▲
 *     the slice or │  │ in a later turn of the loop,
 *     the turn is  │  │ first for the session that
 *     used up      ▼  │ has used the least time
 *                  ready
 *
 * All requests of one loop turn get TURN_MAX_US (cql_slice.c) together.  A request can yield only
 * between two rows, or between two statements of a batch.
 *
 * Its specification is tests/e2e/test_hostile.py. */
#ifndef DAYBOOK_QUERY_CQL_COMMON_CQL_SLICE_H
#define DAYBOOK_QUERY_CQL_COMMON_CQL_SLICE_H

#include "query/cql/common/cql_private.h"

void cql_slice_init(struct cql *cql);
void cql_slice_stop(struct cql *cql);

/* Call execution->resume now or in a later loop turn. */
void cql_slice_start(struct cql_execution *execution);
/* Call `resume` in a later loop turn. */
void cql_slice_yield(struct cql_execution *execution,
                     void (*resume)(struct cql_execution *execution));
/* Whether the slice has used up its time; false outside of slices. */
bool cql_slice_is_over(const struct cql *cql);

/* Callbacks of the store call cql_slice_begin and cql_slice_end around work that may take long.
 * Within a slice the two calls have no effect. */
struct cql_slice {
    bool is_outermost;
};
struct cql_slice cql_slice_begin(struct cql_execution *execution);
void cql_slice_end(struct cql *cql, struct cql_slice slice);
/* Charge the time of the slice to the execution's session, before the execution is answered. */
void cql_slice_account(struct cql_execution *execution);
#endif
