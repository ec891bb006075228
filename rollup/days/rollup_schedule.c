/* This file decides when a refresh begins by itself, and which days a refresh for a command
 * publishes. */
#include "rollup/days/dirty_evicted_return.h"
#include "rollup/days/rollup_private.h"

/* ---- for commands ---- */

void rollup_refresh_now(struct rollup *rollup, bool publishes, store_done done, void *context)
{
    if (publishes)
        rollup_queue_ended(rollup);
    if (publishes && rollup->evicted.count > 0 && !rollup->is_failed)
        dirty_evicted_return(rollup, DIRTY_EVICTED_ENDED, INT64_MIN, done, context);
    else
        rollup_refresh_queued_now(rollup, publishes, done, context);
}

/* ---- by itself ---- */

void rollup_look(struct timer *timer)
{
    struct rollup *rollup = timer->context;
    struct dirty_set *dirty = rollup->marks.dirty;
    int64_t now_us = rollup_now_us(rollup);
    look_timer_fired(&rollup->look);
    if (rollup->is_closing || rollup->is_failed)
        return;
    bool went_back =
        publication_queue_look(&rollup->due, dirty, rollup_trusts_clock(rollup), now_us);
    dirty_evicted_return_due(rollup, went_back ? INT64_MAX : now_us);
    if (dirty_set_is_behind(dirty))
        rollup_refresh_wanted(rollup);
    else
        rollup_look_again(rollup);
}

/* Restatements that were put off are made now, because a day that waits for its restatement cannot
 * be evicted. */
void rollup_pressed(struct timer *timer)
{
    struct rollup *rollup = timer->context;
    if (rollup->is_closing || rollup->is_failed) {
        dirty_evicted_let_write(&rollup->evicted);
        return;
    }
    if (rollup->refresh == NULL) {
        rollup_make_room(rollup);
        publication_queue_ended(&rollup->due, rollup->marks.dirty, false, rollup_now_us(rollup));
    }
    rollup_refresh_wanted(rollup);
}
