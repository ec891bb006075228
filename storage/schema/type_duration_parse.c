/* Texts of durations, read as Cassandra's Duration.from does:
 *
 *   1y2mo3w4d5h6m7s8ms9us10ns      the greater unit first, each at most once
 *   P1Y2M3DT4H5M6S                 ISO 8601; M is months before the T and minutes after it
 *   P2W                            weeks, by themselves
 *   P0001-02-03T04:05:06           every part, with leading zeros
 *
 * and a '-' before any of them makes all of it negative.  What decides correctness: a unit's sum
 * may not pass what its part of the value holds (months and days 31 bits, nanoseconds 63). */
#include <string.h>

#include "storage/schema/type.h"
#include "storage/schema/type_private.h"
#include "storage/schema/type_scan.h"

enum duration_part { DURATION_MONTHS, DURATION_DAYS, DURATION_NANOSECONDS, DURATION_PARTS };

/* In the order that they must have. */
enum duration_rank {
    DURATION_Y = 1,
    DURATION_MO,
    DURATION_W,
    DURATION_D,
    DURATION_H,
    DURATION_M,
    DURATION_S,
    DURATION_MS,
    DURATION_US,
    DURATION_NS
};

struct duration_unit {
    const char *name;
    enum duration_rank rank;
    enum duration_part part;
    uint64_t amount;
};

static const struct duration_unit units[] = {
    {"y", DURATION_Y, DURATION_MONTHS, 12},
    {"mo", DURATION_MO, DURATION_MONTHS, 1},
    {"w", DURATION_W, DURATION_DAYS, 7},
    {"d", DURATION_D, DURATION_DAYS, 1},
    {"h", DURATION_H, DURATION_NANOSECONDS, UINT64_C(3600000000000)},
    {"m", DURATION_M, DURATION_NANOSECONDS, UINT64_C(60000000000)},
    {"s", DURATION_S, DURATION_NANOSECONDS, UINT64_C(1000000000)},
    {"ms", DURATION_MS, DURATION_NANOSECONDS, UINT64_C(1000000)},
    {"us", DURATION_US, DURATION_NANOSECONDS, UINT64_C(1000)},
    {"\xc2\xb5s", DURATION_US, DURATION_NANOSECONDS, UINT64_C(1000)},
    {"ns", DURATION_NS, DURATION_NANOSECONDS, 1},
};
static const struct duration_unit units_iso_date[] = {
    {"Y", DURATION_Y, DURATION_MONTHS, 12},
    {"M", DURATION_MO, DURATION_MONTHS, 1},
    {"D", DURATION_D, DURATION_DAYS, 1},
};
static const struct duration_unit units_iso_time[] = {
    {"H", DURATION_H, DURATION_NANOSECONDS, UINT64_C(3600000000000)},
    {"M", DURATION_M, DURATION_NANOSECONDS, UINT64_C(60000000000)},
    {"S", DURATION_S, DURATION_NANOSECONDS, UINT64_C(1000000000)},
};
#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static const char *const rank_names[] = {
    "",        "years",   "months",       "weeks",        "days",       "hours",
    "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"};

struct duration_reader {
    struct scan scan;
    struct bytes text; /* all of it, without its sign */
    uint64_t parts[DURATION_PARTS];
    enum duration_rank rank; /* of the last unit */
    struct error *err;
};

static int refuse(struct duration_reader *reader)
{
    return error_set(reader->err, ERROR_INVALID, "Unable to convert '%.*s' to a duration",
                     (int)(reader->text.size < 64 ? reader->text.size : 64),
                     (const char *)reader->text.data);
}

static int add(struct duration_reader *reader, const struct duration_unit *unit, uint64_t number)
{
    static const char *const part_names[] = {"months", "days", "nanoseconds"};
    uint64_t max = unit->part == DURATION_NANOSECONDS ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX;

    if (unit->rank == reader->rank)
        return error_set(reader->err, ERROR_INVALID,
                         "Invalid duration. The %s are specified multiple times",
                         rank_names[unit->rank]);
    if (unit->rank < reader->rank)
        return error_set(reader->err, ERROR_INVALID, "Invalid duration. The %s should be after %s",
                         rank_names[reader->rank], rank_names[unit->rank]);
    if (number > (max - reader->parts[unit->part]) / unit->amount)
        return error_set(reader->err, ERROR_INVALID,
                         "Invalid duration. The total number of %s must be less or equal to %d",
                         part_names[unit->part], INT32_MAX);
    reader->rank = unit->rank;
    reader->parts[unit->part] += number * unit->amount;
    return 0;
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 'a') : c;
}

/* The unit that the letters up to the next digit name, in any case where `in_any_case`. */
static const struct duration_unit *scan_unit(struct scan *scan, const struct duration_unit *table,
                                             size_t count, bool in_any_case)
{
    const uint8_t *name = scan->at;

    while (scan->at < scan->end && !scan_is_digit(scan) && *scan->at != 'T')
        scan->at++;
    size_t size = (size_t)(scan->at - name);
    for (size_t i = 0; i < count; i++) {
        size_t same = 0;
        while (same < size && table[i].name[same] != '\0' &&
               (in_any_case ? lower(name[same]) : name[same]) == (uint8_t)table[i].name[same])
            same++;
        if (same == size && table[i].name[same] == '\0')
            return &table[i];
    }
    return NULL;
}

static int read_units(struct duration_reader *reader, const struct duration_unit *table,
                      size_t count, bool in_any_case)
{
    int rc = 0;

    while (rc == 0 && scan_is_digit(&reader->scan)) {
        uint64_t number;
        if (!scan_number(&reader->scan, (uint64_t)INT64_MAX, &number))
            return refuse(reader);
        const struct duration_unit *unit = scan_unit(&reader->scan, table, count, in_any_case);
        rc = unit == NULL ? refuse(reader) : add(reader, unit, number);
    }
    return rc;
}

static int read_iso(struct duration_reader *reader)
{
    int rc = read_units(reader, units_iso_date, COUNT(units_iso_date), false);

    if (rc == 0 && scan_char(&reader->scan, 'T'))
        rc = read_units(reader, units_iso_time, COUNT(units_iso_time), false);
    return rc == 0 && reader->rank == 0 ? refuse(reader) : rc;
}

static int read_weeks(struct duration_reader *reader)
{
    uint64_t number;

    if (!scan_number(&reader->scan, (uint64_t)INT64_MAX, &number) || !scan_char(&reader->scan, 'W'))
        return refuse(reader);
    return add(reader, &units[DURATION_W - 1], number);
}

/* Each digit count and what stands before it. */
static int read_iso_alternative(struct duration_reader *reader)
{
    static const struct {
        char before;
        uint8_t digits;
        const struct duration_unit *unit;
    } fields[] = {
        {0, 4, &units_iso_date[0]},   {'-', 2, &units_iso_date[1]}, {'-', 2, &units_iso_date[2]},
        {'T', 2, &units_iso_time[0]}, {':', 2, &units_iso_time[1]}, {':', 2, &units_iso_time[2]},
    };

    for (size_t i = 0; i < COUNT(fields); i++) {
        uint64_t number;
        if ((fields[i].before != 0 && !scan_char(&reader->scan, fields[i].before)) ||
            !scan_digits(&reader->scan, fields[i].digits, &number))
            return refuse(reader);
        int rc = add(reader, fields[i].unit, number);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_text(struct duration_reader *reader)
{
    struct bytes text = reader->text;

    if (text.size == 0)
        return refuse(reader);
    if (!scan_char(&reader->scan, 'P'))
        return read_units(reader, units, COUNT(units), true);
    if (text.data[text.size - 1] == 'W')
        return read_weeks(reader);
    if (memchr(text.data, '-', text.size) != NULL)
        return read_iso_alternative(reader);
    return read_iso(reader);
}

int type_duration_parse(struct bytes text, struct buffer *value, struct error *err)
{
    bool is_negative = text.size > 0 && text.data[0] == '-';
    size_t skipped = is_negative ? 1 : 0;
    struct duration_reader reader = {.text = bytes_of(text.data + skipped, text.size - skipped),
                                     .err = err};
    reader.scan = (struct scan){reader.text.data, reader.text.data + reader.text.size};
    int rc = read_text(&reader);

    if (rc == 0 && (reader.scan.at != reader.scan.end || reader.rank == 0))
        rc = refuse(&reader);
    if (rc < 0)
        return rc;
    int sign = is_negative ? -1 : 1;
    struct type_duration duration = {sign * (int32_t)reader.parts[DURATION_MONTHS],
                                     sign * (int32_t)reader.parts[DURATION_DAYS],
                                     sign * (int64_t)reader.parts[DURATION_NANOSECONDS]};
    type_duration_write(duration, value);
    return 0;
}
