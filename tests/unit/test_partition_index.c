/* test_partition_index: sums by partition, in few bytes, and exact beyond them. */
#include "storage/cell/partition_index.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/murmur3.h"

static struct bytes key_of(uint32_t i, char text[32])
{
    int length = snprintf(text, 32, "reseller-%06u/2013-11-28", (unsigned)i);
    return bytes_of(text, (size_t)length);
}

static int64_t token_of(struct bytes key)
{
    return murmur3_token(key.data, key.size);
}

static void add_value(struct partition_index *index, struct bytes key, int64_t time,
                      int64_t unscaled, uint8_t scale)
{
    struct partition_stats stats = {0};
    stats_add_row(&stats, time);
    stats_add_value(&stats, unscaled, scale);
    partition_index_add(index, token_of(key), key, &stats);
    stats_release(&stats);
}

Test(partition_index, what_is_added_to_many_partitions_is_found_in_order)
{
    enum { PARTITIONS = 20000, ROUNDS = 3 };
    struct partition_index *index = partition_index_new(1);
    struct partition_index_entry entry = {.token = INT64_MIN};
    char text[32];
    for (int round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < PARTITIONS; i++)
            add_value(index, key_of(i, text), 1000 * round, i, 2);
    cr_assert_eq(partition_index_count(index), PARTITIONS);
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        struct bytes key = key_of(i, text);
        cr_assert(partition_index_find(index, token_of(key), key, &entry));
        cr_assert(bytes_equal(entry.key, key));
        cr_assert_eq(entry.stats.rows, ROUNDS);
        cr_assert_eq(entry.stats.last - entry.stats.first, 1000 * (ROUNDS - 1));
        cr_assert_eq(decimal_compare(stats_sum(&entry.stats), decimal_from(ROUNDS * (int128)i, 2)),
                     0);
        cr_assert_not(partition_index_find(index, token_of(key) + 1, key, &entry));
    }
    uint32_t walked = 0;
    int64_t before = INT64_MIN;
    entry = (struct partition_index_entry){.token = INT64_MIN};
    while (partition_index_seek(index, entry.token, entry.key, walked > 0, &entry)) {
        cr_assert_geq(entry.token, before);
        before = entry.token;
        walked++;
    }
    cr_assert_eq(walked, PARTITIONS);
    /* 24 bytes of key, 40 of the entry, its slots and its place in the order. */
    cr_assert_lt(partition_index_bytes(index), (size_t)PARTITIONS * 90);
    partition_index_free(index);
}

/* A walk sorts what it comes to: however many partitions there are, and come meanwhile. */
Test(partition_index, a_walk_among_new_partitions_never_sorts_them_all)
{
    enum { PARTITIONS = 20000, SORTED_MAX = 200 };
    struct partition_index *index = partition_index_new(1);
    struct partition_index_entry entry = {.token = INT64_MIN};
    uint32_t added = 0;
    uint32_t walked = 0;
    char text[32];
    for (; added < PARTITIONS; added++)
        add_value(index, key_of(added, text), 1, 1, 1);
    size_t bytes = partition_index_bytes(index);
    for (; walked < 1000; walked++) {
        struct partition_index_entry before = entry;
        cr_assert(partition_index_seek(index, entry.token, entry.key, walked > 0, &entry));
        cr_assert(walked == 0 ||
                  partition_index_order(before.token, before.key, entry.token, entry.key) < 0);
    }
    cr_expect_lt(partition_index_bytes(index) - bytes, SORTED_MAX * sizeof(uint32_t));
    int64_t middle = entry.token;
    uint32_t behind = 0;
    for (; added < 2 * PARTITIONS; added++)
        add_value(index, key_of(added, text), 1, 1, 1);
    for (uint32_t i = 0; i < added; i++)
        behind += token_of(key_of(i, text)) > middle;
    while (partition_index_seek(index, entry.token, entry.key, true, &entry))
        behind--;
    cr_expect_eq(behind, 0);
    partition_index_free(index);
}

/* Rows of a partition that is there already may make the index grow, too. */
Test(partition_index, what_is_sorted_is_not_used_after_the_index_has_grown)
{
    struct partition_index *index = partition_index_new(1);
    struct partition_index_entry entry;
    const struct bytes none = {0};
    char text[32];
    for (uint32_t i = 0; i < 1000; i++) {
        add_value(index, key_of(i, text), 1, 1, 1);
        (void)partition_index_seek(index, 1, none, false, &entry);
        add_value(index, key_of(i, text), 1, 1, 1);
        cr_assert(partition_index_seek(index, INT64_MIN / 2, none, false, &entry));
        cr_assert(i < 50 || entry.token < 0);
    }
    partition_index_free(index);
}

/* Tokens that share their upper half, or are the same, of both signs. */
Test(partition_index, tokens_that_are_alike_are_in_order_too)
{
    static const int64_t tokens[] = {5,         -1, INT64_MIN, (INT64_C(7) << 32) + 1,
                                     INT64_MAX, 0,  5,         (INT64_C(7) << 32) + 1};
    enum { COUNT = sizeof tokens / sizeof *tokens };
    struct partition_index *index = partition_index_new(1);
    struct partition_index_entry entry = {.token = INT64_MIN};
    const struct partition_stats one = {.rows = 1};
    char text[32];
    for (uint32_t i = 0; i < COUNT; i++)
        partition_index_add(index, tokens[i], key_of(COUNT - i, text), &one);
    for (uint32_t walk = 0; walk < 2; walk++) {
        uint32_t walked = 0;
        struct partition_index_entry before = {.token = INT64_MIN};
        while (partition_index_seek(index, before.token, before.key, walked > 0, &entry)) {
            struct partition_index_entry again;
            cr_assert(walked == 0 ||
                      partition_index_order(before.token, before.key, entry.token, entry.key) < 0);
            cr_assert(walk == 0 ||
                      partition_index_seek(index, INT64_MIN, (struct bytes){0}, false, &again));
            before = entry;
            walked++;
        }
        cr_assert_eq(walked, COUNT);
    }
    uint32_t place = 0;
    uint32_t met = 0;
    while (partition_index_next(index, &place, &entry))
        met++;
    cr_assert_eq(met, COUNT);
    partition_index_free(index);
}

/* Each would not fit the small form: what comes out must be what stats alone give. */
Test(partition_index, sums_beyond_the_small_form_are_exact)
{
    static const struct {
        int64_t time;
        int64_t unscaled;
        uint8_t scale;
    } values[] = {
        {0, INT64_MAX, 2}, {5, INT64_MAX, 2}, {INT64_MAX, 7, 2},  {INT64_MIN, -3, 2},
        {0, 1, 0},         {1, 150, 18},      {-1, INT64_MIN, 1},
    };
    struct partition_index *index = partition_index_new(1);
    struct partition_stats expected = {0};
    struct partition_index_entry entry;
    char text[32];
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        add_value(index, key_of(1, text), values[i].time, values[i].unscaled, values[i].scale);
        add_value(index, key_of(2, text), 1, 1, 1);
        stats_add_row(&expected, values[i].time);
        stats_add_value(&expected, values[i].unscaled, values[i].scale);
        struct bytes key = key_of(1, text);
        cr_assert(partition_index_find(index, token_of(key), key, &entry));
        cr_assert(stats_equal(&entry.stats, &expected), "after value %zu", i);
    }
    stats_release(&expected);
    partition_index_free(index);
}

/* Amounts of two scales are enough for a partition to need memory beside its entry. */
Test(partition_index, the_memory_of_large_stats_is_counted)
{
    struct partition_index *index = partition_index_new(1);
    char text[32];
    struct bytes key = key_of(4, text);
    add_value(index, key, 9, 12, 1);
    size_t bytes = partition_index_bytes(index);
    add_value(index, key, 9, 12, 5);
    cr_expect_gt(partition_index_bytes(index), bytes + sizeof(struct partition_stats));
    partition_index_clear(index, token_of(key), key);
    cr_expect_eq(partition_index_bytes(index), bytes);
    partition_index_free(index);
}

Test(partition_index, a_cleared_partition_stays_with_no_rows_and_is_added_to_again)
{
    struct partition_index *index = partition_index_new(1);
    struct partition_index_entry entry;
    char text[32];
    struct bytes key = key_of(3, text);
    add_value(index, key, 9, 12, 1);
    add_value(index, key, 9, 12, 5);
    partition_index_clear(index, token_of(key), key);
    cr_assert(partition_index_find(index, token_of(key), key, &entry));
    cr_assert_eq(entry.stats.rows, 0);
    cr_assert_eq(entry.stats.scale_count, 0);
    add_value(index, key, -9, 7, 0);
    cr_assert(partition_index_find(index, token_of(key), key, &entry));
    cr_assert_eq(entry.stats.rows, 1);
    cr_assert_eq(entry.stats.first, -9);
    cr_assert_eq(entry.stats.last, -9);
    partition_index_clear(index, 12345, key);
    cr_assert_eq(partition_index_count(index), 1);
    partition_index_free(index);
}

/* Days come and are purged: the index stays as large as the days that there are need it. */
/* A merge notes in an index which partitions it purges. */
Test(partition_index, partitions_without_rows_are_kept_unless_they_were_cleared)
{
    enum { PARTITIONS = 1000 };
    struct partition_index *index = partition_index_new(1);
    const struct partition_stats none = {0};
    struct partition_index_entry entry;
    char text[32];
    for (uint32_t i = 0; i < 2 * PARTITIONS; i++) {
        struct bytes key = key_of(i % PARTITIONS, text);
        partition_index_add(index, token_of(key), key, &none);
    }
    cr_expect_eq(partition_index_count(index), PARTITIONS);
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        struct bytes key = key_of(i, text);
        cr_assert(partition_index_find(index, token_of(key), key, &entry), "%u", i);
    }
    partition_index_free(index);
}

Test(partition_index, partitions_that_come_and_go_take_no_more_memory)
{
    enum { THERE = 1000, DAYS = 30 };
    struct partition_index *index = partition_index_new(1);
    struct partition_index_entry entry;
    char text[32];
    for (uint32_t day = 0; day < DAYS; day++) {
        for (uint32_t i = day * THERE; i < (day + 1) * THERE; i++) {
            add_value(index, key_of(i, text), 1, i, 1);
            if (i % 100 == 0)
                add_value(index, key_of(i, text), INT64_MAX, 1, 5);
        }
        for (uint32_t i = day * THERE; day > 0 && i > (day - 1) * THERE; i--)
            partition_index_clear(index, token_of(key_of(i - 1, text)), key_of(i - 1, text));
    }
    cr_expect_lt(partition_index_count(index), 5 * 2 * THERE);
    cr_expect_lt(partition_index_bytes(index), 5 * 2 * THERE * 80 + (1 << 18));
    uint32_t left = 0;
    for (uint32_t place = 0; partition_index_next(index, &place, &entry);)
        left += entry.stats.rows > 0;
    cr_expect_eq(left, THERE);
    uint32_t last = DAYS * THERE - 100;
    struct bytes key = key_of(last, text);
    cr_assert(partition_index_find(index, token_of(key), key, &entry));
    cr_expect_eq(entry.stats.rows, 2);
    cr_expect_eq(
        decimal_compare(stats_sum(&entry.stats), decimal_from((int128)last * 10000 + 1, 5)), 0);
    partition_index_free(index);
}
