#include <criterion/criterion.h>

#include "base/crc32c.h"
#include "query/cql/read/cql_page.h"

static const struct cql_page_state states[] = {
    {.statement_hash = 1, .limit_left = CQL_PAGE_NO_LIMIT},
    {.statement_hash = 7,
     .key_hash = 9,
     .by_index = true,
     .index_column_id = 0,
     .index_of = 2,
     .unit = 300,
     .limit_left = 0,
     .partition_rows = 12,
     .partition_key = {(const uint8_t *)"key", 3},
     .position = {(const uint8_t *)"position", 8}},
    {.statement_hash = UINT64_MAX,
     .key_hash = UINT64_MAX,
     .by_index = true,
     .index_column_id = UINT32_MAX,
     .unit = UINT64_MAX,
     .limit_left = UINT64_MAX - 1},
};

enum { COUNT = sizeof(states) / sizeof(states[0]) };

Test(cql_page, a_state_reads_back)
{
    for (int i = 0; i < COUNT; i++) {
        struct buffer bytes = {0};
        struct cql_page_state read;
        cql_page_write(&states[i], &bytes);
        cr_assert_eq(cql_page_read(buffer_view(&bytes), states[i].statement_hash, &read), 0);
        cr_expect_eq(read.key_hash, states[i].key_hash);
        cr_expect_eq(read.by_index, states[i].by_index);
        cr_expect_eq(read.index_column_id, states[i].index_column_id);
        cr_expect_eq(read.index_of, states[i].index_of);
        cr_expect_eq(read.unit, states[i].unit);
        cr_expect_eq(read.limit_left, states[i].limit_left);
        cr_expect_eq(read.partition_rows, states[i].partition_rows);
        cr_expect(bytes_equal(read.partition_key, states[i].partition_key));
        cr_expect(bytes_equal(read.position, states[i].position));
        buffer_release(&bytes);
    }
}

Test(cql_page, a_cut_or_changed_state_and_one_of_another_statement_are_refused)
{
    for (int i = 0; i < COUNT; i++) {
        struct buffer bytes = {0};
        struct cql_page_state read;
        uint64_t hash = states[i].statement_hash;
        cql_page_write(&states[i], &bytes);
        for (size_t size = 0; size < bytes.size; size++)
            cr_expect_lt(cql_page_read(bytes_of(bytes.data, size), hash, &read), 0);
        for (size_t bit = 0; bit < bytes.size * 8; bit++) {
            bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            cr_expect_lt(cql_page_read(buffer_view(&bytes), hash, &read), 0, "bit %zu", bit);
            bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        cr_expect_lt(cql_page_read(buffer_view(&bytes), hash + 1, &read), 0);
        buffer_release(&bytes);
    }
}

/* Version 1 had neither keys nor an index. */
Test(cql_page, a_state_of_another_version_is_told_from_a_damaged_one)
{
    static const uint8_t version_1[] = {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    struct buffer bytes = {0};
    struct cql_page_state read;
    buffer_append(&bytes, version_1, sizeof(version_1));
    buffer_put_u32(&bytes, crc32c(0, bytes.data, bytes.size));
    cr_expect_eq(cql_page_read(buffer_view(&bytes), 1, &read), ERROR_UNSUPPORTED);
    bytes.data[1] ^= 1;
    cr_expect_eq(cql_page_read(buffer_view(&bytes), 1, &read), ERROR_INVALID);
    buffer_release(&bytes);
}
