/* test_packed_stats: against struct partition_stats itself, for what fits and what does not. */
#include "storage/cell/packed_stats.h"

#include <criterion/criterion.h>

struct fixture {
    struct packed_stats packed;
    struct partition_stats expected;
};

static void teardown(struct fixture *fixture)
{
    packed_stats_clear(&fixture->packed);
    stats_release(&fixture->expected);
}

static void assert_same(const struct fixture *fixture)
{
    const struct partition_stats view = packed_stats_view(&fixture->packed);
    cr_assert(stats_equal(&view, &fixture->expected));
    cr_assert_eq(packed_stats_rows(&fixture->packed), fixture->expected.rows);
}

/* The way of columnar_memtable's rows. */
static void add_row(struct fixture *fixture, int64_t time, int64_t unscaled, uint8_t scale)
{
    const struct partition_stats row = {.rows = 1, .first = time, .last = time};
    const struct partition_stats value = {.scale_count = 1, .inline_sum = {scale, 1, unscaled}};
    if (!packed_stats_take_row(&fixture->packed, time))
        packed_stats_add(&fixture->packed, &row);
    if (!packed_stats_take_value(&fixture->packed, unscaled, scale))
        packed_stats_add(&fixture->packed, &value);
    stats_add_row(&fixture->expected, time);
    stats_add_value(&fixture->expected, unscaled, scale);
    assert_same(fixture);
}

Test(packed_stats, ordinary_rows_take_no_memory_of_their_own)
{
    struct fixture fixture = {0};
    assert_same(&fixture);
    for (int64_t i = 0; i < 100; i++)
        add_row(&fixture, 1385654400000 + i * 37 % 50 * 1000, i * 11 - 300, 2);
    cr_assert_eq(packed_stats_bytes(&fixture.packed), 0);
    teardown(&fixture);
}

Test(packed_stats, what_does_not_fit_is_as_exact)
{
    static const struct {
        int64_t time;
        int64_t unscaled;
        uint8_t scale;
    } rows[][3] = {
        {{0, 1, 2}, {0, 1, 3}, {1, 5, 2}},
        {{0, INT64_MAX, 2}, {1, 1, 2}, {2, INT64_MAX, 2}},
        {{0, INT64_MIN, 0}, {1, -1, 0}, {2, 7, 0}},
        {{0, 1, 2}, {INT64_C(1) << 32, 1, 2}, {5, 1, 2}},
        {{INT64_MAX, 1, 2}, {INT64_MIN, 1, 2}, {0, 1, 2}},
        {{5, 1, 18}, {4, 2, 18}, {INT64_MIN, 3, 18}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture fixture = {0};
        for (size_t k = 0; k < 3; k++)
            add_row(&fixture, rows[i][k].time, rows[i][k].unscaled, rows[i][k].scale);
        cr_assert_gt(packed_stats_bytes(&fixture.packed), 0, "case %zu", i);
        teardown(&fixture);
    }
}

Test(packed_stats, times_going_back_widen_the_span)
{
    struct fixture fixture = {0};
    for (int64_t time = 100; time > 0; time -= 7)
        add_row(&fixture, time, 1, 0);
    cr_assert_eq(packed_stats_bytes(&fixture.packed), 0);
    teardown(&fixture);
}

Test(packed_stats, more_rows_and_values_than_32_bits_count_on)
{
    struct fixture fixture = {0};
    const struct partition_stats many = {
        .rows = UINT32_MAX, .scale_count = 1, .inline_sum = {0, UINT32_MAX, 5}};
    packed_stats_add(&fixture.packed, &many);
    stats_add(&fixture.expected, &many);
    cr_assert_eq(packed_stats_bytes(&fixture.packed), 0);
    add_row(&fixture, 0, 1, 0);
    cr_assert_gt(packed_stats_bytes(&fixture.packed), 0);
    teardown(&fixture);
}

Test(packed_stats, a_copy_goes_its_own_way_and_clearing_keeps_the_tag)
{
    struct fixture fixture = {.packed.tag = 17};
    struct packed_stats copy;
    add_row(&fixture, 1, 1, 2);
    add_row(&fixture, 1, 1, 3);
    packed_stats_copy(&copy, &fixture.packed);
    add_row(&fixture, 2, 1, 3);
    cr_assert_eq(packed_stats_rows(&copy), 2);
    cr_assert_eq(copy.tag, 17);
    packed_stats_clear(&copy);
    cr_assert_eq(packed_stats_rows(&copy), 0);
    cr_assert_eq(copy.tag, 17);
    cr_assert_eq(packed_stats_rows(&fixture.packed), 3);
    teardown(&fixture);
}
