/* The n-th call fails, for every n: of the disk, and of memory, over a round of everything.
 *
 * The round: a directory is opened, clicks, late clicks, rates and counters are written, days and
 * single clicks voided, memtables flushed, runs merged, the rollup settled, its figures read, the
 * directory closed and opened again.  Two shorter ones: days are published and sealed, and late
 * clicks of one of them sealed as well; a stream is defined over a user's rows, which are written,
 * voided and truncated.
 *
 * Of every kind of call the first fails, then the second, and so on until a round has none left,
 * once and from then on, with an I/O error and, where that can be, with a full disk; and of a flush
 * alone those calls that write the roster.  Whatever the store then says, it says so with an error
 * and does not hang; what it had acknowledged is there after a loss of power, and without the fault
 * the directory opens.
 *
 * Memory that is out ends the process by design (base/memory.h), so a failing allocation
 * leaves what a kill leaves.  The disk is the same at every allocation between two of its calls,
 * and nothing less is acknowledged at the second than before it; so the process is killed before
 * each call of a round, as far as the disk is concerned, and what is left is checked. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "rollup/days/seal_pass.h"
#include "storage/engine/engine.h"
#include "tests/sim/defined_stream.h"
#include "tests/sim/history.h"
#include "tests/sim/sim_cheap.h"

enum {
    CRASHES = 3,      /* after a failure */
    KEEP_DAYS = 9,    /* to 2013-11-30, while the clock stands at 2013-12-10 */
    CALLS_MAX = 2000, /* of a kind in a round: far more than there are */
    PATIENCE = 300    /* calls of a full disk, which then gets its space back */
};

/* ---- the round ---- */

static const struct written round_writes[] = {
    {.kind = WRITE_CLICKS, .day = 1},
    {.kind = WRITE_RATE, .day = 0, .percent = 25},
    {.kind = WRITE_CLICKS, .day = 0, .reseller = 1},
    {.kind = WRITE_COUNTER_SET, .value = 500},
    {.kind = WRITE_CLICKS, .day = 1},
    {.kind = WRITE_VOID_ONE, .target = 0},
    {.kind = WRITE_COUNTER_ADD, .value = 7},
    {.kind = WRITE_CLICKS, .day = 2},
    {.kind = WRITE_VOID, .day = 1},
    {.kind = WRITE_RATE_DELETE, .day = 0},
};
enum { ROUND_WRITES = sizeof round_writes / sizeof round_writes[0] };

struct ended {
    bool is_done;
    int status;
};

static void set_ended(void *context, int status, const struct error *err)
{
    struct ended *ended = context;
    cr_assert(status == 0 || err->text[0] != '\0');
    *ended = (struct ended){true, status};
}

static bool ignore_figure(void *context, const struct day_figure *figure)
{
    (void)context;
    (void)figure;
    return true;
}

/* Wait for what was begun with `rc`, or was not. */
static int finish(struct history *history, int rc, struct ended *ended)
{
    if (rc != 0)
        return rc;
    rollup_fixture_step_until(&history->fixture, &ended->is_done);
    return ended->status;
}

static int flush(struct history *history)
{
    struct ended ended = {0};
    return finish(history, engine_flush(history->fixture.store, set_ended, &ended, NULL), &ended);
}

static int compact(struct history *history)
{
    struct ended ended = {0};
    return finish(history, engine_compact(history->fixture.store, set_ended, &ended, NULL), &ended);
}

static int report(struct history *history)
{
    struct ended ended = {0};
    const struct figure_query query = {.day_from = DAY_MIN, .day_to = DAY_MAX};
    int rc = rollup_fixture_refresh_now(&history->fixture, false);
    if (rc != 0)
        return rc;
    rollup_figures(history->fixture.rollup, &query, ignore_figure, set_ended, &ended);
    return finish(history, 0, &ended);
}

/* What does not succeed is left out. */
static void write_all(struct history *history)
{
    for (uint32_t i = 0; i < ROUND_WRITES; i++) {
        const struct written *what = &round_writes[i];
        bool has_target = history->count > 0 && history->writes[0].kind == WRITE_CLICKS;
        if (what->kind != WRITE_VOID_ONE || has_target)
            history_write(history, what);
        if (i % 3 == 2)
            (void)flush(history);
        if (i % 4 == 3)
            (void)report(history);
        history_steps(history, 2);
    }
    (void)compact(history);
    (void)report(history);
}

/* Close and open again, until the opening fails; true: it is open. */
static bool open_again(struct history *history)
{
    struct sim_world *sim = history->fixture.sim;
    (void)rollup_fixture_try_close(&history->fixture);
    return rollup_fixture_try_open(&history->fixture, sim, NULL) == 0;
}

/* A round; whether the directory is open at its end. */
static bool run_round(struct history *history)
{
    write_all(history);
    if (!open_again(history))
        return false;
    (void)report(history);
    return true;
}

/* ---- the round of seals ---- */

static void set_sealed(void *context, int status, const struct error *err,
                       const struct seal_totals *totals)
{
    (void)totals;
    set_ended(context, status, err);
}

/* Publish what is due, and seal what has expired. */
static void seal(struct history *history)
{
    const struct change_row change = {.door = "test", .actor = "tester", .command = "seal"};
    struct ended ended = {0};
    struct error err = {0};
    if (rollup_fixture_refresh_now(&history->fixture, true) == 0)
        (void)finish(
            history,
            seal_pass_begin(history->fixture.rollup, &change, false, set_sealed, &ended, &err),
            &ended);
}

static bool run_seals(struct history *history)
{
    static const struct written writes[] = {{.kind = WRITE_CLICKS, .day = 0},
                                            {.kind = WRITE_RATE, .day = 0, .percent = 25},
                                            {.kind = WRITE_CLICKS, .day = 1, .reseller = 1},
                                            {.kind = WRITE_CLICKS, .day = 0}};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        history_write(history, &writes[i]);
        if (i >= 2)
            seal(history);
    }
    (void)flush(history);
    return open_again(history);
}

/* ---- the round of a stream ---- */

static bool run_stream(struct stream_life *life)
{
    static const struct stream_write writes[] = {{.kind = STREAM_HIT, .day = 0},
                                                 {.kind = STREAM_SHARE, .day = 0, .percent = 25},
                                                 {.kind = STREAM_DEFINE},
                                                 {.kind = STREAM_HIT, .day = 1},
                                                 {.kind = STREAM_VOID_DAY, .day = 0},
                                                 {.kind = STREAM_TRUNCATE},
                                                 {.kind = STREAM_HIT, .day = 1}};
    struct ended ended = {0};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        stream_life_write(life, &writes[i]);
        (void)stream_life_settle(life);
    }
    if (engine_flush(life->fixture.store, set_ended, &ended, NULL) == 0)
        rollup_fixture_step_until(&life->fixture, &ended.is_done);
    struct sim_world *sim = life->fixture.sim;
    (void)rollup_fixture_try_close(&life->fixture);
    return rollup_fixture_try_open(&life->fixture, sim, NULL) == 0;
}

/* ---- the disk ---- */

struct fault {
    enum sim_call call;
    int code;
    bool for_ever;
};

/* A fault under way.  The space that a full disk lacks comes back some time. */
struct patience {
    struct sim_disk *disk;
    enum sim_call call;
    uint64_t left;
    uint64_t last; /* of its calls: the one that the fault is meant for */
};

static void lose_patience(void *context, enum sim_call call)
{
    struct patience *patience = context;
    (void)call;
    if (patience->left > 0 && --patience->left == 0)
        sim_disk_fail(patience->disk, patience->call, 0, 0, false);
}

static void fault_begin(const struct fault *fault, uint64_t number, struct sim_disk *disk,
                        struct patience *patience)
{
    *patience = (struct patience){disk, fault->call, fault->code == -ENOSPC ? PATIENCE : 0,
                                  sim_disk_calls(disk, fault->call) + number};
    sim_disk_watch(disk, lose_patience, patience);
    sim_disk_fail(disk, fault->call, number, fault->code, fault->for_ever);
}

/* Whether there were so many calls. */
static bool fault_end(const struct patience *patience)
{
    sim_disk_watch(patience->disk, NULL, NULL);
    return sim_disk_calls(patience->disk, patience->call) >= patience->last;
}

static void fault_name(const struct fault *fault, uint64_t number, char label[64])
{
    snprintf(label, 64, "call %d, number %" PRIu64 ", code %d, %s", (int)fault->call, number,
             fault->code, fault->for_ever ? "for ever" : "once");
}

/* A round with a fault; false when it has fewer than `number` such calls. */
typedef bool (*faulty_round)(const struct fault *fault, uint64_t number);

static bool history_with_fault(const struct fault *fault, uint64_t number, uint32_t keep_days,
                               bool (*run)(struct history *history))
{
    struct history history = {.random = {.state = 1},
                              .crashes_per_moment = CRASHES,
                              .may_fail = true,
                              .has_seals = keep_days > 0,
                              .fixture = {.keep_days = keep_days}};
    struct patience patience;
    fault_name(fault, number, history.label);
    history_start(&history);
    fault_begin(fault, number, sim_world_disk(history.fixture.sim), &patience);
    bool is_open = run(&history);
    bool was_reached = fault_end(&patience);
    history_crash_here(&history);
    history_kill_here(&history);
    if (is_open)
        (void)rollup_fixture_try_close(&history.fixture);
    sim_world_free(history.fixture.sim);
    sim_seen_release(&history.seen);
    return was_reached;
}

static bool round_of_all(const struct fault *fault, uint64_t number)
{
    return history_with_fault(fault, number, 0, run_round);
}

static bool round_of_seals(const struct fault *fault, uint64_t number)
{
    return history_with_fault(fault, number, KEEP_DAYS, run_seals);
}

static bool round_of_stream(const struct fault *fault, uint64_t number)
{
    struct stream_life life = {
        .random = {.state = 1}, .crashes_per_moment = CRASHES, .may_fail = true};
    struct patience patience;
    fault_name(fault, number, life.label);
    stream_life_start(&life);
    fault_begin(fault, number, sim_world_disk(life.fixture.sim), &patience);
    bool is_open = run_stream(&life);
    bool was_reached = fault_end(&patience);
    stream_life_crash_here(&life);
    stream_life_kill_here(&life);
    if (is_open)
        (void)rollup_fixture_try_close(&life.fixture);
    sim_world_free(life.fixture.sim);
    sim_seen_release(&life.seen);
    return was_reached;
}

static uint64_t rounds_with(const struct fault *fault, faulty_round round)
{
    uint64_t number = 1;
    while (round(fault, number)) {
        number++;
        cr_assert_lt(number, CALLS_MAX, "call %d", (int)fault->call);
    }
    return number - 1;
}

static uint64_t rounds_with_every_fault(faulty_round round)
{
    uint64_t rounds = 0;
    sim_cheap();
    for (enum sim_call call = SIM_OPEN; call < SIM_CALL_COUNT; call++) {
        bool needs_space = call == SIM_OPEN || call == SIM_WRITE || call == SIM_ALLOCATE;
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            const struct fault broken = {call, -EIO, for_ever != 0};
            const struct fault full = {call, -ENOSPC, for_ever != 0};
            rounds += rounds_with(&broken, round);
            rounds += needs_space ? rounds_with(&full, round) : 0;
        }
    }
    return rounds;
}

Test(nth_failure, of_the_disk_takes_nothing_with_it_that_was_acknowledged)
{
    uint64_t rounds = rounds_with_every_fault(round_of_all);
    printf("nth_failure: %" PRIu64 " rounds with a failing call of the disk\n", rounds);
    cr_assert_gt(rounds, 200);
}

Test(nth_failure, of_the_disk_leaves_each_click_as_a_row_or_in_a_seal)
{
    uint64_t rounds = rounds_with_every_fault(round_of_seals);
    printf("nth_failure: %" PRIu64 " rounds of seals with a failing call of the disk\n", rounds);
    cr_assert_gt(rounds, 100);
}

Test(nth_failure, of_the_disk_leaves_a_defined_stream_whole_or_not_at_all)
{
    uint64_t rounds = rounds_with_every_fault(round_of_stream);
    printf("nth_failure: %" PRIu64 " rounds of a stream with a failing call of the disk\n", rounds);
    cr_assert_gt(rounds, 100);
}

/* ---- the roster ---- */

/* A flush whose n-th call of a kind fails; of these calls some are for the roster alone. */
struct flushing {
    struct engine_fixture fixture;
    struct sim_world *sim;
    uint32_t clicks; /* acknowledged */
    bool is_done;    /* the flush, with `err` */
    struct error err;
};

static void write_click(struct flushing *flushing)
{
    const struct click click = {"r1", "2013-11-28", 1385605012000 + flushing->clicks, "a", "0.01"};
    cr_assert_eq(engine_fixture_clicks(&flushing->fixture, &click, 1), 0);
    flushing->clicks++;
}

static void set_flushed(void *context, int status, const struct error *err)
{
    struct flushing *flushing = context;
    flushing->is_done = true;
    if (status != 0)
        flushing->err = *err;
}

/* All clicks are there, from the manifest, or without it and its copy from the roster. */
static void expect_all_clicks(const struct flushing *flushing, struct sim_world *left,
                              bool has_manifest)
{
    struct engine_fixture fixture = {
        .options = {.log_first_file_size = SIM_LOG_FILE, .salvage = !has_manifest}};
    struct disk *disk = sim_world_interface(left)->disk;
    struct error err = {0};
    char expected[32];
    if (!has_manifest) {
        cr_assert_eq(disk->remove(disk, "manifest"), 0);
        cr_assert_eq(disk->remove(disk, "manifest.copy"), 0);
    }
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(left), &err), 0, "%s",
                 err.text);
    snprintf(expected, sizeof expected, "%u 0.%02u", flushing->clicks, flushing->clicks);
    struct buffer stats = engine_fixture_stats(&fixture, "r1", "2013-11-28");
    cr_assert_str_eq((const char *)stats.data, expected);
    buffer_release(&stats);
    engine_fixture_close(&fixture);
    sim_world_free(left);
}

/* A write or sync that fails is final, and named; killed then, or without power, all is there. */
static void expect_ended(struct flushing *flushing)
{
    struct store_status status;
    struct write_batch *batch = write_batch_new();
    struct error err = {0};
    store_status(flushing->fixture.store, &status);
    cr_assert(status.failed && strstr(status.failure, "roster") != NULL, "%s", status.failure);
    cr_assert_eq(store_apply(flushing->fixture.store, batch, NULL, NULL, &err), ERROR_FAILED);
    write_batch_free(batch);
    for (int has_manifest = 0; has_manifest < 2; has_manifest++) {
        expect_all_clicks(flushing, sim_world_restart(flushing->sim, 1), has_manifest != 0);
        for (uint64_t seed = 0; seed < CRASHES; seed++)
            expect_all_clicks(flushing, sim_world_crash(flushing->sim, seed), has_manifest != 0);
    }
}

/* False when a flush has fewer such calls. */
static bool flush_failing(enum sim_call call, uint64_t number, uint32_t *of_roster)
{
    struct flushing flushing = {.sim = sim_world_new(1)};
    struct sim_disk *disk = sim_world_disk(flushing.sim);
    flushing.fixture.options.log_first_file_size = SIM_LOG_FILE;
    cr_assert_eq(engine_fixture_open_in(&flushing.fixture, sim_world_interface(flushing.sim), NULL),
                 0);
    write_click(&flushing);
    engine_fixture_flush(&flushing.fixture);
    write_click(&flushing);
    uint64_t before = sim_disk_calls(disk, call);
    sim_disk_fail(disk, call, number, -EIO, false);
    cr_assert_eq(engine_flush(flushing.fixture.store, set_flushed, &flushing, NULL), 0);
    while (!flushing.is_done)
        cr_assert(flushing.fixture.world->executor->step(flushing.fixture.world->executor));
    bool was_reached = sim_disk_calls(disk, call) - before >= number;
    sim_disk_fail(disk, call, 0, 0, false);
    if (was_reached && strstr(flushing.err.text, "cannot write the roster") != NULL) {
        expect_ended(&flushing);
        (*of_roster)++;
    }
    engine_fixture_close_failed(&flushing.fixture);
    sim_world_free(flushing.sim);
    return was_reached;
}

Test(nth_failure, of_a_call_for_the_roster_alone_is_final_and_leaves_one_that_is_whole)
{
    static const enum sim_call calls[] = {SIM_OPEN, SIM_WRITE, SIM_SYNC, SIM_RENAME,
                                          SIM_SYNC_DIRECTORY};
    sim_cheap();
    for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
        uint32_t of_roster = 0;
        uint64_t number = 1;
        while (flush_failing(calls[c], number, &of_roster))
            cr_assert_lt(++number, CALLS_MAX);
        cr_assert_eq(of_roster, 1, "call %d", (int)calls[c]);
    }
}

/* ---- memory ---- */

static void kill_here(void *context, enum sim_call call)
{
    (void)call;
    history_kill_here(context);
}

Test(nth_failure, of_memory_ends_the_process_and_loses_nothing_acknowledged)
{
    struct history history = {.random = {.state = 1}, .crashes_per_moment = CRASHES};
    snprintf(history.label, sizeof history.label, "memory");
    sim_cheap();
    history_start(&history);
    sim_disk_watch(sim_world_disk(history.fixture.sim), kill_here, &history);
    cr_assert(run_round(&history));
    sim_disk_watch(sim_world_disk(history.fixture.sim), NULL, NULL);
    history_check_all(&history);
    cr_assert_gt(history.crashes, 50);
    printf("nth_failure: %" PRIu64 " distinct crashes of a process whose memory is out\n",
           history.crashes);
    history_stop(&history);
}
