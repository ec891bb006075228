/* sim_options: see the header. */
#include "tests/sim/sim_options.h"

#include <stdlib.h>

uint64_t sim_option(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : otherwise;
}
