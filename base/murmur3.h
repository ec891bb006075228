/* murmur3: the token of a partition key. */
#ifndef DAYBOOK_BASE_MURMUR3_H
#define DAYBOOK_BASE_MURMUR3_H

#include <stddef.h>
#include <stdint.h>

/* Cassandra's Murmur3Partitioner: MurmurHash3 x64 128 with its signed-byte tail, first half; the
 * least long, which is the token of the empty key alone, is moved to the greatest.  Source:
 * cassandra MurmurHash.java (Apache-2.0), described in docs/FORMATS.md "Token". */
int64_t murmur3_token(const void *key, size_t size);
#endif
