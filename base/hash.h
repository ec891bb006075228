/* hash: CRC-32C for the log, records and frames, XXH3 for pages and content. */
#ifndef DAYBOOK_BASE_HASH_H
#define DAYBOOK_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/crc32c.h"

uint64_t hash64(const void *data, size_t size);                /* XXH3, seed 0 */

struct hash128 {
    uint64_t low;
    uint64_t high;
};

struct hash128 hash128(const void *data, size_t size);         /* XXH3 */

/* The same over bytes that come in pieces. */
struct hash128_stream;
struct hash128_stream *hash128_stream_new(void);
void hash128_stream_add(struct hash128_stream *stream, const void *data, size_t size);
struct hash128 hash128_stream_digest(const struct hash128_stream *stream);    /* changes nothing */
void hash128_stream_free(struct hash128_stream *stream);

/* Cassandra's Murmur3Partitioner: MurmurHash3 x64 128 with its signed-byte tail, first half; the
 * least long, which is the token of the empty key alone, is moved to the greatest.  Source:
 * cassandra MurmurHash.java (Apache-2.0), described in docs/FORMATS.md "Token". */
int64_t murmur3_token(const void *key, size_t size);
#endif
