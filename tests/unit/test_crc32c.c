/* test_crc32c: checksums against their definition, with the instruction and without. */
#include "base/crc32c.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"

/* The definition, bit by bit. */
static uint32_t crc32c_model(const uint8_t *at, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

static void fill(uint8_t *to, size_t size)
{
    uint32_t state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        to[i] = (uint8_t)(state >> 24);
    }
}

/* RFC 3720 B.4. */
Test(crc32c, it_gives_the_published_results)
{
    uint8_t data[32] = {0};
    cr_assert_eq(crc32c(0, data, 32), 0x8a9136aau);
    memset(data, 0xff, 32);
    cr_assert_eq(crc32c(0, data, 32), 0x62a8ab43u);
    cr_assert_eq(crc32c(0, "123456789", 9), 0xe3069283u);
    cr_assert_eq(crc32c(0, "", 0), 0);
}

Test(crc32c, it_agrees_with_its_definition_at_every_size_around_its_blocks)
{
    enum { SIZE = 8000 };
    uint8_t *data = memory_alloc(SIZE);
    fill(data, SIZE);
    for (size_t size = 0; size < SIZE - 8; size += size < 1300 ? 1 : 61) {
        uint32_t expected = crc32c_model(data + size % 8, size);
        cr_assert_eq(crc32c(0, data + size % 8, size), expected, "size %zu", size);
        cr_assert_eq(crc32c_by_table(0, data + size % 8, size), expected, "size %zu", size);
    }
    memory_free(data);
}

Test(crc32c, it_goes_on_from_the_result_before)
{
    uint8_t data[4000];
    fill(data, sizeof data);
    uint32_t whole = crc32c(0, data, sizeof data);
    for (size_t cut = 0; cut <= sizeof data; cut += 97) {
        cr_assert_eq(crc32c(crc32c(0, data, cut), data + cut, sizeof data - cut), whole);
        cr_assert_eq(crc32c_by_table(crc32c(0, data, cut), data + cut, sizeof data - cut), whole);
    }
}
