/* test_vector_join: eight numbers at once are the same as one after the other. */
#include "storage/segment/vector_join.h"

#include <criterion/criterion.h>

#include "base/bytes.h"
#include "tests/unit/columnar_fixture.h"

enum { COUNT = 300, RAW_SIZE = COUNT * 8 + VECTOR_RAW_READ };

/* Buckets of numbers up to so many bits: few and many raw bits in any order. */
static void fill_buckets(uint64_t *state, uint32_t mantissa, uint32_t bits, uint8_t *buckets)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t exponent = (uint32_t)(click_random(state) % (bits - mantissa));
        uint32_t above = (uint32_t)(click_random(state) % (1U << mantissa));
        uint32_t bucket = ((exponent + 1) << mantissa) + above;
        buckets[i] = (uint8_t)(bucket < 256 ? bucket : above);
    }
}

static void expect_same(const uint8_t *buckets, uint32_t mantissa, const uint8_t *raw,
                        uint64_t offset, uint32_t bits)
{
    for (uint32_t count = 0; count <= COUNT; count += count < 20 ? 1 : 35) {
        uint64_t joined[COUNT];
        uint64_t expected[COUNT];
        vector_join(buckets, count, mantissa, raw, offset, joined);
        vector_join_by_table(buckets, count, mantissa, raw, offset, expected);
        for (uint32_t i = 0; i < count; i++)
            cr_assert_eq(joined[i], expected[i], "mantissa %u, %u bits, %u of %u", mantissa, bits,
                         i, count);
    }
}

Test(vector_join, every_way_comes_to_the_same_numbers)
{
    static uint8_t raw[RAW_SIZE];
    uint8_t buckets[COUNT];
    uint64_t state = 7;
    for (size_t i = 0; i < RAW_SIZE; i++)
        raw[i] = (uint8_t)click_random(&state);
    for (uint32_t mantissa = VECTOR_MANTISSA_MIN; mantissa <= VECTOR_MANTISSA_MAX; mantissa++)
        for (uint32_t bits = mantissa + 1; bits <= 63; bits++) {
            fill_buckets(&state, mantissa, bits, buckets);
            expect_same(buckets, mantissa, raw, bits % 2 == 0 ? 0 : click_random(&state), bits);
        }
}

/* Three numbers by hand, m = 2: 3; 8 + 1 with one raw bit; 1000 with seven (vector_codec.c). */
Test(vector_join, raw_bits_lie_from_the_least_significant_on)
{
    static const uint8_t buckets[] = {3, 8, 35, 3, 8, 35, 3, 8, 35};
    static const uint64_t expected[] = {3, 9, 1000, 3, 9, 1000, 3, 9, 1000};
    uint8_t raw[3 + VECTOR_RAW_READ] = {0xd1, 0xd1, 0xd1};
    uint64_t numbers[9];
    uint64_t bits;
    cr_assert(vector_join_count_bits(buckets, 9, 2, &bits));
    cr_assert_eq(bits, 24);
    vector_join(buckets, 9, 2, raw, 0, numbers);
    cr_assert_arr_eq(numbers, expected, sizeof expected);
    vector_join_by_table(buckets, 9, 2, raw, 0, numbers);
    cr_assert_arr_eq(numbers, expected, sizeof expected);
    vector_join(buckets, 9, 2, raw, UINT64_MAX, numbers);
    cr_assert_eq(numbers[8], 999);
}

Test(vector_join, what_is_no_bucket_is_refused)
{
    uint64_t bits;
    for (uint32_t mantissa = VECTOR_MANTISSA_MIN; mantissa <= VECTOR_MANTISSA_MAX; mantissa++)
        for (uint32_t bucket = 0; bucket < 256; bucket++) {
            uint8_t one = (uint8_t)bucket;
            uint32_t high = bucket >> mantissa;
            uint32_t exponent = high > 1 ? high - 1 : 0;
            bool is_one = exponent + mantissa + 1 <= 64;
            cr_assert_eq(vector_join_count_bits(&one, 1, mantissa, &bits), is_one);
            cr_assert(!is_one || bits == exponent);
        }
}
