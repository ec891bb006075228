/* test_frame_writer: the log acknowledges a frame when its writer says that it is durable, and not
 * before.
 *
 * Method: in place of the local disk alone the log gets a writer as a cluster would have it: the
 * local disk writes the frame, and then another machine, which is the test, has to say that it has
 * it, too.  What the local disk does by itself is what test_commit_log.c says. */
#include "storage/log/frame_writer.h"

#include <criterion/criterion.h>
#include <errno.h>

#include "tests/sim/sim_world.h"

struct pair {
    struct frame_writer writer;
    struct frame_writer *local;
    uint32_t written; /* frames that the local disk has */
    struct sim_world *sim;
    struct world *world;
    struct commit_log *log;
    uint64_t acknowledged; /* by the log: the last frame, */
    int status;            /* and what it said of it */
    uint32_t replayed;
};

static void pair_write(struct frame_writer *writer, struct frame_writer_record *record)
{
    struct pair *pair = (struct pair *)writer;
    pair->local->write(pair->local, record);
}

static void pair_local_durable(void *context, int status)
{
    struct pair *pair = context;
    cr_expect_eq(status, 0);
    pair->written++;
}

static void log_durable(void *context, int status, uint64_t frame)
{
    struct pair *pair = context;
    pair->status = status;
    pair->acknowledged = frame;
}

static int log_replay(void *context, uint64_t frame, int64_t timestamp_us, struct bytes payload,
                      struct error *err)
{
    (void)timestamp_us;
    (void)err;
    struct pair *pair = context;
    cr_expect_eq(frame, ++pair->replayed);
    cr_expect_eq(payload.size, 1000);
    return 0;
}

static void pair_open(struct pair *pair)
{
    const struct commit_log_options options = {
        .file_size = 64 << 10, .first_file_size = 64 << 10, .writer = &pair->writer};
    struct error err = {0};
    pair->local = frame_writer_disk_new(pair->world);
    pair->local->durable = pair_local_durable;
    pair->local->context = pair;
    cr_assert_eq(
        commit_log_open(pair->world, &options, log_replay, log_durable, pair, &pair->log, &err), 0,
        "%s", err.text);
}

static void pair_init(struct pair *pair)
{
    *pair = (struct pair){.writer = {.write = pair_write}, .sim = sim_world_new(1)};
    pair->world = sim_world_interface(pair->sim);
    pair_open(pair);
}

static void pair_close(struct pair *pair)
{
    commit_log_close(pair->log);
    frame_writer_disk_free(pair->local);
}

/* A frame, up to where the local disk has it. */
static void frame_write(struct pair *pair)
{
    struct buffer payload = {0};
    uint32_t written = pair->written;
    buffer_put_zeros(&payload, 1000);
    cr_assert(commit_log_has_room(pair->log, payload.size));
    commit_log_append(pair->log, 7, &payload);
    buffer_release(&payload);
    while (pair->written == written)
        cr_assert(pair->world->executor->step(pair->world->executor));
}

Test(frame_writer, the_log_acknowledges_a_frame_when_its_writer_does)
{
    struct pair pair;
    pair_init(&pair);
    for (uint64_t frame = 1; frame <= 3; frame++) {
        frame_write(&pair);
        cr_expect_eq(pair.acknowledged, frame - 1, "the other machine has not said so");
        cr_expect_eq(commit_log_status(pair.log)->frame_durable, frame - 1);
        cr_expect(commit_log_status(pair.log)->is_writing);
        pair.writer.durable(pair.writer.context, 0);
        cr_expect_eq(pair.acknowledged, frame);
        cr_expect_eq(commit_log_status(pair.log)->frame_durable, frame);
        cr_expect_not(commit_log_status(pair.log)->is_writing);
    }
    pair_close(&pair);
    pair_open(&pair);
    cr_expect_eq(pair.replayed, 3);
    pair_close(&pair);
    sim_world_free(pair.sim);
}

Test(frame_writer, nothing_is_acknowledged_any_more_after_it_failed)
{
    struct pair pair;
    pair_init(&pair);
    frame_write(&pair);
    pair.writer.durable(pair.writer.context, -EIO);
    cr_expect_eq(pair.status, -EIO);
    cr_expect_eq(pair.acknowledged, 0);
    cr_expect_not(commit_log_has_room(pair.log, 1000), "no frame comes any more");
    pair_close(&pair);
    sim_world_free(pair.sim);
}
