/* Clicks that bring ids along: judged against what is there, written once, counted once. */
#include "ingest/parse/click_dedup.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "ingest/parse/line_parser.h"
#include "tests/lib/rollup_fixture.h"

struct bench {
    struct rollup_fixture fixture;
    struct ingest_stream stream;
    struct schema *schema;
    struct row_builder *builder;
    struct line_parser parser;
    struct click_dedup *keyed;
    struct write_batch *batch;
    bool is_judged;
};

static void bench_attach(struct bench *bench)
{
    struct error err = {0};
    bench->stream =
        (struct ingest_stream){.name = "clicks",
                               .table_id = TABLE_AD_CLICK,
                               .column_ids = {AD_CLICK_RESELLER_ID, AD_CLICK_DAY, AD_CLICK_TIME,
                                              AD_CLICK_AD_ID, AD_CLICK_AMOUNT},
                               .day_derived_column_id = AD_CLICK_DAY_DERIVED,
                               .click_id_column_id = AD_CLICK_CLICK_ID,
                               .click_id_type = type_builtin(TYPE_BIGINT),
                               .per_ad = {TABLE_CLICKS_PER_AD, COUNTER_CLICKS},
                               .per_reseller = {TABLE_CLICKS_PER_RESELLER, COUNTER_CLICKS}};
    bench->schema = row_builder_schema(&bench->stream);
    cr_assert_eq(row_builder_new(&bench->stream, schema_table(bench->schema, ROW_BUILDER_TABLE), 7,
                                 &bench->builder, &err),
                 0, "%s", err.text);
    line_parser_init(&bench->parser);
    line_parser_fields(&bench->parser, RECORD_FIELDS_MAX);
    bench->keyed = click_dedup_new(bench->fixture.store, bench->fixture.world, &bench->stream);
    bench->batch = write_batch_new();
}

static void bench_detach(struct bench *bench)
{
    click_dedup_free(bench->keyed);
    write_batch_free(bench->batch);
    row_builder_free(bench->builder);
    line_parser_release(&bench->parser);
    schema_unref(bench->schema);
}

static void bench_start(struct bench *bench)
{
    bench->fixture.click_id = "bigint";
    rollup_fixture_start(&bench->fixture);
    bench_attach(bench);
}

static void bench_stop(struct bench *bench)
{
    bench_detach(bench);
    rollup_fixture_stop(&bench->fixture);
}

/* "id amount" words, as clicks of one moment and ad; of another reseller from 100 on. */
static void fill(struct bench *bench, const char *clicks)
{
    char words[256], amount[32];
    long long id;
    int size;
    snprintf(words, sizeof words, "%s", clicks);
    row_builder_clear(bench->builder);
    bench->parser.line = 1;
    for (char *at = words; sscanf(at, "%lld %31[0-9.]%n", &id, amount, &size) == 2; at += size) {
        char line[128];
        snprintf(line, sizeof line, "%s,2013-11-28,1385654400123,ad,%s,%lld", id < 100 ? "r" : "s",
                 amount, id);
        line_parser_line(&bench->parser, bench->builder, bytes_text(line));
        at += strspn(at + size, ", ");
    }
    row_builder_finish(bench->builder);
}

static void set_judged(void *context)
{
    *(bool *)context = true;
}

/* "duplicates different: lines refused". */
static void judge(struct bench *bench, const char *clicks, const char *expected)
{
    struct reject_list rejects = {0};
    char found[128];
    fill(bench, clicks);
    click_dedup_clear(bench->keyed);
    bench->is_judged = false;
    click_dedup_judge(bench->keyed, bench->builder->block, set_judged, &bench->is_judged);
    rollup_fixture_step_until(&bench->fixture, &bench->is_judged);
    cr_assert_eq(click_dedup_state(bench->keyed), CLICK_DEDUP_JUDGED);
    click_dedup_add_rejects(bench->keyed, &rejects);
    int used = snprintf(found, sizeof found, "%" PRIu64 " %" PRIu64 ":",
                        click_dedup_count(bench->keyed, CLICK_DEDUP_DUPLICATE),
                        click_dedup_count(bench->keyed, CLICK_DEDUP_DIFFERENT));
    for (uint32_t i = 0; i < rejects.count; i++) {
        cr_expect_eq(rejects.items[i].code, REJECT_DIFFERS);
        used +=
            snprintf(found + used, sizeof found - (size_t)used, " %" PRIu64, rejects.items[i].line);
    }
    cr_expect_str_eq(found, expected, "%s: %s instead of %s", clicks, found, expected);
    reject_list_release(&rejects);
}

static int apply(struct bench *bench, store_done done, void *context)
{
    struct error err = {0};
    write_batch_clear(bench->batch);
    click_dedup_add_rows(bench->keyed, bench->batch);
    return click_dedup_apply(bench->keyed, bench->batch, done, context, &err);
}

static void set_durable(void *context, int status, const struct error *err)
{
    (void)err;
    cr_expect_eq(status, 0);
    *(bool *)context = true;
}

static void write_judged(struct bench *bench)
{
    bool is_durable = false;
    cr_assert_eq(apply(bench, set_durable, &is_durable), 0);
    rollup_fixture_step_until(&bench->fixture, &is_durable);
}

static void expect_counted(struct bench *bench, const char *expected)
{
    struct engine_fixture engine = {.world = bench->fixture.world, .store = bench->fixture.store};
    struct buffer ads =
        engine_fixture_rows(&engine, TABLE_CLICKS_PER_AD, (struct bytes){0}, 100, false);
    struct buffer resellers =
        engine_fixture_rows(&engine, TABLE_CLICKS_PER_RESELLER, (struct bytes){0}, 100, false);
    char wanted[64];
    snprintf(wanted, sizeof wanted, "ad|%s\n", expected);
    cr_expect_str_eq((const char *)ads.data, expected[0] == '-' ? "" : wanted);
    snprintf(wanted, sizeof wanted, "r|%s\n", expected);
    cr_expect_str_eq((const char *)resellers.data, expected[0] == '-' ? "" : wanted);
    buffer_release(&ads);
    buffer_release(&resellers);
}

Test(click_dedup, of_one_batch_the_first_line_is_the_click_and_the_others_are_judged_by_it)
{
    struct bench bench = {0};
    bench_start(&bench);
    judge(&bench, "1 0.5, 1 0.50, 1 0.6, 2 1", "1 1: 3");
    write_judged(&bench);
    expect_counted(&bench, "2");
    judge(&bench, "1 0.6, 1 0.5", "1 1: 1");
    bench_stop(&bench);
}

/* It is charged to the connection, of which a batch may have a million clicks. */
Test(click_dedup, the_memory_of_a_batch_is_counted_until_it_is_applied_and_is_small)
{
    struct bench bench = {0};
    char line[128];
    bench_start(&bench);
    cr_expect_eq(click_dedup_bytes(bench.keyed), 0);
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof line, "r,2013-11-28,1385654400123,ad,1,%d", i);
        line_parser_line(&bench.parser, bench.builder, bytes_text(line));
    }
    row_builder_finish(bench.builder);
    click_dedup_judge(bench.keyed, bench.builder->block, set_judged, &bench.is_judged);
    size_t bytes = click_dedup_bytes(bench.keyed);
    cr_expect(bytes >= 12000 && bytes < 20000, "%zu", bytes);
    rollup_fixture_step_until(&bench.fixture, &bench.is_judged);
    cr_expect_geq(click_dedup_bytes(bench.keyed), bytes);
    write_judged(&bench);
    cr_expect_eq(click_dedup_bytes(bench.keyed), 0);
    bench_stop(&bench);
}

Test(click_dedup, a_large_batch_is_sorted_beside_the_engine_thread)
{
    struct bench bench = {0};
    char line[128];
    bench_start(&bench);
    judge(&bench, "7 0.5", "0 0:");
    write_judged(&bench);
    row_builder_clear(bench.builder);
    bench.parser.line = 1;
    for (int i = 2000; i > 0; i--) {
        snprintf(line, sizeof line, "r,2013-11-28,1385654400123,ad,0.5,%d", i % 1500);
        line_parser_line(&bench.parser, bench.builder, bytes_text(line));
    }
    row_builder_finish(bench.builder);
    bench.is_judged = false;
    click_dedup_judge(bench.keyed, bench.builder->block, set_judged, &bench.is_judged);
    cr_expect_not(bench.is_judged);
    cr_expect_eq(click_dedup_state(bench.keyed), CLICK_DEDUP_READING);
    rollup_fixture_step_until(&bench.fixture, &bench.is_judged);
    cr_expect_eq(click_dedup_count(bench.keyed, CLICK_DEDUP_DUPLICATE), 501);
    /* The store may be full for a while. */
    bool is_durable = false;
    while (apply(&bench, set_durable, &is_durable) == ERROR_FULL)
        bench.fixture.world->executor->step(bench.fixture.world->executor);
    rollup_fixture_step_until(&bench.fixture, &is_durable);
    expect_counted(&bench, "1500");
    bench_stop(&bench);
}

Test(click_dedup, a_click_that_is_there_is_found_in_memory_in_segments_and_after_a_restart)
{
    struct bench bench = {0};
    bench_start(&bench);
    judge(&bench, "1 0.5, 2 0.5, 3 0.5", "0 0:");
    write_judged(&bench);
    judge(&bench, "2 0.5, 4 1", "1 0:");
    rollup_fixture_flush(&bench.fixture);
    judge(&bench, "2 0.5, 4 1, 3 0.1", "1 1: 3");
    write_judged(&bench);
    bench_detach(&bench);
    rollup_fixture_restart(&bench.fixture);
    bench_attach(&bench);
    judge(&bench, "1 0.5, 4 1, 5 1", "2 0:");
    write_judged(&bench);
    expect_counted(&bench, "5");
    cr_assert_eq(rollup_fixture_refresh_now(&bench.fixture, false), 0);
    rollup_fixture_expect_figures(&bench.fixture, "r 2013-11-28 5 3.5 - - open\n");
    bench_stop(&bench);
}

Test(click_dedup, what_is_applied_and_not_yet_durable_is_there)
{
    struct bench bench = {0};
    bool is_durable = false;
    bench_start(&bench);
    judge(&bench, "1 0.5", "0 0:");
    cr_assert_eq(apply(&bench, set_durable, &is_durable), 0);
    cr_assert_not(is_durable);
    judge(&bench, "1 0.5, 1 7", "1 1: 2");
    rollup_fixture_step_until(&bench.fixture, &is_durable);
    bench_stop(&bench);
}

Test(click_dedup, a_write_that_came_after_the_judgement_makes_it_be_judged_again)
{
    struct bench bench = {0};
    struct bench other = {0};
    bench_start(&bench);
    other.fixture = bench.fixture;
    bench_attach(&other);
    judge(&bench, "1 0.5", "0 0:");
    judge(&other, "1 0.5", "0 0:");
    write_judged(&other);
    cr_expect_eq(apply(&bench, set_durable, NULL), ERROR_CONFLICT);
    judge(&bench, "1 0.5", "1 0:");
    write_judged(&bench);
    expect_counted(&bench, "1");
    bench_detach(&other);
    bench_stop(&bench);
}

/* After a conflict: the days that have changed are read again. */
static void judge_again(struct bench *bench)
{
    cr_assert_eq(click_dedup_state(bench->keyed), CLICK_DEDUP_STALE);
    bench->is_judged = false;
    click_dedup_judge(bench->keyed, bench->builder->block, set_judged, &bench->is_judged);
    rollup_fixture_step_until(&bench->fixture, &bench->is_judged);
    cr_assert_eq(click_dedup_state(bench->keyed), CLICK_DEDUP_JUDGED);
}

Test(click_dedup, a_batch_that_meets_conflicts_is_judged_again_and_then_locks_others_out)
{
    struct bench bench = {0};
    struct bench other = {0};
    bench_start(&bench);
    other.fixture = bench.fixture;
    bench_attach(&other);
    judge(&bench, "1 0.5, 1 0.6, 2 0.5", "0 1: 2");
    static const char *const writes[] = {"1 0.6", "3 0.5", "4 0.5"};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        judge(&other, writes[i], "0 0:");
        write_judged(&other);
        cr_expect_eq(apply(&bench, set_durable, NULL), ERROR_CONFLICT);
        judge_again(&bench);
        cr_expect_eq(click_dedup_count(bench.keyed, CLICK_DEDUP_DUPLICATE), 1);
        cr_expect_eq(click_dedup_count(bench.keyed, CLICK_DEDUP_DIFFERENT), 1);
    }
    judge(&other, "5 0.5", "0 0:");
    cr_expect_eq(apply(&other, set_durable, NULL), ERROR_FULL);
    write_judged(&bench);
    cr_expect_eq(apply(&other, set_durable, NULL), ERROR_CONFLICT);
    judge_again(&other);
    write_judged(&other);
    expect_counted(&bench, "5");
    bench_detach(&other);
    bench_stop(&bench);
}

static void lock_granted(void *context)
{
    *(bool *)context = true;
}

/* What is written while the batch waits for the lock, to a day that was not refused before. */
Test(click_dedup, a_batch_that_meets_a_conflict_with_the_lock_keeps_it)
{
    struct bench bench = {0};
    struct bench other = {0};
    bool has_lock = false;
    bool is_durable = false;
    struct error err = {0};
    bench_start(&bench);
    other.fixture = bench.fixture;
    bench_attach(&other);
    struct store *store = bench.fixture.store;
    struct store_write_lock lock = {.granted = lock_granted, .context = &has_lock};
    judge(&bench, "1 0.5, 100 0.5", "0 0:");
    static const char *const writes[] = {"2 0.5", "3 0.5", "4 0.5"};
    for (size_t i = 0; i < sizeof writes / sizeof writes[0]; i++) {
        if (i > 0)
            judge_again(&bench);
        judge(&other, writes[i], "0 0:");
        write_judged(&other);
        cr_expect_eq(apply(&bench, set_durable, NULL), ERROR_CONFLICT);
    }
    store_write_lock(store, &lock);
    cr_assert(has_lock);
    bench.is_judged = false;
    click_dedup_judge(bench.keyed, bench.builder->block, set_judged, &bench.is_judged);
    cr_expect_not(bench.is_judged);
    judge(&other, "101 0.5", "0 0:");
    write_batch_clear(other.batch);
    click_dedup_add_rows(other.keyed, other.batch);
    other.batch->write_lock = &lock;
    cr_assert_eq(store_apply(store, other.batch, set_durable, &is_durable, &err), 0);
    rollup_fixture_step_until(&bench.fixture, &is_durable);
    store_write_unlock(store, &lock);
    rollup_fixture_step_until(&bench.fixture, &bench.is_judged);
    cr_expect_eq(apply(&bench, set_durable, NULL), ERROR_CONFLICT);
    judge(&other, "5 0.5", "0 0:");
    cr_expect_eq(apply(&other, set_durable, NULL), ERROR_FULL);
    judge_again(&bench);
    write_judged(&bench);
    bench_detach(&other);
    bench_stop(&bench);
}

Test(click_dedup, after_a_crash_at_any_moment_click_and_counters_are_there_or_neither)
{
    int lost = 0, kept = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct bench bench = {.fixture = {.seed = seed}};
        bool is_durable = false;
        bench_start(&bench);
        judge(&bench, "1 0.5, 2 0.5", "0 0:");
        cr_assert_eq(apply(&bench, set_durable, &is_durable), 0);
        for (uint64_t step = 0; step < seed % 6 && !is_durable; step++)
            bench.fixture.world->executor->step(bench.fixture.world->executor);
        struct sim_world *after = sim_world_crash(bench.fixture.sim, seed);
        rollup_fixture_step_until(&bench.fixture, &is_durable);
        bench_detach(&bench);
        rollup_fixture_go_on(&bench.fixture, after);
        bench_attach(&bench);
        fill(&bench, "1 0.5, 2 0.5");
        click_dedup_judge(bench.keyed, bench.builder->block, set_judged, &bench.is_judged);
        rollup_fixture_step_until(&bench.fixture, &bench.is_judged);
        uint64_t found = click_dedup_count(bench.keyed, CLICK_DEDUP_DUPLICATE);
        cr_expect(found == 0 || found == 2, "seed %d: half a batch", (int)seed);
        expect_counted(&bench, found == 2 ? "2" : "-");
        lost += found == 0;
        kept += found == 2;
        write_judged(&bench);
        expect_counted(&bench, "2");
        bench_stop(&bench);
    }
    cr_expect(lost > 0 && kept > 0, "%d lost, %d kept", lost, kept);
}

/* ---- ids ---- */

struct id_case {
    enum type_kind kind;
    const char *id;
    bool is_taken;
};

static const struct id_case id_cases[] = {
    {TYPE_BIGINT, "0", true},
    {TYPE_BIGINT, "-9223372036854775808", true},
    {TYPE_BIGINT, "9223372036854775808", false},
    {TYPE_BIGINT, "1.0", false},
    {TYPE_BIGINT, "", false},
    {TYPE_UUID, "5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11", true},
    {TYPE_UUID, "5F0C6D1E-8F0A-4C57-9A3C-2F1F0D7C9A11", true},
    {TYPE_UUID, "5f0c6d1e8f0a4c579a3c2f1f0d7c9a11", false},
    {TYPE_UUID, "", false},
    {TYPE_TEXT, "x", true},
    {TYPE_TEXT, "", false},
    {TYPE_TEXT, "a\tb", false},
    {TYPE_TEXT, "\xff", false},
};

Test(click_dedup, an_id_is_what_its_kind_says_and_nothing_of_a_refused_line_stays)
{
    for (size_t i = 0; i < sizeof id_cases / sizeof id_cases[0]; i++) {
        const struct id_case *c = &id_cases[i];
        struct bench bench = {0};
        char line[128];
        bench_attach(&bench);
        bench.stream.click_id_type = type_builtin(c->kind);
        snprintf(line, sizeof line, "r,2013-11-28,1385654400123,ad,1,%s", c->id);
        line_parser_line(&bench.parser, bench.builder, bytes_text(line));
        cr_expect_eq(bench.builder->block->rows, c->is_taken, "%s", c->id);
        cr_expect_eq(bench.builder->rejects.counts[REJECT_BAD_CLICK_ID], !c->is_taken, "%s", c->id);
        cr_expect_eq(bench.builder->block->partitions.count, c->is_taken);
        bench_detach(&bench);
    }
}
