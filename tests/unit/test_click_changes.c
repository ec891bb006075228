/* Batches that change or delete clicks: the counters follow, whatever comes in between. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "tests/lib/rollup_fixture.h"
#include "base/memory.h"

#define TIME_MS INT64_C(1385640000000) /* 2013-11-28T12:00:00Z */

static const struct click clicks[] = {
    {"r", "2013-11-28", TIME_MS, "a", "0.01"},
    {"r", "2013-11-28", TIME_MS, "a", "0.02"},
    {"r", "2013-11-28", TIME_MS + 1, "b", "0.04"},
    {"r", "2013-11-28", TIME_MS + 2, "a", "0.08"},
};

static const struct table *click_table(const struct rollup_fixture *fixture)
{
    return schema_table(store_schema(fixture->store), TABLE_AD_CLICK);
}

static void put_key(struct write_batch *batch, struct column_value *values, int64_t offset_ms,
                    const char *ad, int64_t click_id)
{
    values[0] = (struct column_value){AD_CLICK_RESELLER_ID, false, bytes_text("r")};
    values[1] = (struct column_value){AD_CLICK_DAY, false, bytes_text("2013-11-28")};
    values[2] =
        (struct column_value){AD_CLICK_TIME, false, write_batch_bigint(batch, TIME_MS + offset_ms)};
    values[3] = (struct column_value){AD_CLICK_AD_ID, false, bytes_text(ad)};
    values[4] =
        (struct column_value){AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, click_id)};
}

static void add_delete(struct rollup_fixture *fixture, struct write_batch *batch, int64_t offset_ms,
                       const char *ad, int64_t click_id)
{
    struct column_value values[5];
    put_key(batch, values, offset_ms, ad, click_id);
    write_batch_delete(batch, click_table(fixture), values, 5);
}

static void add_insert(struct rollup_fixture *fixture, struct write_batch *batch, int64_t offset_ms,
                       const char *ad, int64_t click_id, const char *amount)
{
    struct column_value values[6];
    struct decimal decimal;
    cr_assert_eq(decimal_parse(bytes_text(amount), &decimal), 0);
    put_key(batch, values, offset_ms, ad, click_id);
    values[5] = (struct column_value){AD_CLICK_AMOUNT, false, write_batch_decimal(batch, decimal)};
    write_batch_insert(batch, click_table(fixture), values, 6);
}

/* DELETE … WHERE time >= TIME_MS + from AND time <= TIME_MS + to; time descends. */
static void add_range(struct rollup_fixture *fixture, struct write_batch *batch, int64_t from,
                      int64_t to)
{
    struct column_value values[5];
    struct mutation mutation;
    const struct deletion deletion = {.timestamp_us = TIMESTAMP_SERVER};
    put_key(batch, values, to, "", 0);
    mutation_delete(click_table(fixture), values, 2, batch->arena, &mutation);
    mutation.deletion = DELETION_NONE;
    struct unfiltered *bounds = arena_alloc(batch->arena, 2 * sizeof(*bounds), 16);
    for (int i = 0; i < 2; i++) {
        bounds[i] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                        .before = i == 0 ? DELETION_NONE : deletion,
                                        .after = i == 0 ? deletion : DELETION_NONE};
        bounds[i].bound.side = i == 0 ? BOUND_BEFORE : BOUND_AFTER;
        bounds[i].bound.prefix.count = 1;
        bounds[i].bound.prefix.values[0] =
            write_batch_bigint(batch, TIME_MS + (i == 0 ? to : from));
    }
    mutation.items = bounds;
    mutation.item_count = 2;
    write_batch_add_mutation(batch, &mutation);
}

static void start(struct rollup_fixture *fixture)
{
    *fixture = (struct rollup_fixture){.seed = 7};
    rollup_fixture_start(fixture);
    rollup_fixture_clicks(fixture, clicks, 4);
}

static void expect_counters(struct rollup_fixture *fixture, const char *ads, const char *resellers)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    struct buffer text =
        engine_fixture_rows(&engine, TABLE_CLICKS_PER_AD, (struct bytes){0}, 100, false);
    cr_expect_str_eq((const char *)text.data, ads);
    buffer_release(&text);
    text = engine_fixture_rows(&engine, TABLE_CLICKS_PER_RESELLER, (struct bytes){0}, 100, false);
    cr_expect_str_eq((const char *)text.data, resellers);
    buffer_release(&text);
}

static void expect_stats(struct rollup_fixture *fixture, const char *expected)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    struct buffer text = engine_fixture_stats(&engine, "r", "2013-11-28");
    cr_expect_str_eq((const char *)text.data, expected);
    buffer_release(&text);
}

enum where { IN_MEMORY, IN_SEGMENTS, AFTER_RESTART, WHERE_COUNT };

static void move(struct rollup_fixture *fixture, enum where where)
{
    if (where == IN_SEGMENTS)
        rollup_fixture_flush(fixture);
    if (where == AFTER_RESTART)
        rollup_fixture_restart(fixture);
}

/* A deleted click is taken off every counter, once, wherever it lies, and deleting it again, or one
 * that never was, takes nothing. */
Test(click_changes, a_deleted_click_is_taken_off_once)
{
    for (enum where where = 0; where < WHERE_COUNT; where++) {
        struct rollup_fixture fixture;
        struct write_batch *batch = write_batch_new();
        start(&fixture);
        move(&fixture, where);
        add_delete(&fixture, batch, 0, "a", 1);
        add_delete(&fixture, batch, 0, "a", 1);
        add_delete(&fixture, batch, 5, "a", 0);
        add_delete(&fixture, batch, 0, "a", 7);
        cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
        cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
        move(&fixture, where);
        expect_counters(&fixture, "a|2\nb|1\n", "r|3\n");
        expect_stats(&fixture, "3 0.13");
        write_batch_free(batch);
        rollup_fixture_stop(&fixture);
    }
}

/* A range and a day take off what lies in them, and nothing else. */
Test(click_changes, a_range_and_a_day_take_off_what_they_hold)
{
    struct rollup_fixture fixture;
    struct write_batch *batch = write_batch_new();
    start(&fixture);
    add_range(&fixture, batch, 0, 1);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    expect_counters(&fixture, "a|1\nb|0\n", "r|1\n");
    expect_stats(&fixture, "1 0.08");
    write_batch_free(batch);
    rollup_fixture_clicks(&fixture, clicks, 3);
    expect_counters(&fixture, "a|3\nb|1\n", "r|4\n");
    rollup_fixture_void(&fixture, "r", "2013-11-28");
    expect_counters(&fixture, "a|0\nb|0\n", "r|0\n");
    rollup_fixture_stop(&fixture);
}

/* A client's own click is counted when it is new, not when it is changed, and a rank that nobody
 * has is not his to give. */
Test(click_changes, an_inserted_click_is_counted_when_it_is_new)
{
    struct rollup_fixture fixture;
    struct write_batch *batch = write_batch_new();
    start(&fixture);
    add_insert(&fixture, batch, 0, "c", -1, "1");
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    expect_counters(&fixture, "a|3\nc|1\nb|1\n", "r|5\n");
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    write_batch_clear(batch);
    add_insert(&fixture, batch, 0, "a", 1, "5");
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    expect_counters(&fixture, "a|3\nc|1\nb|1\n", "r|5\n");
    expect_stats(&fixture, "5 6.13");
    write_batch_clear(batch);
    add_insert(&fixture, batch, 0, "a", 2, "5");
    cr_expect_eq(rollup_fixture_apply(&fixture, batch), ERROR_INVALID);
    write_batch_clear(batch);
    add_delete(&fixture, batch, 0, "c", -1);
    add_insert(&fixture, batch, 0, "c", -1, "2");
    add_delete(&fixture, batch, 1, "b", 0);
    cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
    expect_counters(&fixture, "a|3\nc|1\nb|0\n", "r|4\n");
    expect_stats(&fixture, "4 7.09");
    write_batch_free(batch);
    rollup_fixture_stop(&fixture);
}

static void take_status(void *context, int status, const struct error *err)
{
    (void)err;
    *(int *)context = status;
}

/* Two who delete one click at the same time, and clicks that come in between: it is taken off once,
 * and nobody's click is lost. */
Test(click_changes, deletes_at_once_take_a_click_off_once)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        struct write_batch *batches[2] = {write_batch_new(), write_batch_new()};
        int status[2] = {1, 1};
        rollup_fixture_start(&fixture);
        rollup_fixture_clicks(&fixture, clicks, 4);
        rollup_fixture_flush(&fixture);
        for (int i = 0; i < 2; i++) {
            add_delete(&fixture, batches[i], 0, "a", 0);
            streams_apply(fixture.streams, batches[i], NULL, 0, take_status, &status[i]);
        }
        rollup_fixture_clicks(&fixture, clicks, 1);
        while (status[0] == 1 || status[1] == 1)
            fixture.world->executor->step(fixture.world->executor);
        cr_expect(status[0] == 0 && status[1] == 0);
        expect_counters(&fixture, "a|3\nb|1\n", "r|4\n");
        for (int i = 0; i < 2; i++)
            write_batch_free(batches[i]);
        rollup_fixture_stop(&fixture);
    }
}

/* One more click for the day that is being deleted from, if the store takes it. */
static void pour_click(struct rollup_fixture *fixture)
{
    struct write_batch *batch = write_batch_new();
    struct block *block = engine_fixture_block(fixture->store, clicks, 1);
    struct error err = {0};
    write_batch_add_block(batch, block);
    int rc = store_apply(fixture->store, batch, NULL, NULL, &err);
    cr_assert(rc == 0 || rc == ERROR_FULL, "%s", err.text);
    block_free(block);
    write_batch_free(batch);
}

/* The counter of reseller r, and the rows of its day. */
static void read_counts(struct rollup_fixture *fixture, long counts_out[2])
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    struct buffer counter =
        engine_fixture_rows(&engine, TABLE_CLICKS_PER_RESELLER, (struct bytes){0}, 100, false);
    struct buffer stats = engine_fixture_stats(&engine, "r", "2013-11-28");
    counts_out[0] = strtol((const char *)counter.data + strlen("r|"), NULL, 10);
    counts_out[1] = strtol((const char *)stats.data, NULL, 10);
    buffer_release(&counter);
    buffer_release(&stats);
}

/* Ranges of a day that clicks pour into without a pause: each delete comes to its end, in its turn,
 * and takes off what it deleted and nothing else. */
Test(click_changes, a_range_is_deleted_from_a_day_that_clicks_pour_into)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        struct write_batch *batches[2] = {write_batch_new(), write_batch_new()};
        int status[2] = {1, 1};
        long counts[2];
        rollup_fixture_start(&fixture);
        rollup_fixture_clicks(&fixture, clicks, 4);
        rollup_fixture_flush(&fixture);
        for (int i = 0; i < 2; i++) {
            add_range(&fixture, batches[i], 0, 5);
            streams_apply(fixture.streams, batches[i], NULL, 0, take_status, &status[i]);
        }
        while (status[0] == 1 || status[1] == 1) {
            pour_click(&fixture);
            fixture.world->executor->step(fixture.world->executor);
        }
        cr_expect(status[0] == 0 && status[1] == 0, "%d %d", status[0], status[1]);
        rollup_fixture_flush(&fixture);
        rollup_fixture_clicks(&fixture, clicks, 1);
        read_counts(&fixture, counts);
        cr_expect_eq(counts[0], counts[1], "seed %lu: counted %ld of %ld", (unsigned long)seed,
                     counts[0], counts[1]);
        for (int i = 0; i < 2; i++)
            write_batch_free(batches[i]);
        rollup_fixture_stop(&fixture);
    }
}

/* The DELETE of a rank that no click has yet: a click that gets it while the deletion reads is
 * there afterwards, or was taken off its counters with it. */
Test(click_changes, a_rank_that_is_yet_to_come_is_deleted_or_counted)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        struct write_batch *batch = write_batch_new();
        int status = 1;
        long counts[2];
        rollup_fixture_start(&fixture);
        rollup_fixture_clicks(&fixture, clicks, 4);
        rollup_fixture_flush(&fixture);
        add_delete(&fixture, batch, 0, "a", 2);
        streams_apply(fixture.streams, batch, NULL, 0, take_status, &status);
        for (uint64_t step = 0; status == 1; step++) {
            if (step == seed % 8)
                pour_click(&fixture);
            fixture.world->executor->step(fixture.world->executor);
        }
        cr_expect_eq(status, 0);
        rollup_fixture_flush(&fixture);
        read_counts(&fixture, counts);
        cr_expect_eq(counts[0], counts[1], "seed %lu: counted %ld, there are %ld",
                     (unsigned long)seed, counts[0], counts[1]);
        write_batch_free(batch);
        rollup_fixture_stop(&fixture);
    }
}

/* DELETE of `count` days of as many resellers, one of which has clicks. */
static void add_days(struct rollup_fixture *fixture, struct write_batch *batch, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16] = "r";
        if (i > 0)
            snprintf(name, sizeof name, "r%u", i);
        const struct column_value values[] = {{AD_CLICK_RESELLER_ID, false, bytes_text(name)},
                                              {AD_CLICK_DAY, false, bytes_text("2013-11-28")}};
        write_batch_delete(batch, click_table(fixture), values, 2);
    }
}

/* A statement may change very many days: what is kept of each does not grow with their number, and
 * more days than the store can take are refused before any is read. */
Test(click_changes, memory_is_linear_in_the_days_of_a_statement)
{
    enum { DAYS = 3000, BYTES_OF_DAY = 4096 };
    struct rollup_fixture fixture;
    struct write_batch *batch = write_batch_new();
    int status = 1;
    start(&fixture);
    add_days(&fixture, batch, DAYS);
    size_t before = memory_resident();
    streams_apply(fixture.streams, batch, NULL, 0, take_status, &status);
    size_t after = memory_resident();
    cr_expect_lt(after, before + (size_t)DAYS * BYTES_OF_DAY, "%zu to %zu", before, after);
    while (status == 1)
        fixture.world->executor->step(fixture.world->executor);
    cr_expect_eq(status, 0);
    expect_counters(&fixture, "a|0\nb|0\n", "r|0\n");
    write_batch_clear(batch);
    add_days(&fixture, batch, WRITE_BATCH_MUTATIONS_MAX + 1);
    status = 1;
    streams_apply(fixture.streams, batch, NULL, 0, take_status, &status);
    cr_expect_eq(status, ERROR_LIMIT);
    write_batch_free(batch);
    rollup_fixture_stop(&fixture);
}
