/* random: a source of random bytes: the system, or a seed in a simulated world. */
#ifndef DAYBOOK_BASE_RANDOM_H
#define DAYBOOK_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

struct random {
    void (*fill)(struct random *random, void *to, size_t size);
    bool is_system;            /* a library may take random bytes from the system itself */
};
#endif
