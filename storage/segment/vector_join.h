/* vector_join: the inner loop of decoding a vector: buckets and raw bits become numbers.
 *
 * What buckets and raw bits are says vector_codec.c; `mantissa` is from VECTOR_MANTISSA_MIN to
 * VECTOR_MANTISSA_MAX.  A processor that can spread bits over bytes takes eight numbers at once,
 * with the same result. */
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

/* How many raw bits the buckets ask for; false when one is no bucket of a 64-bit number. */
bool vector_join_count_bits(const uint8_t *buckets, uint32_t count, uint32_t mantissa,
                            uint64_t *bits_out);

/* The numbers of valid buckets, each plus `offset` (wrapping).  Any bits serve as raw bits. */
void vector_join(const uint8_t *buckets, uint32_t count, uint32_t mantissa, const uint8_t *raw,
                 uint64_t offset, uint64_t *numbers);
/* The same, for any processor. */
void vector_join_by_table(const uint8_t *buckets, uint32_t count, uint32_t mantissa,
                          const uint8_t *raw, uint64_t offset, uint64_t *numbers);
#endif
