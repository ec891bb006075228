/* radix_sort: the order of the bits that were asked for, equals as they came. */
#include <criterion/criterion.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/radix_sort.h"

enum { MANY = 100000, PLACE_BITS = 20 };

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
static void expect_sorted(uint32_t count, uint64_t range, uint32_t bits)
{
    uint64_t *items = items_new(count, range);
    uint64_t *other = memory_alloc(count * sizeof *other);
    const uint64_t *sorted = radix_sort(items, other, count, PLACE_BITS, bits);
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
            expect_sorted(counts[i], UINT64_C(1) << bits, bits);
    expect_sorted(MANY, 1, 0);
}
