/* vector_join: numbers are made one by one with a table of buckets, or eight at a time.
 *
 * With m bits of mantissa, a bucket has e = max(bucket >> m, 1) - 1 raw bits (its exponent), and
 * bucket - (e << m) is the number's bits above these.  For eight buckets that are bytes of one
 * word:
 *
 *     exponents   3   0   1   2 ...
 *     masks     111   0   1  11 ...        (1 << e) - 1, a byte each
 *     raw bits  hgf edcba...  ──PDEP──▶    each byte gets its bits, in the order they lie
 *
 * One instruction reads the raw bits of all eight; the bits that are set in the masks count the
 * bits read.  Exponents up to 8 fit bytes; exponents up to 16 take two steps of four numbers of 16
 * bits.  If one of eight numbers has a larger exponent, which is rare, the eight are made one by
 * one.
 *
 * Both ways read the same bits, and move the position behind these.  Bits that are read past the
 * last raw bit are masked off. */
#include "storage/segment/vector_join.h"

#include "base/bytes.h"

enum { LANES = 8 };

static uint32_t bucket_exponent(uint32_t bucket, uint32_t mantissa)
{
    uint32_t high = bucket >> mantissa;
    return high > 1 ? high - 1 : 0;
}

bool vector_join_count_bits(const uint8_t *buckets, uint32_t count, uint32_t mantissa,
                            uint64_t *bits_out)
{
    uint64_t bits = 0;
    uint8_t greatest = 0;
    for (uint32_t i = 0; i < count; i++) {
        greatest = buckets[i] > greatest ? buckets[i] : greatest;
        bits += bucket_exponent(buckets[i], mantissa);
    }
    *bits_out = bits;
    return bucket_exponent(greatest, mantissa) + mantissa + 1 <= 64;
}

/* For each bucket, how many raw bits its numbers have, and the number whose raw bits are all 0.
 * Not filled for buckets that no 64-bit number has. */
struct bucket_table {
    uint8_t exponents[VECTOR_BUCKETS];
    uint64_t bases[VECTOR_BUCKETS];
    uint64_t masks[VECTOR_BUCKETS]; /* of the raw bits */
};

static void bucket_table_init(struct bucket_table *table, uint32_t mantissa)
{
    for (uint32_t bucket = 0; bucket < VECTOR_BUCKETS; bucket++) {
        uint32_t exponent = bucket_exponent(bucket, mantissa);
        if (exponent + mantissa + 1 > 64)
            return;
        table->exponents[bucket] = (uint8_t)exponent;
        table->bases[bucket] = (uint64_t)(bucket - (exponent << mantissa)) << exponent;
        table->masks[bucket] = (UINT64_C(1) << exponent) - 1;
    }
}

/* Returns the position behind the last raw bit. */
static uint64_t join_some(const struct bucket_table *table, const uint8_t *buckets, uint32_t count,
                          const uint8_t *raw, uint64_t position, uint64_t offset, uint64_t *numbers)
{
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bucket = buckets[i];
        uint32_t shift = position & 7;
        uint64_t word = load_u64(raw + (position >> 3)) >> shift;
        position += table->exponents[bucket];
        if (table->exponents[bucket] + shift > 64)
            word |= (uint64_t)raw[(position - 1) >> 3] << (64 - shift);
        numbers[i] = offset + (table->bases[bucket] | (word & table->masks[bucket]));
    }
    return position;
}

void vector_join_by_table(const uint8_t *buckets, uint32_t count, uint32_t mantissa,
                          const uint8_t *raw, uint64_t offset, uint64_t *numbers)
{
    check(mantissa >= VECTOR_MANTISSA_MIN && mantissa <= VECTOR_MANTISSA_MAX);
    struct bucket_table table;
    bucket_table_init(&table, mantissa);
    join_some(&table, buckets, count, raw, 0, offset, numbers);
}

#if defined(__x86_64__)
#include <immintrin.h>

#define JOIN_TARGET __attribute__((target("avx2,bmi2,popcnt")))

JOIN_TARGET static uint64_t bits_at(const uint8_t *raw, uint64_t position)
{
    const uint8_t *at = raw + (position >> 3);
    uint32_t shift = position & 7;
    return load_u64(at) >> shift | (uint64_t)at[8] << 1 << (63 - shift);
}

/* Exponents are at most 8; the position moves behind the bits. */
JOIN_TARGET static __m256i take_bytes(__m128i exponents, const uint8_t *raw, uint64_t *position)
{
    const __m128i masks = _mm_setr_epi8(0, 1, 3, 7, 15, 31, 63, 127, -1, 0, 0, 0, 0, 0, 0, 0);
    uint64_t mask = (uint64_t)_mm_cvtsi128_si64(_mm_shuffle_epi8(masks, exponents));
    uint64_t low = _pdep_u64(bits_at(raw, *position), mask);
    *position += (uint64_t)_mm_popcnt_u64(mask);
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)low));
}

/* As take_bytes, for exponents up to 16, each in 32 bits. */
JOIN_TARGET static __m256i take_words(__m256i exponents, const uint8_t *raw, uint64_t *position)
{
    const __m256i ones = _mm256_set1_epi32(1);
    __m256i masks = _mm256_sub_epi32(_mm256_sllv_epi32(ones, exponents), ones);
    __m128i packed =
        _mm_packus_epi32(_mm256_castsi256_si128(masks), _mm256_extracti128_si256(masks, 1));
    uint64_t first_mask = (uint64_t)_mm_cvtsi128_si64(packed);
    uint64_t second_mask = (uint64_t)_mm_extract_epi64(packed, 1);
    uint64_t first = _pdep_u64(bits_at(raw, *position), first_mask);
    *position += (uint64_t)_mm_popcnt_u64(first_mask);
    uint64_t second = _pdep_u64(bits_at(raw, *position), second_mask);
    *position += (uint64_t)_mm_popcnt_u64(second_mask);
    return _mm256_cvtepu16_epi32(_mm_set_epi64x((int64_t)second, (int64_t)first));
}

JOIN_TARGET static void store_numbers(__m256i numbers, __m256i offset, uint64_t *to)
{
    __m256i first = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(numbers));
    __m256i second = _mm256_cvtepu32_epi64(_mm256_extracti128_si256(numbers, 1));
    _mm256_storeu_si256((__m256i *)(void *)to, _mm256_add_epi64(first, offset));
    _mm256_storeu_si256((__m256i *)(void *)(to + 4), _mm256_add_epi64(second, offset));
}

JOIN_TARGET static void join_by_lanes(const uint8_t *buckets, uint32_t count, uint32_t mantissa,
                                      const uint8_t *raw, uint64_t offset, uint64_t *numbers)
{
    const __m128i shift = _mm_cvtsi32_si128((int32_t)mantissa);
    const __m128i high_bits = _mm_set1_epi8((char)(0xFF >> mantissa));
    const __m128i low_bits = _mm_set1_epi8((char)(uint8_t)(0xFF << mantissa));
    const __m256i offsets = _mm256_set1_epi64x((int64_t)offset);
    struct bucket_table table;
    uint64_t position = 0;
    uint32_t i = 0;
    bucket_table_init(&table, mantissa);
    for (; i + LANES <= count; i += LANES) {
        __m128i eight = _mm_cvtsi64_si128((int64_t)load_u64(buckets + i));
        __m128i exponents =
            _mm_subs_epu8(_mm_and_si128(_mm_srl_epi16(eight, shift), high_bits), _mm_set1_epi8(1));
        __m128i above =
            _mm_sub_epi8(eight, _mm_and_si128(_mm_sll_epi16(exponents, shift), low_bits));
        __m256i widths = _mm256_cvtepu8_epi32(exponents);
        __m256i low;
        if (_mm_movemask_epi8(_mm_cmpgt_epi8(exponents, _mm_set1_epi8(8))) == 0) {
            low = take_bytes(exponents, raw, &position);
        } else if (_mm_movemask_epi8(_mm_cmpgt_epi8(exponents, _mm_set1_epi8(16))) == 0) {
            low = take_words(widths, raw, &position);
        } else {
            position = join_some(&table, buckets + i, LANES, raw, position, offset, numbers + i);
            continue;
        }
        __m256i high = _mm256_sllv_epi32(_mm256_cvtepu8_epi32(above), widths);
        store_numbers(_mm256_or_si256(high, low), offsets, numbers + i);
    }
    join_some(&table, buckets + i, count - i, raw, position, offset, numbers + i);
}

/* Some processors have the instruction, but need dozens of cycles for it. */
static bool spreads_bits(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && !__builtin_cpu_is("znver1") &&
           !__builtin_cpu_is("znver2") && !__builtin_cpu_is("bdver4");
}
#endif

void vector_join(const uint8_t *buckets, uint32_t count, uint32_t mantissa, const uint8_t *raw,
                 uint64_t offset, uint64_t *numbers)
{
#if defined(__x86_64__)
    if (spreads_bits()) {
        join_by_lanes(buckets, count, mantissa, raw, offset, numbers);
        return;
    }
#endif
    vector_join_by_table(buckets, count, mantissa, raw, offset, numbers);
}
