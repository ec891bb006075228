/* test_engine_rebuild: damaged segments that the log can make again, and those that it cannot. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/engine.h"
#include "storage/manifest/manifest.h"
#include "tests/lib/engine_fixture.h"
#include "tests/sim/sim_world.h"

enum {
    SEGMENTS_MAX = 32,
    HEADER_BIT = 8 * 20,
    PAGE_BIT = 8 * 4100,
    FOOTER_BYTES = 4096,
    CRASHES = 6 /* of each moment */
};

struct life {
    struct sim_world *sim;
    struct engine_fixture fixture;
    char segments[SEGMENTS_MAX][64];
    uint32_t segment_count;
    struct buffer clicks, counters; /* as they were */
    uint32_t told;
    char text[512]; /* what was told last */
    uint32_t crashes;
};

/* ---- a directory ---- */

static void note(void *context, const char *text)
{
    struct life *life = context;
    life->told++;
    snprintf(life->text, sizeof(life->text), "%s", text);
}

static int open_again(struct life *life, bool salvages, struct error *err)
{
    life->told = 0;
    life->fixture.options.salvage = salvages;
    return engine_fixture_open_in(&life->fixture, sim_world_interface(life->sim), err);
}

static void must_open(struct life *life, bool salvages)
{
    struct error err = {0};
    cr_assert_eq(open_again(life, salvages, &err), 0, "%s", err.text);
}

static void write_round(struct life *life, int round)
{
    static const char *const days[] = {"2013-11-28", "2013-11-29", "2013-11-30"};
    for (int i = 0; i < 12; i++) {
        char ad[16];
        snprintf(ad, sizeof(ad), "ad-%d", i * (round + 1) % 7);
        const struct click clicks[] = {
            {"r1", days[i % 3], 1385605012000 - 13 * i, ad, "0.01"},
            {"r1", days[i % 3], 1385605012000 - 13 * i, ad, "0.015"},
            {"r2", days[round % 3], 1385605012000 + 7 * i, "ad-0", "12"},
        };
        cr_assert_eq(engine_fixture_clicks(&life->fixture, clicks, 3), 0);
    }
}

static void delete_day(struct life *life)
{
    struct write_batch *batch = write_batch_new();
    const struct column_value values[] = {
        {AD_CLICK_RESELLER_ID, false, bytes_text("r2")},
        {AD_CLICK_DAY, false, bytes_text("2013-11-28")},
    };
    const struct schema *schema = store_schema(life->fixture.store);
    write_batch_delete(batch, schema_table(schema, TABLE_AD_CLICK), values, 2);
    cr_assert_eq(engine_fixture_apply(&life->fixture, batch), 0);
    write_batch_free(batch);
}

static struct buffer rows_of(struct engine_fixture *fixture, uint32_t table_id)
{
    return engine_fixture_rows(fixture, table_id, (struct bytes){0}, 100, false);
}

static void note_segment(void *context, const char *name)
{
    struct life *life = context;
    if (strstr(name, ".seg") != NULL) {
        cr_assert_lt(life->segment_count, SEGMENTS_MAX);
        snprintf(life->segments[life->segment_count++], sizeof(life->segments[0]), "segments/%s",
                 name);
    }
}

static void list_segments(struct life *life)
{
    struct disk *disk = sim_world_interface(life->sim)->disk;
    life->segment_count = 0;
    cr_assert_eq(disk->list(disk, "segments", note_segment, life), 0);
    cr_assert_gt(life->segment_count, 0);
}

/* Flushed once and stopped; with `archive_bytes` of log files kept. */
static void begin(struct life *life, uint64_t archive_bytes)
{
    *life = (struct life){.sim = sim_world_new(1)};
    life->fixture.options = (struct engine_options){.log_file_size = SIM_LOG_FILE,
                                                    .log_first_file_size = SIM_LOG_FILE,
                                                    .archive_bytes = archive_bytes,
                                                    .notice = note,
                                                    .notice_context = life};
    must_open(life, false);
    write_round(life, 0);
    delete_day(life);
    engine_fixture_flush(&life->fixture);
    life->clicks = rows_of(&life->fixture, TABLE_AD_CLICK);
    life->counters = rows_of(&life->fixture, TABLE_CLICKS_PER_AD);
    engine_fixture_close(&life->fixture);
    list_segments(life);
}

static void end(struct life *life)
{
    buffer_release(&life->clicks);
    buffer_release(&life->counters);
    sim_world_free(life->sim);
}

static void expect_content(struct life *life, struct engine_fixture *fixture)
{
    struct buffer clicks = rows_of(fixture, TABLE_AD_CLICK);
    struct buffer counters = rows_of(fixture, TABLE_CLICKS_PER_AD);
    cr_assert_str_eq((const char *)clicks.data, (const char *)life->clicks.data);
    cr_assert_str_eq((const char *)counters.data, (const char *)life->counters.data);
    buffer_release(&clicks);
    buffer_release(&counters);
}

static void flip(struct life *life, uint32_t segment, uint64_t bit)
{
    sim_disk_flip_bit(sim_world_disk(life->sim), life->segments[segment], bit);
}

static uint64_t footer_bit(struct life *life, uint32_t segment)
{
    struct disk *disk = sim_world_interface(life->sim)->disk;
    struct disk_file *file;
    cr_assert_eq(disk->open(disk, life->segments[segment], DISK_READ, &file, NULL), 0);
    int64_t size = disk->size(disk, file);
    disk->close(disk, file);
    return 8 * ((uint64_t)size - FOOTER_BYTES + 50);
}

static void expect_made_again(struct life *life, uint32_t count)
{
    cr_assert_eq(life->told, count, "told %u of %u: %s", life->told, count, life->text);
    cr_assert_not_null(strstr(life->text, "it was made again from the log, bit by bit"));
    expect_content(life, &life->fixture);
    engine_fixture_close(&life->fixture);
    must_open(life, true);
    cr_assert_eq(life->told, 0, "%s", life->text);
    expect_content(life, &life->fixture);
    engine_fixture_close(&life->fixture);
}

static void expect_refused(struct life *life, const char *why)
{
    struct error err = {0};
    cr_assert_eq(open_again(life, false, &err), ERROR_CORRUPT);
    cr_assert_not_null(strstr(err.text, "it cannot be made again"), "%s", err.text);
    cr_assert_not_null(strstr(err.text, why), "%s", err.text);
}

/* ---- what can be made again ---- */

Test(engine_rebuild, every_segment_of_a_flush_is_made_again_by_the_opening_that_finds_it_damaged)
{
    struct life life;
    begin(&life, 0);
    for (uint32_t i = 0; i < life.segment_count; i++)
        flip(&life, i, HEADER_BIT);
    must_open(&life, false);
    expect_made_again(&life, life.segment_count);
    end(&life);
}

Test(engine_rebuild, a_damaged_page_is_looked_for_only_by_salvage)
{
    struct life life;
    begin(&life, 0);
    flip(&life, 0, PAGE_BIT);
    must_open(&life, false);
    cr_assert_eq(life.told, 0);
    engine_fixture_close(&life.fixture);
    must_open(&life, true);
    expect_made_again(&life, 1);
    end(&life);
}

/* Later rounds take the place of the first one's frames, or send them to the archive; its runs
 * stay, as a merge that has not ended by the closing leaves nothing. */
static void write_more(struct life *life)
{
    must_open(life, false);
    sim_world_stall_merges(life->sim, true);
    for (int round = 1; round < 4; round++) {
        write_round(life, round);
        engine_fixture_flush(&life->fixture);
    }
    buffer_release(&life->clicks);
    buffer_release(&life->counters);
    life->clicks = rows_of(&life->fixture, TABLE_AD_CLICK);
    life->counters = rows_of(&life->fixture, TABLE_CLICKS_PER_AD);
    sim_world_stall_merges(life->sim, false);
    engine_fixture_close(&life->fixture);
}

Test(engine_rebuild, frames_that_left_the_log_are_found_in_the_archive)
{
    struct life life;
    begin(&life, 1 << 30);
    write_more(&life);
    list_segments(&life);
    flip(&life, 0, HEADER_BIT);
    must_open(&life, false);
    expect_made_again(&life, 1);
    end(&life);
}

/* ---- what cannot ---- */

Test(engine_rebuild, frames_whose_log_files_were_used_again_are_gone)
{
    struct life life;
    begin(&life, 0);
    write_more(&life);
    list_segments(&life);
    flip(&life, 0, HEADER_BIT);
    expect_refused(&life, "the log does not give frames 1 to ");
    end(&life);
}

Test(engine_rebuild, without_the_footer_nothing_says_what_was_there)
{
    struct life life;
    begin(&life, 0);
    flip(&life, 0, footer_bit(&life, 0));
    expect_refused(&life, "footer: checksum differs");
    end(&life);
}

/* Counters may come out alike, clicks do not. */
Test(engine_rebuild, merged_clicks_are_not_what_their_frames_give)
{
    struct life life;
    begin(&life, 1 << 30);
    must_open(&life, false);
    write_round(&life, 1);
    engine_fixture_compact(&life.fixture);
    engine_fixture_close(&life.fixture);
    list_segments(&life);
    for (uint32_t i = 0; i < life.segment_count; i++)
        flip(&life, i, HEADER_BIT);
    expect_refused(&life, "it may come from a merge");
    end(&life);
}

Test(engine_rebuild, a_reader_makes_nothing_again_and_says_who_does)
{
    struct life life;
    struct error err = {0};
    begin(&life, 0);
    flip(&life, 0, HEADER_BIT);
    life.fixture.options.read_only = true;
    cr_assert_eq(open_again(&life, false, &err), ERROR_CORRUPT);
    cr_assert_not_null(strstr(err.text, "the log still has its frames 1 to "), "%s", err.text);
    cr_assert_not_null(strstr(err.text, ": daybook serve makes it again, unless"), "%s", err.text);
    end(&life);
}

Test(engine_rebuild, a_reader_says_what_is_lost_where_the_log_has_other_frames_by_now)
{
    struct life life;
    struct error err = {0};
    begin(&life, 0);
    write_more(&life);
    list_segments(&life);
    flip(&life, 0, HEADER_BIT);
    life.fixture.options.read_only = true;
    cr_assert_eq(open_again(&life, false, &err), ERROR_CORRUPT);
    cr_assert_not_null(strstr(err.text, "it cannot be made again: the log does not give frames 1"),
                       "%s", err.text);
    cr_assert_not_null(strstr(err.text, " rows of daybook."), "%s", err.text);
    end(&life);
}

/* ---- what verify says of a page ---- */

struct verdict {
    char advice[512];
    bool is_done;
};

static void take_advice(void *context, const char *text)
{
    struct verdict *verdict = context;
    if (strstr(text, ": damaged; ") != NULL)
        snprintf(verdict->advice, sizeof(verdict->advice), "%s", text);
}

static void scrubbed(void *context, int status, const struct error *err)
{
    (void)err;
    cr_assert_eq(status, 0);
    ((struct verdict *)context)->is_done = true;
}

/* What it says of the first segment, which is damaged. */
static void expect_advice(struct life *life, const char *advice)
{
    struct world *world = sim_world_interface(life->sim);
    struct verdict verdict = {.is_done = false};
    life->fixture.options.read_only = true;
    must_open(life, false);
    cr_assert_eq(engine_scrub(life->fixture.store, take_advice, scrubbed, &verdict, NULL), 0);
    while (!verdict.is_done)
        cr_assert(world->executor->step(world->executor) || verdict.is_done);
    cr_assert_not_null(strstr(verdict.advice, life->segments[0]), "%s", verdict.advice);
    cr_assert_not_null(strstr(verdict.advice, advice), "%s", verdict.advice);
    engine_fixture_close(&life->fixture);
    life->fixture.options.read_only = false;
}

Test(engine_rebuild, verify_says_that_the_log_still_has_the_frames)
{
    struct life life;
    begin(&life, 0);
    flip(&life, 0, PAGE_BIT);
    expect_advice(&life, "damaged; the log still has its frames 1 to ");
    must_open(&life, true);
    expect_made_again(&life, 1);
    end(&life);
}

Test(engine_rebuild, verify_says_what_is_at_stake_where_the_log_has_other_frames_by_now)
{
    struct life life;
    begin(&life, 0);
    write_more(&life);
    list_segments(&life);
    flip(&life, 0, PAGE_BIT);
    expect_advice(&life, "damaged; it cannot be made again: the log does not give frames 1 to ");
    end(&life);
}

/* ---- crashes ---- */

static void crash(void *context, enum sim_call call)
{
    struct life *life = context;
    if (call != SIM_SYNC && call != SIM_SYNC_DIRECTORY && call != SIM_RENAME && call != SIM_REMOVE)
        return;
    for (uint64_t seed = 0; seed < CRASHES; seed++) {
        struct sim_world *crashed = sim_world_crash(life->sim, seed);
        struct engine_fixture fixture = {.options = life->fixture.options};
        struct error err = {0};
        fixture.options.notice = NULL;
        cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(crashed), &err), 0, "%s",
                     err.text);
        expect_content(life, &fixture);
        engine_fixture_close(&fixture);
        sim_world_free(crashed);
        life->crashes++;
    }
}

Test(engine_rebuild, power_that_fails_meanwhile_leaves_the_old_segment_or_the_new_one)
{
    struct life life;
    begin(&life, 0);
    for (uint32_t i = 0; i < life.segment_count; i++)
        flip(&life, i, HEADER_BIT);
    sim_disk_watch(sim_world_disk(life.sim), crash, &life);
    must_open(&life, false);
    sim_disk_watch(sim_world_disk(life.sim), NULL, NULL);
    cr_assert_gt(life.crashes, 10 * CRASHES);
    expect_made_again(&life, life.segment_count);
    end(&life);
}

/* Open the damaged directory of `life`, whose `number`-th call of a kind fails; then without the
 * fault.  False: there are not so many calls. */
static bool open_with_fault(struct life *life, enum sim_call call, uint64_t number, bool for_ever)
{
    struct sim_world *sim = sim_world_restart(life->sim, number);
    struct sim_disk *disk = sim_world_disk(sim);
    struct engine_fixture fixture = {.options = life->fixture.options};
    struct error err = {0};
    uint64_t before = sim_disk_calls(disk, call);
    fixture.options.notice = NULL;
    sim_disk_fail(disk, call, number, -EIO, for_ever);
    int rc = engine_fixture_open_in(&fixture, sim_world_interface(sim), &err);
    cr_assert(rc == 0 || err.text[0] != '\0');
    if (rc == 0)
        engine_fixture_close_failed(&fixture);
    bool was_reached = sim_disk_calls(disk, call) - before >= number;
    sim_disk_fail(disk, call, 0, 0, false);
    cr_assert_eq(engine_fixture_open_in(&fixture, sim_world_interface(sim), &err), 0,
                 "call %d, number %d, %s: %s", (int)call, (int)number,
                 for_ever ? "for ever" : "once", err.text);
    expect_content(life, &fixture);
    engine_fixture_close(&fixture);
    sim_world_free(sim);
    return was_reached;
}

Test(engine_rebuild, a_call_that_fails_meanwhile_leaves_what_the_next_opening_makes_again)
{
    struct life life;
    uint32_t openings = 0;
    begin(&life, 0);
    for (uint32_t i = 0; i < life.segment_count; i++)
        flip(&life, i, HEADER_BIT);
    for (enum sim_call call = SIM_OPEN; call < SIM_CALL_COUNT; call++)
        for (int for_ever = 0; for_ever < 2; for_ever++)
            for (uint64_t n = 1; open_with_fault(&life, call, n, for_ever != 0); n++)
                openings++;
    cr_assert_gt(openings, 100);
    end(&life);
}
