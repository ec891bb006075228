/* murmur3: the token of a partition key, by which Cassandra distributes and orders partitions. */
#ifndef DAYBOOK_BASE_MURMUR3_H
#define DAYBOOK_BASE_MURMUR3_H

#include <stddef.h>
#include <stdint.h>

/* The token of Cassandra's Murmur3Partitioner: the first half of MurmurHash3 x64 128 with signed
 * bytes in the tail.  Only the empty key has the token INT64_MIN.  Source: cassandra
 * MurmurHash.java (Apache-2.0). */
int64_t murmur3_token(const void *key, size_t size);
#endif
