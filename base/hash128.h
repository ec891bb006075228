/* hash128: XXH3 of 128 bits, for identifying contents by their hash. */
#ifndef DAYBOOK_BASE_HASH128_H
#define DAYBOOK_BASE_HASH128_H

#include <stddef.h>
#include <stdint.h>

struct hash128 {
    uint64_t low;
    uint64_t high;
};

struct hash128 hash128(const void *data, size_t size);

/* The digest is the hash of all bytes that were added so far. */
struct hash128_stream;
struct hash128_stream *hash128_stream_new(void);
void hash128_stream_add(struct hash128_stream *stream, const void *data, size_t size);
struct hash128 hash128_stream_digest(const struct hash128_stream *stream);
void hash128_stream_free(struct hash128_stream *stream);
#endif
