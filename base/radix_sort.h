/* radix_sort: stable sort of 64-bit items by some of their bits, for keys packed with a payload. */
#ifndef DAYBOOK_BASE_RADIX_SORT_H
#define DAYBOOK_BASE_RADIX_SORT_H

#include <stdint.h>

/* Sort by the bits [shift, shift + bits).  `other` has room for `count` items.  Returns `items` or
 * `other`, whichever holds the result. */
uint64_t *radix_sort(uint64_t *items, uint64_t *other, uint32_t count, uint32_t shift,
                     uint32_t bits);
#endif
