/* test_commit_log_crash: whatever a loss of power takes back, acknowledged frames are replayed.
 *
 * Method: a short history (appends of several sizes, files that fill up, flushes that let files be
 * used again, clean stops and kills) runs on the simulated world.  Before every single call to the
 * disk the power fails, several times from different seeds: each write since the last sync is kept,
 * dropped or torn by sectors, each change of a name kept or dropped.  On each disk that is left:
 *
 * - opening succeeds: no crash looks like damage;
 * - the frames replayed follow flushed_frame without a hole and have the right content;
 * - every frame that was reported durable is among them, and none that was never appended;
 * - then more is appended, the power fails in the middle of that as well, and all of it holds
 *   again.
 *
 * The number of the crash and its seed are in the message of a failed check, and replay it. */
#include "storage/log/commit_log.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim_cheap.h"
#include "tests/sim/sim_seen.h"
#include "tests/sim/sim_world.h"

enum {
    FILE_SIZE = 40 << 10, /* two to four of the frames below */
    SEEDS_PER_CRASH = 6,
    STEPS_AFTER_CRASH = 40
};

/* One life of a log, from an opening on. */
struct life {
    struct sim_world *sim;
    struct world *world;
    struct commit_log *log;
    uint64_t flushed; /* as the manifest would have it */
    uint64_t durable; /* the last frame that was reported */
    uint64_t replayed_last;
    bool is_replay_wrong;
    const char *where;
};

static size_t frame_size(uint64_t frame)
{
    static const size_t sizes[] = {100, 9000, 0, 3956, 20000, 457, 12000};

    return sizes[frame % (sizeof(sizes) / sizeof(sizes[0]))];
}

static void frame_fill(struct buffer *payload, uint64_t frame)
{
    size_t size = frame_size(frame);

    buffer_clear(payload);
    buffer_reserve(payload, size);
    for (size_t i = 0; i < size; i++)
        payload->data[i] = (uint8_t)(frame * 17 + i * 5 + i / 509);
    payload->size = size;
}

static int life_replay(void *context, uint64_t frame, int64_t timestamp_us, struct bytes payload,
                       struct error *err)
{
    struct life *life = context;
    struct buffer expected = {0};

    (void)err;
    frame_fill(&expected, frame);
    if (frame != life->replayed_last + 1 || timestamp_us != (int64_t)frame ||
        !bytes_equal(payload, buffer_view(&expected)))
        life->is_replay_wrong = true;
    life->replayed_last = frame;
    buffer_release(&expected);
    return 0;
}

static void life_durable(void *context, int status, uint64_t frame)
{
    struct life *life = context;

    cr_assert_eq(status, 0, "%s", life->where);
    life->durable = frame;
}

/* Open the log on `sim`, and check that it has at least the frames up to `durable` and at most
 * those up to `appended`. */
static void life_begin(struct life *life, struct sim_world *sim, uint64_t flushed, uint64_t durable,
                       uint64_t appended, const char *where)
{
    struct commit_log_options options = {
        .file_size = FILE_SIZE, .first_file_size = FILE_SIZE, .flushed_frame = flushed};
    struct error err = {0};
    int rc;

    memset(life, 0, sizeof(*life));
    life->sim = sim;
    life->world = sim_world_interface(sim);
    life->flushed = flushed;
    life->replayed_last = flushed;
    life->where = where;
    rc = commit_log_open(life->world, &options, life_replay, life_durable, life, &life->log, &err);
    cr_assert_eq(rc, 0, "%s: %s", where, err.text);
    cr_assert_not(life->is_replay_wrong, "%s", where);
    cr_assert_geq(life->replayed_last, durable, "%s: frame %" PRIu64 " is lost", where,
                  life->replayed_last + 1);
    cr_assert_leq(life->replayed_last, appended, "%s", where);
    cr_assert_eq(commit_log_status(life->log)->frame_next, life->replayed_last + 1, "%s", where);
    life->durable = life->replayed_last;
}

/* Begin writing the next frame. */
static void life_append(struct life *life)
{
    struct buffer payload = {0};
    uint64_t frame = commit_log_status(life->log)->frame_next;

    frame_fill(&payload, frame);
    while (!commit_log_has_room(life->log, payload.size))
        cr_assert(life->world->executor->step(life->world->executor), "%s", life->where);
    commit_log_append(life->log, (int64_t)frame, &payload);
    buffer_release(&payload);
}

static void life_settle(struct life *life)
{
    while (commit_log_status(life->log)->is_writing)
        cr_assert(life->world->executor->step(life->world->executor), "%s", life->where);
}

/* Close the log and forget its world. */
static void life_end(struct life *life)
{
    commit_log_close(life->log);
    sim_world_free(life->sim);
    life->log = NULL;
}

static void life_flush(struct life *life, uint64_t frame)
{
    life->flushed = frame;
    commit_log_flushed(life->log, frame);
}

/* What a crash needs to know of the history, before any of its calls. */
struct history {
    struct life life; /* the current one */
    uint64_t durable; /* at the end of the life before */
    uint64_t appended;
    bool is_opening; /* then the current life tells nothing yet */
    bool is_crashing;
    uint64_t disk_calls;
    uint64_t crash_count;
    struct sim_seen left; /* disks that crashes left: as many are distinct */
};

/* Append some frames, and one that the power fails in the middle of; open what is left. */
static void crash_again(struct life *life, uint64_t seed)
{
    uint64_t durable, appended, flushed = life->flushed;
    struct sim_world *sim = life->sim;
    struct life second;

    for (uint64_t i = 0; i < seed % 4; i++) {
        life_append(life);
        life_settle(life);
    }
    life_append(life);
    for (uint64_t i = 0;
         i < seed / 4 % STEPS_AFTER_CRASH && commit_log_status(life->log)->is_writing; i++)
        (void)life->world->executor->step(life->world->executor);
    durable = life->durable;
    appended = commit_log_status(life->log)->frame_next - 1;
    life_begin(&second, sim_world_crash(sim, seed + 1), flushed, durable, appended, life->where);
    life_append(&second);
    life_settle(&second);
    life_end(&second);
    life_settle(life);
    life_end(life);
}

static void crash_now(struct history *history, uint64_t seed)
{
    bool is_opening = history->is_opening;
    uint64_t durable = is_opening ? history->durable : history->life.durable;
    uint64_t appended =
        is_opening ? history->appended : commit_log_status(history->life.log)->frame_next - 1;
    struct sim_world *crashed;
    struct life life;
    char where[80];

    snprintf(where, sizeof(where), "call %" PRIu64 ", seed %" PRIu64, history->disk_calls, seed);
    crashed = sim_world_crash(history->life.sim, seed);
    (void)sim_seen_add(&history->left, sim_disk_hash(sim_world_disk(crashed)) + durable);
    life_begin(&life, crashed, history->life.flushed, durable, appended, where);
    crash_again(&life, seed);
}

static void history_watch(void *context, enum sim_call call)
{
    struct history *history = context;

    (void)call;
    if (history->is_crashing)
        return;
    history->is_crashing = true;
    history->disk_calls++;
    for (uint64_t i = 0; i < SEEDS_PER_CRASH; i++) {
        crash_now(history, history->disk_calls * 1000 + i);
        history->crash_count++;
    }
    history->is_crashing = false;
}

/* Go on with what the life before left on the disk of `sim`. */
static void history_open(struct history *history, struct sim_world *sim)
{
    history->is_opening = true;
    history->life.sim = sim;
    sim_disk_watch(sim_world_disk(sim), history_watch, history);
    life_begin(&history->life, sim, history->life.flushed, history->durable, history->appended,
               "history");
    history->is_opening = false;
}

static void history_note(struct history *history)
{
    history->durable = history->life.durable;
    history->appended = commit_log_status(history->life.log)->frame_next - 1;
}

/* Stop cleanly and open again. */
static void history_stop(struct history *history, uint64_t seed)
{
    struct sim_world *sim;

    history_note(history);
    commit_log_close(history->life.log);
    sim = sim_world_restart(history->life.sim, seed);
    sim_world_free(history->life.sim);
    history_open(history, sim);
}

/* Be killed, perhaps in the middle of a frame, and open again. */
static void history_kill(struct history *history, uint64_t seed)
{
    struct sim_world *sim = sim_world_restart(history->life.sim, seed);

    history_note(history);
    history->is_crashing = true; /* what the killed one still does is not history */
    life_settle(&history->life);
    life_end(&history->life);
    history->is_crashing = false;
    history_open(history, sim);
}

static void history_append(struct history *history, int count)
{
    for (int i = 0; i < count; i++) {
        life_append(&history->life);
        life_settle(&history->life);
    }
}

Test(commit_log_crash, every_call_of_a_history_survives_a_loss_of_power)
{
    struct history history = {0};

    sim_cheap();
    history_open(&history, sim_world_new(1));
    history_append(&history, 5);
    history_stop(&history, 2);
    history_append(&history, 1);
    history_stop(&history, 3);
    history_append(&history, 8);
    life_append(&history.life);
    history_kill(&history, 4);
    life_flush(&history.life, 6);
    history_append(&history, 9);
    life_flush(&history.life, 21);
    history_append(&history, 6);
    history_kill(&history, 5);
    history_kill(&history, 6);
    life_flush(&history.life, history.life.durable);
    history_stop(&history, 7);
    history_stop(&history, 8);
    history_append(&history, 10);
    life_append(&history.life);
    (void)history.life.world->executor->step(history.life.world->executor);
    history_kill(&history, 9);
    history_append(&history, 3);
    history.is_crashing = true;
    life_end(&history.life);
    cr_assert_gt(history.crash_count, 1000, "%" PRIu64 " crashes", history.crash_count);
    printf("commit_log_crash: %zu distinct crashes\n", history.left.count);
    sim_seen_release(&history.left);
}

/* The order in which lanes run changes what is under way when the power fails. */
Test(commit_log_crash, histories_of_other_orders_survive_too)
{
    size_t distinct = 0;

    sim_cheap();
    for (uint64_t seed = 100; seed < 108; seed++) {
        struct history history = {0};

        history_open(&history, sim_world_new(seed));
        for (uint64_t round = 0; round < 3; round++) {
            history_append(&history, (int)(seed % 7 + round));
            if (history.life.durable > 4)
                life_flush(&history.life, history.life.durable - seed % 4);
            history_append(&history, 4);
            life_append(&history.life);
            history_kill(&history, seed + round);
        }
        history.is_crashing = true;
        life_end(&history.life);
        distinct += history.left.count;
        sim_seen_release(&history.left);
    }
    printf("commit_log_crash: %zu distinct crashes\n", distinct);
}
