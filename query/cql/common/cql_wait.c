/* Two queues of executions, each in the order in which they came, and the change of the schema that
 * waits for writes by itself. */
#include "query/cql/common/cql_wait.h"

#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_trace.h"
#include "storage/engine/store.h"

enum { SWEEP_MS = 500 };

/* ---- executions whose time is over ---- */

static void sweep_soon(struct cql *cql)
{
    struct executor *executor = cql->options.world->executor;
    bool waits = cql->stalled_first != NULL || cql->waiting_first != NULL;
    if (!waits || cql->is_sweeping_soon || cql->statement_time_us == 0)
        return;
    cql->is_sweeping_soon = true;
    executor->timer_start(executor, &cql->sweep_timer, SWEEP_MS);
}

static void sweep_queue(struct cql_execution **first, struct cql_execution **last)
{
    struct cql_execution *execution = *first;
    *first = NULL;
    *last = NULL;
    while (execution != NULL) {
        struct cql_execution *next = execution->next;
        execution->next = NULL;
        if (!execution->must_end && cql_guard_look(execution) != 0) {
            cql_finish_fault(execution);
        } else {
            *(*first == NULL ? first : &(*last)->next) = execution;
            *last = execution;
        }
        execution = next;
    }
}

void cql_wait_sweep(struct cql *cql)
{
    sweep_queue(&cql->stalled_first, &cql->stalled_last);
    sweep_queue(&cql->waiting_first, &cql->waiting_last);
    sweep_soon(cql);
}

static void sweep_fired(struct timer *timer)
{
    struct cql *cql = timer->context;
    cql->is_sweeping_soon = false;
    cql_wait_sweep(cql);
}

/* ---- waiting ---- */

static void queue_add(struct cql_execution **first, struct cql_execution **last,
                      struct cql_execution *execution)
{
    execution->next = NULL;
    if (*first == NULL)
        *first = execution;
    else
        (*last)->next = execution;
    *last = execution;
}

void cql_wait_for_room(struct cql_execution *execution)
{
    cql_trace(execution, "Waiting for room in the memtable");
    queue_add(&execution->cql->stalled_first, &execution->cql->stalled_last, execution);
    sweep_soon(execution->cql);
}

void cql_wait_for_schema(struct cql_execution *execution)
{
    cql_trace(execution, "Waiting for a change of the schema");
    queue_add(&execution->cql->waiting_first, &execution->cql->waiting_last, execution);
    sweep_soon(execution->cql);
}

/* The waiting ones go on in their order; a change among them makes those behind it wait again. */
void cql_wait_schema_settled(struct cql *cql)
{
    cql->schema_is_changing = false;
    while (cql->waiting_first != NULL && !cql->schema_is_changing) {
        struct cql_execution *execution = cql->waiting_first;
        cql->waiting_first = execution->next;
        execution->resume(execution);
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
    check(!cql->schema_is_changing);
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
    struct cql_execution *execution = cql->stalled_first;
    cql->stalled_first = NULL;
    cql->stalled_last = NULL;
    while (execution != NULL) {
        struct cql_execution *next = execution->next;
        execution->next = NULL;
        execution->resume(execution);
        execution = next;
    }
}

void cql_wait_init(struct cql *cql)
{
    cql->sweep_timer = (struct timer){.fire = sweep_fired, .context = cql};
    store_on_drain(cql->options.store, store_drained, cql);
}

void cql_wait_stop(struct cql *cql)
{
    struct executor *executor = cql->options.world->executor;
    executor->timer_stop(executor, &cql->sweep_timer);
    store_on_drain(cql->options.store, NULL, cql);
}
