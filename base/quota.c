/* quota: sums along a chain of parents.
 *
 * The reserve lets small requests through while large ones have filled all that large ones may
 * have: a child that holds more than `little` stops short of it. */
#include "base/quota.h"

#include "base/error.h"

static size_t left_of(const struct quota *quota, size_t limit)
{
    return quota->taken < limit ? limit - quota->taken : 0;
}

/* Whether a child that then holds `held` may take `bytes` of them here. */
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

void quota_give(struct quota *quota, size_t bytes)
{
    for (; quota != NULL; quota = quota->parent) {
        check(bytes <= quota->taken);
        quota->taken -= bytes;
    }
}

size_t quota_left(const struct quota *quota)
{
    size_t left = left_of(quota, quota->limit);
    for (const struct quota *above = quota->parent; above != NULL; above = above->parent) {
        size_t there = left_of(above, above->limit);
        left = there < left ? there : left;
    }
    return left;
}
