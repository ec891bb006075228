/* Reads values from text, in the forms that COPY, imports and CQL literals have.
 *
 *   timestamp  1385654400123 (milliseconds), or 2013-11-28, or 2013-11-28 02:16[:52[.123]] with T
 *              or a space before the time; then the zone: nothing (UTC), Z, UTC, GMT, +01:00, +0100
 *              or +01; a space may stand before the zone, except before Z; digits behind the
 *              millisecond are cut
 *   time       02:16:52[.123456789], or nanoseconds
 *   duration   type_duration.c */
#include <arpa/inet.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bigint.h"
#include "base/calendar.h"
#include "base/uuid.h"
#include "storage/schema/type_private.h"
#include "storage/schema/type_scan.h"

enum { NUMBER_TEXT_MAX = 2048 }; /* bytes; 1000 digits, 1000 zeros, sign, point, exponent */

/* Read the digits behind a point as a number of `places` digits: add zeros, or drop the last
 * digits. */
static bool scan_fraction(struct scan *scan, int places, uint64_t *value_out)
{
    int count = 0;

    *value_out = 0;
    for (; scan_is_digit(scan); scan->at++, count++)
        if (count < places)
            *value_out = *value_out * 10 + (uint64_t)(*scan->at - '0');
    bool any = count > 0;
    for (; count < places; count++)
        *value_out *= 10;
    return any;
}

static bool parse_integer(struct bytes text, int64_t min, int64_t max, int64_t *value_out)
{
    struct scan scan = {text.data, text.data + text.size};
    bool negative = scan_char(&scan, '-');
    uint64_t magnitude;

    if (!negative)
        scan_char(&scan, '+');
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (!scan_number(&scan, limit, &magnitude) || scan.at != scan.end)
        return false;
    *value_out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return *value_out >= min && *value_out <= max;
}

static bool parse_sized_integer(struct bytes text, size_t size, struct buffer *value)
{
    int64_t max = INT64_MAX >> (64 - 8 * size);
    int64_t number;

    if (!parse_integer(text, -max - 1, max, &number))
        return false;
    type_value_put_integer(value, size, number);
    return true;
}

static bool parse_boolean(struct bytes text, struct buffer *value)
{
    bool is_true = bytes_are_word(text, "true");

    if (!is_true && !bytes_are_word(text, "false"))
        return false;
    type_value_put_boolean(value, is_true);
    return true;
}

/* strtod also accepts leading space, hexadecimal and "inf", so it is called only with decimal
 * forms. */
static bool parse_double_digits(struct bytes text, bool is_float, double *number_out)
{
    char digits[NUMBER_TEXT_MAX];
    char *end;

    if (text.size >= sizeof digits)
        return false;
    memcpy(digits, text.data, text.size);
    digits[text.size] = '\0';
    if (strspn(digits, "0123456789+-.eE") != text.size)
        return false;
    *number_out = is_float ? (double)strtof(digits, &end) : strtod(digits, &end);
    return end == digits + text.size && !isinf(*number_out);
}

static bool parse_floating(struct bytes text, bool is_float, struct buffer *value)
{
    double number;

    if (bytes_are_word(text, "nan"))
        number = (double)NAN;
    else if (bytes_are_word(text, "infinity"))
        number = (double)INFINITY;
    else if (bytes_are_word(text, "-infinity"))
        number = -(double)INFINITY;
    else if (!parse_double_digits(text, is_float, &number))
        return false;
    type_value_put_floating(value, is_float, number);
    return true;
}

static bool parse_varint(struct bytes text, struct buffer *value)
{
    if (text.size > 0 && text.data[0] == '+')
        text = bytes_of(text.data + 1, text.size - 1);
    /* A byte of a varint makes fewer than two and a half digits. */
    if (text.size > TYPE_VARINT_SIZE_MAX / 2 * 5 + 8)
        return false;
    return bigint_parse(text, value) == 0;
}

/* [sign] digits [e [sign] digits]; a point may be before, among or behind the first digits. */
static bool parse_decimal(struct bytes text, struct buffer *value)
{
    struct scan scan = {text.data, text.data + text.size};
    struct buffer digits = {0};
    int64_t exponent = 0;
    int64_t scale = 0;
    bool point = false;

    if (text.size > NUMBER_TEXT_MAX)
        return false;
    if (scan_char(&scan, '-'))
        buffer_put_u8(&digits, '-');
    else
        scan_char(&scan, '+');
    for (; scan_is_digit(&scan) || (!point && scan.at < scan.end && *scan.at == '.'); scan.at++) {
        if (*scan.at == '.') {
            point = true;
            continue;
        }
        buffer_put_u8(&digits, *scan.at);
        scale += point ? 1 : 0;
    }
    bool valid = true;
    if (scan_char(&scan, 'e') || scan_char(&scan, 'E')) {
        struct bytes rest = bytes_of(scan.at, (size_t)(scan.end - scan.at));
        valid = parse_integer(rest, -INT32_MAX, INT32_MAX, &exponent);
        scan.at = scan.end;
    }
    scale -= exponent;
    valid = valid && scan.at == scan.end && scale <= TYPE_DECIMAL_SCALE_MAX &&
            scale >= -TYPE_DECIMAL_SCALE_MAX;
    if (valid) {
        buffer_put_u32_be(value, (uint32_t)(int32_t)scale);
        valid = bigint_parse(buffer_view(&digits), value) == 0;
    }
    buffer_release(&digits);
    return valid;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool scan_hex(struct scan *scan, size_t count, struct buffer *value)
{
    for (size_t i = 0; i < count; i++) {
        if (scan->end - scan->at < 2)
            return false;
        int high = hex_digit(scan->at[0]);
        int low = hex_digit(scan->at[1]);
        if (high < 0 || low < 0)
            return false;
        buffer_put_u8(value, (uint8_t)(high * 16 + low));
        scan->at += 2;
    }
    return true;
}

static bool parse_blob(struct bytes text, struct buffer *value)
{
    struct scan scan = {text.data, text.data + text.size};

    if (text.size == 0)
        return true;
    if (!scan_char(&scan, '0') || !(scan_char(&scan, 'x') || scan_char(&scan, 'X')) ||
        text.size % 2 != 0)
        return false;
    return scan_hex(&scan, (text.size - 2) / 2, value);
}

static bool parse_uuid(struct bytes text, struct buffer *value)
{
    uint8_t uuid[UUID_SIZE];

    if (!uuid_from_text(text, uuid))
        return false;
    buffer_append(value, uuid, sizeof uuid);
    return true;
}

static bool parse_inet(struct bytes text, struct buffer *value)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    char name[INET6_ADDRSTRLEN];
    uint8_t address[16];

    if (text.size >= sizeof name || memchr(text.data, 0, text.size) != NULL)
        return false;
    memcpy(name, text.data, text.size);
    name[text.size] = '\0';
    bool is_v6 = memchr(name, ':', text.size) != NULL;
    if (inet_pton(is_v6 ? AF_INET6 : AF_INET, name, address) != 1)
        return false;
    /* ::ffff:1.2.3.4 is 1.2.3.4, as Java reads it. */
    if (is_v6 && memcmp(address, mapped, sizeof mapped) == 0)
        buffer_append(value, address + sizeof mapped, 4);
    else
        buffer_append(value, address, is_v6 ? 16 : 4);
    return true;
}

static bool scan_day(struct scan *scan, int32_t *day_out)
{
    if (scan->end - scan->at < DAY_TEXT_SIZE ||
        !calendar_day_parse(bytes_of(scan->at, DAY_TEXT_SIZE), day_out))
        return false;
    scan->at += DAY_TEXT_SIZE;
    return true;
}

static bool parse_date(struct bytes text, struct buffer *value)
{
    struct scan scan = {text.data, text.data + text.size};
    int64_t number;
    int32_t day;

    if (scan_day(&scan, &day) && scan.at == scan.end)
        number = (int64_t)day + INT64_C(2147483648);
    else if (!parse_integer(text, 0, UINT32_MAX, &number))
        return false;
    buffer_put_u32_be(value, (uint32_t)number);
    return true;
}

/* HH:MM[:SS[.fraction]] */
static bool scan_clock(struct scan *scan, uint64_t *time_ms_out)
{
    uint64_t hours;
    uint64_t minutes;
    uint64_t seconds = 0;
    uint64_t fraction = 0;

    if (!scan_digits(scan, 2, &hours) || !scan_char(scan, ':') || !scan_digits(scan, 2, &minutes))
        return false;
    if (scan_char(scan, ':')) {
        if (!scan_digits(scan, 2, &seconds))
            return false;
        if (scan_char(scan, '.') && !scan_fraction(scan, 3, &fraction))
            return false;
    }
    *time_ms_out = ((hours * 60 + minutes) * 60 + seconds) * 1000 + fraction;
    return hours < 24 && minutes < 60 && seconds < 60;
}

/* Hours, minutes and seconds of any number of digits, and at most nine digits behind a point. */
static bool scan_nanoseconds(struct scan *scan, uint64_t *nanoseconds_out)
{
    uint64_t hours;
    uint64_t minutes;
    uint64_t seconds;
    uint64_t fraction = 0;

    if (!scan_number(scan, 23, &hours) || !scan_char(scan, ':') ||
        !scan_number(scan, 59, &minutes) || !scan_char(scan, ':') ||
        !scan_number(scan, 59, &seconds))
        return false;
    if (scan_char(scan, '.') && (scan->end - scan->at > 9 || !scan_fraction(scan, 9, &fraction)))
        return false;
    *nanoseconds_out = ((hours * 60 + minutes) * 60 + seconds) * UINT64_C(1000000000) + fraction;
    return scan->at == scan->end;
}

static bool parse_time(struct bytes text, struct buffer *value)
{
    struct scan scan = {text.data, text.data + text.size};
    uint64_t nanoseconds;
    int64_t number;

    if (scan_nanoseconds(&scan, &nanoseconds))
        number = (int64_t)nanoseconds;
    else if (!parse_integer(text, 0, INT64_C(86399999999999), &number))
        return false;
    type_value_put_bigint(value, number);
    return true;
}

static bool scan_word(struct scan *scan, const char *word)
{
    size_t size = strlen(word);

    if ((size_t)(scan->end - scan->at) != size || memcmp(scan->at, word, size) != 0)
        return false;
    scan->at += size;
    return true;
}

/* Nothing, Z, UTC, GMT or [+-]hh[[:]mm]. */
static bool scan_zone(struct scan *scan, int64_t *offset_ms_out)
{
    uint64_t hours;
    uint64_t minutes = 0;

    *offset_ms_out = 0;
    if (scan->at == scan->end || scan_char(scan, 'Z') || scan_char(scan, 'z'))
        return true;
    scan_char(scan, ' ');
    if (scan_word(scan, "UTC") || scan_word(scan, "GMT"))
        return true;
    bool negative = scan_char(scan, '-');
    if ((!negative && !scan_char(scan, '+')) || !scan_digits(scan, 2, &hours))
        return false;
    if (scan->at < scan->end) {
        scan_char(scan, ':');
        if (!scan_digits(scan, 2, &minutes))
            return false;
    }
    *offset_ms_out = (int64_t)(hours * 60 + minutes) * 60000;
    if (negative)
        *offset_ms_out = -*offset_ms_out;
    return hours <= 18 && minutes < 60;
}

/* Read what separates a time of day from the day: T, or a space that is not before a zone. */
static bool scan_clock_begin(struct scan *scan)
{
    bool is_zone = scan->end - scan->at > 1 && (scan->at[1] < '0' || scan->at[1] > '9');

    return scan_char(scan, 'T') || (!is_zone && scan_char(scan, ' '));
}

static bool parse_timestamp(struct bytes text, struct buffer *value)
{
    struct scan scan = {text.data, text.data + text.size};
    uint64_t clock_ms = 0;
    int64_t offset_ms;
    int64_t time_ms;
    int32_t day;

    if (parse_integer(text, INT64_MIN, INT64_MAX, &time_ms)) {
        type_value_put_bigint(value, time_ms);
        return true;
    }
    if (!scan_day(&scan, &day))
        return false;
    if (scan_clock_begin(&scan) && !scan_clock(&scan, &clock_ms))
        return false;
    if (!scan_zone(&scan, &offset_ms) || scan.at != scan.end)
        return false;
    type_value_put_bigint(value, (int64_t)day * DAY_MS + (int64_t)clock_ms - offset_ms);
    return true;
}

static bool parse_plain(struct bytes text, struct buffer *value)
{
    buffer_append_bytes(value, text);
    return true;
}

static bool parse_duration(struct bytes text, struct buffer *value)
{
    return type_duration_parse(text, value, NULL) == 0;
}

static bool (*const parsers[TYPE_TUPLE + 1])(struct bytes text, struct buffer *value) = {
    [TYPE_ASCII] = parse_plain,     [TYPE_BLOB] = parse_blob,
    [TYPE_BOOLEAN] = parse_boolean, [TYPE_DATE] = parse_date,
    [TYPE_DECIMAL] = parse_decimal, [TYPE_DURATION] = parse_duration,
    [TYPE_INET] = parse_inet,       [TYPE_TEXT] = parse_plain,
    [TYPE_TIME] = parse_time,       [TYPE_TIMESTAMP] = parse_timestamp,
    [TYPE_TIMEUUID] = parse_uuid,   [TYPE_UUID] = parse_uuid,
    [TYPE_VARINT] = parse_varint,
};

static bool parse_scalar(const struct type *type, struct bytes text, struct buffer *value)
{
    if (parsers[type->kind] != NULL)
        return parsers[type->kind](text, value);
    if (type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE)
        return parse_floating(text, type->kind == TYPE_FLOAT, value);
    return type_has_trait(type, TYPE_IS_INTEGER) &&
           parse_sized_integer(text, type_fixed_size(type->kind), value);
}

int type_parse_text(const struct type *type, struct bytes text, struct buffer *value,
                    struct error *err)
{
    size_t start = value->size;
    buffer_reserve(value, 1); /* so that the view of an empty value is not a null */
    bool parsed = parse_scalar(type, text, value);

    if (parsed) {
        struct bytes made = bytes_of(value->data + start, value->size - start);
        parsed = type_validate(type, made, NULL) == 0;
    }
    if (parsed)
        return 0;
    value->size = start;
    struct buffer name = {0};
    type_print(type, &name);
    int shown = (int)(text.size < 64 ? text.size : 64);
    error_set(err, ERROR_INVALID, "\"%.*s\" is no %.*s", shown, (const char *)text.data,
              (int)(name.size < 200 ? name.size : 200), (const char *)name.data);
    buffer_release(&name);
    return ERROR_INVALID;
}
