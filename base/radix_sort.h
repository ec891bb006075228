/* radix_sort: stable sort of 64-bit items by some of their bits, for keys packed with a payload.
 *
 * radix_sort sorts in one call; radix_sort_begin and radix_sort_step sort in steps, between which
 * the caller may do other work. */
#ifndef DAYBOOK_BASE_RADIX_SORT_H
#define DAYBOOK_BASE_RADIX_SORT_H

#include <stdbool.h>
#include <stdint.h>

enum { RADIX_SORT_STARTS = 1 << 11 };

/* Private; `items` is the result after the last step. */
struct radix_sort {
    uint64_t *items;
    uint64_t *other;
    uint32_t count;
    uint32_t shift;                    /* of the digit by which this pass sorts */
    uint32_t digit_bits;
    uint32_t bits;                     /* that the items are not sorted by yet, from `shift` on */
    bool is_moving;                    /* the pass has counted all digits, and moves the items */
    uint32_t done;                     /* items that the pass has counted, or moved */
    uint32_t starts[RADIX_SORT_STARTS];
};

/* Begin to sort `count` items by the bits [shift, shift + bits).  `other` has room for as many;
 * the result is in `items` or in `other`. */
void radix_sort_begin(struct radix_sort *sort, uint64_t *items, uint64_t *other, uint32_t count,
                      uint32_t shift, uint32_t bits);
/* Count or move up to `items` items; `items` is not 0.  False: all are sorted. */
bool radix_sort_step(struct radix_sort *sort, uint32_t items);

/* Sort in one call; returns the array that holds the result: `items` or `other`. */
uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint32_t count, uint32_t shift,
                     uint32_t bits);
#endif
