/* frequent: finds the keys that occurred most often in recent time, with memory for a few keys.
 *
 * Algorithm: Space-Saving (A. Metwally, D. Agrawal, A. El Abbadi, "Efficient Computation of
 * Frequent and Top-k Elements in Data Streams", 2005).  When all places are taken, a new key
 * replaces the key with the smallest weight, and begins with that weight.  So a key's weight may be
 * too large, by at most `error`. */
#ifndef DAYBOOK_BASE_FREQUENT_H
#define DAYBOOK_BASE_FREQUENT_H

#include "base/buffer.h"

enum { FREQUENT_KEYS = 64, FREQUENT_WEIGHT_MAX = 1 << 30 };

struct frequent_key {
    uint64_t hash;
    uint64_t weight, error;
    uint64_t times;                    /* occurrences since frequent_fade, or since the key got its
                                        * place if that was later */
    struct buffer key;
};

/* Begins as zeros. */
struct frequent {
    struct frequent_key keys[FREQUENT_KEYS];
    uint32_t count;
};

void frequent_release(struct frequent *frequent);      /* empties it */
/* Count `times` occurrences of `key`, which is copied. */
void frequent_add(struct frequent *frequent, struct bytes key, uint64_t times);
/* Reduce each weight by an eighth, so that older occurrences count less. */
void frequent_fade(struct frequent *frequent);
/* Write the keys with the largest certain weights (`weight` - `error`), the largest first.  Returns
 * how many were written, at most `most`.  The pointers are valid until `frequent` changes. */
uint32_t frequent_top(const struct frequent *frequent, uint32_t most,
                      const struct frequent_key **keys_out);
#endif
