/* sim_random: splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators"). */
#include "tests/sim/sim_random.h"

#include "base/error.h"

uint64_t sim_random_next(struct sim_random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t value = random->state;
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

uint64_t sim_random_below(struct sim_random *random, uint64_t limit)
{
    check(limit > 0);
    return sim_random_next(random) % limit;
}

bool sim_random_chance(struct sim_random *random, uint32_t percent)
{
    return sim_random_below(random, 100) < percent;
}
