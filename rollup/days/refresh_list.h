/* refresh_list: the callers that wait until days are processed and their figures are durable.
 *
 * A waiter waits for everything that was queued when it was added, so clicks that keep coming
 * cannot make it wait for ever.  When all of this is processed, the waiter waits until the batches
 * sent so far are durable; then its callback is called.  A waiter for rates waits only for ranges;
 * the refresh takes ranges before any day.  A waiter for a reseller's days waits for ranges and for
 * these days; the refresh takes these days before all other days. */
#ifndef DAYBOOK_ROLLUP_DAYS_REFRESH_LIST_H
#define DAYBOOK_ROLLUP_DAYS_REFRESH_LIST_H

#include "rollup/days/dirty.h"
#include "rollup/days/rollup.h"

struct refresh_waiter {
    struct refresh_waiter *next;
    uint64_t order;                    /* waits for queued days before this order */
    uint64_t range_order;              /* waits for ranges before this order; never raised,
                                        * because a range keeps its order when its chunk is
                                        * repeated */
    bool publishes;
    bool is_of_rates;
    struct figure_watch watch;         /* of a waiter for rates; `each` NULL: no callback */
    struct bytes reseller;             /* data NULL: waits for all days; else for this reseller's
                                        * days from `from` to `to`; borrowed */
    int32_t from;
    int32_t to;
    bool is_worked;                    /* all is processed; waits only until `applies` batches are
                                        * durable */
    uint64_t applies;
    struct error err;                  /* the first failure to process a day or range that it waits
                                        * for; code 0: none */
    store_done done;                   /* may be NULL */
    void *context;
};

struct refresh_list {
    struct refresh_waiter *first;      /* oldest first */
    uint32_t calls;                    /* nested calls of `done` that are under way */
};

/* Add a copy of `from` that waits for all that is queued before `order`. */
void refresh_list_add(struct refresh_list *list, const struct refresh_waiter *from, uint64_t order);

/* Note that a day, or a range of days if `mark` is given, could not be processed and is queued
 * again.  The waiters for it get the error when everything else that they wait for is processed. */
void refresh_list_note_failed(struct refresh_list *list, struct bytes reseller, int32_t from,
                              int32_t to, const struct dirty_mark *mark, const struct error *err);

/* A queued day that a waiter for a reseller's days waits for; NULL: none is left. */
struct dirty_day *refresh_list_day(const struct dirty_set *dirty,
                                   const struct refresh_waiter *waiter);
bool refresh_list_is_publishing(const struct refresh_list *list);

/* Note which waiters have nothing left in the queue; these now wait for the `applies_sent` batches
 * sent so far.  To be called only between chunks, when each day that was taken off the queue is
 * written. */
void refresh_list_note_worked(struct refresh_list *list, struct dirty_set *dirty,
                              uint64_t applies_sent);
/* Note that days went back to the end of the queue: waiters for days now wait for all days before
 * `order`. */
void refresh_list_wait_longer(struct refresh_list *list, uint64_t order);

/* refresh_list_call calls the waiters whose figures are durable, given the number of durable
 * batches.  refresh_list_fail calls all waiters with a failure.  The callbacks may add waiters. */
void refresh_list_call(struct refresh_list *list, uint64_t applies_durable);
void refresh_list_fail(struct refresh_list *list, const struct error *err);

/* Waiters wait for exactly the ranges before this order; 0: for none. */
uint64_t refresh_list_range_order(const struct refresh_list *list);
bool refresh_list_is_idle(const struct refresh_list *list);
#endif
