/* refresh_list: the callers that wait until days are worked off and their figures are durable.
 *
 * A waiter waits for all that was queued when it was added.  Orders ascend along the queue, so it
 * is worked off when the first day left has a higher order, and ends when the last batch that was
 * sent by then is durable.  Clicks that keep coming cannot make it wait for ever.  A waiter for
 * rates waits for ranges alone, which the refresh takes before any day; a waiter for a reseller's
 * days waits for these alone, which the refresh takes before all other days. */
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
    struct figure_watch watch;         /* of a waiter for rates; `each` NULL: there is none */
    struct bytes reseller;             /* data NULL: waits for all days; else for the days of this
                                        * reseller from `from` to `to` alone; the caller's bytes */
    int32_t from;
    int32_t to;
    bool is_worked;                    /* waits only until `applies` batches are durable */
    uint64_t applies;
    store_done done;                   /* may be NULL */
    void *context;
};

struct refresh_list {
    struct refresh_waiter *first;      /* oldest first */
    uint32_t calls;                    /* depth of the calls to waiters that are under way */
};

/* Add a copy of `from`, which waits for what is queued before `order`. */
void refresh_list_add(struct refresh_list *list, const struct refresh_waiter *from, uint64_t order);

/* The first queued day that a waiter for a reseller's days waits for; NULL: none is left. */
struct dirty_day *refresh_list_day(const struct dirty_set *dirty,
                                   const struct refresh_waiter *waiter);
/* Whether a waiter that publishes is not yet worked off. */
bool refresh_list_is_publishing(const struct refresh_list *list);

/* Note which waiters are worked off, when so many batches were sent.  Called between chunks only,
 * when no day is off the queue and not yet written. */
void refresh_list_note_worked(struct refresh_list *list, struct dirty_set *dirty,
                              uint64_t applies_sent);
/* Days went back to the end of the queue: waiters that are not worked off wait for all days before
 * `order`. */
void refresh_list_wait_longer(struct refresh_list *list, uint64_t order);

/* Call the waiters whose figures are durable, when so many batches are; or all, with a failure.
 * The callbacks may add waiters. */
void refresh_list_call(struct refresh_list *list, uint64_t applies_durable);
void refresh_list_fail(struct refresh_list *list, const struct error *err);

/* Nothing waits, and no waiter is being called. */
bool refresh_list_is_idle(const struct refresh_list *list);
#endif
