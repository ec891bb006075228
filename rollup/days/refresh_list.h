/* refresh_list: the callers that wait until days are worked off and their figures are durable.
 *
 * A waiter waits for all that was queued when it was added, so clicks that keep coming cannot make
 * it wait for ever.  The waiter is called when the last batch sent by that time is durable.  A
 * waiter for rates waits only for ranges; the refresh takes ranges before any day.  A waiter for a
 * reseller's days waits for ranges and for these days; the refresh takes these days before all
 * other days. */
#ifndef DAYBOOK_ROLLUP_DAYS_REFRESH_LIST_H
#define DAYBOOK_ROLLUP_DAYS_REFRESH_LIST_H

#include "rollup/days/dirty.h"
#include "rollup/days/rollup.h"

struct refresh_waiter {
    struct refresh_waiter *next;
    uint64_t order;                    /* of days */
    uint64_t range_order;              /* of ranges; never raised, as a range keeps its order when
                                        * its chunk is done again */
    bool publishes;
    bool is_of_rates;
    struct figure_watch watch;         /* of a waiter for rates; `each` NULL: no callback */
    struct bytes reseller;             /* data NULL: waits for all days; else for this reseller's
                                        * days from `from` to `to`; borrowed */
    int32_t from;
    int32_t to;
    bool is_worked;                    /* all is worked off; waits only until `applies` batches are
                                        * durable */
    uint64_t applies;
    struct error err;                  /* why some of what it waits for could not be worked off;
                                        * code 0: all could */
    store_done done;                   /* may be NULL */
    void *context;
};

struct refresh_list {
    struct refresh_waiter *first;      /* oldest first */
    uint32_t calls;                    /* how many calls of `done` are under way, one within the
                                        * other */
};

/* Add a copy of `from` that waits for all that is queued before `order`. */
void refresh_list_add(struct refresh_list *list, const struct refresh_waiter *from, uint64_t order);

/* A day, or a range of days if `mark` is given, could not be worked off and is queued again.  The
 * waiters for it get the error when all else that they wait for is worked off. */
void refresh_list_note_failed(struct refresh_list *list, struct bytes reseller, int32_t from,
                              int32_t to, const struct dirty_mark *mark, const struct error *err);

/* A queued day that a waiter for a reseller's days waits for; NULL: none is left. */
struct dirty_day *refresh_list_day(const struct dirty_set *dirty,
                                   const struct refresh_waiter *waiter);
bool refresh_list_is_publishing(const struct refresh_list *list);

/* Note which waiters have nothing left in the queue: they wait for the `applies_sent` batches sent
 * so far.  Call this between chunks only, when each day that was taken off the queue is written. */
void refresh_list_note_worked(struct refresh_list *list, struct dirty_set *dirty,
                              uint64_t applies_sent);
/* Days went back to the end of the queue: waiters for days now wait for all days before `order`. */
void refresh_list_wait_longer(struct refresh_list *list, uint64_t order);

/* refresh_list_call calls the waiters whose figures are durable, given the number of durable
 * batches.  refresh_list_fail calls all waiters with a failure.  The callbacks may add waiters. */
void refresh_list_call(struct refresh_list *list, uint64_t applies_durable);
void refresh_list_fail(struct refresh_list *list, const struct error *err);

/* All ranges before this order are waited for, and no others; 0: none is. */
uint64_t refresh_list_range_order(const struct refresh_list *list);
bool refresh_list_is_idle(const struct refresh_list *list);
#endif
