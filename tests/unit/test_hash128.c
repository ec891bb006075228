/* test_hash128: hashes against published results, in one piece and in many. */
#include "base/hash128.h"

#include <criterion/criterion.h>

static void fill(uint8_t *to, size_t size)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (uint8_t)(state >> 24);
    }
}

Test(hash128, xxh3_gives_the_published_results)
{
    /* Sanity values of xxHash 0.8 for the empty input. */
    cr_assert_eq(hash128("", 0).high, UINT64_C(0x99aa06d3014798d8));
    cr_assert_eq(hash128("", 0).low, UINT64_C(0x6001c324468d497f));
}

Test(hash128, a_stream_hashes_like_the_whole)
{
    uint8_t data[3000];
    fill(data, sizeof data);
    for (size_t step = 1; step < sizeof data; step += 293) {
        struct hash128_stream *stream = hash128_stream_new();
        for (size_t at = 0; at < sizeof data; at += step) {
            size_t left = sizeof data - at;
            hash128_stream_add(stream, data + at, left < step ? left : step);
            struct hash128 so_far = hash128_stream_digest(stream);
            struct hash128 expected = hash128(data, left < step ? sizeof data : at + step);
            cr_assert_eq(so_far.low, expected.low);
            cr_assert_eq(so_far.high, expected.high);
        }
        hash128_stream_free(stream);
    }
}
