/* Memtables are frozen between frames, in their order, and only if there is anything in them. */
#include <criterion/criterion.h>

#include "tests/lib/engine_parts.h"

struct freezing {
    struct freeze_waiter waiter; /* first */
    int resumed;
    int status;
};

static void note_resumed(struct freeze_waiter *waiter, int status)
{
    struct freezing *freezing = (struct freezing *)waiter;
    freezing->resumed++;
    freezing->status = status;
}

Test(memtable_set, an_empty_memtable_is_not_frozen_and_goes_on_with_later_frames)
{
    struct engine_parts parts;
    struct freezing freezing = {.waiter.resume = note_resumed};
    engine_parts_start(&parts, &(struct engine_options){0});
    cr_expect(memtable_set_open_is_empty(&parts.memtables));
    memtable_set_await_freeze(&parts.memtables, &freezing.waiter);
    memtable_set_freeze(&parts.memtables, 7, 0);
    cr_expect_eq(parts.memtables.frozen_count, 0);
    cr_expect_eq(parts.memtables.open->frame_first, 8);
    cr_expect_eq(freezing.resumed, 1);
    cr_expect_eq(freezing.status, 0);
    cr_expect_eq(parts.frozen, 1);
    engine_parts_stop(&parts);
}

/* A schema that only the log has needs a flush as rows do. */
Test(memtable_set, memtables_with_newer_schemas_are_frozen_oldest_first)
{
    struct engine_parts parts;
    engine_parts_start(&parts, &(struct engine_options){0});
    for (uint64_t frame = 1; frame <= 2; frame++) {
        struct memtable_set *set = &parts.memtables;
        memtable_set_begin_schema(set, engine_parts_newer_schema(&parts), frame);
        cr_expect(!memtable_set_open_is_empty(set));
        memtable_set_freeze(set, frame, 100 * (int64_t)frame);
        cr_expect(memtable_set_open_is_empty(set));
    }
    cr_assert_eq(parts.memtables.frozen_count, 2);
    struct memtable *oldest = parts.memtables.frozen[0];
    cr_expect_eq(oldest->frame_last, 1);
    cr_expect_eq(oldest->given_us, 100);
    memtable_set_drop_oldest(&parts.memtables);
    cr_expect_eq(parts.memtables.frozen_count, 1);
    cr_expect_eq(parts.memtables.frozen[0]->frame_last, 2);
    memtable_unref(oldest);
    engine_parts_stop(&parts);
}

Test(memtable_set, readers_that_wait_are_told_of_a_failure)
{
    struct engine_parts parts;
    struct freezing one = {.waiter.resume = note_resumed}, two = one;
    engine_parts_start(&parts, &(struct engine_options){0});
    memtable_set_await_freeze(&parts.memtables, &one.waiter);
    memtable_set_await_freeze(&parts.memtables, &two.waiter);
    memtable_set_end_waits(&parts.memtables, ERROR_FAILED);
    cr_expect_eq(one.resumed + two.resumed, 2);
    cr_expect_eq(one.status, ERROR_FAILED);
    cr_expect_eq(parts.frozen, 0);
    engine_parts_stop(&parts);
}

static struct memtable_set *waited_for; /* by wait_again */

static void wait_again(struct freeze_waiter *waiter, int status)
{
    note_resumed(waiter, status);
    if (((struct freezing *)waiter)->resumed < 3)
        memtable_set_await_freeze(waited_for, waiter);
}

/* The rows of a batch that was applied when another waiter was resumed are in the next memtable. */
Test(memtable_set, a_reader_that_waits_again_waits_for_the_next_freeze)
{
    struct engine_parts parts;
    struct freezing again = {.waiter.resume = wait_again}, once = {.waiter.resume = note_resumed};
    engine_parts_start(&parts, &(struct engine_options){0});
    waited_for = &parts.memtables;
    memtable_set_await_freeze(&parts.memtables, &once.waiter);
    memtable_set_await_freeze(&parts.memtables, &again.waiter);
    memtable_set_freeze(&parts.memtables, 1, 0);
    cr_expect_eq(again.resumed, 1);
    cr_expect_eq(once.resumed, 1);
    memtable_set_freeze(&parts.memtables, 2, 0);
    cr_expect_eq(again.resumed, 2);
    cr_expect_eq(once.resumed, 1);
    engine_parts_stop(&parts);
}

/* While nothing is frozen a batch may always be applied: no flush would make room for it. */
Test(memtable_set, memory_is_full_only_where_a_flush_makes_room)
{
    struct engine_parts parts;
    engine_parts_start(&parts, &(struct engine_options){.memory_limit = 4});
    cr_expect(memtable_set_open_is_full(&parts.memtables));
    cr_expect(!memtable_set_is_full(&parts.memtables));
    memtable_set_begin_schema(&parts.memtables, engine_parts_newer_schema(&parts), 1);
    memtable_set_freeze(&parts.memtables, 1, 0);
    cr_expect(memtable_set_is_full(&parts.memtables));
    engine_parts_stop(&parts);
}
