/* vector_join: the inner loop of decoding a vector: buckets and raw bits become numbers.
 *
 * vector_codec.c explains buckets and raw bits; `mantissa` is from VECTOR_MANTISSA_MIN to
 * VECTOR_MANTISSA_MAX.  With an instruction that spreads bits over bytes, eight numbers are made at
 * a time, with the same result. */
#ifndef DAYBOOK_STORAGE_SEGMENT_VECTOR_JOIN_H
#define DAYBOOK_STORAGE_SEGMENT_VECTOR_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VECTOR_MANTISSA_MIN = 2,
    VECTOR_MANTISSA_MAX = 7,
    VECTOR_BUCKETS = 256,
    VECTOR_RAW_READ = 16               /* bytes past the last raw bit that must be readable */
};

/* Counts the raw bits of all the buckets' numbers; false: a bucket is of no 64-bit number. */
bool vector_join_count_bits(const uint8_t *buckets, uint32_t count, uint32_t mantissa,
                            uint64_t *bits_out);

/* Make the numbers of valid buckets, each plus `offset` (wrapping).  Raw bits may have any
 * value. */
void vector_join(const uint8_t *buckets, uint32_t count, uint32_t mantissa, const uint8_t *raw,
                 uint64_t offset, uint64_t *numbers);
/* As vector_join, without special instructions. */
void vector_join_by_table(const uint8_t *buckets, uint32_t count, uint32_t mantissa,
                          const uint8_t *raw, uint64_t offset, uint64_t *numbers);
#endif
