/* Frames, freezes between them, and those who wait until batches are taken again. */
#include <criterion/criterion.h>

#include "tests/lib/engine_parts.h"

static void count_call(void *context)
{
    ++*(int *)context;
}

static void note_resumed(struct freeze_waiter *waiter, int status)
{
    (void)status;
    waiter->resume = NULL;
}

Test(sequencer, the_open_frame_counts_once_it_has_a_batch)
{
    struct engine_parts parts;
    engine_parts_start(&parts, &(struct engine_options){0});
    parts.sequencer.frame = 5;
    cr_expect_eq(sequencer_applied_frame(&parts.sequencer), 4);
    buffer_put_u8(&parts.sequencer.payload, 1);
    cr_expect_eq(sequencer_applied_frame(&parts.sequencer), 5);
    cr_expect_eq(sequencer_durable_frame(&parts.sequencer), UINT64_MAX);
    engine_parts_stop(&parts);
}

/* A memtable holds whole frames: while one is open its end is waited for. */
Test(sequencer, a_freeze_waits_for_the_end_of_the_frame)
{
    struct engine_parts parts;
    struct freeze_waiter waiter = {.resume = note_resumed};
    engine_parts_start(&parts, &(struct engine_options){0});
    buffer_put_u8(&parts.sequencer.payload, 1);
    sequencer_freeze_then(&parts.sequencer, &waiter);
    cr_expect(parts.sequencer.freeze_requested);
    cr_expect_not_null(waiter.resume);
    sequencer_freeze(&parts.sequencer, 1);
    cr_expect(!parts.sequencer.freeze_requested);
    cr_expect_null(waiter.resume);
    engine_parts_stop(&parts);
}

static void note_status(struct freeze_waiter *waiter, int status)
{
    cr_expect_eq(status, ERROR_FAILED);
    waiter->resume = NULL;
}

/* No frame is sealed any more, so the freeze would never come. */
Test(sequencer, a_failed_engine_refuses_a_freeze_that_needs_the_end_of_a_frame)
{
    struct engine_parts parts;
    struct freeze_waiter waiter = {.resume = note_status};
    engine_parts_start(&parts, &(struct engine_options){0});
    buffer_put_u8(&parts.sequencer.payload, 1);
    engine_env_fail(&parts.env, ERROR_FAILED, "the disk is gone");
    sequencer_freeze_then(&parts.sequencer, &waiter);
    cr_expect_null(waiter.resume);
    cr_expect_null(parts.memtables.waiters);
    engine_parts_stop(&parts);
}

/* A memtable between two frames is frozen as ever: what is in memory can be read. */
Test(sequencer, a_failed_engine_freezes_between_two_frames)
{
    struct engine_parts parts;
    struct freeze_waiter waiter = {.resume = note_resumed};
    engine_parts_start(&parts, &(struct engine_options){0});
    engine_env_fail(&parts.env, ERROR_FAILED, "the disk is gone");
    sequencer_freeze_then(&parts.sequencer, &waiter);
    cr_expect_null(waiter.resume);
    cr_expect_eq(parts.frozen, 1);
    engine_parts_stop(&parts);
}

Test(sequencer, a_table_that_the_open_memtable_lacks_needs_no_freeze)
{
    struct engine_parts parts;
    struct freeze_waiter waiter = {.resume = note_resumed};
    engine_parts_start(&parts, &(struct engine_options){0});
    buffer_put_u8(&parts.sequencer.payload, 1);
    sequencer_freeze_table_then(&parts.sequencer, 1000, &waiter);
    cr_expect_null(waiter.resume);
    cr_expect(!parts.sequencer.freeze_requested);
    engine_parts_stop(&parts);
}

Test(sequencer, a_batch_that_is_refused_by_the_lock_is_told_when_it_is_free)
{
    struct engine_parts parts;
    struct error err = {0};
    int drained = 0, granted = 0;
    struct store_write_lock write_lock = {.granted = count_call, .context = &granted};
    const struct counter_increment increment = {.table_id = 1, .key = {(const uint8_t *)"k", 1}};
    struct write_batch *batch = write_batch_new();
    engine_parts_start(&parts, &(struct engine_options){0});
    write_batch_add_increment(batch, &increment);
    sequencer_on_drain(&parts.sequencer, count_call, &drained);
    sequencer_drain(&parts.sequencer);
    cr_expect_eq(drained, 0);
    write_lock_acquire(&parts.sequencer.lock, &write_lock);
    cr_expect_eq(granted, 1);
    cr_expect_eq(sequencer_apply(&parts.sequencer, batch, NULL, 0, NULL, NULL, &err), ERROR_FULL);
    sequencer_unlock(&parts.sequencer, &write_lock);
    cr_expect_eq(drained, 1);
    sequencer_on_drain(&parts.sequencer, NULL, &drained);
    write_batch_free(batch);
    engine_parts_stop(&parts);
}

Test(sequencer, a_closing_store_takes_no_batch)
{
    struct engine_parts parts;
    struct error err = {0};
    struct write_batch *batch = write_batch_new();
    engine_parts_start(&parts, &(struct engine_options){0});
    parts.env.is_closing = true;
    cr_expect_eq(sequencer_apply(&parts.sequencer, batch, NULL, 0, NULL, NULL, &err), ERROR_CLOSED);
    write_batch_free(batch);
    engine_parts_stop(&parts);
}
