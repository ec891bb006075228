/* sim_seen: a set of 64-bit hashes, to tell a crash that is new from one that was checked. */
#ifndef DAYBOOK_TESTS_SIM_SIM_SEEN_H
#define DAYBOOK_TESTS_SIM_SIM_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All-zero is an empty set. */
struct sim_seen {
    uint64_t *slots;               /* 0: free */
    size_t capacity;               /* a power of two */
    size_t count;
};

/* True if `hash` was not in it. */
bool sim_seen_add(struct sim_seen *seen, uint64_t hash);
void sim_seen_clear(struct sim_seen *seen);
void sim_seen_release(struct sim_seen *seen);
#endif
