/* sim_random: the numbers from which a simulation draws; the same seed gives the same numbers. */
#ifndef DAYBOOK_TESTS_SIM_SIM_RANDOM_H
#define DAYBOOK_TESTS_SIM_SIM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct sim_random {
    uint64_t state;          /* start it with the seed */
};

uint64_t sim_random_next(struct sim_random *random);
uint64_t sim_random_below(struct sim_random *random, uint64_t limit);      /* 0..limit-1 */
bool sim_random_chance(struct sim_random *random, uint32_t percent);
#endif
