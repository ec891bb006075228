/* frequent: the keys that come most often of late, in the memory of a few keys.
 *
 * Algorithm: Space-Saving (A. Metwally, D. Agrawal, A. El Abbadi, "Efficient Computation of
 * Frequent and Top-k Elements in Data Streams", 2005).  A new key takes the place of the lightest
 * one, and its weight, which is more than the key has for certain: by at most its `error`. */
#ifndef DAYBOOK_BASE_FREQUENT_H
#define DAYBOOK_BASE_FREQUENT_H

#include "base/buffer.h"

enum { FREQUENT_KEYS = 64, FREQUENT_WEIGHT_MAX = 1 << 30 };

struct frequent_key {
    uint64_t hash;
    uint64_t weight, error;
    uint64_t times;                    /* that it has come since frequent_fade, or since it has its
                                        * place if that is later */
    struct buffer key;
};

/* Begins as zeros. */
struct frequent {
    struct frequent_key keys[FREQUENT_KEYS];
    uint32_t count;
};

void frequent_release(struct frequent *frequent);      /* empties it */
/* The key has come `times` times more.  It is copied. */
void frequent_add(struct frequent *frequent, struct bytes key, uint64_t times);
/* Each weight loses an eighth: what came earlier counts less. */
void frequent_fade(struct frequent *frequent);
/* Write the keys with the largest weights that are certain, the largest first.  Returns how many
 * there are, at most `most`.  The pointers are valid until the next call of another function. */
uint32_t frequent_top(const struct frequent *frequent, uint32_t most,
                      const struct frequent_key **keys_out);
#endif
