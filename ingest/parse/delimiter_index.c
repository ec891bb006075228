/* delimiter_index: see delimiter_index.h.
 *
 * A block of 64 bytes becomes a mask with one bit for each delimiter.  The bits become positions,
 * always eight at a time, even if the mask has fewer, because that saves branches.  The next block
 * overwrites the entries past the count. */
#include "ingest/parse/delimiter_index.h"

#include "base/bytes.h"

enum { BLOCK_BYTES = 64, POSITIONS_STEP = 8 };

static inline uint32_t *mask_positions(uint64_t mask, uint32_t base, uint32_t *positions)
{
    int count = __builtin_popcountll(mask);

    for (int done = 0; done < count; done += POSITIONS_STEP) {
        for (int i = 0; i < POSITIONS_STEP; i++) {
            /* __builtin_ctzll(0) is undefined; positions for a mask of 0 are not used. */
            positions[done + i] = base + (uint32_t)__builtin_ctzll(mask | UINT64_C(1) << 63);
            mask &= mask - 1;
        }
    }
    return positions + count;
}

static inline uint64_t mask_within(uint64_t mask, size_t left)
{
    return left >= BLOCK_BYTES ? mask : mask & ((UINT64_C(1) << left) - 1);
}

/* In the result, the high bit of a byte is set if that byte of `word` equals `byte`.  No carry
 * crosses a byte. */
static inline uint64_t bytes_equal_to(uint64_t word, uint8_t byte)
{
    const uint64_t low7 = UINT64_C(0x7F7F7F7F7F7F7F7F);
    uint64_t difference = word ^ (UINT64_C(0x0101010101010101) * byte);

    return ~(((difference & low7) + low7) | difference | low7);
}

static inline uint64_t mask_portable(const uint8_t *text)
{
    uint64_t mask = 0;

    for (unsigned i = 0; i < BLOCK_BYTES / 8; i++) {
        uint64_t word = load_u64(text + 8 * i);
        uint64_t found = bytes_equal_to(word, ',') | bytes_equal_to(word, '\n');

        /* Gather the eight high bits into the top byte. */
        mask |= ((found >> 7) * UINT64_C(0x0102040810204080) >> 56) << 8 * i;
    }
    return mask;
}

size_t delimiter_index_portable(const uint8_t *text, size_t size, uint32_t *positions)
{
    uint32_t *next = positions;

    for (size_t at = 0; at < size; at += BLOCK_BYTES)
        next = mask_positions(mask_within(mask_portable(text + at), size - at), (uint32_t)at, next);
    return (size_t)(next - positions);
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2,popcnt,bmi"))) static size_t
delimiter_index_avx2(const uint8_t *text, size_t size, uint32_t *positions)
{
    const __m256i comma = _mm256_set1_epi8(',');
    const __m256i line_end = _mm256_set1_epi8('\n');
    uint32_t *next = positions;

    for (size_t at = 0; at < size; at += BLOCK_BYTES) {
        __m256i low = _mm256_loadu_si256((const __m256i_u *)(text + at));
        __m256i high = _mm256_loadu_si256((const __m256i_u *)(text + at + 32));
        __m256i low_found =
            _mm256_or_si256(_mm256_cmpeq_epi8(low, comma), _mm256_cmpeq_epi8(low, line_end));
        __m256i high_found =
            _mm256_or_si256(_mm256_cmpeq_epi8(high, comma), _mm256_cmpeq_epi8(high, line_end));
        uint64_t mask = (uint32_t)_mm256_movemask_epi8(low_found) |
                        (uint64_t)(uint32_t)_mm256_movemask_epi8(high_found) << 32;

        next = mask_positions(mask_within(mask, size - at), (uint32_t)at, next);
    }
    return (size_t)(next - positions);
}

#endif

delimiter_index delimiter_index_best(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi"))
        return delimiter_index_avx2;
#endif
    return delimiter_index_portable;
}
