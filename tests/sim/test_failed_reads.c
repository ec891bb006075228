/* Reads that the disk refuses: who asked is told which file it was, pages are counted, and all else
 * goes on; nothing is taken for damaged, and nothing made up.
 *
 * Method: a directory has rows of all the rollup's tables in segments (clicks, counters, rates,
 * figures, the ledger, marks of days to be worked off), and a click that is in its log alone, as a
 * kill leaves it.  Each kind of row is asked for while no read succeeds; then the directory is
 * opened with its n-th read failing, for every n.  What is read of it afterwards must be what was
 * there before. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "storage/engine/engine.h"
#include "tests/lib/rollup_fixture.h"
#include "tests/sim/sim_cheap.h"

static const uint32_t tables[] = {TABLE_AD_CLICK,      TABLE_CLICKS_PER_AD, TABLE_RESELLER,
                                  TABLE_AMOUNT_BY_DAY, TABLE_RESTATEMENT,   TABLE_DIRTY_DAY};
enum { TABLES = sizeof tables / sizeof tables[0], READS_MAX = 200 };

/* ---- the directory ---- */

/* Three published days, one of them restated, one with a late click and one voided since. */
static void write_all(struct rollup_fixture *fixture)
{
    rollup_fixture_rate(fixture, "r1", "2013-11-01", "0.2", true);
    rollup_fixture_click(fixture, "r1", "2013-11-28", "0.10");
    rollup_fixture_click(fixture, "r1", "2013-11-29", "1");
    rollup_fixture_click(fixture, "r2", "2013-11-28", "0.015");
    cr_assert_eq(rollup_fixture_refresh_now(fixture, true), 0);
    rollup_fixture_rate(fixture, "r1", "2013-11-29", "0.5", true);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, true), 0);
    rollup_fixture_click(fixture, "r1", "2013-11-28", "0.3");
    rollup_fixture_void(fixture, "r2", "2013-11-28");
    rollup_fixture_flush(fixture);
    rollup_fixture_click(fixture, "r1", "2013-11-28", "0.007");
}

/* As a kill leaves it, so that nothing is in memory but what the log gives. */
static void start(struct rollup_fixture *fixture)
{
    *fixture = (struct rollup_fixture){0};
    sim_cheap();
    rollup_fixture_start(fixture);
    write_all(fixture);
    rollup_fixture_go_on(fixture, sim_world_restart(fixture->sim, 1));
}

static int read_table(struct rollup_fixture *fixture, uint32_t table_id, struct buffer *text,
                      struct error *err)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    const struct read_request request = {
        .table_id = table_id, .is_scan = true, .slice = stream_slice_all(), .row_limit = 100};
    return engine_fixture_try_rows(&engine, &request, text, err);
}

static struct buffer content_of(struct rollup_fixture *fixture)
{
    struct buffer text = {0};
    for (uint32_t i = 0; i < TABLES; i++) {
        struct error err = {0};
        size_t before = text.size;
        cr_assert_eq(read_table(fixture, tables[i], &text, &err), 0, "%s", err.text);
        cr_assert_gt(text.size, before, "table %u is empty", tables[i]);
    }
    return text;
}

static struct store_status status_of(struct rollup_fixture *fixture)
{
    struct store_status status;
    store_status(fixture->store, &status);
    return status;
}

static struct engine_status files_of(struct rollup_fixture *fixture)
{
    struct engine_status status;
    engine_status(fixture->store, &status);
    return status;
}

static void set_failing(struct rollup_fixture *fixture, bool is_failing)
{
    sim_disk_fail(sim_world_disk(fixture->sim), SIM_READ, 1, is_failing ? -EIO : 0, true);
}

/* ---- at work ---- */

/* With a store alone, which has read no row yet: what was read last may be in memory. */
static void expect_told(const struct sim_world *left, uint32_t table_id)
{
    struct sim_world *sim = sim_world_restart(left, 1);
    struct rollup_fixture fixture = {.sim = sim, .world = sim_world_interface(sim)};
    struct engine_fixture engine = {.options = {.read_only = true}};
    struct buffer text = {0};
    struct error err = {0};
    cr_assert_eq(engine_fixture_open_in(&engine, fixture.world, &err), 0, "%s", err.text);
    fixture.store = engine.store;
    set_failing(&fixture, true);
    cr_assert_eq(read_table(&fixture, table_id, &text, &err), -EIO, "table %u", table_id);
    set_failing(&fixture, false);
    cr_assert_not_null(strstr(err.text, "read segments/"), "%s", err.text);
    cr_assert_not_null(strstr(err.text, error_text(-EIO)), "%s", err.text);
    cr_assert_gt(files_of(&fixture).failed_reads, 0, "table %u", table_id);
    buffer_clear(&text);
    cr_assert_eq(read_table(&fixture, table_id, &text, &err), 0, "%s", err.text);
    cr_assert_gt(text.size, 0);
    cr_assert_not(status_of(&fixture).failed);
    buffer_release(&text);
    engine_fixture_close(&engine);
    sim_world_free(sim);
}

Test(failed_reads, of_any_kind_of_row_are_told_and_counted_and_end_nothing)
{
    struct rollup_fixture fixture;
    start(&fixture);
    for (uint32_t i = 0; i < TABLES; i++)
        expect_told(fixture.sim, tables[i]);
    rollup_fixture_stop(&fixture);
}

/* ---- what the system has in memory ---- */

struct cached_read {
    uint32_t table_id;
    const char *reseller, *day; /* NULL: the key is the reseller alone */
    uint32_t pages;             /* at least so many are read, */
    bool is_at_once;            /* on the engine thread */
};

static int read_cached(struct engine_fixture *engine, const struct cached_read *what,
                       struct buffer *text, struct error *err)
{
    struct buffer key = {0};
    if (what->day != NULL)
        engine_fixture_key(&key, what->reseller, what->day);
    else
        buffer_append_bytes(&key, bytes_text(what->reseller));
    const struct read_request request = {.table_id = what->table_id,
                                         .key = buffer_view(&key),
                                         .slice = stream_slice_all(),
                                         .row_limit = 100};
    buffer_clear(text);
    int rc = engine_fixture_try_rows(engine, &request, text, err);
    buffer_release(&key);
    return rc;
}

/* With the number-th page damaged there, which then is told; false: it reads fewer. */
static bool expect_damage_told(const struct sim_world *left, const struct cached_read *what,
                               uint64_t number, uint64_t bit)
{
    struct sim_world *sim = sim_world_restart(left, 1);
    struct sim_disk *disk = sim_world_disk(sim);
    struct engine_fixture engine = {.options = {.read_only = true}};
    struct buffer text = {0}, again = {0};
    struct error err = {0};
    cr_assert_eq(engine_fixture_open_in(&engine, sim_world_interface(sim), &err), 0, "%s",
                 err.text);
    sim_world_advance_us(sim, 10000); /* the engine thread has time for some pages again */
    sim_disk_flip_cached(disk, number, bit);
    int rc = read_cached(&engine, what, &text, &err);
    bool was_reached = sim_disk_flip_cached(disk, 0, 0);
    cr_assert_eq(sim_disk_reads_now(disk) > 0, what->is_at_once);
    cr_assert_eq(rc, was_reached ? ERROR_CORRUPT : 0, "table %u, page %u, bit %u: %d %s",
                 what->table_id, (unsigned)number, (unsigned)bit, rc, err.text);
    cr_assert(!was_reached || strstr(err.text, "checksum differs") != NULL, "%s", err.text);
    cr_assert_eq(read_cached(&engine, what, &again, &err), 0, "%s", err.text);
    cr_assert(was_reached || bytes_equal(buffer_view(&text), buffer_view(&again)));
    buffer_release(&text);
    buffer_release(&again);
    engine_fixture_close(&engine);
    sim_world_free(sim);
    return was_reached;
}

/* A page of clicks and one of their strings; a page of other rows. */
Test(failed_reads, of_pages_that_are_damaged_in_memory_are_told)
{
    static const struct cached_read reads[] = {{TABLE_AD_CLICK, "r1", "2013-11-28", 2, false},
                                               {TABLE_RESELLER, "r1", NULL, 1, true}};
    struct rollup_fixture fixture;
    start(&fixture);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        uint64_t number = 1;
        while (expect_damage_told(fixture.sim, &reads[i], number, number * 61)) {
            for (uint64_t bit = 0; bit < 64; bit += 7)
                expect_damage_told(fixture.sim, &reads[i], number, bit);
            number++;
        }
        cr_assert_gt(number, reads[i].pages, "table %u: %u", reads[i].table_id, (unsigned)number);
    }
    rollup_fixture_stop(&fixture);
}

/* A figure needs its row, and a published one its ledger: the marks stay until both were read. */
Test(failed_reads, of_the_rollup_leave_the_day_to_be_worked_off)
{
    struct rollup_fixture fixture;
    start(&fixture);
    uint32_t marks = rollup_fixture_marks(&fixture);
    cr_assert_geq(marks, 2);
    set_failing(&fixture, true);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), -EIO);
    set_failing(&fixture, false);
    cr_assert_eq(rollup_fixture_marks(&fixture), marks);
    cr_assert_gt(files_of(&fixture).failed_reads, 0);
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
    cr_assert_eq(rollup_fixture_marks(&fixture), 0);
    rollup_fixture_expect_figures(&fixture, "r1 2013-11-29 1 1 0.5 0.5 published\n"
                                            "r1 2013-11-28 3 0.407 0.2 0.0814 published\n"
                                            "r2 2013-11-28 0 0 - - published\n");
    rollup_fixture_stop(&fixture);
}

/* ---- at an opening ---- */

/* What an opening that was refused named. */
struct refused {
    uint32_t manifest, log, segment;
};

static void note_refused(struct refused *refused, const struct error *err)
{
    bool is_manifest = strstr(err->text, "manifest") != NULL;
    bool is_log = strstr(err->text, "log/") != NULL;
    bool is_segment = strstr(err->text, "segments/") != NULL;
    cr_assert(is_manifest || is_log || is_segment, "no file is named: %s", err->text);
    cr_assert_not_null(strstr(err->text, error_text(-EIO)), "%s", err->text);
    refused->manifest += is_manifest;
    refused->log += is_log;
    refused->segment += is_segment;
}

/* Open what was left with the n-th read failing; false: there are no so many. */
static bool open_failing(const struct sim_world *left, uint64_t number, bool is_salvaging,
                         struct bytes before, struct refused *refused)
{
    struct rollup_fixture fixture = {.is_salvaging = is_salvaging};
    struct error err = {0};
    struct sim_world *sim = sim_world_restart(left, 1);
    struct sim_disk *disk = sim_world_disk(sim);
    sim_disk_fail(disk, SIM_READ, number, -EIO, false);
    int rc = rollup_fixture_try_open(&fixture, sim, &err);
    bool was_reached = sim_disk_calls(disk, SIM_READ) >= number;
    sim_disk_fail(disk, SIM_READ, 0, 0, false);
    if (rc != 0) {
        cr_assert_eq(rc, -EIO, "read %u: %s", (unsigned)number, err.text);
        note_refused(refused, &err);
        cr_assert_eq(rollup_fixture_try_open(&fixture, sim, &err), 0, "%s", err.text);
    }
    struct buffer after = content_of(&fixture);
    cr_assert(bytes_equal(buffer_view(&after), before), "read %u", (unsigned)number);
    buffer_release(&after);
    rollup_fixture_stop(&fixture);
    return was_reached;
}

Test(failed_reads, of_an_opening_refuse_it_and_the_next_one_finds_everything)
{
    struct rollup_fixture fixture;
    start(&fixture);
    struct sim_world *left = sim_world_restart(fixture.sim, 1);
    struct buffer before = content_of(&fixture);
    rollup_fixture_stop(&fixture);
    for (int salvages = 0; salvages < 2; salvages++) {
        struct refused refused = {0};
        uint64_t number = 1;
        while (open_failing(left, number, salvages != 0, buffer_view(&before), &refused))
            cr_assert_lt(++number, READS_MAX);
        cr_assert(refused.manifest > 0 && refused.log > 0 && refused.segment > 0,
                  "%u of the manifest, %u of the log, %u of segments", refused.manifest,
                  refused.log, refused.segment);
    }
    buffer_release(&before);
    sim_world_free(left);
}
