/* Reads and prints durations.  Texts are read as Cassandra's Duration.from reads them:
 *
 *   1y2mo3w4d5h6m7s8ms9us10ns      the greater unit first, each at most once
 *   P1Y2M3DT4H5M6S                 ISO 8601; M is months before the T and minutes after it
 *   P2W                            weeks, by themselves
 *   P0001-02-03T04:05:06           every part, with leading zeros
 *
 * A '-' before any of these texts makes the whole duration negative.  The sum of the units in each
 * part of the value must fit the part: 31 bits for months and for days, 63 bits for nanoseconds. */
#include <inttypes.h>
#include <string.h>

#include "storage/schema/type_private.h"
#include "storage/schema/type_scan.h"

enum duration_part { DURATION_MONTHS, DURATION_DAYS, DURATION_NANOSECONDS, DURATION_PARTS };

struct duration_unit {
    const char *name;
    char iso; /* its letter in ISO 8601; 0: none */
    const char *plural;
    enum duration_part part;
    uint64_t amount;
};

/* In the order in which a text has them. */
static const struct duration_unit units[] = {
    {"y", 'Y', "years", DURATION_MONTHS, 12},
    {"mo", 'M', "months", DURATION_MONTHS, 1},
    {"w", 0, "weeks", DURATION_DAYS, 7},
    {"d", 'D', "days", DURATION_DAYS, 1},
    {"h", 'H', "hours", DURATION_NANOSECONDS, UINT64_C(3600000000000)},
    {"m", 'M', "minutes", DURATION_NANOSECONDS, UINT64_C(60000000000)},
    {"s", 'S', "seconds", DURATION_NANOSECONDS, UINT64_C(1000000000)},
    {"ms", 0, "milliseconds", DURATION_NANOSECONDS, UINT64_C(1000000)},
    {"us", 0, "microseconds", DURATION_NANOSECONDS, UINT64_C(1000)},
    {"ns", 0, "nanoseconds", DURATION_NANOSECONDS, 1},
};
enum { UNIT_COUNT = sizeof units / sizeof units[0], UNIT_WEEKS = 2 };

/* ---- values ---- */

/* Cassandra's vint: the first byte begins with a 1 bit for each byte that follows; the remaining
 * bits are the number in zigzag form, big-endian.  150 is 81 2C. */
static bool vint_read(struct reader *reader, int64_t *value_out)
{
    uint8_t first = reader_u8(reader);
    int extra = 0;

    while (extra < 8 && (first & (0x80 >> extra)))
        extra++;
    uint64_t value = extra >= 7 ? 0 : first & (0xFFu >> (extra + 1));
    for (int i = 0; i < extra; i++)
        value = value << 8 | reader_u8(reader);
    *value_out = zigzag_back(value);
    return !reader->failed;
}

static void vint_write(struct buffer *buffer, int64_t number)
{
    uint64_t value = zigzag(number);
    int extra = 0;

    while (extra < 8 && value >> (7 * (extra + 1)) != 0)
        extra++;
    uint8_t ones = (uint8_t)(0xFF00u >> extra);
    buffer_put_u8(buffer, (uint8_t)(ones | (extra == 8 ? 0 : value >> (8 * extra))));
    for (int i = extra - 1; i >= 0; i--)
        buffer_put_u8(buffer, (uint8_t)(value >> (8 * i)));
}

bool type_duration_parts(struct bytes value, struct type_duration *duration_out)
{
    struct reader reader = reader_of(value);
    int64_t months;
    int64_t days;
    int64_t nanoseconds;

    if (!vint_read(&reader, &months) || !vint_read(&reader, &days) ||
        !vint_read(&reader, &nanoseconds) || reader_left(&reader) != 0)
        return false;
    if (months < INT32_MIN || months > INT32_MAX || days < INT32_MIN || days > INT32_MAX)
        return false;
    *duration_out = (struct type_duration){(int32_t)months, (int32_t)days, nanoseconds};
    return true;
}

bool type_duration_read(struct bytes value, struct type_duration *duration_out)
{
    struct type_duration parts;

    if (!type_duration_parts(value, &parts))
        return false;
    bool negative = parts.months < 0 || parts.days < 0 || parts.nanoseconds < 0;
    if (negative && (parts.months > 0 || parts.days > 0 || parts.nanoseconds > 0))
        return false;
    *duration_out = parts;
    return true;
}

/* ---- text of a value ---- */

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

void type_duration_format(struct bytes value, struct buffer *text)
{
    struct type_duration duration;

    if (!type_duration_read(value, &duration))
        return;
    size_t start = text->size;
    uint64_t parts[DURATION_PARTS] = {magnitude(duration.months), magnitude(duration.days),
                                      magnitude(duration.nanoseconds)};
    if (duration.months < 0 || duration.days < 0 || duration.nanoseconds < 0)
        buffer_put_u8(text, '-');
    for (int i = 0; i < UNIT_COUNT; i++) {
        uint64_t *left = &parts[units[i].part];
        if (i == UNIT_WEEKS || *left < units[i].amount)
            continue;
        buffer_printf(text, "%" PRIu64 "%s", *left / units[i].amount, units[i].name);
        *left %= units[i].amount;
    }
    if (text->size == start)
        buffer_append_text(text, "0s");
}

/* ---- values from text ---- */

struct duration_reader {
    struct scan scan;
    struct bytes text; /* all of it, without its sign */
    uint64_t parts[DURATION_PARTS];
    const struct duration_unit *last;
    struct error *err;
};

/* How a text names units: by duration_unit.name in any case, or by ISO 8601's letters for dates or
 * for times. */
enum unit_naming { UNITS_NAMED, UNITS_ISO_DATE, UNITS_ISO_TIME };

static int refuse(struct duration_reader *reader)
{
    return error_set(reader->err, ERROR_INVALID, "Unable to convert '%.*s' to a duration",
                     (int)(reader->text.size < 64 ? reader->text.size : 64),
                     (const char *)reader->text.data);
}

static int add_unit(struct duration_reader *reader, const struct duration_unit *unit,
                    uint64_t number)
{
    static const char *const part_names[] = {"months", "days", "nanoseconds"};
    uint64_t max = unit->part == DURATION_NANOSECONDS ? (uint64_t)INT64_MAX : (uint64_t)INT32_MAX;

    if (unit == reader->last)
        return error_set(reader->err, ERROR_INVALID,
                         "Invalid duration. The %s are specified multiple times", unit->plural);
    if (reader->last != NULL && unit < reader->last)
        return error_set(reader->err, ERROR_INVALID, "Invalid duration. The %s should be after %s",
                         reader->last->plural, unit->plural);
    if (number > (max - reader->parts[unit->part]) / unit->amount)
        return error_set(reader->err, ERROR_INVALID,
                         "Invalid duration. The total number of %s must be less or equal to %d",
                         part_names[unit->part], INT32_MAX);
    reader->last = unit;
    reader->parts[unit->part] += number * unit->amount;
    return 0;
}

static bool unit_has_name(const struct duration_unit *unit, enum unit_naming naming,
                          struct bytes text)
{
    bool is_time = unit->part == DURATION_NANOSECONDS;

    if (naming == UNITS_NAMED)
        return bytes_are_word(text, unit->name);
    return unit->iso != 0 && text.size == 1 && text.data[0] == (uint8_t)unit->iso &&
           is_time == (naming == UNITS_ISO_TIME);
}

/* The unit whose name is the text up to the next digit or 'T'; NULL: there is none. */
static const struct duration_unit *scan_unit(struct scan *scan, enum unit_naming naming)
{
    const uint8_t *begin = scan->at;

    while (scan->at < scan->end && !scan_is_digit(scan) && *scan->at != 'T')
        scan->at++;
    struct bytes text = bytes_of(begin, (size_t)(scan->at - begin));
    if (bytes_are_word(text, "\xc2\xb5s")) /* with the letter mu */
        text = bytes_text("us");
    for (int i = 0; i < UNIT_COUNT; i++)
        if (unit_has_name(&units[i], naming, text))
            return &units[i];
    return NULL;
}

static int read_units(struct duration_reader *reader, enum unit_naming naming)
{
    int rc = 0;

    while (rc == 0 && scan_is_digit(&reader->scan)) {
        uint64_t number;
        if (!scan_number(&reader->scan, (uint64_t)INT64_MAX, &number))
            return refuse(reader);
        const struct duration_unit *unit = scan_unit(&reader->scan, naming);
        rc = unit == NULL ? refuse(reader) : add_unit(reader, unit, number);
    }
    return rc;
}

static int read_iso(struct duration_reader *reader)
{
    int rc = read_units(reader, UNITS_ISO_DATE);

    if (rc == 0 && scan_char(&reader->scan, 'T'))
        rc = read_units(reader, UNITS_ISO_TIME);
    return rc;
}

static int read_weeks(struct duration_reader *reader)
{
    uint64_t number;

    if (!scan_number(&reader->scan, (uint64_t)INT64_MAX, &number) || !scan_char(&reader->scan, 'W'))
        return refuse(reader);
    return add_unit(reader, &units[UNIT_WEEKS], number);
}

static int read_iso_alternative(struct duration_reader *reader)
{
    const char *mark = "--T::";
    int rc = 0;

    for (int i = 0; rc == 0 && i < UNIT_COUNT; i++) {
        uint64_t number;
        if (units[i].iso == 0)
            continue;
        if ((i > 0 && !scan_char(&reader->scan, *mark++)) ||
            !scan_digits(&reader->scan, i == 0 ? 4 : 2, &number))
            return refuse(reader);
        rc = add_unit(reader, &units[i], number);
    }
    return rc;
}

static int read_text(struct duration_reader *reader)
{
    struct bytes text = reader->text;

    if (text.size == 0)
        return refuse(reader);
    if (!scan_char(&reader->scan, 'P'))
        return read_units(reader, UNITS_NAMED);
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

    if (rc == 0 && (reader.scan.at != reader.scan.end || reader.last == NULL))
        rc = refuse(&reader);
    if (rc < 0)
        return rc;
    int sign = is_negative ? -1 : 1;
    for (int i = 0; i < DURATION_PARTS; i++)
        vint_write(value, sign * (int64_t)reader.parts[i]);
    return 0;
}
