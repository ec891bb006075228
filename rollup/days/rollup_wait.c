/* Callers that wait for the refresh (refresh_list.h): each is noted, and the refresh begins. */
#include "rollup/days/rollup_private.h"

int rollup_refresh_queued_now(struct rollup *rollup, bool publishes, store_done done, void *context,
                              struct error *err)
{
    if (rollup->is_failed)
        return error_set(err, ERROR_FAILED, "%s", rollup->failure.text);
    refresh_list_add(
        &rollup->settles,
        &(struct refresh_waiter){.publishes = publishes, .done = done, .context = context},
        dirty_set_order(rollup->marks.dirty));
    rollup_refresh_wanted(rollup);
    return 0;
}

int rollup_refresh_rates_now(struct rollup *rollup, const struct figure_watch *watch,
                             store_done done, void *context, struct error *err)
{
    struct refresh_waiter waiter = {.is_of_rates = true, .done = done, .context = context};
    if (rollup->is_failed)
        return error_set(err, ERROR_FAILED, "%s", rollup->failure.text);
    if (watch != NULL)
        waiter.watch = *watch;
    refresh_list_add(&rollup->settles, &waiter, dirty_set_order(rollup->marks.dirty));
    rollup_refresh_ranges(rollup);
    return 0;
}

int rollup_refresh_days_now(struct rollup *rollup, struct bytes reseller, int32_t from, int32_t to,
                            store_done done, void *context, struct error *err)
{
    if (rollup->is_failed)
        return error_set(err, ERROR_FAILED, "%s", rollup->failure.text);
    refresh_list_add(
        &rollup->settles,
        &(struct refresh_waiter){
            .reseller = reseller, .from = from, .to = to, .done = done, .context = context},
        dirty_set_order(rollup->marks.dirty));
    rollup_refresh_ranges(rollup);
    return 0;
}
