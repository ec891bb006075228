/* digits: reads thirteen decimal digits as a number: a click's time in milliseconds since 1970.
 *
 * The two implementations have the same result. */
#ifndef DAYBOOK_INGEST_PARSE_DIGITS_H
#define DAYBOOK_INGEST_PARSE_DIGITS_H

#include "base/bytes.h"

enum {
    DIGITS_TIME = 13,
    DIGITS_READ = 16                   /* bytes that must be readable from the first digit on */
};

static inline uint64_t digits_of_word(uint64_t word)
{
    word = (word & UINT64_C(0x0F0F0F0F0F0F0F0F)) * 2561 >> 8;
    word = (word & UINT64_C(0x00FF00FF00FF00FF)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000FFFF0000FFFF)) * UINT64_C(42949672960001) >> 32;
}

/* Returns 0 only if all eight bytes are digits: a digit's upper four bits are 3, and are still 3
 * after 6 is added. */
static inline uint64_t digits_not_in_word(uint64_t word)
{
    const uint64_t high = UINT64_C(0xF0F0F0F0F0F0F0F0);
    const uint64_t three = UINT64_C(0x3030303030303030);

    return ((word & high) ^ three) | (((word + UINT64_C(0x0606060606060606)) & high) ^ three);
}

/* False: one of the thirteen bytes is not a digit. */
static inline bool digits_time_by_words(const uint8_t *text, uint64_t *number_out)
{
    uint64_t head = load_u64(text);
    uint64_t tail = load_u64(text + DIGITS_TIME - 8);

    if ((digits_not_in_word(head) | digits_not_in_word(tail)) != 0)
        return false;
    *number_out = digits_of_word(head) / 1000 * 100000000 + digits_of_word(tail);
    return true;
}

#if defined(__SSE4_1__)
#include <smmintrin.h>

/* The digits are shifted to the vector's end, behind three zeros. */
static inline bool digits_time_by_vector(const uint8_t *text, uint64_t *number_out)
{
    const __m128i tens = _mm_set1_epi16(1 << 8 | 10);
    const __m128i hundreds = _mm_set1_epi32(1 << 16 | 100);
    const __m128i ten_thousands = _mm_set1_epi32(1 << 16 | 10000);
    __m128i bytes = _mm_loadu_si128((const __m128i_u *)text);
    __m128i digits = _mm_slli_si128(_mm_sub_epi8(bytes, _mm_set1_epi8('0')), 16 - DIGITS_TIME);
    __m128i over = _mm_subs_epu8(digits, _mm_set1_epi8(9));
    __m128i fours = _mm_madd_epi16(_mm_maddubs_epi16(digits, tens), hundreds);
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), ten_thousands);
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);

    *number_out = (both & UINT32_MAX) * 100000000 + (both >> 32);
    return _mm_testz_si128(over, over) != 0;
}
#endif

static inline bool digits_time(const uint8_t *text, uint64_t *number_out)
{
#if defined(__SSE4_1__)
    return digits_time_by_vector(text, number_out);
#else
    return digits_time_by_words(text, number_out);
#endif
}
#endif
