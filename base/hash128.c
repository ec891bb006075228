/* hash128: adapter of xxHash. */
#include "base/hash128.h"

#if defined(__x86_64__)
#include <xxh_x86dispatch.h> /* the same functions, by what the processor has */
#else
#include <xxhash.h>
#endif

#include "base/error.h"
#include "base/memory.h"

struct hash128_stream {
    XXH3_state_t *state;
};

struct hash128 hash128(const void *data, size_t size)
{
    XXH128_hash_t hash = XXH3_128bits(data, size);
    return (struct hash128){.low = hash.low64, .high = hash.high64};
}

struct hash128_stream *hash128_stream_new(void)
{
    struct hash128_stream *stream = memory_alloc(sizeof *stream);
    stream->state = XXH3_createState();
    check(stream->state != NULL);
    check(XXH3_128bits_reset(stream->state) == XXH_OK);
    return stream;
}

void hash128_stream_add(struct hash128_stream *stream, const void *data, size_t size)
{
    if (size > 0)
        check(XXH3_128bits_update(stream->state, data, size) == XXH_OK);
}

struct hash128 hash128_stream_digest(const struct hash128_stream *stream)
{
    XXH128_hash_t hash = XXH3_128bits_digest(stream->state);
    return (struct hash128){.low = hash.low64, .high = hash.high64};
}

void hash128_stream_free(struct hash128_stream *stream)
{
    if (stream == NULL)
        return;
    XXH3_freeState(stream->state);
    memory_free(stream);
}
