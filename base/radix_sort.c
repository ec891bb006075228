/* radix_sort: least significant digit first.
 *
 * Each pass sorts stably by one digit, so after the last pass the items are ordered by all digits.
 * A pass counts how often each value of the digit occurs, and then moves the items.  Digits have 11
 * bits, which saves passes.  For few items they have 8 bits, because clearing and adding up the
 * counts takes as long as moving hundreds of items. */
#include "base/radix_sort.h"

#include <string.h>

#include "base/error.h"

enum { DIGIT_BITS_FEW = 8, DIGIT_BITS_MANY = 11, MANY = 1024 };
_Static_assert(1 << DIGIT_BITS_MANY == RADIX_SORT_STARTS, "a start for each digit");

/* The last pass may have fewer bits left than the others. */
static uint32_t pass_bits(const struct radix_sort *sort)
{
    return sort->bits < sort->digit_bits ? sort->bits : sort->digit_bits;
}

static uint32_t digit_mask(const struct radix_sort *sort)
{
    return (UINT32_C(1) << pass_bits(sort)) - 1;
}

static void pass_begin(struct radix_sort *sort)
{
    sort->is_moving = false;
    sort->done = 0;
    memset(sort->starts, 0, (digit_mask(sort) + (size_t)1) * sizeof(sort->starts[0]));
}

void radix_sort_begin(struct radix_sort *sort, uint64_t *items, uint64_t *other, uint32_t count,
                      uint32_t shift, uint32_t bits)
{
    check(shift <= 64 && bits <= 64 - shift);
    sort->items = items;
    sort->other = other;
    sort->count = count;
    sort->shift = shift;
    sort->digit_bits = count >= MANY ? DIGIT_BITS_MANY : DIGIT_BITS_FEW;
    sort->bits = bits;
    pass_begin(sort);
}

static void pass_count(struct radix_sort *sort, uint32_t end)
{
    const uint64_t *items = sort->items;
    uint32_t shift = sort->shift;
    uint64_t mask = digit_mask(sort);
    uint32_t *counts = sort->starts;
    for (uint32_t i = sort->done; i < end; i++)
        counts[items[i] >> shift & mask]++;
}

static void pass_move(struct radix_sort *sort, uint32_t end)
{
    const uint64_t *items = sort->items;
    uint64_t *sorted = sort->other;
    uint32_t shift = sort->shift;
    uint64_t mask = digit_mask(sort);
    uint32_t *starts = sort->starts;
    for (uint32_t i = sort->done; i < end; i++)
        sorted[starts[items[i] >> shift & mask]++] = items[i];
}

/* Turn the counts of the digit's values into the positions of their first items. */
static void counts_add_up(struct radix_sort *sort)
{
    uint32_t start = 0;
    uint32_t mask = digit_mask(sort);
    for (uint32_t i = 0; i <= mask; i++) {
        uint32_t count = sort->starts[i];
        sort->starts[i] = start;
        start += count;
    }
    sort->is_moving = true;
    sort->done = 0;
}

static void pass_end(struct radix_sort *sort)
{
    uint64_t *sorted = sort->other;
    uint32_t bits = pass_bits(sort);
    sort->other = sort->items;
    sort->items = sorted;
    sort->shift += bits;
    sort->bits -= bits;
    pass_begin(sort);
}

bool radix_sort_step(struct radix_sort *sort, uint32_t items)
{
    check(items > 0);
    if (sort->bits == 0)
        return false;
    uint32_t left = sort->count - sort->done;
    uint32_t end = sort->done + (left < items ? left : items);
    if (sort->is_moving)
        pass_move(sort, end);
    else
        pass_count(sort, end);
    sort->done = end;
    if (end == sort->count && sort->is_moving)
        pass_end(sort);
    else if (end == sort->count)
        counts_add_up(sort);
    return sort->bits > 0;
}

uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint32_t count, uint32_t shift,
                     uint32_t bits)
{
    struct radix_sort sort;
    radix_sort_begin(&sort, items, other, count, shift, bits);
    while (radix_sort_step(&sort, UINT32_MAX)) {
    }
    return sort.items;
}
