/* radix_sort: stable sort of 64-bit items by some of their bits, for keys packed with a payload.
 *
 * All at once, or in steps, between which the caller does something else. */
#ifndef DAYBOOK_BASE_RADIX_SORT_H
#define DAYBOOK_BASE_RADIX_SORT_H

#include <stdbool.h>
#include <stdint.h>

enum { RADIX_SORT_STARTS = 1 << 11 };

/* Private but for `items`: sorted by the digits so far, the result after the last step. */
struct radix_sort {
    uint64_t *items;
    uint64_t *other;
    uint32_t count;
    uint32_t shift;                    /* of the pass's digit */
    uint32_t digit_bits;
    uint32_t bits;                     /* from `shift` on, of this pass and those to come */
    bool is_moving;                    /* the pass has counted all digits, and moves the items */
    uint32_t done;                     /* items that the pass has counted, or moved */
    uint32_t starts[RADIX_SORT_STARTS];
};

/* Sort `count` items by the bits [shift, shift + bits); `other` is scratch of the same size. */
void radix_sort_begin(struct radix_sort *sort, uint64_t *items, uint64_t *other, uint32_t count,
                      uint32_t shift, uint32_t bits);
/* Count or move up to `items` of them, more than none.  False: they are sorted. */
bool radix_sort_step(struct radix_sort *sort, uint32_t items);

/* The same at once; returns the array that holds the result: `items` or `other`. */
uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint32_t count, uint32_t shift,
                     uint32_t bits);
#endif
