/* Stats must add up exactly in any order, and give the sum's scale as BigDecimal would. */
#include <criterion/criterion.h>

#include "storage/cell/stats.h"

static void add(struct partition_stats *stats, int64_t time, int64_t unscaled, uint8_t scale)
{
    stats_add_row(stats, time);
    stats_add_value(stats, unscaled, scale);
}

static void expect_sum(const struct partition_stats *stats, const char *text)
{
    char printed[DECIMAL_TEXT_MAX];

    decimal_format(stats_sum(stats), printed);
    cr_assert_str_eq(printed, text);
}

static struct partition_stats three_scales(void)
{
    struct partition_stats stats = {0};

    add(&stats, 50, 150, 2);
    add(&stats, -7, 5, 1);
    add(&stats, 20, INT64_MIN, 0);
    add(&stats, 21, INT64_MIN, 0);
    stats_add_row(&stats, 99);
    return stats;
}

Test(stats, an_empty_partition_sums_to_zero)
{
    struct partition_stats stats = {0};

    expect_sum(&stats, "0");
    cr_assert_eq(stats_value_count(&stats), 0);
}

Test(stats, the_sum_has_the_largest_scale_of_its_terms)
{
    struct partition_stats stats = {0};

    add(&stats, 1, 5, 1);
    expect_sum(&stats, "0.5");
    add(&stats, 2, 150, 2);
    add(&stats, 3, 0, 4);
    expect_sum(&stats, "2.0000");
    stats_release(&stats);
}

Test(stats, sums_go_past_64_bits)
{
    struct partition_stats stats = three_scales();

    expect_sum(&stats, "-18446744073709551614.00");
    cr_assert_eq(stats.rows, 5);
    cr_assert_eq(stats.first, -7);
    cr_assert_eq(stats.last, 99);
    cr_assert_eq(stats_value_count(&stats), 4);
    stats_release(&stats);
}

Test(stats, adding_in_any_grouping_gives_the_same)
{
    for (uint64_t split = 0; split <= 200; split++) {
        struct partition_stats whole = {0};
        struct partition_stats left = {0};
        struct partition_stats right = {0};

        for (uint64_t i = 0; i < 200; i++) {
            uint64_t mixed = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
            struct partition_stats *part = i < split ? &left : &right;
            add(&whole, (int64_t)(mixed >> 40) - 5000000, (int64_t)mixed, (uint8_t)(mixed % 19));
            add(part, (int64_t)(mixed >> 40) - 5000000, (int64_t)mixed, (uint8_t)(mixed % 19));
        }
        stats_add(&right, &left);
        cr_assert(stats_equal(&whole, &right));
        stats_release(&whole);
        stats_release(&left);
        stats_release(&right);
    }
}

Test(stats, a_copy_is_equal_and_of_its_own)
{
    struct partition_stats stats = three_scales();
    struct partition_stats copy;

    stats_copy(&copy, &stats);
    cr_assert(stats_equal(&stats, &copy));
    add(&copy, 1, 1, 0);
    cr_assert(!stats_equal(&stats, &copy));
    stats_release(&copy);
    stats_release(&stats);
    cr_assert_eq(stats.rows, 0);
    expect_sum(&stats, "0");
}

Test(stats, the_serialized_form_reads_back_and_damage_never_crashes)
{
    struct partition_stats stats = three_scales();
    struct partition_stats read;
    struct buffer buffer = {0};

    stats_serialize(&stats, &buffer);
    struct reader reader = reader_of(buffer_view(&buffer));
    cr_assert_eq(stats_deserialize(&reader, &read), 0);
    cr_assert_eq(reader_left(&reader), 0);
    cr_assert(stats_equal(&stats, &read));
    stats_release(&read);
    for (size_t size = 0; size < buffer.size; size++) {
        reader = reader_of(bytes_of(buffer.data, size));
        cr_assert_eq(stats_deserialize(&reader, &read), ERROR_CORRUPT);
    }
    for (size_t bit = 0; bit < 8 * buffer.size; bit++) {
        buffer.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        reader = reader_of(buffer_view(&buffer));
        if (stats_deserialize(&reader, &read) == 0)
            stats_release(&read);
        buffer.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer_release(&buffer);
    stats_release(&stats);
}

/* docs/FORMATS.md "Stats" shows these bytes. */
Test(stats, the_documented_example_has_these_bytes)
{
    static const uint8_t expected[23] = {0x02, 0xD0, 0x0F, 0x04, 0x01, 0x01, 0x02, 0x0C};
    struct partition_stats stats = {0};
    struct buffer buffer = {0};

    add(&stats, 1000, 5, 1);
    add(&stats, 1004, 7, 1);
    stats_serialize(&stats, &buffer);
    cr_assert(bytes_equal(buffer_view(&buffer), bytes_of(expected, sizeof expected)));
    buffer_release(&buffer);
    stats_release(&stats);
}
