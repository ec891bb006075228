/* calendar: days, times of day, and the offsets of time zones.
 *
 * The file of a zone (RFC 8536) has a table of transitions, and in its footer a rule for all time
 * after the table (a POSIX TZ string).  Before the first transition the file's first type holds.
 *
 * A local day need not have 24 hours, may not exist, or may begin twice.  Zone files are not
 * trusted, so each field is checked. */
#include "base/calendar.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/reader.h"
#include "base/text_file.h"

#define ZONE_FOLDER "/usr/share/zoneinfo/"

enum {
    SECONDS_PER_DAY = 86400,
    SECONDS_PER_HOUR = 3600,
    ZONE_NAME_SIZE_MAX = 64,
    ZONE_FILE_SIZE_MAX = 1 << 20,
    ZONE_OFFSET_MIN = -89999, /* seconds, RFC 8536 section 3.2 */
    ZONE_OFFSET_MAX = 93599
};

/* ---- days ---- */

struct civil {
    int32_t year;
    int32_t month;
    int32_t day;
};

/* Years are counted from March, so that the leap day comes last.  An era is 400 years. */
static int32_t civil_to_day(struct civil civil)
{
    int32_t year = civil.year - (civil.month <= 2);
    int32_t era = (year >= 0 ? year : year - 399) / 400;
    int32_t year_of_era = year - era * 400;
    int32_t month_from_march = civil.month + (civil.month > 2 ? -3 : 9);
    int32_t day_of_year = (153 * month_from_march + 2) / 5 + civil.day - 1;
    int32_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static struct civil civil_of_day(int32_t day)
{
    int32_t shifted = day + 719468;
    int32_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int32_t day_of_era = shifted - era * 146097;
    int32_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int32_t month_from_march = (5 * day_of_year + 2) / 153;
    int32_t month = month_from_march + (month_from_march < 10 ? 3 : -9);
    return (struct civil){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = day_of_year - (153 * month_from_march + 2) / 5 + 1,
    };
}

int32_t calendar_month_of_day(int32_t day)
{
    struct civil civil = civil_of_day(day);
    return civil.year * 12 + civil.month - 1;
}

int32_t calendar_month_first_day(int32_t month)
{
    return civil_to_day((struct civil){month / 12, month % 12 + 1, 1});
}

/* 1970-01-01 was a Thursday, the fourth day of its week. */
int32_t calendar_week_of_day(int32_t day)
{
    int32_t from_monday = day + 3;
    return (from_monday >= 0 ? from_monday : from_monday - 6) / 7;
}

static bool year_is_leap(int32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int32_t month_days(int32_t year, int32_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && year_is_leap(year));
}

/* Returns -1 if a byte is not a digit. */
static int32_t digits_parse(const uint8_t *at, size_t count)
{
    int32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        if (at[i] < '0' || at[i] > '9')
            return -1;
        value = value * 10 + (at[i] - '0');
    }
    return value;
}

bool calendar_day_parse(struct bytes text, int32_t *day_out)
{
    *day_out = 0;
    if (text.size != DAY_TEXT_SIZE || text.data[4] != '-' || text.data[7] != '-')
        return false;
    struct civil civil = {
        .year = digits_parse(text.data, 4),
        .month = digits_parse(text.data + 5, 2),
        .day = digits_parse(text.data + 8, 2),
    };
    if (civil.year < 0 || civil.month < 1 || civil.month > 12)
        return false;
    if (civil.day < 1 || civil.day > month_days(civil.year, civil.month))
        return false;
    *day_out = civil_to_day(civil);
    return true;
}

static void two_digits_format(char *to, int32_t value)
{
    to[0] = (char)('0' + value / 10);
    to[1] = (char)('0' + value % 10);
}

/* Write `before` and two digits.  Returns the offset after them. */
static size_t pair_format(char *text, size_t at, char before, int32_t value)
{
    text[at] = before;
    two_digits_format(text + at + 1, value);
    return at + 3;
}

void calendar_day_format(int32_t day, char text[DAY_TEXT_SIZE + 1])
{
    check(day >= DAY_MIN && day <= DAY_MAX);
    struct civil civil = civil_of_day(day);
    two_digits_format(text, civil.year / 100);
    two_digits_format(text + 2, civil.year % 100);
    text[4] = '-';
    two_digits_format(text + 5, civil.month);
    text[7] = '-';
    two_digits_format(text + 8, civil.day);
    text[10] = '\0';
}

size_t calendar_week_format(int32_t week, char text[WEEK_TEXT_MAX + 1])
{
    int32_t thursday = week * 7;
    int32_t year = civil_of_day(thursday).year;
    int32_t number = (thursday - civil_to_day((struct civil){year, 1, 1})) / 7 + 1;
    size_t at = year < 0;
    check(year >= -1 && year <= 9999);
    text[0] = '-';
    two_digits_format(text + at, year < 0 ? 0 : year / 100);
    two_digits_format(text + at + 2, year < 0 ? -year : year % 100);
    text[at + 4] = '-';
    at = pair_format(text, at + 5, 'W', number);
    text[at] = '\0';
    return at;
}

static int64_t divide_down(int64_t value, int64_t divisor)
{
    return value / divisor - (value % divisor < 0);
}

int32_t calendar_day_of_time(int64_t time_ms)
{
    return (int32_t)divide_down(time_ms, DAY_MS);
}

/* ---- times ---- */

static bool time_parse_ms(struct bytes text, int64_t *time_ms_out)
{
    int64_t value = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        value = value * 10 + (text.data[i] - '0');
        if (value > TIME_MS_MAX)
            return false;
    }
    *time_ms_out = value;
    return text.size > 0;
}

/* Read the character `before` (NUL: none) and two digits.  A value over `last` is a failure. */
static int32_t time_parse_pair(struct reader *reader, char before, int32_t last)
{
    if (before != '\0' && reader_u8(reader) != (uint8_t)before)
        reader->failed = true;
    struct bytes pair = reader_bytes(reader, 2);
    int32_t value = reader->failed ? -1 : digits_parse(pair.data, 2);
    if (value < 0 || value > last)
        reader->failed = true;
    return value;
}

static bool reader_sees(const struct reader *reader, char c)
{
    return reader_left(reader) > 0 && reader->data[reader->offset] == (uint8_t)c;
}

/* Read .d, .dd, .ddd or nothing.  Returns milliseconds. */
static int32_t time_parse_fraction(struct reader *reader)
{
    if (!reader_sees(reader, '.'))
        return 0;
    reader->offset++;
    int32_t value = 0;
    int32_t unit = 100;
    while (reader_left(reader) > 0 && digits_parse(reader->data + reader->offset, 1) >= 0) {
        value += digits_parse(reader->data + reader->offset, 1) * unit;
        if (unit == 0)
            reader->failed = true;
        unit /= 10;
        reader->offset++;
    }
    if (unit == 100)
        reader->failed = true;
    return value;
}

/* Read Z, or a sign and hh:mm, hhmm or hh.  Returns seconds east of Greenwich. */
static int32_t time_parse_zone(struct reader *reader)
{
    uint8_t sign = reader_u8(reader);
    int32_t offset = 0;
    if (sign == '+' || sign == '-') {
        offset = time_parse_pair(reader, '\0', 23) * SECONDS_PER_HOUR;
        if (reader_left(reader) > 0)
            offset += time_parse_pair(reader, reader_sees(reader, ':') ? ':' : '\0', 59) * 60;
    } else if (sign != 'Z') {
        reader->failed = true;
    }
    if (reader_left(reader) > 0)
        reader->failed = true;
    return sign == '-' ? -offset : offset;
}

bool calendar_time_parse(struct bytes text, int64_t *time_ms_out)
{
    *time_ms_out = 0;
    if (time_parse_ms(text, time_ms_out))
        return true;
    struct reader reader = reader_of(text);
    int32_t day;
    if (!calendar_day_parse(reader_bytes(&reader, DAY_TEXT_SIZE), &day))
        return false;
    char separator = reader_sees(&reader, ' ') ? ' ' : 'T';
    int64_t hour = time_parse_pair(&reader, separator, 23);
    int64_t minute = time_parse_pair(&reader, ':', 59);
    int64_t second = 0;
    int64_t fraction = 0;
    if (reader_sees(&reader, ':')) {
        second = time_parse_pair(&reader, ':', 59);
        fraction = time_parse_fraction(&reader);
    }
    int64_t offset = time_parse_zone(&reader);
    int64_t seconds = hour * SECONDS_PER_HOUR + minute * 60 + second - offset;
    int64_t time_ms = day * DAY_MS + seconds * 1000 + fraction;
    if (reader.failed || time_ms < TIME_MS_MIN || time_ms > TIME_MS_MAX)
        return false;
    *time_ms_out = time_ms;
    return true;
}

void calendar_time_format(int64_t time_ms, struct buffer *buffer)
{
    check(time_ms >= TIME_MS_MIN && time_ms <= TIME_MS_MAX);
    char text[] = "YYYY-MM-DDThh:mm:ss.mmmZ";
    int32_t ms_of_day = (int32_t)(time_ms % DAY_MS);
    calendar_day_format(calendar_day_of_time(time_ms), text);
    text[10] = 'T';
    two_digits_format(text + 11, ms_of_day / 3600000);
    two_digits_format(text + 14, ms_of_day / 60000 % 60);
    two_digits_format(text + 17, ms_of_day / 1000 % 60);
    text[20] = (char)('0' + ms_of_day / 100 % 10);
    two_digits_format(text + 21, ms_of_day % 100);
    buffer_append_text(buffer, text);
}

/* ---- zones ---- */

enum zone_date_kind {
    ZONE_DATE_JULIAN,  /* Jn: day 1..365, February 29 not counted */
    ZONE_DATE_ORDINAL, /* n: day 0..365, February 29 counted */
    ZONE_DATE_WEEKDAY  /* Mm.w.d: weekday d (0 Sunday) of week w (5 is the last) of month m */
};

struct zone_date {
    enum zone_date_kind kind;
    int32_t month;
    int32_t week;
    int32_t day;
    int32_t seconds; /* local, after the day's midnight */
};

struct zone_rule {
    bool is_there;
    bool has_summer;
    int32_t winter_offset; /* seconds east of Greenwich */
    int32_t summer_offset;
    struct zone_date summer_start; /* in winter time */
    struct zone_date summer_end;   /* in summer time */
};

struct zone_transition {
    int64_t time;   /* seconds since 1970 */
    int32_t offset; /* seconds, from `time` on */
};

struct zone {
    int32_t first_offset;
    size_t count;
    struct zone_transition *transitions;
    struct zone_rule rule;
};

/* A time in which local clocks have the same offset.  `start` and `end` (exclusive) are in seconds
 * since 1970; INT64_MIN and INT64_MAX mean no limit. */
struct zone_span {
    int32_t offset;
    int64_t start;
    int64_t end;
};

static int64_t zone_date_seconds(const struct zone_date *date, int32_t year)
{
    int32_t first = civil_to_day((struct civil){year, 1, 1});
    int32_t day = 0;
    switch (date->kind) {
    case ZONE_DATE_JULIAN:
        day = first + date->day - 1 + (year_is_leap(year) && date->day > 59);
        break;
    case ZONE_DATE_ORDINAL:
        day = first + date->day;
        break;
    case ZONE_DATE_WEEKDAY:
        first = civil_to_day((struct civil){year, date->month, 1});
        /* 1970-01-01 was a Thursday. */
        day = first + (date->day - (int32_t)((first + 4) % 7 + 7) % 7 + 7) % 7;
        day += 7 * (date->week - 1);
        while (day >= first + month_days(year, date->month))
            day -= 7;
        break;
    }
    return (int64_t)day * SECONDS_PER_DAY + date->seconds;
}

/* A change may lie some days outside its year, so the changes of three years are compared.  Of two
 * changes at the same moment, as in a zone with summer time all the year, the second one holds. */
static struct zone_span zone_rule_span(const struct zone_rule *rule, int64_t time)
{
    struct zone_span span = {rule->winter_offset, INT64_MIN, INT64_MAX};
    if (!rule->has_summer)
        return span;
    int32_t year = civil_of_day((int32_t)divide_down(time, SECONDS_PER_DAY)).year;
    for (int32_t y = year - 1; y <= year + 1; y++) {
        int64_t start = zone_date_seconds(&rule->summer_start, y) - rule->winter_offset;
        int64_t end = zone_date_seconds(&rule->summer_end, y) - rule->summer_offset;
        struct zone_transition changes[2] = {{start, rule->summer_offset},
                                             {end, rule->winter_offset}};
        for (size_t i = 0; i < 2; i++) {
            if (changes[i].time > time) {
                span.end = changes[i].time < span.end ? changes[i].time : span.end;
            } else if (changes[i].time >= span.start) {
                span.start = changes[i].time;
                span.offset = changes[i].offset;
            }
        }
    }
    return span;
}

static struct zone_span zone_span_at(const struct zone *zone, int64_t time)
{
    size_t low = 0;
    size_t high = zone->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (zone->transitions[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zone->count && zone->rule.is_there) {
        struct zone_span span = zone_rule_span(&zone->rule, time);
        if (low > 0 && span.start < zone->transitions[low - 1].time)
            span.start = zone->transitions[low - 1].time;
        return span;
    }
    return (struct zone_span){
        .offset = low == 0 ? zone->first_offset : zone->transitions[low - 1].offset,
        .start = low == 0 ? INT64_MIN : zone->transitions[low - 1].time,
        .end = low == zone->count ? INT64_MAX : zone->transitions[low].time,
    };
}

int32_t calendar_zone_day(const struct zone *zone, int64_t time_ms)
{
    struct zone_span span = zone_span_at(zone, divide_down(time_ms, 1000));
    return calendar_day_of_time(time_ms + (int64_t)span.offset * 1000);
}

int64_t calendar_zone_day_start(const struct zone *zone, int32_t day)
{
    int64_t midnight = (int64_t)day * SECONDS_PER_DAY;
    /* At this time the local clock shows an earlier day, whatever the zone's offset. */
    int64_t time = midnight - 2 * SECONDS_PER_DAY;
    for (;;) {
        struct zone_span span = zone_span_at(zone, time);
        int64_t start = midnight - span.offset;
        if (start <= time)
            return time * 1000;
        if (start < span.end)
            return start * 1000;
        time = span.end;
    }
}

struct calendar_span calendar_zone_span(const struct zone *zone, int64_t time_ms, int64_t unit_ms)
{
    struct zone_span span = zone_span_at(zone, divide_down(time_ms, 1000));
    int64_t offset_ms = (int64_t)span.offset * 1000;
    int64_t start = divide_down(time_ms + offset_ms, unit_ms) * unit_ms - offset_ms;
    int64_t end = start + unit_ms;
    /* The comparisons are in seconds, because a far change in milliseconds could overflow. */
    if (span.start > divide_down(start, 1000))
        start = span.start * 1000;
    if (span.end < divide_down(end, 1000))
        end = span.end * 1000;
    return (struct calendar_span){start, end};
}

size_t calendar_zone_format(const struct zone *zone, int64_t time_ms,
                            char text[MOMENT_TEXT_MAX + 1])
{
    int64_t seconds = divide_down(time_ms, 1000);
    int32_t offset = zone_span_at(zone, seconds).offset;
    int32_t day = calendar_day_of_time((seconds + offset) * 1000);
    if (offset % 60 != 0 || day < DAY_MIN || day > DAY_MAX)
        offset = 0;
    seconds += offset;
    day = calendar_day_of_time(seconds * 1000);
    int32_t of_day = (int32_t)(seconds - (int64_t)day * SECONDS_PER_DAY);
    int32_t east = (offset < 0 ? -offset : offset) / 60;
    calendar_day_format(day, text);
    size_t at = pair_format(text, DAY_TEXT_SIZE, 'T', of_day / SECONDS_PER_HOUR);
    at = pair_format(text, at, ':', of_day / 60 % 60);
    if (of_day % 60 != 0)
        at = pair_format(text, at, ':', of_day % 60);
    if (offset != 0) {
        at = pair_format(text, at, offset < 0 ? '-' : '+', east / 60);
        at = pair_format(text, at, ':', east % 60);
    } else {
        text[at++] = 'Z';
    }
    text[at] = '\0';
    return at;
}

/* ---- POSIX TZ strings, as in CET-1CEST,M3.5.0,M10.5.0/3 ---- */

static int32_t rule_number(struct reader *reader, int32_t last)
{
    int32_t value = 0;
    size_t count = 0;
    while (count < 3 && reader_left(reader) > 0) {
        int32_t digit = digits_parse(reader->data + reader->offset, 1);
        if (digit < 0)
            break;
        value = value * 10 + digit;
        reader->offset++;
        count++;
    }
    if (count == 0 || value > last)
        reader->failed = true;
    return value;
}

static bool rule_skip(struct reader *reader, char c)
{
    bool sees = reader_sees(reader, c);
    reader->offset += sees;
    return sees;
}

/* Read [+-]hh[:mm[:ss]], in seconds. */
static int32_t rule_time(struct reader *reader, int32_t hour_last)
{
    bool is_negative = rule_skip(reader, '-');
    if (!is_negative)
        rule_skip(reader, '+');
    int32_t seconds = rule_number(reader, hour_last) * SECONDS_PER_HOUR;
    if (rule_skip(reader, ':')) {
        seconds += rule_number(reader, 59) * 60;
        if (rule_skip(reader, ':'))
            seconds += rule_number(reader, 59);
    }
    return is_negative ? -seconds : seconds;
}

/* Skip a name: three or more letters or, within <>, letters, digits and signs. */
static void rule_name(struct reader *reader)
{
    bool is_quoted = rule_skip(reader, '<');
    size_t count = 0;
    while (reader_left(reader) > 0) {
        uint8_t c = reader->data[reader->offset];
        bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        bool is_other = (c >= '0' && c <= '9') || c == '+' || c == '-';
        if (!is_letter && !(is_quoted && is_other))
            break;
        reader->offset++;
        count++;
    }
    if (count < 3 || (is_quoted && !rule_skip(reader, '>')))
        reader->failed = true;
}

static struct zone_date rule_date(struct reader *reader)
{
    struct zone_date date = {.kind = ZONE_DATE_ORDINAL, .seconds = 2 * SECONDS_PER_HOUR};
    if (!rule_skip(reader, ','))
        reader->failed = true;
    if (rule_skip(reader, 'M')) {
        date.kind = ZONE_DATE_WEEKDAY;
        date.month = rule_number(reader, 12);
        bool has_points = rule_skip(reader, '.');
        date.week = rule_number(reader, 5);
        has_points &= rule_skip(reader, '.');
        date.day = rule_number(reader, 6);
        if (!has_points || date.month < 1 || date.week < 1)
            reader->failed = true;
    } else if (rule_skip(reader, 'J')) {
        date.kind = ZONE_DATE_JULIAN;
        date.day = rule_number(reader, 365);
        if (date.day < 1)
            reader->failed = true;
    } else {
        date.day = rule_number(reader, 365);
    }
    if (rule_skip(reader, '/'))
        date.seconds = rule_time(reader, 167);
    return date;
}

static bool zone_rule_parse(struct bytes text, struct zone_rule *rule_out)
{
    struct zone_rule rule = {0};
    struct reader reader = reader_of(text);
    *rule_out = rule;
    if (text.size == 0)
        return true;
    rule.is_there = true;
    rule_name(&reader);
    /* Offsets in the string are positive west of Greenwich. */
    rule.winter_offset = -rule_time(&reader, 24);
    if (reader_left(&reader) > 0) {
        rule.has_summer = true;
        rule_name(&reader);
        rule.summer_offset = rule.winter_offset + SECONDS_PER_HOUR;
        if (!reader_sees(&reader, ','))
            rule.summer_offset = -rule_time(&reader, 24);
        rule.summer_start = rule_date(&reader);
        rule.summer_end = rule_date(&reader);
    }
    if (reader.failed || reader_left(&reader) > 0)
        return false;
    *rule_out = rule;
    return true;
}

/* ---- TZif files ----
 *
 *  0  "TZif", version ('2' or later), 15 unused
 * 20  six big-endian counts: UT flags, standard flags, leap seconds, transitions, types, name bytes
 * 44  transitions * (8 time), transitions * (1 type), types * (4 offset, 1 summer, 1 name),
 *     name bytes, leap seconds * 12, standard flags, UT flags
 *     newline, POSIX TZ string, newline
 *
 * Before these bytes the file has the same parts with times of 4 bytes, for version 1. */

enum { TZIF_HEADER_SIZE = 44, TZIF_TYPE_SIZE = 6 };

struct tzif_header {
    uint8_t version;
    uint32_t ut_count;
    uint32_t standard_count;
    uint32_t leap_count;
    uint32_t time_count;
    uint32_t type_count;
    uint32_t name_size;
};

static struct tzif_header tzif_header_read(struct reader *reader)
{
    struct bytes bytes = reader_bytes(reader, TZIF_HEADER_SIZE);
    if (reader->failed || memcmp(bytes.data, "TZif", 4) != 0) {
        reader->failed = true;
        return (struct tzif_header){0};
    }
    return (struct tzif_header){
        .version = bytes.data[4],
        .ut_count = load_u32_be(bytes.data + 20),
        .standard_count = load_u32_be(bytes.data + 24),
        .leap_count = load_u32_be(bytes.data + 28),
        .time_count = load_u32_be(bytes.data + 32),
        .type_count = load_u32_be(bytes.data + 36),
        .name_size = load_u32_be(bytes.data + 40),
    };
}

static void tzif_skip_first(struct reader *reader, const struct tzif_header *header)
{
    reader_bytes(reader, (size_t)header->time_count * 5 +
                             (size_t)header->type_count * TZIF_TYPE_SIZE + header->name_size +
                             (size_t)header->leap_count * 8 + header->standard_count +
                             header->ut_count);
}

static int zone_fill(struct zone *zone, const struct tzif_header *header, const uint8_t *times,
                     const uint8_t *kinds, const uint8_t *types)
{
    for (uint32_t i = 0; i < header->type_count; i++) {
        int32_t offset = (int32_t)load_u32_be(types + (size_t)TZIF_TYPE_SIZE * i);
        if (offset < ZONE_OFFSET_MIN || offset > ZONE_OFFSET_MAX)
            return ERROR_CORRUPT;
    }
    zone->first_offset = (int32_t)load_u32_be(types);
    zone->count = header->time_count;
    zone->transitions = memory_zeroed(zone->count, sizeof *zone->transitions);
    for (size_t i = 0; i < zone->count; i++) {
        struct zone_transition *transition = &zone->transitions[i];
        if (kinds[i] >= header->type_count)
            return ERROR_CORRUPT;
        transition->time = (int64_t)load_u64_be(times + 8 * i);
        transition->offset = (int32_t)load_u32_be(types + (size_t)TZIF_TYPE_SIZE * kinds[i]);
        if (i > 0 && transition->time <= zone->transitions[i - 1].time)
            return ERROR_CORRUPT;
    }
    return 0;
}

int calendar_zone_decode(struct bytes tzif, struct zone **zone_out)
{
    *zone_out = NULL;
    struct reader reader = reader_of(tzif);
    struct tzif_header header = tzif_header_read(&reader);
    if (!reader.failed && header.version < '2')
        return ERROR_UNSUPPORTED;
    tzif_skip_first(&reader, &header);
    header = tzif_header_read(&reader);
    if (!reader.failed && header.leap_count > 0)
        return ERROR_UNSUPPORTED;
    struct bytes times = reader_bytes(&reader, (size_t)header.time_count * 8);
    struct bytes kinds = reader_bytes(&reader, header.time_count);
    struct bytes types = reader_bytes(&reader, (size_t)header.type_count * TZIF_TYPE_SIZE);
    reader_bytes(&reader, (size_t)header.name_size + header.standard_count + header.ut_count);
    size_t footer_size = reader_left(&reader);
    struct bytes footer = reader_bytes(&reader, footer_size);
    if (reader.failed || header.type_count == 0 || footer_size < 2 || footer.data[0] != '\n' ||
        footer.data[footer_size - 1] != '\n')
        return ERROR_CORRUPT;

    struct zone *zone = memory_zeroed(1, sizeof *zone);
    int rc = zone_fill(zone, &header, times.data, kinds.data, types.data);
    if (rc == 0 && !zone_rule_parse(bytes_of(footer.data + 1, footer_size - 2), &zone->rule))
        rc = ERROR_CORRUPT;
    if (rc < 0) {
        calendar_zone_close(zone);
        return rc;
    }
    *zone_out = zone;
    return 0;
}

/* A valid name has no dots, so it cannot lead out of ZONE_FOLDER. */
static bool zone_name_is_valid(const char *name)
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
    size_t size = strlen(name);
    return size > 0 && size <= ZONE_NAME_SIZE_MAX && strspn(name, allowed) == size &&
           name[0] != '/' && name[size - 1] != '/' && strstr(name, "//") == NULL;
}

int calendar_zone_open(const char *name, struct zone **zone_out, struct error *err)
{
    *zone_out = NULL;
    if (strcmp(name, "UTC") == 0) {
        *zone_out = memory_zeroed(1, sizeof **zone_out);
        return 0;
    }
    if (!zone_name_is_valid(name))
        return error_set(err, ERROR_INVALID, "'%s' is no name of a time zone", name);
    char path[sizeof ZONE_FOLDER + ZONE_NAME_SIZE_MAX];
    snprintf(path, sizeof path, "%s%s", ZONE_FOLDER, name);
    struct buffer buffer = {0};
    int rc = text_file_read(path, ZONE_FILE_SIZE_MAX, &buffer, NULL);
    if (rc == -ENOENT || rc == -ENOTDIR)
        rc = ERROR_NOT_FOUND;
    if (rc == 0)
        rc = calendar_zone_decode(buffer_view(&buffer), zone_out);
    buffer_release(&buffer);
    if (rc < 0)
        return error_set(err, rc, "time zone %s, file %s: %s", name, path, error_text(rc));
    return 0;
}

void calendar_zone_close(struct zone *zone)
{
    if (zone == NULL)
        return;
    memory_free(zone->transitions);
    memory_free(zone);
}
