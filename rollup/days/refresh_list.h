/* refresh_list: the callers that wait until days are worked off and what was written is durable.
 *
 * A settle waits for all that was queued when it was asked for: days have ascending orders along
 * the queue, so it is enough that the first one left is younger, and then that the last batch sent
 * until then is durable.  Clicks that keep coming cannot make it wait for ever.  One that is of
 * rates waits for the ranges alone, which the refresh takes before any day; one that is of a
 * reseller's days for these alone, which it takes before all others. */
#ifndef DAYBOOK_ROLLUP_DAYS_REFRESH_LIST_H
#define DAYBOOK_ROLLUP_DAYS_REFRESH_LIST_H

#include "rollup/days/dirty.h"
#include "rollup/days/rollup.h"

/* A caller that waits until all that was queued before `order` is worked off and durable. */
struct refresh_waiter {
    struct refresh_waiter *next;
    uint64_t order;
    bool publishes;
    bool is_of_rates;                  /* waits for ranges alone */
    struct figure_watch watch;         /* of rates; `each` NULL: nobody is told */
    struct bytes reseller;             /* data NULL: waits for everybody's days; else for these */
    int32_t from;                      /* alone, inclusive; the bytes are whose settle it is */
    int32_t to;
    bool is_worked;                    /* only the syncs up to `applies` are still out */
    uint64_t applies;
    store_done done;                   /* NULL: only what waits is counted */
    void *context;
};

struct refresh_list {
    struct refresh_waiter *first;      /* oldest first */
    uint32_t calls;                    /* depth of calls to waiters */
};

/* `from` is copied; it waits for what is queued before `order`. */
void refresh_list_add(struct refresh_list *list, const struct refresh_waiter *from, uint64_t order);

/* The reseller's first queued day that the waiter waits for; NULL: none any more. */
struct dirty_day *refresh_list_day(const struct dirty_set *dirty,
                                   const struct refresh_waiter *waiter);
/* Whether one that publishes is not yet worked off. */
bool refresh_list_is_publishing(const struct refresh_list *list);

/* See who is worked off, when so many batches were sent.  Between chunks of work only: no day is
 * off the queue and not yet written. */
void refresh_list_note_worked(struct refresh_list *list, struct dirty_set *dirty,
                              uint64_t applies_sent);
/* Days went back to the end of the queue: who waits for them waits for all before `order`. */
void refresh_list_wait_longer(struct refresh_list *list, uint64_t order);

/* Call those that need wait no longer, when so many batches are durable; or all, with a failure.
 * What is called may add to the list. */
void refresh_list_tell(struct refresh_list *list, uint64_t applies_durable);
void refresh_list_fail(struct refresh_list *list, const struct error *err);

/* Nothing waits, and no waiter is being called. */
bool refresh_list_is_idle(const struct refresh_list *list);
#endif
