/* A request that needs more memory than one request may have is refused as invalid, so that drivers
 * do not repeat it.  A request that would fit if other requests held less is refused as overloaded;
 * drivers may then send it to another server. */
#include "query/cql/common/cql_guard.h"

#include <setjmp.h>

#include "query/cql/common/cql_arena.h"
#include "storage/engine/store.h"
#include "base/world/world.h"

enum {
    /* Limits of one guarded step, during which all other clients wait. */
    READ_STEP_MAX_US = 250 * 1000,
    WRITE_STEP_MAX_US = 500 * 1000
};

struct cql_guard {
    jmp_buf back;
};

/* ---- what is held ---- */

/* Report the held memory to the store.  When requests have freed enough of it, call has_room. */
static void report_memory(struct cql *cql)
{
    int64_t change = quota_unreported(&cql->quota);
    size_t most = cql->quota.limit;
    if (change == 0)
        return;
    memory_held_change(cql->options.store->held, MEMORY_HELD_REQUESTS, change);
    bool was_crowded = cql->is_crowded;
    bool was_full = cql->is_full;
    cql->is_crowded = quota_is_past(&cql->quota, most / 2, was_crowded);
    cql->is_full = quota_is_past(&cql->quota, most - cql->quota.reserve, false);
    bool has_room = (was_crowded && !cql->is_crowded) || (was_full && !cql->is_full);
    if (has_room && cql->has_room != NULL)
        cql->has_room(cql->has_room_context);
}

/* ---- unwinding ---- */

static int refuse_memory(struct cql_execution *execution, size_t bytes)
{
    const struct quota *all = execution->quota.parent;
    size_t most = all->limit - all->reserve;
    if (execution->quota.taken + bytes > most) {
        return cql_invalid(&execution->fault,
                           "The request takes over %zu bytes of memory, which is more than any "
                           "request may (an eighth of --memory, less a reserve); ask for less at a "
                           "time: a page, a smaller batch, fewer terms",
                           most);
    }
    return cql_refuse(&execution->fault, CQL_OVERLOADED,
                      "Requests under way take all the memory that they may; send it again, or ask "
                      "for less at a time: a page, a smaller batch");
}

static int refuse_time(struct cql_execution *execution)
{
    struct cql_error *error = &execution->fault.error;
    bool is_write = execution->write_type != NULL;
    cql_refuse(&execution->fault, is_write ? CQL_WRITE_TIMEOUT : CQL_READ_TIMEOUT,
               "Operation timed out - received only 0 responses.%s",
               is_write ? " (Nothing was written.)" : "");
    error->consistency = execution->request.consistency;
    error->write_type = execution->write_type;
    return ERROR_LIMIT;
}

static int check_limits(struct cql_execution *execution, int64_t now_us)
{
    if (execution->must_end)
        return 0;
    bool has_left = execution->session->leaves && now_us >= execution->session->leaves_us;
    if (has_left || execution->cql->is_stopping) {
        cql_refuse(&execution->fault, CQL_OVERLOADED, "%s",
                   has_left ? "The client has left" : "The server is shutting down");
        return ERROR_LIMIT;
    }
    return execution->deadline_us > 0 && now_us > execution->deadline_us ? refuse_time(execution)
                                                                         : 0;
}

int cql_guard_look(struct cql_execution *execution)
{
    return check_limits(execution, world_monotonic_us(execution->cql->options.world));
}

int cql_guard(struct cql_execution *execution, int (*step)(void *context), void *context)
{
    struct cql_guard guard;
    struct cql_guard *outer = execution->guard;
    execution->step_began_us = world_monotonic_us(execution->cql->options.world);
    execution->guard = &guard;
    int rc = setjmp(guard.back) == 0 ? step(context) : ERROR_LIMIT;
    execution->guard = outer;
    report_memory(execution->cql);
    return rc;
}

int cql_guard_hold(struct cql_execution *execution, size_t *held, size_t bytes)
{
    check(bytes >= *held);
    if (!quota_take(&execution->quota, bytes - *held))
        return refuse_memory(execution, bytes - *held);
    *held = bytes;
    report_memory(execution->cql);
    return 0;
}

/* ---- the budget ---- */

static struct cql_execution *execution_of(struct arena_budget *budget)
{
    return (struct cql_execution *)(void *)((char *)budget -
                                            offsetof(struct cql_execution, arenas));
}

static void budget_look(struct arena_budget *budget)
{
    struct cql_execution *execution = execution_of(budget);
    if (execution->guard == NULL)
        return;
    int64_t now_us = world_monotonic_us(execution->cql->options.world);
    int64_t most_us = execution->write_type == NULL ? READ_STEP_MAX_US : WRITE_STEP_MAX_US;
    bool is_long = now_us - execution->step_began_us > most_us;
    struct cql_guard *guard = execution->guard;
    execution->guard = NULL; /* so that the memory for the refusal's text is granted */
    int rc = is_long ? refuse_time(execution) : check_limits(execution, now_us);
    execution->guard = guard;
    if (rc != 0)
        longjmp(guard->back, 1);
}

static void budget_take(struct arena_budget *budget, size_t bytes)
{
    struct cql_execution *execution = execution_of(budget);
    budget_look(budget);
    if (execution->guard == NULL) {
        quota_take_over(&execution->quota, bytes);
    } else if (!quota_take(&execution->quota, bytes)) {
        struct cql_guard *guard = execution->guard;
        execution->guard = NULL;
        (void)refuse_memory(execution, bytes);
        execution->guard = guard;
        longjmp(guard->back, 1);
    }
}

static void budget_give(struct arena_budget *budget, size_t bytes)
{
    quota_give(&execution_of(budget)->quota, bytes);
}

void cql_guard_begin(struct cql_execution *execution)
{
    check(execution->arena != NULL && execution->guard == NULL);
    struct quota *all = &execution->cql->quota;
    execution->quota = (struct quota){.parent = all, .limit = all->limit};
    execution->arenas =
        (struct arena_budget){.take = budget_take, .give = budget_give, .look = budget_look};
    arena_set_budget(execution->arena, &execution->arenas);
    report_memory(execution->cql);
}

void cql_guard_end(struct cql_execution *execution)
{
    arena_set_budget(execution->arena, NULL);
    check(execution->quota.taken == 0);
    report_memory(execution->cql);
}

struct arena *cql_guard_arena(struct cql_execution *execution)
{
    struct arena *arena = cql_arena_take(execution->cql);
    arena_set_budget(arena, &execution->arenas);
    return arena;
}
