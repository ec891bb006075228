/* hash64: adapter of xxHash. */
#include "base/hash64.h"

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

uint64_t hash64(const void *data, size_t size)
{
    return XXH3_64bits(data, size);
}
