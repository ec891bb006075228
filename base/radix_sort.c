/* radix_sort: least significant digit first.
 *
 * Each pass is stable, so after the last one items are ordered by all digits.  Digits are 8 bits
 * for few items, because clearing and adding up the histogram costs as much as moving hundreds of
 * them, and 11 bits for many, which saves passes. */
#include "base/radix_sort.h"

#include <string.h>

enum { DIGIT_BITS_FEW = 8, DIGIT_BITS_MANY = 11, MANY = 1024 };

static void radix_pass(const uint64_t *items, uint64_t *sorted, uint32_t count, uint32_t shift,
                       uint64_t mask, struct pace *pace)
{
    uint32_t starts[1 << DIGIT_BITS_MANY];
    memset(starts, 0, (mask + 1) * sizeof starts[0]);
    for (uint32_t i = 0, end; i < count;)
        for (end = pace_piece(pace, i, count); i < end; i++)
            starts[items[i] >> shift & mask]++;
    uint32_t start = 0;
    for (uint32_t i = 0; i <= mask; i++) {
        uint32_t size = starts[i];
        starts[i] = start;
        start += size;
    }
    for (uint32_t i = 0, end; i < count;)
        for (end = pace_piece(pace, i, count); i < end; i++)
            sorted[starts[items[i] >> shift & mask]++] = items[i];
}

uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint32_t count, uint32_t shift,
                     uint32_t bits, struct pace *pace)
{
    uint32_t digit_bits = count >= MANY ? DIGIT_BITS_MANY : DIGIT_BITS_FEW;
    while (bits > 0) {
        uint32_t digit = bits < digit_bits ? bits : digit_bits;
        radix_pass(items, other, count, shift, (UINT64_C(1) << digit) - 1, pace);
        uint64_t *sorted = other;
        other = items;
        items = sorted;
        shift += digit;
        bits -= digit;
    }
    return items;
}
