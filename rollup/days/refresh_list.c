/* refresh_list: see the header. */
#include "rollup/days/refresh_list.h"

#include "base/memory.h"

void refresh_list_add(struct refresh_list *list, const struct refresh_waiter *from, uint64_t order)
{
    struct refresh_waiter **end = &list->first;
    struct refresh_waiter *waiter = memory_copy(from, sizeof(*from));
    waiter->order = waiter->range_order = order;
    while (*end != NULL)
        end = &(*end)->next;
    *end = waiter;
}

bool refresh_list_is_idle(const struct refresh_list *list)
{
    return list->first == NULL && list->calls == 0;
}

/* ---- calling them ---- */

static void waiter_call(struct refresh_list *list, struct refresh_waiter **link, int status,
                        const struct error *err)
{
    struct refresh_waiter *waiter = *link;
    *link = waiter->next;
    list->calls++;
    if (waiter->done != NULL)
        waiter->done(waiter->context, status, err);
    list->calls--;
    memory_free(waiter);
}

void refresh_list_fail(struct refresh_list *list, const struct error *err)
{
    const struct error failure = *err;
    while (list->first != NULL)
        waiter_call(list, &list->first, failure.code, &failure);
}

void refresh_list_call(struct refresh_list *list, uint64_t applies_durable)
{
    struct refresh_waiter **link = &list->first;
    while (*link != NULL) {
        if ((*link)->is_worked && applies_durable >= (*link)->applies) {
            const struct error err = (*link)->err;
            waiter_call(list, link, err.code, &err);
            /* The callback may have changed the list. */
            link = &list->first;
        } else {
            link = &(*link)->next;
        }
    }
}

/* ---- what they wait for ---- */

struct dirty_day *refresh_list_day(const struct dirty_set *dirty,
                                   const struct refresh_waiter *waiter)
{
    struct dirty_day *day = dirty_set_first_of(dirty, waiter->reseller);
    while (day != NULL && (!day->is_queued || day->order >= waiter->order ||
                           day->day < waiter->from || day->day > waiter->to))
        day = day->peer_next;
    return day;
}

static bool is_worked(struct dirty_set *dirty, const struct refresh_waiter *waiter)
{
    const struct dirty_day *day = dirty_set_first_queued(dirty);
    const struct dirty_range *range = dirty_set_first_range(dirty);
    if (range != NULL && range->order < waiter->range_order)
        return false;
    if (waiter->reseller.data != NULL)
        return refresh_list_day(dirty, waiter) == NULL;
    return waiter->is_of_rates || day == NULL || day->order >= waiter->order;
}

void refresh_list_note_worked(struct refresh_list *list, struct dirty_set *dirty,
                              uint64_t applies_sent)
{
    for (struct refresh_waiter *waiter = list->first; waiter != NULL; waiter = waiter->next) {
        if (!waiter->is_worked && is_worked(dirty, waiter)) {
            waiter->is_worked = true;
            waiter->applies = applies_sent;
        }
    }
}

static bool is_waiting_for(const struct refresh_waiter *waiter, struct bytes reseller, int32_t from,
                           int32_t to, const struct dirty_mark *mark)
{
    if (waiter->is_worked)
        return false;
    if (waiter->reseller.data != NULL)
        return bytes_equal(waiter->reseller, reseller) && from <= waiter->to && to >= waiter->from;
    if (!waiter->is_of_rates || waiter->watch.each == NULL)
        return !waiter->is_of_rates || mark != NULL;
    return mark != NULL && mark->has_change &&
           memcmp(mark->change, waiter->watch.change, sizeof(mark->change)) == 0;
}

void refresh_list_note_failed(struct refresh_list *list, struct bytes reseller, int32_t from,
                              int32_t to, const struct dirty_mark *mark, const struct error *err)
{
    for (struct refresh_waiter *waiter = list->first; waiter != NULL; waiter = waiter->next)
        if (is_waiting_for(waiter, reseller, from, to, mark))
            error_keep(&waiter->err, err->code, err);
}

void refresh_list_wait_longer(struct refresh_list *list, uint64_t order)
{
    for (struct refresh_waiter *waiter = list->first; waiter != NULL; waiter = waiter->next)
        if (!waiter->is_worked)
            waiter->order = order;
}

uint64_t refresh_list_range_order(const struct refresh_list *list)
{
    uint64_t order = 0;
    for (const struct refresh_waiter *waiter = list->first; waiter != NULL; waiter = waiter->next)
        if (!waiter->is_worked && waiter->range_order > order)
            order = waiter->range_order;
    return order;
}

bool refresh_list_is_publishing(const struct refresh_list *list)
{
    for (const struct refresh_waiter *waiter = list->first; waiter != NULL; waiter = waiter->next)
        if (waiter->publishes && !waiter->is_worked)
            return true;
    return false;
}
