/* Callers wait for a refresh by the functions of this file.  If the rollup has failed, the caller
 * gets the failure. */
#include "rollup/days/rollup_private.h"

static void wait_for(struct rollup *rollup, const struct refresh_waiter *waiter,
                     void (*begin)(struct rollup *rollup))
{
    struct error err;
    if (!rollup->is_failed) {
        refresh_list_add(&rollup->waiters, waiter, dirty_set_order(rollup->marks.dirty));
        begin(rollup);
    } else if (waiter->done != NULL) {
        error_set(&err, ERROR_FAILED, "%s", rollup->failure.text);
        waiter->done(waiter->context, ERROR_FAILED, &err);
    }
}

void rollup_refresh_queued_now(struct rollup *rollup, bool publishes, store_done done,
                               void *context)
{
    const struct refresh_waiter waiter = {.publishes = publishes, .done = done, .context = context};
    wait_for(rollup, &waiter, rollup_refresh_wanted);
}

void rollup_refresh_rates_now(struct rollup *rollup, const struct figure_watch *watch,
                              store_done done, void *context)
{
    struct refresh_waiter waiter = {.is_of_rates = true, .done = done, .context = context};
    check(watch == NULL || watch->each != NULL);
    if (watch != NULL)
        waiter.watch = *watch;
    wait_for(rollup, &waiter, rollup_refresh_ranges);
}

void rollup_refresh_days_now(struct rollup *rollup, struct bytes reseller, int32_t from, int32_t to,
                             store_done done, void *context)
{
    const struct refresh_waiter waiter = {
        .reseller = reseller, .from = from, .to = to, .done = done, .context = context};
    check(reseller.data != NULL);
    wait_for(rollup, &waiter, rollup_refresh_ranges);
}
