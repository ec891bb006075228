/* The text is exactly Cassandra's, because clients compare it.  Numbers are printed as by Java,
 * strings are escaped as by Jackson.  A double has the fewest digits that read back as the same
 * double: 0.001, 1234567.0, 1.0E-4, 1.0E7.  NaN and the infinities are null. */
#include "query/cql/expression/cql_json.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bigint.h"
#include "query/cql/expression/cql_number.h"

/* ---- strings ---- */

static void put_escaped(uint8_t c, struct buffer *json)
{
    static const char shorts[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                  ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};

    if (c < sizeof shorts && shorts[c] != 0)
        buffer_printf(json, "\\%c", shorts[c]);
    else if (c < 0x20)
        buffer_printf(json, "\\u%04X", c);
    else
        buffer_put_u8(json, c);
}

static void put_string(struct bytes text, struct buffer *json)
{
    buffer_put_u8(json, '"');
    for (size_t i = 0; i < text.size; i++)
        put_escaped(text.data[i], json);
    buffer_put_u8(json, '"');
}

void cql_json_format_name(const char *name, struct buffer *json)
{
    struct buffer quoted = {.arena = json->arena};
    bool has_capitals = false;

    for (const char *c = name; *c != '\0'; c++)
        has_capitals |= *c >= 'A' && *c <= 'Z';
    buffer_printf(&quoted, has_capitals ? "\"%s\"" : "%s", name);
    put_string(buffer_view(&quoted), json);
    buffer_release(&quoted);
}

/* ---- numbers ---- */

/* The number is digits * 10^exponent.  Zero has no digits; others have no leading zeros. */
struct digits {
    char text[40];
    int count;
    int exponent;
};

/* `text` has no sign. */
static struct digits digits_of(const char *text)
{
    struct digits digits = {.count = 0};
    bool after_point = false;

    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text == '.') {
            after_point = true;
            continue;
        }
        digits.exponent -= after_point;
        if (digits.count > 0 || *text != '0')
            digits.text[digits.count++] = *text;
    }
    if (*text == 'e')
        digits.exponent += (int)strtol(text + 1, NULL, 10);
    while (digits.count > 1 && digits.text[digits.count - 1] == '0') {
        digits.count--;
        digits.exponent++;
    }
    return digits;
}

/* Prints as Java's Double.toString: from 10^-3 to below 10^7 without an exponent. */
static void put_double(const char *text, struct buffer *out)
{

    if (*text == '-')
        buffer_put_u8(out, (uint8_t)*text++);
    struct digits digits = digits_of(text);
    int point = digits.count + digits.exponent;
    if (digits.count == 0) {
        buffer_append_text(out, "0.0");
    } else if (point > 0 && point <= 7) {
        for (int i = 0; i < point; i++)
            buffer_put_u8(out, i < digits.count ? (uint8_t)digits.text[i] : '0');
        buffer_printf(out, ".%.*s", digits.count > point ? digits.count - point : 1,
                      digits.count > point ? digits.text + point : "0");
    } else if (point > -3 && point <= 0) {
        buffer_printf(out, "0.%.*s%.*s", -point, "000", digits.count, digits.text);
    } else {
        buffer_printf(out, "%c.%.*sE%d", digits.text[0], digits.count > 1 ? digits.count - 1 : 1,
                      digits.count > 1 ? digits.text + 1 : "0", point - 1);
    }
}

/* Prints as Java's BigDecimal.toString: without an exponent if the scale is not negative and the
 * exponent is at least -6. */
static void put_decimal(struct bytes value, struct buffer *out)
{
    int32_t scale = (int32_t)load_u32_be(value.data);
    struct buffer digits = {.arena = out->arena};

    bigint_format(bytes_of(value.data + 4, value.size - 4), &digits);
    buffer_put_u8(&digits, 0);
    const char *text = (const char *)digits.data;
    if (*text == '-')
        buffer_put_u8(out, (uint8_t)*text++);
    int64_t count = (int64_t)strlen(text);
    int64_t exponent = count - 1 - scale;
    if (scale == 0)
        buffer_append_text(out, text);
    else if (scale > 0 && exponent >= 0)
        buffer_printf(out, "%.*s.%s", (int)(count - scale), text, text + (count - scale));
    else if (scale > 0 && exponent >= -6)
        buffer_printf(out, "0.%.*s%s", (int)(scale - count), "00000", text);
    else
        buffer_printf(out, "%c%s%sE%+" PRId64, text[0], count > 1 ? "." : "", text + 1, exponent);
    buffer_release(&digits);
}

/* ---- other scalars ---- */

/* Prints as Java's InetAddress.getHostAddress: eight groups without leading zeros; ::ffff:1.2.3.4
 * is printed as 1.2.3.4. */
static void put_inet6(struct bytes value, struct buffer *out)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};

    if (memcmp(value.data, mapped, sizeof mapped) == 0) {
        type_format(type_builtin(TYPE_INET), bytes_of(value.data + sizeof mapped, 4), out);
        return;
    }
    for (int i = 0; i < 16; i += 2)
        buffer_printf(out, i == 0 ? "%x" : ":%x", load_u16_be(value.data + i));
}

void cql_json_format_plain(const struct type *type, struct bytes value, struct buffer *text)
{
    struct buffer plain = {.arena = text->arena};

    if (type->kind == TYPE_DECIMAL && value.size > 4) {
        put_decimal(value, text);
        return;
    }
    if (type->kind == TYPE_INET && value.size == 16) {
        put_inet6(value, text);
        return;
    }
    if (type->kind == TYPE_BLOB && value.size == 0) {
        buffer_append_text(text, "0x");
        return;
    }
    type_format(type, value, &plain);
    size_t last = plain.size == 0 ? 0 : plain.data[plain.size - 1];
    if ((type->kind == TYPE_FLOAT || type->kind == TYPE_DOUBLE) && last >= '0' && last <= '9') {
        buffer_put_u8(&plain, 0);
        put_double((const char *)plain.data, text);
    } else {
        buffer_append_bytes(text, buffer_view(&plain));
    }
    buffer_release(&plain);
}

static void put_scalar(const struct type *type, struct bytes value, struct buffer *json)
{
    struct buffer text = {.arena = json->arena};
    bool is_bare = cql_number_is(type->kind) || type->kind == TYPE_BOOLEAN;

    cql_json_format_plain(type, value, &text);
    if (type->kind == TYPE_TIMESTAMP && text.size > 10 && text.data[10] == 'T')
        text.data[10] = ' ';
    if (!is_bare || text.size == 0)
        put_string(buffer_view(&text), json);
    else if (text.data[text.size - 1] == 'N' || text.data[text.size - 1] == 'y')
        buffer_append_text(json, "null");
    else
        buffer_append_bytes(json, buffer_view(&text));
    buffer_release(&text);
}

/* ---- collections ---- */

/* A key is the JSON of its value; JSON that is not a string is put into a string. */
static void put_key(const struct type *type, struct bytes value, struct buffer *json)
{
    struct buffer key = {.arena = json->arena};

    cql_json_format(type, value, &key);
    if (key.data[0] == '"')
        buffer_append_bytes(json, buffer_view(&key));
    else
        put_string(buffer_view(&key), json);
    buffer_release(&key);
}

static void put_items(const struct type *type, struct bytes value, struct buffer *json)
{
    bool is_map = type->kind == TYPE_MAP;
    bool is_object = is_map || type->kind == TYPE_UDT;
    struct type_items items;
    struct bytes item;
    uint32_t count = type_items_open(type, value, &items) ? items.count : 0;

    buffer_put_u8(json, is_object ? '{' : '[');
    for (uint32_t i = 0; i < count && type_items_next(&items, &item); i++) {
        if (i > 0)
            buffer_append_text(json, is_map && i % 2 == 1 ? ": " : ", ");
        if (type->kind == TYPE_UDT) {
            cql_json_format_name(type->field_names[i], json);
            buffer_append_text(json, ": ");
        }
        if (is_map && i % 2 == 0)
            put_key(type_item_type(type, i), item, json);
        else
            cql_json_format(type_item_type(type, i), item, json);
    }
    buffer_put_u8(json, is_object ? '}' : ']');
}

void cql_json_format(const struct type *type, struct bytes value, struct buffer *json)
{
    if (value.data == NULL)
        buffer_append_text(json, "null");
    else if (type->argument_count > 0)
        put_items(type, value, json);
    else
        put_scalar(type, value, json);
}
