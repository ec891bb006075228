/* random: a source of random bytes: the system, or in a simulated world a seeded generator. */
#ifndef DAYBOOK_BASE_RANDOM_H
#define DAYBOOK_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

struct random {
    void (*fill)(struct random *random, void *to, size_t size);
    bool is_system;
};
#endif
