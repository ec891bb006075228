/* quota: sums along a chain of parents.
 *
 * A child that would hold more than `little` bytes cannot take its parent's reserve, so that small
 * requests still get memory. */
#include "base/quota.h"

#include "base/error.h"

static size_t left_of(const struct quota *quota, size_t limit)
{
    return quota->taken < limit ? limit - quota->taken : 0;
}

static bool has_room(const struct quota *quota, size_t held, size_t bytes)
{
    size_t reserve = held > quota->little ? quota->reserve : 0;
    return bytes <= left_of(quota, quota->limit - reserve);
}

bool quota_take(struct quota *quota, size_t bytes)
{
    if (bytes > left_of(quota, quota->limit))
        return false;
    for (const struct quota *child = quota; child->parent != NULL; child = child->parent)
        if (!has_room(child->parent, child->taken + bytes, bytes))
            return false;
    quota_take_over(quota, bytes);
    return true;
}

void quota_take_over(struct quota *quota, size_t bytes)
{
    for (; quota != NULL; quota = quota->parent)
        quota->taken += bytes;
}

/* `granted` may give bytes back, which calls this function again.  That inner call returns at once,
 * and the loop of the outer call grants those bytes. */
static void grant(struct quota *quota)
{
    if (quota->is_granting)
        return;
    quota->is_granting = true;
    while (quota->first != NULL && quota_take(quota, quota->first->bytes)) {
        struct quota_waiter *waiter = quota->first;
        quota->first = waiter->next;
        waiter->is_waiting = false;
        waiter->granted(waiter);
    }
    quota->is_granting = false;
}

void quota_give(struct quota *quota, size_t bytes)
{
    for (struct quota *at = quota; at != NULL; at = at->parent) {
        check(bytes <= at->taken);
        at->taken -= bytes;
    }
    grant(quota);
}

void quota_charge(struct quota *quota, size_t *held, size_t bytes)
{
    size_t before = *held;
    *held = bytes;
    if (bytes > before)
        quota_take_over(quota, bytes - before);
    else
        quota_give(quota, before - bytes);
}

/* ---- waiters ---- */

void quota_wait(struct quota *quota, struct quota_waiter *waiter)
{
    check(!waiter->is_waiting);
    struct quota_waiter **link = &quota->first;
    while (*link != NULL)
        link = &(*link)->next;
    waiter->next = NULL;
    waiter->is_waiting = true;
    *link = waiter;
    grant(quota);
}

void quota_forget(struct quota *quota, struct quota_waiter *waiter)
{
    if (!waiter->is_waiting)
        return;
    struct quota_waiter **link = &quota->first;
    while (*link != waiter)
        link = &(*link)->next;
    *link = waiter->next;
    waiter->is_waiting = false;
    grant(quota);
}

/* ---- questions ---- */

size_t quota_left(const struct quota *quota)
{
    size_t left = left_of(quota, quota->limit);
    for (const struct quota *above = quota->parent; above != NULL; above = above->parent) {
        size_t there = left_of(above, above->limit);
        left = there < left ? there : left;
    }
    return left;
}

bool quota_is_fair(const struct quota *quota, size_t held)
{
    return held < quota_left(quota) / 2;
}

bool quota_is_past(const struct quota *quota, size_t most, bool was_past)
{
    return quota->taken > (was_past ? most / 2 : most);
}

int64_t quota_unreported(struct quota *quota)
{
    int64_t change = (int64_t)quota->taken - (int64_t)quota->reported;
    quota->reported = quota->taken;
    return change;
}
