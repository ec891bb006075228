/* dirty_evicted: see the header.
 *
 * What decides correctness: a day may be evicted only when the tables have all that the set has:
 * its row in amount_by_day is right and durable, all its marks are those of clicks, and no
 * restatement is owed.  Publication waits for the last click (publication.h), whose time the rows
 * of marks do not have.  So an evicted day may be published earlier than one that stays in the set.
 *
 * A day that is marked while it is evicted has two rows in the table of marks, and the set has only
 * the newer mark.  The row of the older mark stays when the day is published.  The next reading of
 * the table finds this row; the day is processed once more, and the row is deleted. */
#include "rollup/days/dirty_evicted.h"

enum {
    LOOKS_MAX = 1024,
    RELIEF_SHARE = 64 /* the write lock is released when 1/64 of the limit is free again */
};

/* ---- going ---- */

static void others_wait(void *context)
{
    (void)context;
}

bool dirty_evicted_is_full(const struct dirty_evicted *evicted, const struct dirty_set *dirty)
{
    return dirty_set_bytes(dirty) > evicted->bytes_max / 2;
}

bool dirty_evicted_is_plain(const struct dirty_mark *mark)
{
    return mark->cause == CAUSE_LATE_CLICKS && !mark->has_change;
}

static bool may_go(const struct dirty_day *day)
{
    bool may = day->owed_us == 0;
    for (uint32_t i = 0; may && i < day->mark_count; i++)
        may = dirty_evicted_is_plain(&dirty_day_marks(day)[i]);
    return may;
}

void dirty_evicted_note(struct dirty_evicted *evicted, uint32_t days, int64_t due_us)
{
    evicted->count += days;
    if (due_us < evicted->due_us)
        evicted->due_us = due_us;
}

void dirty_evicted_make_room(struct dirty_evicted *evicted, struct dirty_set *dirty,
                             const struct publication_rules *rules, uint64_t applies_durable,
                             int64_t now_us)
{
    struct dirty_day *day = dirty_set_first_waiting(dirty);
    for (uint32_t i = 0; i < LOOKS_MAX && day != NULL && dirty_evicted_is_full(evicted, dirty);
         i++) {
        /* The days behind this one were written later still, or are there because they may not be
         * evicted. */
        if (day->order > applies_durable)
            break;
        if (may_go(day)) {
            dirty_evicted_note(evicted, 1, publication_due_us(rules, day, now_us));
            dirty_set_let_go(dirty, day);
        } else {
            dirty_set_wait_longest(dirty, day);
        }
        day = dirty_set_first_waiting(dirty);
    }
}

/* ---- too many ---- */

void dirty_evicted_let_write(struct dirty_evicted *evicted)
{
    if (!evicted->holds)
        return;
    evicted->holds = false;
    store_write_unlock(evicted->store, &evicted->write_lock);
}

void dirty_evicted_press(struct dirty_evicted *evicted, const struct dirty_set *dirty,
                         bool may_lock)
{
    size_t bytes = dirty_set_bytes(dirty);
    if (evicted->holds && bytes <= evicted->bytes_max - evicted->bytes_max / RELIEF_SHARE)
        dirty_evicted_let_write(evicted);
    if (evicted->holds || bytes <= evicted->bytes_max || !may_lock)
        return;
    evicted->holds = true;
    store_write_lock(evicted->store, &evicted->write_lock);
    evicted->executor->timer_start(evicted->executor, &evicted->pressed, 0);
}

/* ---- life ---- */

void dirty_evicted_init(struct dirty_evicted *evicted, struct store *store,
                        struct executor *executor, size_t bytes_max,
                        void (*pressed)(struct timer *timer), void *context)
{
    size_t bytes = bytes_max > 0 ? bytes_max : DIRTY_EVICTED_BYTES_DEFAULT;
    *evicted = (struct dirty_evicted){
        .store = store,
        .executor = executor,
        .bytes_max = bytes > DIRTY_EVICTED_BYTES_MIN ? bytes : DIRTY_EVICTED_BYTES_MIN,
        .due_us = INT64_MAX,
        .write_lock = {.granted = others_wait},
        .pressed = {.fire = pressed, .context = context}};
}

void dirty_evicted_release(struct dirty_evicted *evicted)
{
    check(evicted->returns == 0);
    evicted->executor->timer_stop(evicted->executor, &evicted->pressed);
    dirty_evicted_let_write(evicted);
}
