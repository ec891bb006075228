/* cql_guard: budgets of arenas, and the one place that unwinds.
 *
 * A request that alone would hold more than any may is refused as invalid, which no driver sends
 * again; one that finds too little because of others as overloaded, which drivers try elsewhere.
 * Both come before anything was handed to the store. */
#include "query/cql/common/cql_guard.h"

#include <setjmp.h>

#include "query/cql/common/cql_arena.h"
#include "storage/engine/store.h"
#include "base/world/world.h"

enum {
    /* Of a guarded step, during which all other clients wait: a row that is read, */
    READ_STEP_MAX_US = 250 * 1000,
    WRITE_STEP_MAX_US = 500 * 1000 /* or all statements of a batch, bound or built */
};

struct cql_guard {
    jmp_buf back;
};

/* ---- what is held ---- */

/* Tell the store what requests hold, and the doors when it has become little. */
static void count_held(struct cql *cql)
{
    int64_t change = quota_untold(&cql->quota);
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

/* The fault is filled; outside of a guarded step the work goes on to where it looks by itself. */
static void unwind(struct cql_work *work)
{
    struct cql_guard *guard = work->guard;
    if (guard != NULL)
        longjmp(guard->back, 1);
}

static int refuse_memory(struct cql_work *work, size_t bytes)
{
    const struct quota *all = work->quota.parent;
    size_t most = all->limit - all->reserve;
    if (work->quota.taken + bytes > most) {
        return cql_invalid(&work->fault,
                           "The request takes over %zu bytes of memory, which is more than any "
                           "request may (an eighth of --memory, less a reserve); ask for less at a "
                           "time: a page, a smaller batch, fewer terms",
                           most);
    }
    return cql_refuse(&work->fault, CQL_OVERLOADED,
                      "Requests under way take all the memory that they may; send it again, or ask "
                      "for less at a time: a page, a smaller batch");
}

static int refuse_time(struct cql_work *work)
{
    struct cql_error *error = &work->fault.error;
    bool is_write = work->write_type != NULL;
    cql_refuse(&work->fault, is_write ? CQL_WRITE_TIMEOUT : CQL_READ_TIMEOUT,
               "Operation timed out - received only 0 responses.%s",
               is_write ? " (Nothing was written.)" : "");
    error->consistency = work->request.consistency;
    error->write_type = work->write_type;
    return ERROR_LIMIT;
}

static int look(struct cql_work *work, int64_t now_us)
{
    if (work->must_end)
        return 0;
    bool has_left = work->session->leaves && now_us >= work->session->leaves_us;
    if (has_left || work->cql->is_stopping) {
        cql_refuse(&work->fault, CQL_OVERLOADED, "%s",
                   has_left ? "The client has left" : "The server is shutting down");
        return ERROR_LIMIT;
    }
    return work->deadline_us > 0 && now_us > work->deadline_us ? refuse_time(work) : 0;
}

static int64_t now_of(const struct cql_work *work)
{
    struct clock *clock = work->cql->options.world->clock;
    return clock->monotonic_us(clock);
}

int cql_guard_look(struct cql_work *work)
{
    return look(work, now_of(work));
}

int cql_guard(struct cql_work *work, int (*step)(void *context), void *context)
{
    struct cql_guard guard;
    struct cql_guard *outer = work->guard;
    work->step_began_us = now_of(work);
    work->guard = &guard;
    int rc = setjmp(guard.back) == 0 ? step(context) : ERROR_LIMIT;
    work->guard = outer;
    count_held(work->cql);
    return rc;
}

/* ---- the budget ---- */

static struct cql_work *work_of(struct arena_budget *budget)
{
    return (struct cql_work *)(void *)((char *)budget - offsetof(struct cql_work, arenas));
}

static void budget_look(struct arena_budget *budget)
{
    struct cql_work *work = work_of(budget);
    if (work->guard == NULL)
        return;
    int64_t now_us = now_of(work);
    int64_t most_us = work->write_type == NULL ? READ_STEP_MAX_US : WRITE_STEP_MAX_US;
    bool is_long = now_us - work->step_began_us > most_us;
    struct cql_guard *guard = work->guard;
    work->guard = NULL; /* what the refusal's text takes cannot be refused */
    int rc = is_long ? refuse_time(work) : look(work, now_us);
    work->guard = guard;
    if (rc != 0)
        unwind(work);
}

static void budget_take(struct arena_budget *budget, size_t bytes)
{
    struct cql_work *work = work_of(budget);
    budget_look(budget);
    if (work->guard == NULL) {
        quota_take_over(&work->quota, bytes);
    } else if (!quota_take(&work->quota, bytes)) {
        struct cql_guard *guard = work->guard;
        work->guard = NULL;
        (void)refuse_memory(work, bytes);
        work->guard = guard;
        unwind(work);
    }
}

static void budget_give(struct arena_budget *budget, size_t bytes)
{
    quota_give(&work_of(budget)->quota, bytes);
}

void cql_guard_begin(struct cql_work *work)
{
    struct quota *all = &work->cql->quota;
    work->quota = (struct quota){.parent = all, .limit = all->limit};
    work->arenas =
        (struct arena_budget){.take = budget_take, .give = budget_give, .look = budget_look};
    arena_set_budget(work->arena, &work->arenas);
    count_held(work->cql);
}

void cql_guard_end(struct cql_work *work)
{
    arena_set_budget(work->arena, NULL);
    check(work->quota.taken == 0);
    count_held(work->cql);
}

struct arena *cql_guard_arena(struct cql_work *work)
{
    struct arena *arena = cql_arena_take(work->cql);
    arena_set_budget(arena, &work->arenas);
    return arena;
}
