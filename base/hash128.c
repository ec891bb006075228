/* hash128: adapter of xxHash. */
#include "base/hash128.h"

#if defined(__x86_64__)
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

#include "base/error.h"

static struct hash128 hash128_of(XXH128_hash_t hash)
{
    return (struct hash128){.low = hash.low64, .high = hash.high64};
}

struct hash128 hash128(const void *data, size_t size)
{
    return hash128_of(XXH3_128bits(data, size));
}

struct hash128_stream *hash128_stream_new(void)
{
    XXH3_state_t *state = XXH3_createState();
    check(state != NULL);
    check(XXH3_128bits_reset(state) == XXH_OK);
    return (struct hash128_stream *)state;
}

void hash128_stream_add(struct hash128_stream *stream, const void *data, size_t size)
{
    if (size > 0)
        check(XXH3_128bits_update((XXH3_state_t *)stream, data, size) == XXH_OK);
}

struct hash128 hash128_stream_digest(const struct hash128_stream *stream)
{
    return hash128_of(XXH3_128bits_digest((const XXH3_state_t *)stream));
}

void hash128_stream_free(struct hash128_stream *stream)
{
    XXH3_freeState((XXH3_state_t *)stream);
}
