/* sim_options: what the environment tells a simulation, such as SIM_SEED. */
#ifndef DAYBOOK_TESTS_SIM_SIM_OPTIONS_H
#define DAYBOOK_TESTS_SIM_SIM_OPTIONS_H

#include <stdint.h>

/* The number that the variable has, or `otherwise` where it has none or is empty. */
uint64_t sim_option(const char *name, uint64_t otherwise);
#endif
