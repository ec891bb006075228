/* Restores over purges: what is restored is what was there at that moment, each click under its id;
 * or it is refused.
 *
 * Method: backup_bench.h, with a store that keeps no log, so that deleted clicks are purged, and
 * small enough for the backup to have all of its log.  Clicks are equal in time and ad, so that
 * their ids are ranks: a click that comes after a purge gets another one than it would have had.
 *
 * SIM_SEED is the first history's seed, SIM_RESTORES how many are run. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "base/murmur3.h"
#include "storage/engine/engine.h"
#include "tests/sim/backup_bench.h"
#include "tests/sim/sim_options.h"
#include "tests/sim/sim_random.h"

enum {
    STEPS = 40,
    HISTORIES_DEFAULT = 8,
    TIMES = 2,
    LOOK_EVERY = 2, /* of so many moments one is restored to */
    TURNS_MAX = 2000
};

/* What the store had after a write. */
struct seen {
    int64_t time_us;
    struct buffer rows;
};

struct history {
    struct backup_bench bench;
    struct sim_random random;
    uint64_t seed;
    struct seen seen[STEPS];
    uint32_t count;
    uint32_t amount_next; /* each click has its own */
    uint32_t restored, refused;
};

static uint32_t draw(struct history *history, uint32_t limit)
{
    return (uint32_t)sim_random_below(&history->random, limit);
}

/* The clicks' day is long over. */
static void open_bench(struct backup_bench *bench, uint64_t seed)
{
    struct sim_world *sim = sim_world_new(seed);
    sim_world_advance_us(sim, INT64_C(12) * 86400 * 1000000);
    bench->keeps_no_log = true;
    backup_bench_open(bench, sim, sim_disk_new());
}

static struct click click_at(uint32_t time, const char *amount)
{
    return (struct click){"r1", "2013-11-28", 1385605012000 + time, "a", amount};
}

static void see(struct history *history)
{
    struct store *store = history->bench.fixture.store;
    /* After a loss of power the store may be ahead of the clock. */
    history->seen[history->count++] = (struct seen){
        store_now_us(store) - 1, backup_bench_rows_here(&history->bench, TABLE_AD_CLICK)};
    sim_world_advance_us(history->bench.sim, 5000);
}

static void write_click(struct history *history)
{
    char amount[16];
    snprintf(amount, sizeof amount, "0.%03u", history->amount_next++);
    const struct click click = click_at(draw(history, TIMES), amount);
    cr_assert_eq(engine_fixture_clicks(&history->bench.fixture, &click, 1), 0);
}

/* The click with the highest rank at one of the times: then the next one gets its rank, once it was
 * purged.  "r1|2013-11-28|2013-11-28T02:16:52.001Z|a|3|0.004|-" */
static void delete_last(struct history *history)
{
    struct buffer rows = backup_bench_rows_here(&history->bench, TABLE_AD_CLICK);
    uint32_t time = draw(history, TIMES);
    char inner[16];
    int64_t last = -1;
    snprintf(inner, sizeof inner, ".%03uZ|a|", time);
    for (const char *at = strstr((const char *)rows.data, inner); at != NULL;
         at = strstr(at, inner)) {
        int64_t rank;
        at += strlen(inner);
        cr_assert_eq(sscanf(at, "%" SCNd64, &rank), 1);
        last = rank > last ? rank : last;
    }
    buffer_release(&rows);
    const struct click click = click_at(time, "");
    if (last >= 0)
        backup_bench_delete_rank(&history->bench, &click, last);
}

/* Another life, after a clean stop or a loss of power, which may keep the log. */
static void restart(struct history *history)
{
    struct backup_bench *bench = &history->bench;
    struct backup_bench_ended ended = {0};
    struct sim_world *after = sim_world_crash(bench->sim, sim_random_next(&history->random));
    bool is_clean = draw(history, 2) == 0;
    backup_close(bench->backup, backup_bench_set_ended, &ended);
    backup_bench_step_until(bench, &ended.is_done);
    engine_fixture_close(&bench->fixture);
    sim_world_free(is_clean ? after : bench->sim);
    bench->sim = is_clean ? bench->sim : after;
    bench->fixture.options.archive_bytes = draw(history, 2) == 0 ? 8 << 20 : 0;
    cr_assert_eq(engine_fixture_open_in(&bench->fixture, sim_world_interface(bench->sim), NULL), 0);
    bench->backup = backup_new(bench->fixture.store, bench->fixture.world, bench->metrics);
}

static void do_something_else(struct history *history)
{
    struct executor *executor = history->bench.fixture.world->executor;
    switch (draw(history, 9)) {
    case 0:
    case 1:
        engine_fixture_flush(&history->bench.fixture);
        return;
    case 2:
    case 3:
        engine_fixture_compact(&history->bench.fixture);
        return;
    case 4:
        cr_assert_eq(engine_compact(history->bench.fixture.store, NULL, NULL, NULL), 0);
        return;
    case 5:
    case 6:
        backup_bench_expect(&history->bench);
        return;
    case 7:
        if (draw(history, 3) == 0)
            restart(history);
        return;
    default:
        for (uint32_t count = draw(history, 20); count > 0; count--)
            executor->step(executor);
        return;
    }
}

static void expect_restored(struct history *history, const struct seen *seen)
{
    struct buffer rows = {0};
    struct error err = {0};
    int rc = backup_bench_rows(history->bench.target, BACKUP_AT_TIME, seen->time_us, TABLE_AD_CLICK,
                               &rows, &err);
    if (rc == ERROR_CONFLICT) {
        cr_assert_not_null(strstr(err.text, "behind a purge"), "%s", err.text);
        cr_assert_not_null(strstr(err.text, "give a time up to 20"), "%s", err.text);
        history->refused++;
        return;
    }
    if (rc ==
            ERROR_NOT_FOUND || /* before the first point; or after a crash, which ends a log file */
        (rc == ERROR_CORRUPT && strstr(err.text, "has a gap") != NULL))
        return;
    cr_assert_eq(rc, 0, "seed %" PRIu64 ": %s", history->seed, err.text);
    cr_assert_str_eq((const char *)rows.data, (const char *)seen->rows.data, "seed %" PRIu64,
                     history->seed);
    history->restored++;
    buffer_release(&rows);
}

static void expect_all_restored(struct history *history)
{
    struct buffer rows = {0};
    struct error err = {0};
    backup_bench_expect(&history->bench);
    for (uint32_t i = 0; i < history->count; i++)
        if (i % LOOK_EVERY == history->seed % LOOK_EVERY)
            expect_restored(history, &history->seen[i]);
    cr_assert_eq(
        backup_bench_rows(history->bench.target, BACKUP_AT_POINT, 0, TABLE_AD_CLICK, &rows, &err),
        0, "%s", err.text);
    cr_assert_str_eq((const char *)rows.data,
                     (const char *)history->seen[history->count - 1].rows.data);
    buffer_release(&rows);
}

static void run_history(uint64_t seed, struct history *history)
{
    *history = (struct history){.seed = seed, .random = {.state = seed}, .amount_next = 1};
    open_bench(&history->bench, seed);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (draw(history, 5) < 3)
            write_click(history);
        else
            delete_last(history);
        see(history);
        do_something_else(history);
    }
    expect_all_restored(history);
    for (uint32_t i = 0; i < history->count; i++)
        buffer_release(&history->seen[i].rows);
    backup_bench_stop(&history->bench);
}

Test(backup_purge, is_restored_as_it_was_or_refused)
{
    static struct history history;
    uint64_t first = sim_option("SIM_SEED", 1);
    uint64_t enough = sim_option("SIM_RESTORES", HISTORIES_DEFAULT);
    uint32_t restored = 0, refused = 0;
    for (uint64_t seed = first; seed < first + enough; seed++) {
        run_history(seed, &history);
        restored += history.restored;
        refused += history.refused;
    }
    cr_assert(restored > 5 * enough && refused > enough, "%u restored, %u refused", restored,
              refused);
}

/* ---- turns of a purge ---- */

static void catch_up(struct backup_bench *bench)
{
    struct backup_status status;
    struct executor *executor = bench->fixture.world->executor;
    do {
        cr_assert(executor->step(executor));
        backup_status(bench->backup, &status);
    } while (status.lag_frames > 0 || status.point == 0);
}

/* A directory begins to follow after so many turns of a merge that purges; false: it was over. */
static bool follow_after(uint32_t turns)
{
    const struct click clicks[] = {click_at(0, "0.01"), click_at(0, "0.02"), click_at(0, "0.03")};
    struct backup_bench bench = {0};
    struct backup_bench_ended merged = {0}, ended;
    struct error err = {0};
    open_bench(&bench, turns);
    struct executor *executor = bench.fixture.world->executor;
    cr_assert_eq(engine_fixture_clicks(&bench.fixture, clicks, 2), 0);
    engine_fixture_flush(&bench.fixture);
    backup_bench_delete_rank(&bench, &clicks[1], 1);
    cr_assert_eq(engine_compact(bench.fixture.store, backup_bench_set_ended, &merged, NULL), 0);
    for (uint32_t i = 0; i < turns && !merged.is_done; i++)
        cr_assert(executor->step(executor));
    bool was_over = merged.is_done;
    backup_bench_begin(&bench, &ended, true, 0);
    backup_bench_step_until(&bench, &ended.is_done);
    cr_assert_eq(ended.status, 0, "%s", ended.err.text);
    backup_bench_step_until(&bench, &merged.is_done);
    cr_assert_eq(engine_fixture_clicks(&bench.fixture, &clicks[2], 1), 0);
    catch_up(&bench);
    struct buffer here = backup_bench_rows_here(&bench, TABLE_AD_CLICK), there = {0};
    cr_assert_eq(backup_bench_rows(bench.target, BACKUP_LATEST, 0, TABLE_AD_CLICK, &there, &err), 0,
                 "%u turns: %s", turns, err.text);
    cr_assert_str_eq((const char *)there.data, (const char *)here.data, "%u turns", turns);
    buffer_release(&here);
    buffer_release(&there);
    backup_bench_stop(&bench);
    return !was_over;
}

Test(backup_purge, is_one_moment_at_every_turn_of_a_purge)
{
    uint32_t turns = 0;
    while (follow_after(turns))
        cr_assert_lt(++turns, TURNS_MAX);
    cr_assert_gt(turns, 5);
}

/* ---- tombstones of tables whose clients give timestamps ---- */

enum { TABLE_OF_USER = 1000 };

static void create_table(struct backup_bench *bench)
{
    static const struct column_definition columns[] = {{0, "id", "text", COLUMN_PARTITION, false}};
    const struct table_definition definition = {
        .keyspace = "daybook", .name = "mine", .columns = columns, .column_count = 1};
    engine_fixture_create_table(&bench->fixture, &definition);
}

/* INSERT, or DELETE of the partition, USING TIMESTAMP. */
static void write_row(struct backup_bench *bench, const char *key, bool deletes,
                      int64_t timestamp_us)
{
    struct write_batch *batch = write_batch_new();
    struct unfiltered item = {
        .kind = UNFILTERED_ROW,
        .row = {.marker = {timestamp_us, 0, EXPIRY_NONE}, .deletion = DELETION_NONE},
        .before = DELETION_NONE,
        .after = DELETION_NONE};
    struct mutation mutation = {.table_id = TABLE_OF_USER,
                                .token = murmur3_token(key, strlen(key)),
                                .key = bytes_text(key),
                                .deletion = {timestamp_us, timestamp_us / 1000000},
                                .items = &item,
                                .item_count = !deletes};
    if (!deletes)
        mutation.deletion = DELETION_NONE;
    write_batch_add_mutation(batch, &mutation);
    cr_assert_eq(engine_fixture_apply(&bench->fixture, batch), 0);
    write_batch_free(batch);
}

/* A row that is written late, with a time from before its deletion, is there where the tombstone
 * went before it came, and nowhere else. */
Test(backup_purge, of_a_tombstone_is_one_too)
{
    for (int has_deleted = 0; has_deleted < 2; has_deleted++) {
        struct backup_bench bench = {0};
        struct buffer there = {0};
        struct error err = {0};
        open_bench(&bench, 1);
        create_table(&bench);
        write_row(&bench, "a", false, 100);
        engine_fixture_flush(&bench.fixture);
        write_row(&bench, has_deleted ? "a" : "b", has_deleted, 200);
        engine_fixture_flush(&bench.fixture);
        backup_bench_expect(&bench);
        sim_world_advance_us(bench.sim, 5000);
        engine_fixture_compact(&bench.fixture);
        write_row(&bench, "a", false, 150);
        struct buffer here = backup_bench_rows_here(&bench, TABLE_OF_USER);
        cr_assert_str_eq((const char *)here.data, has_deleted ? "a\n" : "a\nb\n");
        buffer_release(&here);
        int64_t now_us = bench.fixture.world->clock->wall_us(bench.fixture.world->clock);
        sim_world_advance_us(bench.sim, 5000);
        write_row(&bench, "c", false, 400);
        backup_bench_expect(&bench);
        int rc =
            backup_bench_rows(bench.target, BACKUP_AT_TIME, now_us, TABLE_OF_USER, &there, &err);
        cr_expect_eq(rc, has_deleted ? ERROR_CONFLICT : 0, "%d: %d %s", has_deleted, rc, err.text);
        buffer_release(&there);
        backup_bench_stop(&bench);
    }
}
