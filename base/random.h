/* random: where bytes of chance come from: the system, or in a simulated world a seed. */
#ifndef DAYBOOK_BASE_RANDOM_H
#define DAYBOOK_BASE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

struct random {
    void (*fill)(struct random *random, void *to, size_t size);
    bool is_system;            /* the bytes are the system's: a library may draw for itself */
};
#endif
