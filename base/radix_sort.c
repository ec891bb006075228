/* radix_sort: least significant digit first.
 *
 * Digits have 11 bits, which saves passes.  For few items they have 8 bits, because clearing and
 * adding up 2048 counts takes as long as moving hundreds of items. */
#include "base/radix_sort.h"

#include <string.h>

#include "base/error.h"

enum { DIGIT_BITS_FEW = 8, DIGIT_BITS_MANY = 11, MANY = 1024 };

static void pass(const uint64_t *items, uint64_t *sorted, uint32_t count, uint32_t shift,
                 uint64_t mask)
{
    uint32_t starts[1 << DIGIT_BITS_MANY];
    uint32_t start = 0;
    memset(starts, 0, (mask + 1) * sizeof(starts[0]));
    for (uint32_t i = 0; i < count; i++)
        starts[items[i] >> shift & mask]++;
    for (uint64_t digit = 0; digit <= mask; digit++) {
        uint32_t of_digit = starts[digit];
        starts[digit] = start;
        start += of_digit;
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[starts[items[i] >> shift & mask]++] = items[i];
}

uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint32_t count, uint32_t shift,
                     uint32_t bits)
{
    uint32_t digit_bits = count >= MANY ? DIGIT_BITS_MANY : DIGIT_BITS_FEW;
    check(shift <= 64 && bits <= 64 - shift);
    for (uint32_t left = bits, now; left > 0; left -= now, shift += now) {
        uint64_t *sorted = other;
        now = left < digit_bits ? left : digit_bits;
        pass(items, sorted, count, shift, (UINT64_C(1) << now) - 1);
        other = items;
        items = sorted;
    }
    return items;
}
