#include "query/cql/common/cql_wait.h"

#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_slice.h"
#include "query/cql/common/cql_trace.h"
#include "storage/engine/store.h"

enum { SWEEP_MS = 500 };

/* ---- executions whose time is over ---- */

static void sweep_fired(struct timer *timer)
{
    cql_wait_sweep(timer->context);
}

static void sweep_soon(struct cql *cql)
{
    bool waits = !STAILQ_EMPTY(&cql->stalled) || !STAILQ_EMPTY(&cql->waiting);
    if (!waits || cql->sweep_timer.handle != NULL)
        return;
    world_timer_start(cql->options.world, &cql->sweep_timer, sweep_fired, cql, SWEEP_MS);
}

static void sweep_queue(struct cql_execution_queue *queue)
{
    struct cql_execution_queue swept = STAILQ_HEAD_INITIALIZER(swept);
    STAILQ_CONCAT(&swept, queue);
    while (!STAILQ_EMPTY(&swept)) {
        struct cql_execution *execution = STAILQ_FIRST(&swept);
        STAILQ_REMOVE_HEAD(&swept, next);
        if (cql_guard_look(execution) != 0)
            cql_execution_finish_fault(execution);
        else
            STAILQ_INSERT_TAIL(queue, execution, next);
    }
}

void cql_wait_sweep(struct cql *cql)
{
    sweep_queue(&cql->stalled);
    sweep_queue(&cql->waiting);
    sweep_soon(cql);
}

/* ---- waiting ---- */

void cql_wait_for_room(struct cql_execution *execution)
{
    check(execution->resume != NULL);
    cql_trace(execution, "Waiting for room in the memtable");
    STAILQ_INSERT_TAIL(&execution->cql->stalled, execution, next);
    sweep_soon(execution->cql);
}

void cql_wait_for_schema(struct cql_execution *execution)
{
    check(execution->resume != NULL && execution->cql->schema_is_changing);
    cql_trace(execution, "Waiting for a change of the schema");
    STAILQ_INSERT_TAIL(&execution->cql->waiting, execution, next);
    sweep_soon(execution->cql);
}

/* Waiting executions are resumed in later loop turns, because resuming thousands of them here would
 * nest as many calls.  If one of them begins a schema change, those behind it wait again. */
void cql_wait_schema_settled(struct cql *cql)
{
    check(cql->schema_is_changing);
    cql->schema_is_changing = false;
    while (!STAILQ_EMPTY(&cql->waiting)) {
        struct cql_execution *execution = STAILQ_FIRST(&cql->waiting);
        STAILQ_REMOVE_HEAD(&cql->waiting, next);
        cql_slice_yield(execution, execution->resume);
    }
}

/* ---- writes and a change of the schema ---- */

void cql_wait_write_begin(struct cql *cql)
{
    cql->writing++;
}

void cql_wait_write_end(struct cql *cql)
{
    struct cql_execution *change = cql->schema_change;
    check(cql->writing > 0);
    cql->writing--;
    if (cql->writing == 0 && change != NULL) {
        cql->schema_change = NULL;
        change->resume(change);
    }
}

void cql_wait_for_writes(struct cql_execution *execution)
{
    struct cql *cql = execution->cql;
    check(execution->resume != NULL && !cql->schema_is_changing);
    cql->schema_is_changing = true;
    if (cql->writing > 0)
        cql->schema_change = execution;
    else
        execution->resume(execution);
}

/* ---- the server ---- */

static void store_drained(void *context)
{
    struct cql *cql = context;
    struct cql_execution_queue stalled = STAILQ_HEAD_INITIALIZER(stalled);
    STAILQ_CONCAT(&stalled, &cql->stalled);
    while (!STAILQ_EMPTY(&stalled)) {
        struct cql_execution *execution = STAILQ_FIRST(&stalled);
        STAILQ_REMOVE_HEAD(&stalled, next);
        execution->resume(execution);
    }
}

void cql_wait_init(struct cql *cql)
{
    STAILQ_INIT(&cql->waiting);
    STAILQ_INIT(&cql->stalled);
    store_on_drain(cql->options.store, store_drained, cql);
}

void cql_wait_stop(struct cql *cql)
{
    world_timer_stop(cql->options.world, &cql->sweep_timer);
    store_on_drain(cql->options.store, NULL, cql);
}
