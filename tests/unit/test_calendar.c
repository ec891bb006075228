/* test_calendar: days, times and zones; zones against rows made by Python's zoneinfo. */
#include "base/calendar.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static int64_t time_of(const char *text)
{
    int64_t time_ms;
    cr_assert(calendar_time_parse(bytes_text(text), &time_ms), "%s", text);
    return time_ms;
}

static int32_t day_of(const char *text)
{
    int32_t day;
    cr_assert(calendar_day_parse(bytes_text(text), &day), "%s", text);
    return day;
}

static struct zone *zone_of(const char *name)
{
    struct zone *zone;
    struct error err = {0};
    cr_assert_eq(calendar_zone_open(name, &zone, &err), 0, "%s", err.text);
    return zone;
}

Test(calendar, days_count_from_1970)
{
    cr_assert_eq(day_of("1970-01-01"), 0);
    cr_assert_eq(day_of("1969-12-31"), -1);
    cr_assert_eq(day_of("2000-02-29"), 11016);
    cr_assert_eq(day_of("2013-11-28"), 16037);
    cr_assert_eq(day_of("0000-01-01"), DAY_MIN);
    cr_assert_eq(day_of("9999-12-31"), DAY_MAX);
}

Test(calendar, months_are_numbered_on_end_and_begin_with_their_first_day)
{
    static const char *const months[] = {"0000-01", "0000-12", "1969-12", "1970-01",
                                         "2000-02", "2013-11", "9999-12"};
    for (size_t i = 0; i < COUNT(months); i++) {
        char text[DAY_TEXT_SIZE + 1];
        int32_t first;
        snprintf(text, sizeof(text), "%s-01", months[i]);
        cr_assert(calendar_day_parse(bytes_text(text), &first));
        int32_t month = calendar_month_of_day(first);
        cr_expect_eq(month, atoi(months[i]) * 12 + atoi(months[i] + 5) - 1, "%s", months[i]);
        cr_expect_eq(calendar_month_first_day(month), first, "%s", months[i]);
        cr_expect_eq(calendar_month_of_day(first + 27), month, "%s", months[i]);
    }
    for (int32_t day = DAY_MIN + 1; day <= DAY_MAX; day++)
        cr_assert_eq(calendar_month_of_day(day),
                     calendar_month_of_day(day - 1) +
                         (calendar_month_first_day(calendar_month_of_day(day)) == day));
}

Test(calendar, every_day_of_ten_thousand_years_follows_the_one_before)
{
    static const int month_lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int32_t day = DAY_MIN;
    for (int year = 0; year <= 9999; year++) {
        bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        for (int month = 1; month <= 12; month++) {
            int length = month_lengths[month - 1] + (month == 2 && is_leap);
            for (int i = 1; i <= length; i++, day++) {
                char expected[40];
                char text[DAY_TEXT_SIZE + 1];
                int32_t back = 0;
                snprintf(expected, sizeof expected, "%04d-%02d-%02d", year, month, i);
                calendar_day_format(day, text);
                if (strcmp(text, expected) != 0 || !calendar_day_parse(bytes_text(text), &back) ||
                    back != day)
                    cr_assert_fail("day %d is %s, not %s", day, expected, text);
            }
        }
    }
    cr_assert_eq(day, DAY_MAX + 1);
}

Test(calendar, days_that_are_none_are_refused)
{
    static const char *rows[] = {
        "2013-02-29", "1900-02-29", "2013-13-01", "2013-00-01",  "2013-01-00",
        "2013-01-32", "2013-04-31", "2013-1-1",   "2013-01-011", "2013/01/01",
        "+013-01-01", "2013-01-0x", "",           "2013-01-1",   " 2013-01-01"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        int32_t day;
        cr_assert_not(calendar_day_parse(bytes_text(rows[i]), &day), "%s", rows[i]);
    }
}

Test(calendar, the_day_of_a_time_rounds_down)
{
    cr_assert_eq(calendar_day_of_time(0), 0);
    cr_assert_eq(calendar_day_of_time(DAY_MS - 1), 0);
    cr_assert_eq(calendar_day_of_time(DAY_MS), 1);
    cr_assert_eq(calendar_day_of_time(-1), -1);
    cr_assert_eq(calendar_day_of_time(-DAY_MS), -1);
    cr_assert_eq(calendar_day_of_time(-DAY_MS - 1), -2);
}

static const struct {
    const char *text;
    int64_t time_ms;
} time_rows[] = {
    {"0", 0},
    {"1385604980000", INT64_C(1385604980000)},
    {"253402300799999", TIME_MS_MAX},
    {"1970-01-01T00:00:00Z", 0},
    {"2013-11-28T02:16:52Z", INT64_C(1385605012000)},
    {"2013-11-28 02:16:52.5Z", INT64_C(1385605012500)},
    {"2013-11-28T02:16:52.05Z", INT64_C(1385605012050)},
    {"2013-11-28T02:16:52.123Z", INT64_C(1385605012123)},
    {"2013-11-28 02:16:52.5+01:00", INT64_C(1385601412500)},
    {"2013-11-28T02:16:52-0530", INT64_C(1385624812000)},
    {"2013-11-28T02:16+02", INT64_C(1385597760000)},
    {"2013-11-28T02:16Z", INT64_C(1385604960000)},
    {"9999-12-31T23:59:59.999Z", TIME_MS_MAX},
};

Test(calendar, times_are_milliseconds_or_iso_8601)
{
    for (size_t i = 0; i < COUNT(time_rows); i++)
        cr_assert_eq(time_of(time_rows[i].text), time_rows[i].time_ms, "%s", time_rows[i].text);
}

Test(calendar, times_that_are_none_are_refused)
{
    static const char *rows[] = {"",
                                 "-1",
                                 "253402300800000",
                                 "99999999999999999999999",
                                 "2013-11-28",
                                 "2013-11-28T02:16:52",
                                 "2013-11-28T02Z",
                                 "2013-11-28T24:00:00Z",
                                 "2013-11-28T02:60:00Z",
                                 "2013-11-28T02:16:60Z",
                                 "2013-11-28T02:16:52.Z",
                                 "2013-11-28T02:16:52.1234Z",
                                 "2013-11-28T02:16:52.0000Z",
                                 "2013-11-28T02:16:52z",
                                 "2013-11-28t02:16:52Z",
                                 "2013-11-28  02:16:52Z",
                                 "2013-11-28T02:16:52ZZ",
                                 "2013-11-28T02:16:52+1",
                                 "2013-11-28T02:16:52+01:0",
                                 "2013-11-28T02:16:52+01:60",
                                 "2013-11-28T02:16:52+24:00",
                                 "2013-11-28T02:16:52+01:000",
                                 "2013-11-31T02:16:52Z",
                                 "1969-12-31T23:59:59Z",
                                 "1970-01-01T00:00:00+00:01",
                                 "9999-12-31T23:59:59-00:01",
                                 "13856049800O0",
                                 "1385604980000 "};
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t time_ms;
        cr_assert_not(calendar_time_parse(bytes_text(rows[i]), &time_ms), "%s", rows[i]);
    }
}

Test(calendar, a_time_cut_at_any_byte_is_not_read_past_its_end)
{
    const char *text = "2013-11-28 02:16:52.123+01:00";
    for (size_t size = sizeof "2013"; size < strlen(text); size++) {
        char *cut = memory_copy(text, size);
        int64_t time_ms;
        /* Only a shorter zone may be left standing. */
        if (calendar_time_parse(bytes_of(cut, size), &time_ms))
            cr_assert_eq(size, strlen("2013-11-28 02:16:52.123+01"));
        memory_free(cut);
    }
}

Test(calendar, times_are_printed_as_they_are_parsed)
{
    struct buffer buffer = {0};
    calendar_time_format(INT64_C(1385605012007), &buffer);
    cr_assert(bytes_equal(buffer_view(&buffer), bytes_text("2013-11-28T02:16:52.007Z")));
    for (int64_t time_ms = 0; time_ms <= TIME_MS_MAX; time_ms += INT64_C(98765432123)) {
        int64_t back;
        buffer_clear(&buffer);
        calendar_time_format(time_ms, &buffer);
        cr_assert(calendar_time_parse(buffer_view(&buffer), &back));
        cr_assert_eq(back, time_ms);
    }
    buffer_release(&buffer);
}

static const struct {
    const char *zone;
    const char *time;
    const char *day;
} zone_rows[] = {
    {"UTC", "2013-11-28T23:59:59Z", "2013-11-28"},
    {"Europe/Berlin", "2013-11-27T22:59:59Z", "2013-11-27"},
    {"Europe/Berlin", "2013-11-27T23:00:00Z", "2013-11-28"},
    {"Europe/Berlin", "2013-07-01T21:59:59Z", "2013-07-01"},
    {"Europe/Berlin", "2013-07-01T22:00:00Z", "2013-07-02"},
    {"Europe/Berlin", "2013-03-31T00:59:59Z", "2013-03-31"},
    {"Europe/Berlin", "2060-07-01T22:00:00Z", "2060-07-02"},
    {"Europe/Berlin", "2060-12-01T22:30:00Z", "2060-12-01"},
    {"Europe/Berlin", "2060-12-01T23:00:00Z", "2060-12-02"},
    {"America/New_York", "2024-03-10T04:59:59Z", "2024-03-09"},
    {"America/New_York", "2024-03-10T05:00:00Z", "2024-03-10"},
    {"America/New_York", "2024-11-03T03:59:59Z", "2024-11-02"},
    {"America/New_York", "2024-11-04T04:59:59Z", "2024-11-03"},
    {"America/New_York", "2024-11-04T05:00:00Z", "2024-11-04"},
    {"America/New_York", "2090-07-04T03:59:59Z", "2090-07-03"},
    {"America/New_York", "2090-07-04T04:00:00Z", "2090-07-04"},
    {"Asia/Kolkata", "2020-01-01T18:29:59Z", "2020-01-01"},
    {"Asia/Kolkata", "2020-01-01T18:30:00Z", "2020-01-02"},
    {"Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"},
    {"Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"},
    {"Australia/Lord_Howe", "2030-01-01T12:59:59Z", "2030-01-01"},
    {"Australia/Lord_Howe", "2030-01-01T13:00:00Z", "2030-01-02"},
    {"Australia/Lord_Howe", "2030-07-01T13:29:59Z", "2030-07-01"},
    {"Australia/Lord_Howe", "2030-07-01T13:30:00Z", "2030-07-02"},
    {"America/Sao_Paulo", "2018-11-04T02:59:59Z", "2018-11-03"},
    {"America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-04"},
};

Test(calendar, zone_days_follow_the_local_clock)
{
    for (size_t i = 0; i < COUNT(zone_rows); i++) {
        struct zone *zone = zone_of(zone_rows[i].zone);
        int32_t day = calendar_zone_day(zone, time_of(zone_rows[i].time));
        cr_assert_eq(day, day_of(zone_rows[i].day), "%s %s", zone_rows[i].zone, zone_rows[i].time);
        calendar_zone_close(zone);
    }
}

static const struct {
    const char *zone;
    const char *day;
    const char *start;
} start_rows[] = {
    {"UTC", "2013-11-28", "2013-11-28T00:00Z"},
    {"Europe/Berlin", "2013-11-28", "2013-11-27T23:00Z"},
    {"Europe/Berlin", "2060-07-02", "2060-07-01T22:00Z"},
    {"Pacific/Apia", "2011-12-29", "2011-12-29T10:00Z"},
    /* The day that was left out begins with the one after it. */
    {"Pacific/Apia", "2011-12-30", "2011-12-30T10:00Z"},
    {"Pacific/Apia", "2011-12-31", "2011-12-30T10:00Z"},
    /* Summer began at midnight: the day begins at 01:00. */
    {"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00Z"},
    /* Clocks went back from 00:01 to 23:01: the day began twice. */
    {"America/St_Johns", "2006-10-29", "2006-10-29T02:30Z"},
};

Test(calendar, a_zone_day_starts_when_clocks_first_show_it)
{
    for (size_t i = 0; i < COUNT(start_rows); i++) {
        struct zone *zone = zone_of(start_rows[i].zone);
        int64_t start = calendar_zone_day_start(zone, day_of(start_rows[i].day));
        cr_assert_eq(start, time_of(start_rows[i].start), "%s %s", start_rows[i].zone,
                     start_rows[i].day);
        cr_assert_lt(calendar_zone_day(zone, start - 1), day_of(start_rows[i].day));
        cr_assert_geq(calendar_zone_day(zone, start), day_of(start_rows[i].day));
        calendar_zone_close(zone);
    }
}

/* `start` and `end`: the hour or minute that has the time, as local clocks show it. */
static const struct {
    const char *zone;
    int64_t unit_ms;
    const char *time;
    const char *start;
    const char *end;
} span_rows[] = {
    {"UTC", HOUR_MS, "2013-11-28T02:16:52.007Z", "2013-11-28T02:00Z", "2013-11-28T03:00Z"},
    {"UTC", MINUTE_MS, "2013-11-28T02:16:52.007Z", "2013-11-28T02:16Z", "2013-11-28T02:17Z"},
    {"UTC", HOUR_MS, "1970-01-01T00:00:00Z", "1970-01-01T00:00Z", "1970-01-01T01:00Z"},
    {"Asia/Kolkata", HOUR_MS, "1970-01-01T00:00:00Z", "1970-01-01T05:00+05:30",
     "1970-01-01T06:00+05:30"},
    {"Asia/Kolkata", HOUR_MS, "2020-01-01T18:30:00Z", "2020-01-02T00:00+05:30",
     "2020-01-02T01:00+05:30"},
    {"America/New_York", HOUR_MS, "2024-01-01T00:15:00Z", "2023-12-31T19:00-05:00",
     "2023-12-31T20:00-05:00"},
    /* The hour from two to three is left out, and comes twice. */
    {"Europe/Berlin", HOUR_MS, "2013-03-31T00:59:59Z", "2013-03-31T01:00+01:00",
     "2013-03-31T03:00+02:00"},
    {"Europe/Berlin", HOUR_MS, "2013-10-27T00:30:00Z", "2013-10-27T02:00+02:00",
     "2013-10-27T02:00+01:00"},
    {"Europe/Berlin", HOUR_MS, "2013-10-27T01:30:00Z", "2013-10-27T02:00+01:00",
     "2013-10-27T03:00+01:00"},
    {"Europe/Berlin", HOUR_MS, "2060-07-01T22:30:00Z", "2060-07-02T00:00+02:00",
     "2060-07-02T01:00+02:00"},
    /* Clocks went back by half an hour at two, and forward again to half past two. */
    {"Australia/Lord_Howe", HOUR_MS, "2030-04-06T14:45:00Z", "2030-04-07T01:00+11:00",
     "2030-04-07T01:30+10:30"},
    {"Australia/Lord_Howe", HOUR_MS, "2030-04-06T15:15:00Z", "2030-04-07T01:30+10:30",
     "2030-04-07T02:00+10:30"},
    {"Australia/Lord_Howe", HOUR_MS, "2030-10-05T15:45:00Z", "2030-10-06T02:30+11:00",
     "2030-10-06T03:00+11:00"},
    /* 44 minutes and 30 seconds west of Greenwich. */
    {"Africa/Monrovia", MINUTE_MS, "1971-01-01T00:00:00Z", "1970-12-31T23:59:30Z",
     "1971-01-01T00:00:30Z"},
};

Test(calendar, hours_and_minutes_follow_the_local_clock)
{
    char text[MOMENT_TEXT_MAX + 1];
    for (size_t i = 0; i < COUNT(span_rows); i++) {
        struct zone *zone = zone_of(span_rows[i].zone);
        struct calendar_span span =
            calendar_zone_span(zone, time_of(span_rows[i].time), span_rows[i].unit_ms);
        size_t length = calendar_zone_format(zone, span.start_ms, text);
        cr_expect_str_eq(text, span_rows[i].start, "%s: %s", span_rows[i].time, text);
        cr_expect_eq(length, strlen(text));
        calendar_zone_format(zone, span.end_ms, text);
        cr_expect_str_eq(text, span_rows[i].end, "%s: %s", span_rows[i].time, text);
        calendar_zone_close(zone);
    }
}

Test(calendar, a_moment_that_no_local_clock_can_show_is_in_utc)
{
    char text[MOMENT_TEXT_MAX + 1];
    struct zone *zone = zone_of("Pacific/Auckland");
    calendar_zone_format(zone, TIME_MS_MAX - 59999, text);
    cr_expect_str_eq(text, "9999-12-31T23:59Z", "%s", text);
    calendar_zone_close(zone);
}

/* Rows of Python's date.isocalendar. */
Test(calendar, weeks_begin_on_mondays_and_belong_to_the_year_of_their_thursday)
{
    static const char *const rows[][2] = {
        {"2013-11-24", "2013-W47"},  {"2013-11-25", "2013-W48"}, {"2013-12-01", "2013-W48"},
        {"2013-12-30", "2014-W01"},  {"2010-01-03", "2009-W53"}, {"2010-01-04", "2010-W01"},
        {"2021-01-03", "2020-W53"},  {"1970-01-01", "1970-W01"}, {"1969-12-28", "1969-W52"},
        {"1969-12-29", "1970-W01"},  {"9999-12-31", "9999-W52"}, {"0001-01-01", "0001-W01"},
        {"0000-01-02", "-0001-W52"}, {"0000-01-03", "0000-W01"}};
    char text[WEEK_TEXT_MAX + 1];
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t length = calendar_week_format(calendar_week_of_day(day_of(rows[i][0])), text);
        cr_expect_str_eq(text, rows[i][1], "%s: %s", rows[i][0], text);
        cr_expect_eq(length, strlen(text));
    }
}

Test(calendar, names_that_are_no_zone_are_refused)
{
    static const char *rows[] = {"",
                                 "../../../etc/passwd",
                                 "/etc/passwd",
                                 "Europe/../UTC",
                                 "Europe//x",
                                 "Europe/",
                                 "No/Where",
                                 "Europe",
                                 "zone.tab",
                                 "Europe/Berlin/x"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct zone *zone;
        struct error err = {0};
        cr_assert_lt(calendar_zone_open(rows[i], &zone, &err), 0, "%s", rows[i]);
        cr_assert_eq(zone, NULL);
        cr_assert_neq(err.text[0], '\0');
    }
}

static void put_tzif_header(struct buffer *buffer, uint32_t times, uint32_t types)
{
    buffer_append_text(buffer, "TZif2");
    buffer_put_zeros(buffer, 15);
    buffer_put_u32_be(buffer, 0);
    buffer_put_u32_be(buffer, 0);
    buffer_put_u32_be(buffer, 0);
    buffer_put_u32_be(buffer, times);
    buffer_put_u32_be(buffer, types);
    buffer_put_u32_be(buffer, 4);
}

static void put_tzif_type(struct buffer *buffer, int32_t offset)
{
    buffer_put_u32_be(buffer, (uint32_t)offset);
    buffer_put_u16_be(buffer, 0);
}

/* Two transitions, two types, and a rule after them. */
static void put_tzif(struct buffer *buffer, const char *rule)
{
    put_tzif_header(buffer, 0, 1);
    put_tzif_type(buffer, 0);
    buffer_append(buffer, "UTC", 4);
    put_tzif_header(buffer, 2, 2);
    buffer_put_u64_be(buffer, 1000000000);
    buffer_put_u64_be(buffer, 1100000000);
    buffer_put_u8(buffer, 1);
    buffer_put_u8(buffer, 0);
    put_tzif_type(buffer, 3600);
    put_tzif_type(buffer, 7200);
    buffer_append(buffer, "CET", 4);
    buffer_printf(buffer, "\n%s\n", rule);
}

/* The rule had its last change before the file's last one. */
Test(calendar, hours_adjoin_where_a_zone_file_goes_over_to_its_rule)
{
    const int64_t change_ms = INT64_C(1100000000000);
    struct buffer buffer = {0};
    struct zone *zone;
    put_tzif(&buffer, "CET-1CEST,M3.5.0,M10.5.0/3");
    cr_assert_eq(calendar_zone_decode(buffer_view(&buffer), &zone), 0);
    cr_expect_eq(calendar_zone_span(zone, change_ms - 1, HOUR_MS).end_ms, change_ms);
    cr_expect_eq(calendar_zone_span(zone, change_ms, HOUR_MS).start_ms, change_ms);
    cr_expect_eq(calendar_zone_span(zone, change_ms + HOUR_MS, HOUR_MS).start_ms % HOUR_MS, 0);
    calendar_zone_close(zone);
    buffer_release(&buffer);
}

static int decode_and_use(struct bytes tzif)
{
    struct zone *zone;
    int rc = calendar_zone_decode(tzif, &zone);
    if (rc < 0)
        return rc;
    for (int32_t day = 0; day < 40000; day += 777)
        (void)calendar_zone_day(zone, calendar_zone_day_start(zone, day));
    calendar_zone_close(zone);
    return 0;
}

/* The cut bytes lie in memory of just their size, so that the sanitizer sees a read too far. */
Test(calendar, damaged_zone_files_are_refused_or_harmless)
{
    struct buffer buffer = {0};
    put_tzif(&buffer, "CET-1CEST,M3.5.0,M10.5.0/3");
    cr_assert_eq(decode_and_use(buffer_view(&buffer)), 0);
    for (size_t size = 0; size < buffer.size; size++) {
        uint8_t *cut = memory_copy(buffer.data, size);
        cr_assert_lt(decode_and_use(bytes_of(cut, size)), 0, "size %zu", size);
        memory_free(cut);
    }
    for (size_t bit = 0; bit < 8 * buffer.size; bit++) {
        uint8_t *bad = memory_copy(buffer.data, buffer.size);
        bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
        (void)decode_and_use(bytes_of(bad, buffer.size));
        memory_free(bad);
    }
    buffer_release(&buffer);
}

static const struct {
    const char *rule;
    bool valid;
} rule_rows[] = {
    {"", true},
    {"UTC0", true},
    {"<-03>3", true},
    {"<+0545>-5:45", true},
    {"EST5EDT,M3.2.0,M11.1.0", true},
    {"IST-2IDT,M3.4.4/26,M10.5.0", true},
    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", true},
    {"XXX3EDT4,0/0,J365/23", true},
    {"AB1", false},
    {"ABC", false},
    {"<ABC1", false},
    {"ABC25", false},
    {"ABC1DEF", false},
    {"ABC1DEF,M3.5.0", false},
    {"ABC1DEF,M0.5.0,M1.1.0", false},
    {"ABC1DEF,M13.5.0,M1.1.0", false},
    {"ABC1DEF,M1.6.0,M1.1.0", false},
    {"ABC1DEF,M1.1.7,M1.1.0", false},
    {"ABC1DEF,M1.1,M1.1.0", false},
    {"ABC1DEF,J0,J1", false},
    {"ABC1DEF,J366,J1", false},
    {"ABC1DEF,1/168,2", false},
    {"ABC1DEF,1,2x", false},
};

Test(calendar, rules_at_the_end_of_zone_files_are_checked)
{
    for (size_t i = 0; i < COUNT(rule_rows); i++) {
        struct buffer buffer = {0};
        put_tzif(&buffer, rule_rows[i].rule);
        cr_assert_eq(decode_and_use(buffer_view(&buffer)), rule_rows[i].valid ? 0 : ERROR_CORRUPT,
                     "%s", rule_rows[i].rule);
        buffer_release(&buffer);
    }
}
