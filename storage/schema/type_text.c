/* Prints values as text for people and CSV files. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bigint.h"
#include "base/calendar.h"
#include "base/uuid.h"
#include "storage/schema/type_private.h"

/* Times and days outside the years 0000 to 9999 print as numbers. */
#define CALENDAR_DAY_MIN INT64_C(-719528)
#define CALENDAR_DAY_MAX INT64_C(2932896)
#define DATE_EPOCH       INT64_C(2147483648) /* a date counts days, 1970-01-01 is 2^31 */

void type_format_hex(struct bytes value, struct buffer *text)
{
    static const char digits[] = "0123456789abcdef";

    buffer_reserve(text, 2 * value.size);
    for (size_t i = 0; i < value.size; i++) {
        buffer_put_u8(text, (uint8_t)digits[value.data[i] >> 4]);
        buffer_put_u8(text, (uint8_t)digits[value.data[i] & 15]);
    }
}

static void format_blob(struct bytes value, struct buffer *text)
{
    buffer_append_text(text, "0x");
    type_format_hex(value, text);
}

static void format_uuid(struct bytes value, struct buffer *text)
{
    char name[UUID_TEXT_SIZE + 1];

    uuid_format(value.data, name);
    buffer_append_text(text, name);
}

/* Append the shortest digits that read back as the same number. */
static void format_double(double value, bool is_float, struct buffer *text)
{
    char digits[32];

    if (isnan(value) || isinf(value)) {
        buffer_append_text(text, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        bool same =
            is_float ? (float)value >= strtof(digits, NULL) && (float)value <= strtof(digits, NULL)
                     : value >= strtod(digits, NULL) && value <= strtod(digits, NULL);
        if (same)
            break;
    }
    buffer_append_text(text, digits);
}

/* Print without an exponent, and with as many digits behind the point as the scale says: 0.00250,
 * and 1000 for 1E3. */
static void format_decimal(struct bytes value, struct buffer *text)
{
    struct buffer digits = {0};
    int32_t scale = type_decimal_scale(value);

    bigint_format(type_decimal_unscaled(value), &digits);
    size_t start = digits.data[0] == '-' ? 1 : 0;
    size_t count = digits.size - start;
    bool is_zero = digits.data[start] == '0';
    size_t places = scale > 0 ? (size_t)scale : 0;
    size_t whole = count > places ? count - places : 0;
    if (start > 0)
        buffer_put_u8(text, '-');
    if (whole == 0)
        buffer_put_u8(text, '0');
    buffer_append(text, digits.data + start, whole);
    if (places > 0)
        buffer_put_u8(text, '.');
    for (size_t i = count; i < places; i++)
        buffer_put_u8(text, '0');
    buffer_append(text, digits.data + start + whole, count - whole);
    for (int32_t i = scale; i < 0 && !is_zero; i++)
        buffer_put_u8(text, '0');
    buffer_release(&digits);
}

static void format_timestamp(struct bytes value, struct buffer *text)
{
    int64_t time_ms = type_value_bigint(value);
    char day_digits[DAY_TEXT_SIZE + 1];

    if (time_ms < CALENDAR_DAY_MIN * DAY_MS || time_ms > TIME_MS_MAX) {
        buffer_printf(text, "%" PRId64, time_ms);
        return;
    }
    /* calendar_time_format cannot be used here, because it takes no times before 1970. */
    int32_t day = calendar_day_of_time(time_ms);
    int ms = (int)(time_ms - day * DAY_MS);
    calendar_day_format(day, day_digits);
    buffer_printf(text, "%sT%02d:%02d:%02d.%03dZ", day_digits, ms / 3600000, ms / 60000 % 60,
                  ms / 1000 % 60, ms % 1000);
}

static void format_date(struct bytes value, struct buffer *text)
{
    uint32_t date = load_u32_be(value.data);
    int64_t day = (int64_t)date - DATE_EPOCH;
    char digits[DAY_TEXT_SIZE + 1];

    if (day < CALENDAR_DAY_MIN || day > CALENDAR_DAY_MAX) {
        buffer_printf(text, "%" PRIu32, date);
        return;
    }
    calendar_day_format((int32_t)day, digits);
    buffer_append_text(text, digits);
}

static void format_time(struct bytes value, struct buffer *text)
{
    uint64_t nanoseconds = load_u64_be(value.data);
    uint64_t seconds = nanoseconds / 1000000000;

    buffer_printf(text, "%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64 ".%09" PRIu64, seconds / 3600,
                  seconds / 60 % 60, seconds % 60, nanoseconds % 1000000000);
}

static void format_inet(struct bytes value, struct buffer *text)
{
    char name[INET6_ADDRSTRLEN];

    if (inet_ntop(value.size == 4 ? AF_INET : AF_INET6, value.data, name, sizeof name) != NULL)
        buffer_append_text(text, name);
}

static void format_plain(struct bytes value, struct buffer *text)
{
    buffer_append_bytes(text, value);
}

static void format_boolean(struct bytes value, struct buffer *text)
{
    buffer_append_text(text, value.data[0] != 0 ? "true" : "false");
}

static void (*const formats[TYPE_TUPLE + 1])(struct bytes value, struct buffer *text) = {
    [TYPE_ASCII] = format_plain,     [TYPE_BLOB] = format_blob,
    [TYPE_BOOLEAN] = format_boolean, [TYPE_DATE] = format_date,
    [TYPE_DECIMAL] = format_decimal, [TYPE_DURATION] = type_duration_format,
    [TYPE_INET] = format_inet,       [TYPE_TEXT] = format_plain,
    [TYPE_TIME] = format_time,       [TYPE_TIMESTAMP] = format_timestamp,
    [TYPE_TIMEUUID] = format_uuid,   [TYPE_UUID] = format_uuid,
    [TYPE_VARINT] = bigint_format,
};

static void format_scalar(const struct type *type, struct bytes value, struct buffer *text)
{
    if (formats[type->kind] != NULL)
        formats[type->kind](value, text);
    else if (type_has_trait(type, TYPE_IS_INTEGER))
        buffer_printf(text, "%" PRId64, type_value_integer(value));
    else
        format_double(type_value_floating(value), type->kind == TYPE_FLOAT, text);
}

static void format_literal(const struct type *type, struct bytes value, struct buffer *text)
{
    struct buffer plain = {.arena = text->arena};

    if (value.data == NULL) {
        buffer_append_text(text, "null");
        return;
    }
    type_format(type, value, &plain);
    if (type_has_trait(type, TYPE_IS_QUOTED))
        buffer_append_quoted(text, buffer_view(&plain), '\'');
    else
        buffer_append_bytes(text, buffer_view(&plain));
    buffer_release(&plain);
}

static void format_items(const struct type *type, struct bytes value, struct buffer *text)
{
    const char *brackets = type->kind == TYPE_LIST ? "[]" : type->kind == TYPE_TUPLE ? "()" : "{}";
    struct type_items items;

    buffer_put_u8(text, (uint8_t)brackets[0]);
    uint32_t count = type_items_open(type, value, &items) ? items.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct bytes item;
        bool is_map_value = type->kind == TYPE_MAP && i % 2 == 1;
        if (!type_items_next(&items, &item))
            break;
        if (i > 0)
            buffer_append_text(text, is_map_value ? ": " : ", ");
        if (type->kind == TYPE_UDT) {
            type_print_name(type->field_names[i], text);
            buffer_append_text(text, ": ");
        }
        format_literal(type_item_type(type, i), item, text);
    }
    buffer_put_u8(text, (uint8_t)brackets[1]);
}

void type_format(const struct type *type, struct bytes value, struct buffer *text)
{
    if (type->argument_count > 0)
        format_items(type, value, text);
    else if (type_validate(type, value, NULL) == 0 && value.size > 0)
        format_scalar(type, value, text);
    else if (value.size > 0)
        format_blob(value, text);
}
