/* test_day_times: the hours and minutes of a day add up to its figure, whatever the clock did and
 * however its clicks came. */
#include "rollup/days/day_times.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "tests/lib/rollup_fixture.h"

struct reading {
    bool is_done;
    int status;
    struct error err;
};

static void reading_done(void *context, int status, const struct error *err)
{
    struct reading *reading = context;
    reading->is_done = true;
    reading->status = status;
    if (err != NULL)
        reading->err = *err;
}

static int64_t time_of(const char *text)
{
    int64_t time_ms;
    cr_assert(calendar_time_parse(bytes_text(text), &time_ms), "%s", text);
    return time_ms;
}

static struct reading read_day(struct rollup_fixture *fixture, struct day_times *times,
                               const char *day)
{
    struct reading reading = {0};
    int32_t number;
    cr_assert(calendar_day_parse(bytes_text(day), &number));
    day_times_read(times, bytes_text("r"), number, reading_done, &reading);
    rollup_fixture_step_until(fixture, &reading.is_done);
    return reading;
}

/* "time clicks gross", ascending, with spaces between. */
static void expect_times(struct rollup_fixture *fixture, const char *day, int64_t unit_ms,
                         const char *expected)
{
    struct day_times *times = day_times_new(fixture->store, fixture->rollup, unit_ms);
    struct buffer text = {0};
    struct reading reading = read_day(fixture, times, day);
    cr_expect_eq(reading.status, 0, "%s", reading.err.text);
    for (uint32_t i = times->count; i > 0; i--) {
        char at[MOMENT_TEXT_MAX + 1];
        calendar_zone_format(rollup_zone(fixture->rollup), times->times[i - 1].at_ms, at);
        buffer_printf(&text, "%s%s %u ", i < times->count ? ", " : "", at,
                      (unsigned)times->times[i - 1].clicks);
        decimal_append(&text, times->times[i - 1].gross);
    }
    if (times->untimed + times->expired > 0)
        buffer_printf(&text, "; %u %u", (unsigned)times->untimed, (unsigned)times->expired);
    buffer_put_u8(&text, 0);
    cr_expect_str_eq((const char *)text.data, expected, "%s:\n%s", day, (const char *)text.data);
    buffer_release(&text);
    day_times_free(times);
}

static void click(struct rollup_fixture *fixture, const char *day, const char *time,
                  const char *amount)
{
    const struct click click = {"r", day, time_of(time), "ad", amount};
    rollup_fixture_clicks(fixture, &click, 1);
}

/* One click in each half hour of the day by the clock. */
static uint32_t fill_day(struct rollup_fixture *fixture, const char *day)
{
    static struct click clicks[60];
    int32_t number;
    uint32_t count = 0;
    cr_assert(calendar_day_parse(bytes_text(day), &number));
    const struct zone *zone = rollup_zone(fixture->rollup);
    int64_t end = calendar_zone_day_start(zone, number + 1);
    for (int64_t at = calendar_zone_day_start(zone, number); at < end; at += HOUR_MS / 2)
        clicks[count++] = (struct click){"r", day, at, "ad", "0.01"};
    rollup_fixture_clicks(fixture, clicks, count);
    return count;
}

static void expect_full_day(struct rollup_fixture *fixture, const char *day, uint32_t hours)
{
    cr_expect_eq(fill_day(fixture, day), hours * 2, "%s", day);
    struct day_times *times = day_times_new(fixture->store, fixture->rollup, HOUR_MS);
    cr_expect_eq(read_day(fixture, times, day).status, 0);
    cr_assert_eq(times->count, hours, "%s: %u", day, times->count);
    for (uint32_t i = 0; i < hours; i++) {
        cr_expect_eq(times->times[i].clicks, 2);
        cr_expect(i == 0 || times->times[i].at_ms == times->times[i - 1].at_ms - HOUR_MS);
    }
    day_times_free(times);
}

Test(day_times, has_the_hours_that_the_clock_had)
{
    struct rollup_fixture fixture = {.zone = "Europe/Berlin"};
    rollup_fixture_start(&fixture);
    expect_full_day(&fixture, "2013-03-30", 24);
    expect_full_day(&fixture, "2013-03-31", 23);
    expect_full_day(&fixture, "2013-10-27", 25);
    rollup_fixture_stop(&fixture);
}

/* A given day may be another than the clock's. */
Test(day_times, keeps_an_hour_with_the_day_of_its_clicks)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    click(&fixture, "2013-11-28", "2013-11-28T23:10:00Z", "0.1");
    click(&fixture, "2013-11-28", "2013-11-29T00:10:00Z", "0.02");
    click(&fixture, "2013-11-29", "2013-11-28T23:20:00Z", "0.003");
    click(&fixture, "2013-11-29", "2013-11-29T00:20:00Z", "0.0004");
    expect_times(&fixture, "2013-11-28", HOUR_MS,
                 "2013-11-28T23:00Z 1 0.1, 2013-11-29T00:00Z 1 0.02");
    expect_times(&fixture, "2013-11-29", HOUR_MS,
                 "2013-11-28T23:00Z 1 0.003, 2013-11-29T00:00Z 1 0.0004");
    expect_times(&fixture, "2013-11-30", HOUR_MS, "");
    rollup_fixture_stop(&fixture);
}

/* Late clicks come in segments and memtables of their own, in any order. */
Test(day_times, have_late_clicks_and_lack_deleted_ones)
{
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    click(&fixture, "2013-11-28", "2013-11-28T10:10:00Z", "0.1");
    click(&fixture, "2013-11-28", "2013-11-28T12:59:59.999Z", "0.2");
    rollup_fixture_flush(&fixture);
    click(&fixture, "2013-11-28", "2013-11-28T11:30:00Z", "0.005");
    click(&fixture, "2013-11-28", "2013-11-28T10:10:00Z", "0.1");
    rollup_fixture_flush(&fixture);
    click(&fixture, "2013-11-28", "2013-11-28T12:00:00Z", "0.3");
    expect_times(&fixture, "2013-11-28", HOUR_MS,
                 "2013-11-28T10:00Z 2 0.2, 2013-11-28T11:00Z 1 0.005, 2013-11-28T12:00Z 2 0.5");
    expect_times(&fixture, "2013-11-28", MINUTE_MS,
                 "2013-11-28T10:10Z 2 0.2, 2013-11-28T11:30Z 1 0.005, "
                 "2013-11-28T12:00Z 1 0.3, 2013-11-28T12:59Z 1 0.2");
    rollup_fixture_void(&fixture, "r", "2013-11-28");
    expect_times(&fixture, "2013-11-28", HOUR_MS, "");
    click(&fixture, "2013-11-28", "2013-11-28T10:30:00Z", "1");
    expect_times(&fixture, "2013-11-28", HOUR_MS, "2013-11-28T10:00Z 1 1");
    rollup_fixture_stop(&fixture);
}

Test(day_times, count_what_has_expired)
{
    struct rollup_fixture fixture = {.keep_days = 1};
    rollup_fixture_start(&fixture);
    click(&fixture, "2013-11-28", "2013-11-28T10:10:00Z", "0.1");
    click(&fixture, "2013-11-28", "2013-11-28T11:10:00Z", "0.1");
    cr_assert_eq(rollup_fixture_refresh_now(&fixture, true), 0);
    rollup_fixture_seal(&fixture);
    rollup_fixture_advance(&fixture, 10);
    expect_times(&fixture, "2013-11-28", HOUR_MS, "; 0 2");
    click(&fixture, "2013-11-28", "2013-11-28T12:10:00Z", "0.25");
    expect_times(&fixture, "2013-11-28", HOUR_MS, "2013-11-28T12:00Z 1 0.25; 0 2");
    rollup_fixture_stop(&fixture);
}

/* More than one read of the store passes on, in segments and in the open memtable. */
Test(day_times, add_up_over_many_pages)
{
    enum { COUNT = 150000, PIECE = 5000, STEP_MS = 100 };
    static struct click clicks[PIECE];
    struct rollup_fixture fixture = {0};
    struct day_times *times;
    uint64_t expected = 0;
    cr_assert_gt(COUNT, 2 * READ_FOLDED_MAX);
    rollup_fixture_start(&fixture);
    for (int64_t i = 0; i < COUNT; i += PIECE) {
        for (int64_t k = 0; k < PIECE; k++)
            clicks[k] = (struct click){"r", "2013-11-28", (i + k) * STEP_MS, "ad", "0.01"};
        rollup_fixture_clicks(&fixture, clicks, PIECE);
        if (i == COUNT / PIECE / 2 * PIECE)
            rollup_fixture_flush(&fixture);
    }
    times = day_times_new(fixture.store, fixture.rollup, HOUR_MS);
    cr_expect_eq(read_day(&fixture, times, "2013-11-28").status, 0);
    cr_assert_eq(times->count, (COUNT * STEP_MS - 1) / HOUR_MS + 1);
    for (uint32_t i = 0; i < times->count; i++) {
        cr_expect(i == 0 || times->times[i].clicks == HOUR_MS / STEP_MS);
        expected += times->times[i].clicks;
    }
    cr_expect_eq(expected, COUNT);
    day_times_free(times);
    rollup_fixture_stop(&fixture);
}

/* Rows of such a table are also read on the engine thread, as far as they are at hand.  What was
 * added up there must not be added up again. */
Test(day_times, add_up_keyed_clicks_once)
{
    enum { COUNT = 40000, PIECE = 4000 };
    struct rollup_fixture fixture = {.click_id = "bigint"};
    rollup_fixture_start(&fixture);
    const struct table *table = schema_table(store_schema(fixture.store), TABLE_AD_CLICK);
    for (int64_t i = 0; i < COUNT; i += PIECE) {
        struct write_batch *batch = write_batch_new();
        for (int64_t id = i; id < i + PIECE; id++) {
            const struct column_value values[] = {
                {AD_CLICK_RESELLER_ID, false, bytes_text("r")},
                {AD_CLICK_DAY, false, bytes_text("2013-11-28")},
                {AD_CLICK_TIME, false, write_batch_bigint(batch, id * 1000)},
                {AD_CLICK_AD_ID, false, bytes_text("ad")},
                {AD_CLICK_CLICK_ID, false, write_batch_bigint(batch, id)}};
            write_batch_insert(batch, table, values, 5);
        }
        cr_assert_eq(rollup_fixture_apply(&fixture, batch), 0);
        write_batch_free(batch);
    }
    rollup_fixture_flush(&fixture);
    struct day_times *times = day_times_new(fixture.store, fixture.rollup, HOUR_MS);
    for (uint32_t turn = 0; turn < 3; turn++) {
        uint64_t found = 0;
        cr_expect_eq(read_day(&fixture, times, "2013-11-28").status, 0);
        for (uint32_t i = 0; i < times->count; i++)
            found += times->times[i].clicks;
        cr_expect_eq(found, COUNT, "%u: %" PRIu64, turn, found);
    }
    day_times_free(times);
    rollup_fixture_stop(&fixture);
}

Test(day_times, are_refused_where_a_day_has_too_many)
{
    enum { COUNT = DAY_TIMES_MAX + 1, PIECE = 1000 };
    static struct click clicks[COUNT];
    struct rollup_fixture fixture = {0};
    rollup_fixture_start(&fixture);
    for (uint32_t i = 0; i < COUNT; i++)
        clicks[i] = (struct click){"r", "2013-11-28", (int64_t)i * MINUTE_MS, "ad", "0.01"};
    for (uint32_t i = 0; i < COUNT; i += PIECE)
        rollup_fixture_clicks(&fixture, clicks + i, COUNT - i < PIECE ? COUNT - i : PIECE);
    struct day_times *times = day_times_new(fixture.store, fixture.rollup, MINUTE_MS);
    struct reading reading = read_day(&fixture, times, "2013-11-28");
    cr_expect_eq(reading.status, ERROR_LIMIT);
    cr_expect_str_eq(reading.err.text,
                     "the clicks of a reseller on 2013-11-28 lie in over 50000 different minutes; "
                     "ask by hour");
    cr_expect_eq(day_times_bytes(times) > 0, true);
    cr_expect_eq(read_day(&fixture, times, "2013-11-29").status, 0);
    cr_expect_eq(times->count, 0);
    day_times_free(times);
    rollup_fixture_stop(&fixture);
}
