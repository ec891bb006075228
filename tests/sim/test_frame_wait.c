/* For how long a frame waits before it is written.  Time stands still in the simulated world while
 * there is something to do, so what passes until a batch is durable is what it waited for. */
#include <criterion/criterion.h>

#include "base/uuid.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_world.h"

enum {
    FOLLOW_US = 4000 /* engine.c */
};

struct wait {
    struct sim_world *sim;
    struct engine_fixture fixture;
    struct write_batch *batch;
    uint32_t durable;  /* of the batches that were applied */
    struct bytes note; /* what they write */
};

static void wait_start(struct wait *wait)
{
    struct error err = {0};
    *wait =
        (struct wait){.sim = sim_world_new(1), .batch = write_batch_new(), .note = bytes_text("a")};
    cr_assert_eq(engine_fixture_open_in(&wait->fixture, sim_world_interface(wait->sim), &err), 0,
                 "%s", err.text);
}

static void wait_stop(struct wait *wait)
{
    write_batch_free(wait->batch);
    engine_fixture_close(&wait->fixture);
    sim_world_free(wait->sim);
}

static void note_durable(void *context, int status, const struct error *err)
{
    cr_assert_eq(status, 0, "%s", err == NULL ? "" : err->text);
    ++*(uint32_t *)context;
}

/* A batch for each letter of `kinds`: 'f' is followed, 'j' joins its turn, '-' neither.  Returns
 * the microseconds until all are durable. */
static int64_t wait_of(struct wait *wait, const char *kinds)
{
    const struct table *table = schema_table(store_schema(wait->fixture.store), TABLE_CHANGE);
    struct world *world = sim_world_interface(wait->sim);
    int64_t began_us = world->clock->monotonic_us(world->clock);
    static const uint8_t id[UUID_SIZE] = {[6] = 0x10, [8] = 0x80}; /* a timeuuid */
    struct error err = {0};
    uint32_t count = 0;
    wait->durable = 0;
    for (; kinds[count] != '\0'; count++) {
        write_batch_clear(wait->batch);
        struct column_value values[] = {
            {CHANGE_MONTH, false, bytes_text("2013-11")},
            {CHANGE_ID, false, bytes_of(id, sizeof id)},
            {CHANGE_NOTE, false, wait->note},
        };
        write_batch_insert(wait->batch, table, values, 3);
        wait->batch->is_followed = kinds[count] == 'f';
        wait->batch->joins_loop_turn = kinds[count] == 'j';
        cr_assert_eq(
            store_apply(wait->fixture.store, wait->batch, note_durable, &wait->durable, &err), 0,
            "%s", err.text);
    }
    while (wait->durable < count)
        cr_assert(world->executor->step(world->executor));
    return world->clock->monotonic_us(world->clock) - began_us;
}

/* What joins a turn need not wait for what is to follow another. */
Test(frame_wait, a_frame_waits_for_what_follows_and_for_nothing_else)
{
    static const struct {
        const char *kinds;
        int64_t us;
    } cases[] = {
        {"-", 0},  {"j", 0},  {"jj", 0},  {"f", FOLLOW_US}, {"ff", FOLLOW_US},
        {"f-", 0}, {"fj", 0}, {"ffj", 0}, {"jf", 0},
    };
    struct wait wait;
    wait_start(&wait);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(wait_of(&wait, cases[i].kinds), cases[i].us, "%s", cases[i].kinds);
    wait_stop(&wait);
}

/* The files that the log goes on in are made while a flush takes as long as it likes. */
Test(frame_wait, a_frame_does_not_wait_for_a_flush)
{
    enum { VALUE_SIZE = 512 << 10, LOG_SIZE = 12 << 20 }; /* more than the first two files */
    static char value[VALUE_SIZE];
    struct wait wait;
    wait_start(&wait);
    sim_world_stall(wait.sim, LANE_BACKGROUND, true);
    for (uint32_t size = 0; size < LOG_SIZE; size += VALUE_SIZE) {
        wait.note = bytes_of(value, sizeof value);
        cr_assert_eq(wait_of(&wait, "-"), 0, "after %u bytes", size);
    }
    sim_world_stall(wait.sim, LANE_BACKGROUND, false);
    wait_stop(&wait);
}
