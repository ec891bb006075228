/* Who waits for the work, and when a server begins it by itself.
 *
 * A settle waits for all that was queued when it was asked for: days have ascending orders along
 * the queue, so it is enough that the first one left is younger, and then that the last batch sent
 * until then is durable.  Clicks that keep coming cannot make it wait for ever.  One that is of
 * rates waits for the ranges alone, which the work takes before any day; one that is of a
 * reseller's days for these alone, which it takes before all others.
 *
 * A server looks at the queue TICK_US after the first mark, and at the waiting days when the first
 * of them may be due; due_next_us may be too early (a click has put a day off), never too late but
 * where the clock goes back, after which all are looked at again. */
#include "rollup/days/rollup_private.h"
#include "base/memory.h"

/* A figure is at most a tick and its work behind.  Ticks grow with the work, so that it takes about
 * a fifth of the engine thread, up to a length that keeps figures within a second of clicks. */
#define TICK_US     INT64_C(250000)
#define TICK_MAX_US INT64_C(850000)
#define WORK_SHARE  4                   /* a tick is so many times the last work's length */
#define IDLE_US     INT64_C(3600000000) /* a look at the clock, should it have jumped; */
#define DOUBT_US    INT64_C(60000000)   /* while it is in doubt, no look before so long */

/* ---- waiters ---- */

/* Takes *link out of the list and tells it. */
static void waiter_call(struct rollup *rollup, struct settle_waiter **link, int status,
                        const struct error *err)
{
    struct settle_waiter *waiter = *link;
    *link = waiter->next;
    rollup->pins++;
    waiter->done(waiter->context, status, err);
    rollup->pins--;
    memory_free(waiter);
}

void rollup_fail_waiters(struct rollup *rollup, int status, const struct error *err)
{
    struct error failure = {0};
    error_set(&failure, status, "%s", err != NULL ? err->text : error_text(status));
    while (rollup->waiters != NULL)
        waiter_call(rollup, &rollup->waiters, status, &failure);
}

void rollup_fail(struct rollup *rollup, int status, const struct error *err)
{
    rollup->is_failed = true;
    error_set(&rollup->failure, status, "%s", err != NULL ? err->text : error_text(status));
}

struct dirty_day *rollup_waiter_day(const struct rollup *rollup, const struct settle_waiter *waiter)
{
    struct dirty_day *day = dirty_set_first_of(rollup->dirty, waiter->reseller);
    while (day != NULL && (!day->is_queued || day->order >= waiter->order ||
                           day->day < waiter->from || day->day > waiter->to))
        day = day->peer_next;
    return day;
}

static bool is_worked(const struct rollup *rollup, const struct settle_waiter *waiter)
{
    const struct dirty_day *day = dirty_set_first_queued(rollup->dirty);
    const struct dirty_range *range = dirty_set_first_range(rollup->dirty);
    if (range != NULL && range->order < waiter->order)
        return false;
    if (waiter->reseller.data != NULL)
        return rollup_waiter_day(rollup, waiter) == NULL;
    return waiter->is_of_rates || day == NULL || day->order >= waiter->order;
}

/* Called between chunks only: no day is off the queue and not yet written. */
static void note_worked(struct rollup *rollup)
{
    for (struct settle_waiter *waiter = rollup->waiters; waiter != NULL; waiter = waiter->next) {
        if (!waiter->is_worked && is_worked(rollup, waiter)) {
            waiter->is_worked = true;
            waiter->applies = rollup->applies_sent;
        }
    }
}

void rollup_settled(struct rollup *rollup)
{
    if (rollup->is_failed) {
        struct error failure = rollup->failure;
        rollup_fail_waiters(rollup, failure.code, &failure);
        return;
    }
    struct settle_waiter **link = &rollup->waiters;
    while (*link != NULL) {
        if ((*link)->is_worked && rollup->applies_durable >= (*link)->applies) {
            waiter_call(rollup, link, 0, NULL);
            /* Whoever was told may have added or taken others. */
            link = &rollup->waiters;
        } else {
            link = &(*link)->next;
        }
    }
}

void rollup_chunk_written(struct rollup *rollup)
{
    note_worked(rollup);
    rollup_settled(rollup);
}

void rollup_wait_longer(struct rollup *rollup)
{
    rollup->order_wanted = dirty_set_order(rollup->dirty);
    for (struct settle_waiter *waiter = rollup->waiters; waiter != NULL; waiter = waiter->next)
        if (!waiter->is_worked)
            waiter->order = rollup->order_wanted;
}

void rollup_queue_waiting(struct rollup *rollup)
{
    int64_t now_us = rollup_now_us(rollup);
    bool may_publish = rollup_trusts_clock(rollup);
    struct dirty_day *next;
    for (struct dirty_day *day = dirty_set_first_waiting(rollup->dirty); day != NULL; day = next) {
        next = TAILQ_NEXT(day, link);
        if (day->owed_us != 0 ||
            (may_publish && now_us >= publication_earliest_us(&rollup->rules, day->day)))
            dirty_set_queue(rollup->dirty, day);
    }
}

/* Of what is queued now. */
static void waiter_add(struct rollup *rollup, const struct settle_waiter *from)
{
    struct settle_waiter **end = &rollup->waiters;
    struct settle_waiter *waiter = memory_zeroed(1, sizeof(*waiter));
    *waiter = *from;
    waiter->order = dirty_set_order(rollup->dirty);
    while (*end != NULL)
        end = &(*end)->next;
    *end = waiter;
}

int rollup_settle(struct rollup *rollup, bool publishes, store_done done, void *context,
                  struct error *err)
{
    if (publishes)
        rollup_queue_waiting(rollup);
    if (publishes && rollup->away.count > 0)
        return away_return(rollup, AWAY_ENDED, INT64_MIN, done, context, err);
    return rollup_settle_queued(rollup, publishes, done, context, err);
}

int rollup_settle_queued(struct rollup *rollup, bool publishes, store_done done, void *context,
                         struct error *err)
{
    if (rollup->is_failed)
        return error_set(err, ERROR_FAILED, "%s", rollup->failure.text);
    waiter_add(rollup,
               &(struct settle_waiter){.publishes = publishes, .done = done, .context = context});
    rollup_work_wanted(rollup);
    return 0;
}

int rollup_settle_rates(struct rollup *rollup, const struct figure_watch *watch, store_done done,
                        void *context, struct error *err)
{
    struct settle_waiter waiter = {.is_of_rates = true, .done = done, .context = context};
    if (rollup->is_failed)
        return error_set(err, ERROR_FAILED, "%s", rollup->failure.text);
    if (watch != NULL)
        waiter.watch = *watch;
    waiter_add(rollup, &waiter);
    rollup_work_ranges(rollup);
    return 0;
}

int rollup_settle_days(struct rollup *rollup, struct bytes reseller, int32_t from, int32_t to,
                       store_done done, void *context, struct error *err)
{
    if (rollup->is_failed)
        return error_set(err, ERROR_FAILED, "%s", rollup->failure.text);
    waiter_add(rollup,
               &(struct settle_waiter){
                   .reseller = reseller, .from = from, .to = to, .done = done, .context = context});
    rollup_work_ranges(rollup);
    return 0;
}

/* ---- by itself ---- */

void rollup_tick_at(struct rollup *rollup, int64_t at_us)
{
    struct executor *executor = rollup->world->executor;
    struct clock *clock = rollup->world->clock;
    int64_t delay_us = at_us - rollup_now_us(rollup);
    int64_t tick_at_us = clock->monotonic_us(clock) + (delay_us > 0 ? delay_us : 0);
    if (!rollup->is_automatic || rollup->is_closing || tick_at_us >= rollup->tick_at_us)
        return;
    rollup->tick_at_us = tick_at_us;
    executor->timer_stop(executor, &rollup->tick);
    executor->timer_start(executor, &rollup->tick, delay_us > 0 ? (delay_us + 999) / 1000 : 0);
}

void rollup_tick_soon(struct rollup *rollup)
{
    int64_t tick_us = rollup->work_took_us * WORK_SHARE;
    if (tick_us < TICK_US)
        tick_us = TICK_US;
    if (tick_us > TICK_MAX_US)
        tick_us = TICK_MAX_US;
    rollup_tick_at(rollup, rollup_now_us(rollup) + tick_us);
}

static int64_t due_next_us(const struct rollup *rollup)
{
    if (rollup->away.returns > 0)
        return rollup->due_next_us;
    return rollup_earlier(rollup->due_next_us, rollup->away.due_us);
}

void rollup_tick_again(struct rollup *rollup)
{
    int64_t now_us = rollup_now_us(rollup);
    int64_t at_us = rollup_earlier(due_next_us(rollup), now_us + IDLE_US);
    if (!rollup_trusts_clock(rollup) && at_us < now_us + DOUBT_US)
        at_us = now_us + DOUBT_US;
    if (dirty_set_queued(rollup->dirty) > 0 || dirty_set_first_range(rollup->dirty) != NULL)
        rollup_tick_soon(rollup);
    else
        rollup_tick_at(rollup, at_us);
}

static int64_t day_due_us(const struct rollup *rollup, const struct dirty_day *day, int64_t now_us)
{
    return day->owed_us != 0 ? publication_restate_us(&rollup->rules, day, now_us)
                             : publication_due_us(&rollup->rules, day, now_us);
}

static void queue_due(struct rollup *rollup, int64_t now_us)
{
    bool may_publish = rollup_trusts_clock(rollup);
    struct dirty_day *next;
    rollup->due_next_us = INT64_MAX;
    for (struct dirty_day *day = dirty_set_first_waiting(rollup->dirty); day != NULL; day = next) {
        int64_t due_us = day_due_us(rollup, day, now_us);
        next = TAILQ_NEXT(day, link);
        if (due_us <= now_us && (may_publish || day->owed_us != 0))
            dirty_set_queue(rollup->dirty, day);
        else
            rollup->due_next_us = rollup_earlier(rollup->due_next_us, due_us);
    }
}

void rollup_tick(struct timer *timer)
{
    struct rollup *rollup = timer->context;
    int64_t now_us = rollup_now_us(rollup);
    rollup->tick_at_us = INT64_MAX;
    if (rollup->is_closing || rollup->is_failed)
        return;
    bool went_back = now_us < rollup->looked_us;
    rollup->looked_us = now_us;
    if (now_us >= rollup->due_next_us || went_back)
        queue_due(rollup, now_us);
    away_return_due(rollup, went_back ? INT64_MAX : now_us);
    if (dirty_set_queued(rollup->dirty) > 0 || dirty_set_first_range(rollup->dirty) != NULL)
        rollup_work_wanted(rollup);
    else
        rollup_tick_again(rollup);
}
