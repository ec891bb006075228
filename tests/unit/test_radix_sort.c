/* radix_sort: the order of the bits that were asked for, equals as they came, and at a pace. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/radix_sort.h"

enum { MANY = 100000, PLACE_BITS = 20 };

/* A time that passes whenever it is looked at. */
struct looks {
    struct clock clock;
    uint32_t count;
};

static int64_t looks_monotonic_us(struct clock *clock)
{
    return ++((struct looks *)(void *)clock)->count;
}

/* Items whose upper bits are any of `range` numbers and whose lower ones are their places. */
static uint64_t *items_new(uint32_t count, uint64_t range)
{
    uint64_t *items = memory_alloc(count * sizeof *items);
    uint64_t state = 7;
    for (uint32_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        items[i] = (state >> 33) % range << PLACE_BITS | i;
    }
    return items;
}

/* Since places ascend, stably sorted items do, too. */
static void expect_sorted(uint32_t count, uint64_t range, uint32_t bits, struct pace *pace)
{
    uint64_t *items = items_new(count, range);
    uint64_t *other = memory_alloc(count * sizeof *other);
    const uint64_t *sorted = radix_sort(items, other, count, PLACE_BITS, bits, pace);
    cr_assert(sorted == items || sorted == other);
    for (uint32_t i = 1; i < count; i++)
        cr_assert_lt(sorted[i - 1], sorted[i], "%u of %u", i, count);
    memory_free(items);
    memory_free(other);
}

Test(radix_sort, orders_few_and_many_by_any_number_of_bits)
{
    static const uint32_t counts[] = {1, 2, 25, 1023, 1024, MANY};
    for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        for (uint32_t bits = 1; bits <= 31; bits += 5)
            expect_sorted(counts[i], UINT64_C(1) << bits, bits, NULL);
    expect_sorted(MANY, 1, 0, NULL);
}

/* Ten thousand items are some ten microseconds of each pass, of which 22 bits take two. */
Test(radix_sort, looks_at_the_clock_often_where_there_are_many)
{
    atomic_uint_fast64_t frames = 0;
    struct looks looks = {.clock.monotonic_us = looks_monotonic_us};
    struct pace pace = {0};
    pace_begin(&pace, &looks.clock, &frames);
    looks.count = 0;
    expect_sorted(1000, 1 << 22, 22, &pace);
    cr_expect_eq(looks.count, 0);
    expect_sorted(MANY, 1 << 22, 22, &pace);
    cr_expect_geq(looks.count, 2 * MANY / 10000, "%u", looks.count);
}
