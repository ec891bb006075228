/* A merge must be a join: whatever order, grouping or repetition, the same cell comes out. */
#include <criterion/criterion.h>

#include "counters/counter_cell.h"

struct shard_case {
    int64_t generation;
    uint32_t count;
    struct counter_shard shards[4];
};

/* Shards of one id and clock are always the same entry, as their only writer makes them. */
static const struct shard_case cases[] = {
    {0, 0, {{0}}},
    {0, 1, {{10, 12, 3}}},
    {0, 1, {{10, 17, 8}}},
    {0, 2, {{10, 12, 3}, {20, 21, 1}}},
    {0, 3, {{1, 1, -5}, {20, 25, INT64_MAX}, {UINT64_MAX, UINT64_MAX, 7}}},
    {9, 0, {{0}}},
    {9, 1, {{30, 31, 2}}},
    {9, 2, {{10, 32, 4}, {30, 33, -2}}},
    {-4, 1, {{10, 99, 100}}},
    {0, 2, {{2, 3, 11}, {8, 8, 6}}},
};

enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

static struct buffer make(const struct shard_case *from)
{
    struct buffer cell = {0};

    counter_cell_write_reset(&cell, from->generation);
    for (uint32_t i = 0; i < from->count; i++) {
        struct buffer single = {0};
        struct buffer merged = {0};
        counter_cell_write_single(&single, from->generation, from->shards[i]);
        counter_cell_merge(buffer_view(&cell), buffer_view(&single), &merged);
        buffer_release(&cell);
        buffer_release(&single);
        cell = merged;
    }
    cr_assert_eq(counter_cell_validate(buffer_view(&cell)), 0);
    return cell;
}

static struct buffer merge(const struct buffer *a, const struct buffer *b)
{
    struct buffer merged = {0};

    counter_cell_merge(buffer_view(a), buffer_view(b), &merged);
    cr_assert_eq(counter_cell_validate(buffer_view(&merged)), 0);
    return merged;
}

static void expect_equal(struct buffer *a, struct buffer *b)
{
    cr_assert(bytes_equal(buffer_view(a), buffer_view(b)));
    buffer_release(a);
    buffer_release(b);
}

Test(counter_cell, merging_is_commutative_and_idempotent)
{
    for (int i = 0; i < CASE_COUNT; i++) {
        for (int j = 0; j < CASE_COUNT; j++) {
            struct buffer a = make(&cases[i]);
            struct buffer b = make(&cases[j]);
            struct buffer ab = merge(&a, &b);
            struct buffer ba = merge(&b, &a);
            struct buffer again = merge(&ab, &a);
            cr_assert(bytes_equal(buffer_view(&again), buffer_view(&ab)));
            expect_equal(&ab, &ba);
            buffer_release(&again);
            buffer_release(&a);
            buffer_release(&b);
        }
    }
}

Test(counter_cell, merging_is_associative)
{
    for (int n = 0; n < CASE_COUNT * CASE_COUNT * CASE_COUNT; n++) {
        struct buffer a = make(&cases[n % CASE_COUNT]);
        struct buffer b = make(&cases[n / CASE_COUNT % CASE_COUNT]);
        struct buffer c = make(&cases[n / CASE_COUNT / CASE_COUNT]);
        struct buffer ab = merge(&a, &b);
        struct buffer bc = merge(&b, &c);
        struct buffer left = merge(&ab, &c);
        struct buffer right = merge(&a, &bc);
        expect_equal(&left, &right);
        buffer_release(&ab);
        buffer_release(&bc);
        buffer_release(&a);
        buffer_release(&b);
        buffer_release(&c);
    }
}

Test(counter_cell, a_higher_generation_forgets_older_increments)
{
    struct buffer old = make(&cases[9]);
    struct buffer reset = make(&cases[5]);
    struct buffer merged = merge(&old, &reset);

    cr_assert_eq(counter_cell_value(buffer_view(&merged)), 0);
    cr_assert_eq(counter_cell_shard_count(buffer_view(&merged)), 0);
    cr_assert_eq(counter_cell_generation(buffer_view(&merged)), 9);
    struct buffer next = make(&cases[6]);
    struct buffer counted = merge(&merged, &next);
    cr_assert_eq(counter_cell_value(buffer_view(&counted)), 2);
    buffer_release(&old);
    buffer_release(&reset);
    buffer_release(&merged);
    buffer_release(&next);
    buffer_release(&counted);
}

/* A run that knows nothing of a SET in an older one still counts on top of it. */
Test(counter_cell, increments_that_began_after_a_reset_need_not_know_of_it)
{
    struct buffer reset = make(&cases[5]);
    struct buffer both = make(&cases[3]);
    struct buffer merged = merge(&reset, &both);

    cr_assert_eq(counter_cell_generation(buffer_view(&merged)), 9);
    cr_assert_eq(counter_cell_value(buffer_view(&merged)), 4);
    buffer_release(&reset);
    buffer_release(&both);
    buffer_release(&merged);
}

Test(counter_cell, the_value_wraps_like_cassandras)
{
    static const struct shard_case over = {0, 2, {{1, 1, INT64_MAX}, {2, 1, 1}}};
    struct buffer cell = make(&over);

    cr_assert_eq(counter_cell_value(buffer_view(&cell)), INT64_MIN);
    buffer_release(&cell);
}

Test(counter_cell, folding_keeps_value_and_generation_in_one_shard)
{
    for (int i = 0; i < CASE_COUNT; i++) {
        struct buffer cell = make(&cases[i]);
        struct buffer folded = {0};

        counter_cell_fold(buffer_view(&cell), &folded);
        cr_assert_eq(counter_cell_validate(buffer_view(&folded)), 0);
        cr_assert_eq(counter_cell_value(buffer_view(&folded)),
                     counter_cell_value(buffer_view(&cell)));
        cr_assert_eq(counter_cell_generation(buffer_view(&folded)), cases[i].generation);
        cr_assert_eq(counter_cell_shard_count(buffer_view(&folded)), cases[i].count > 0);
        buffer_release(&cell);
        buffer_release(&folded);
    }
}

Test(counter_cell, damaged_cells_are_refused_and_never_crash)
{
    struct buffer cell = make(&cases[4]);

    for (size_t size = 0; size < cell.size; size++)
        cr_assert_eq(counter_cell_validate(bytes_of(cell.data, size)), ERROR_CORRUPT);
    for (size_t bit = 0; bit < 8 * cell.size; bit++) {
        cell.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (counter_cell_validate(buffer_view(&cell)) == 0)
            (void)counter_cell_value(buffer_view(&cell));
        cell.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    uint8_t unsorted[12 + 48] = {[8] = 2, [12] = 5, [36] = 5};
    cr_assert_eq(counter_cell_validate(bytes_of(unsorted, sizeof unsorted)), ERROR_CORRUPT);
    buffer_release(&cell);
}
