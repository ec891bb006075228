/* radix_sort: stable sort of 64-bit items by some of their bits, for keys packed with a payload. */
#ifndef DAYBOOK_BASE_RADIX_SORT_H
#define DAYBOOK_BASE_RADIX_SORT_H

#include "base/world/pace.h"

/* Sort `count` items by the bits [shift, shift + bits); `other` is scratch of the same size; at a
 * pace, or NULL.  Returns the array that holds the result: `items` or `other`. */
uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint32_t count, uint32_t shift,
                     uint32_t bits, struct pace *pace);
#endif
