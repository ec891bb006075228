/* test_counter_slot: a slot's sum as of each frame that a reader may ask for, and generations. */
#include "counters/counter_slot.h"

#include <criterion/criterion.h>

#include "counters/counter_cell.h"

enum { SHARD = 40 };

/* The value of the slot's cell at a frame. */
static int64_t value_at(const struct counter_slot *slot, uint64_t frame)
{
    struct buffer cell = {0};
    (void)counter_slot_write(slot, frame, SHARD, &cell);
    cr_assert_eq(counter_cell_validate(buffer_view(&cell)), 0);
    int64_t value = counter_cell_value(buffer_view(&cell));
    buffer_release(&cell);
    return value;
}

/* The example of counter_slot.c. */
Test(counter_slot, keeps_the_sums_of_the_last_three_frames_that_changed_it)
{
    struct counter_slot slot = {0};
    cr_expect_eq(counter_slot_visible(&slot, UINT64_MAX), -1);
    counter_slot_add(&slot, 1, 7);
    cr_expect_eq(counter_slot_visible(&slot, 6), -1);
    counter_slot_add(&slot, 5, 9);
    counter_slot_add(&slot, 1, 9);
    counter_slot_add(&slot, 2, 10);
    cr_expect_eq(value_at(&slot, 8), 1);
    cr_expect_eq(value_at(&slot, 9), 7);
    counter_slot_add(&slot, 1, 12);
    cr_expect_eq(value_at(&slot, 11), 9);
    cr_expect_eq(value_at(&slot, UINT64_MAX), 10);
}

Test(counter_slot, a_reader_before_a_set_sees_the_sum_before_it)
{
    struct counter_slot slot = {0};
    struct arena *arena = arena_new(4096);
    struct buffer cell = {0};
    counter_slot_add(&slot, 3, 1);
    counter_slot_set(&slot, arena, 100, 1000, 2);
    counter_slot_add(&slot, 1, 2);
    cr_expect_eq(value_at(&slot, 1), 3);
    cr_expect_eq(value_at(&slot, 2), 101);
    cr_expect_eq(counter_slot_write(&slot, 1, SHARD, &cell), 0);
    cr_expect_eq(counter_slot_write(&slot, 2, SHARD, &cell), 1000);
    counter_slot_set(&slot, arena, 5, 999, 3);
    cr_expect_eq(value_at(&slot, 3), 101, "a lower generation has lost already");
    buffer_release(&cell);
    arena_free(arena);
}

Test(counter_slot, is_no_counter_between_a_reset_and_the_next_increment)
{
    struct counter_slot slot = {0};
    struct arena *arena = arena_new(4096);
    struct buffer cell = {0};
    counter_slot_add(&slot, 3, 1);
    counter_slot_reset(&slot, arena, 1000, 2);
    (void)counter_slot_write(&slot, 2, SHARD, &cell);
    cr_expect_eq(counter_cell_shard_count(buffer_view(&cell)), 0);
    counter_slot_add(&slot, 4, 3);
    buffer_clear(&cell);
    (void)counter_slot_write(&slot, 3, SHARD, &cell);
    cr_expect_eq(counter_cell_shard_count(buffer_view(&cell)), 1);
    cr_expect_eq(value_at(&slot, 3), 4);
    buffer_release(&cell);
    arena_free(arena);
}
