/* Types: names, values, text and, above all, order: sorted runs and drivers rely on Cassandra's. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/arena.h"
#include "storage/schema/type.h"

enum { ARENA_CHUNK = 4096 };

static const struct type address_fields[] = {{.kind = TYPE_TEXT}, {.kind = TYPE_INT}};
static const struct type *const address_types[] = {&address_fields[0], &address_fields[1]};
static const char *const address_names[] = {"street", "Zip"};
static const struct type address = {TYPE_UDT, false, 2, address_types, "address", address_names};

static const struct type *find_udt(void *context, struct bytes name)
{
    (void)context;
    return bytes_equal(name, bytes_text("address")) ? &address : NULL;
}

static const struct type *parse(struct arena *arena, const char *text)
{
    const struct type *type = NULL;
    struct error err = {0};

    int rc = type_parse(bytes_text(text), arena, find_udt, NULL, &type, &err);
    cr_assert_eq(rc, 0, "%s: %s", text, err.text);
    return type;
}

static struct bytes from_hex(struct arena *arena, const char *hex)
{
    struct buffer bytes = {0};
    struct buffer literal = {0};

    buffer_append_text(&literal, "0x");
    buffer_append_text(&literal, hex);
    int rc = type_parse_text(type_builtin(TYPE_BLOB), buffer_view(&literal), &bytes, NULL);
    cr_assert_eq(rc, 0);
    struct bytes copy = arena_copy(arena, buffer_view(&bytes));
    buffer_release(&bytes);
    buffer_release(&literal);
    return copy;
}

static void expect_text(const struct buffer *buffer, const char *expected)
{
    cr_assert(bytes_equal(buffer_view(buffer), bytes_text(expected)), "%.*s, not %s",
              (int)buffer->size, (const char *)buffer->data, expected);
}

Test(type, spelling_reads_back_to_the_same_type)
{
    static const char *const cases[][2] = {
        {"text", "text"},
        {" VarChar ", "text"},
        {"counter", "counter"},
        {"list<int>", "list<int>"},
        {"map< text , frozen<set<uuid>> >", "map<text, frozen<set<uuid>>>"},
        {"frozen<map<text, list<int>>>", "frozen<map<text, frozen<list<int>>>>"},
        {"tuple<int, list<text>>", "frozen<tuple<int, frozen<list<text>>>>"},
        {"frozen<tuple<int>>", "frozen<tuple<int>>"},
        {"Address", "address"},
        {"\"address\"", "address"},
        {"frozen<address>", "frozen<address>"},
        {"list<frozen<address>>", "list<frozen<address>>"},
    };
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct type *type = parse(arena, cases[i][0]);
        struct buffer printed = {0};
        type_print(type, &printed);
        expect_text(&printed, cases[i][1]);
        cr_assert(type_equal(type, parse(arena, cases[i][1])));
        buffer_release(&printed);
    }
    arena_free(arena);
}

/* frozen<frozen<… around a list of lists. */
static struct buffer nested(const char *outer, uint32_t frozen, uint32_t depth)
{
    struct buffer text = {0};

    for (uint32_t i = 0; i < frozen + depth; i++)
        buffer_printf(&text, "%s<", i < frozen ? "frozen" : outer);
    buffer_append_text(&text, "int");
    for (uint32_t i = 0; i < frozen + depth; i++)
        buffer_put_u8(&text, '>');
    return text;
}

/* What is printed has frozen<> at each level: it is read by the limit that CREATE TABLE's is. */
Test(type, the_deepest_type_reads_back_and_one_deeper_is_refused)
{
    static const char *const outer[] = {"list", "set", "tuple"};
    struct arena *arena = arena_new(ARENA_CHUNK);
    const struct type *type, *again;
    struct error err = {0};

    for (size_t i = 0; i < sizeof outer / sizeof outer[0]; i++) {
        for (uint32_t depth = TYPE_DEPTH_MAX; depth <= TYPE_DEPTH_MAX + 1; depth++) {
            struct buffer text = nested(outer[i], 1, depth), printed = {0};
            int rc = type_parse(buffer_view(&text), arena, NULL, NULL, &type, &err);
            cr_expect_eq(rc, depth <= TYPE_DEPTH_MAX ? 0 : ERROR_INVALID, "%s %u", outer[i], depth);
            if (rc == 0) {
                type_print(type, &printed);
                rc = type_parse(buffer_view(&printed), arena, NULL, NULL, &again, &err);
                cr_expect(rc == 0 && type_equal(type, again), "%s: %s", outer[i], err.text);
                cr_expect(type_is_moderate(type));
            }
            buffer_release(&printed);
            buffer_release(&text);
        }
    }
    struct buffer text = nested("list", 1000, 1);
    cr_expect_eq(type_parse(buffer_view(&text), arena, NULL, NULL, &type, &err), ERROR_INVALID);
    buffer_release(&text);
    arena_free(arena);
}

Test(type, what_cassandra_refuses_is_refused)
{
    static const char *const cases[] = {
        "",
        "<",
        "int<text>",
        "list",
        "list<>",
        "list<int",
        "list<int>>",
        "list<int, int>",
        "map<int>",
        "list<list<int>>",
        "list<address>",
        "set<counter>",
        "map<duration, int>",
        "set<duration>",
        "frozen<int>",
        "nothing",
        "\"TEXT\"",
        "\"address",
        "list<int> x",
    };
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct type *type;
        struct error err = {0};
        int rc = type_parse(bytes_text(cases[i]), arena, find_udt, NULL, &type, &err);
        cr_assert_eq(rc, ERROR_INVALID, "%s", cases[i]);
        cr_assert_gt(strlen(err.text), 0);
    }
    arena_free(arena);
}

Test(type, complex_types_know_their_paths_and_elements)
{
    struct arena *arena = arena_new(ARENA_CHUNK);
    const struct type *map = parse(arena, "map<text, int>");

    cr_assert(type_is_complex(map));
    cr_assert(!type_is_complex(parse(arena, "frozen<map<text, int>>")));
    cr_assert(!type_is_complex(parse(arena, "tuple<int>")));
    cr_assert_eq(type_path(map)->kind, TYPE_TEXT);
    cr_assert_eq(type_element(map, bytes_text("k"))->kind, TYPE_INT);
    cr_assert_eq(type_path(parse(arena, "list<int>"))->kind, TYPE_TIMEUUID);
    cr_assert_null(type_element(parse(arena, "set<int>"), from_hex(arena, "00000001")));
    cr_assert_eq(type_path(&address)->kind, TYPE_SMALLINT);
    cr_assert_eq(type_element(&address, from_hex(arena, "0001"))->kind, TYPE_INT);
    cr_assert_null(type_element(&address, from_hex(arena, "0002")));
    cr_assert_null(type_element(&address, from_hex(arena, "01")));
    arena_free(arena);
}

/* Values in ascending order, as hex; a value after '=' equals the one before it. */
struct order_case {
    const char *type;
    const char *values[14];
};

static const struct order_case order_cases[] = {
    {"tinyint", {"", "80", "FF", "00", "7F"}},
    {"smallint", {"", "8000", "FFFF", "0000", "0100"}},
    {"int", {"", "80000000", "FFFFFFFF", "00000000", "7FFFFFFF"}},
    {"bigint",
     {"", "8000000000000000", "FFFFFFFFFFFFFFFF", "0000000000000000", "0000000000000001"}},
    {"timestamp", {"", "FFFFFFFFFFFFFFFF", "0000000000000000", "0000014299000000"}},
    {"date", {"", "00000000", "7FFFFFFF", "80000000", "FFFFFFFF"}},
    {"time", {"", "0000000000000000", "00004E94914EFFFF"}},
    {"boolean", {"", "00", "01", "=FF"}},
    {"text", {"", "41", "4100", "42", "C3A9"}},
    {"blob", {"", "00", "0000", "80", "FF"}},
    {"inet", {"", "01020304", "7F000001", "7F000002"}},
    {"varint",
     {"", "FF00000000000000000000", "8000000000000000", "FF7F", "80", "FF", "=FFFF", "00", "=0000",
      "01", "7F", "0080", "0100000000000000000000"}},
    {"decimal",
     {"", "00000000FF00000000000000000000", "0000000199", "00000000FF", "=00000001F6", "0000000000",
      "=000003E800", "000003E801", "0000000105", "=0000000232", "0000000001", "=000000010A"}},
    {"float",
     {"", "FF800000", "C0000000", "80000000", "00000000", "00000001", "7F800000", "7FC00000",
      "=FFC00000"}},
    {"double",
     {"", "FFF0000000000000", "8000000000000000", "0000000000000000", "3FF0000000000000",
      "7FF0000000000000", "7FF8000000000000"}},
    {"uuid",
     {"", "00000001000010008000000000000000", "00000000000110008000000000000000",
      "0000000000011000FF00000000000000", "00000000000040008000000000000000",
      "FF0000000000400000000000000000FF"}},
    {"timeuuid",
     {"", "00000000000010008000000000000000", "0000000000001000FF00000000000000",
      "00000000000010000000000000000000", "00000000000010007F00000000000080",
      "00000000000010007F000000000000FF", "00000000000010007F00000000000000",
      "FFFFFFFF000010008000000000000000", "00000000000110008000000000000000"}},
    {"frozen<list<int>>",
     {"", "00000000", "00000001 00000004 FFFFFFFF", "00000001 00000004 00000000",
      "00000002 00000004 00000000 00000004 FFFFFFFF", "00000001 00000004 00000001"}},
    {"frozen<map<text, int>>",
     {"", "00000000", "00000001 00000001 61 00000004 00000001",
      "00000001 00000001 61 00000004 00000002", "00000001 00000001 62 00000004 00000000"}},
    {"tuple<int, text>",
     {"FFFFFFFF", "=FFFFFFFFFFFFFFFF", "FFFFFFFF 00000000", "00000004 FFFFFFFF",
      "00000004 00000001", "=00000004 00000001 FFFFFFFF", "00000004 00000001 00000001 61"}},
};

static struct bytes order_value(struct arena *arena, const char *text)
{
    char hex[256];
    size_t size = 0;

    for (; *text != '\0'; text++)
        if (*text != ' ' && *text != '=')
            hex[size++] = *text;
    hex[size] = '\0';
    return from_hex(arena, hex);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

Test(type, values_sort_as_in_cassandra)
{
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (size_t n = 0; n < sizeof order_cases / sizeof order_cases[0]; n++) {
        const struct order_case *test = &order_cases[n];
        const struct type *type = parse(arena, test->type);
        int ranks[14];
        for (int i = 0; i < 14 && test->values[i] != NULL; i++) {
            ranks[i] = i == 0 ? 0 : ranks[i - 1] + (test->values[i][0] != '=');
            for (int j = 0; j <= i; j++) {
                struct bytes a = order_value(arena, test->values[i]);
                struct bytes b = order_value(arena, test->values[j]);
                int expected = sign(ranks[i] - ranks[j]);
                cr_expect_eq(sign(type_compare(type, a, b)), expected, "%s: %s against %s",
                             test->type, test->values[i], test->values[j]);
                cr_expect_eq(sign(type_compare(type, b, a)), -expected);
            }
        }
    }
    arena_free(arena);
}

struct text_case {
    enum type_kind kind;
    const char *text;    /* what is read */
    const char *hex;     /* the value; NULL: refused */
    const char *printed; /* what is printed; NULL: the text */
};

static const struct text_case text_cases[] = {
    {TYPE_TEXT, "it's", "69742773", NULL},
    {TYPE_TEXT, "", "", NULL},
    {TYPE_TEXT, "\xff", NULL, NULL},
    {TYPE_ASCII, "\xc3\xa9", NULL, NULL},
    {TYPE_TINYINT, "-128", "80", NULL},
    {TYPE_TINYINT, "128", NULL, NULL},
    {TYPE_SMALLINT, "+32767", "7FFF", "32767"},
    {TYPE_INT, "-2147483648", "80000000", NULL},
    {TYPE_INT, "2147483648", NULL, NULL},
    {TYPE_INT, "", NULL, NULL},
    {TYPE_INT, "1 ", NULL, NULL},
    {TYPE_INT, "-", NULL, NULL},
    {TYPE_BIGINT, "-9223372036854775808", "8000000000000000", NULL},
    {TYPE_BIGINT, "9223372036854775807", "7FFFFFFFFFFFFFFF", NULL},
    {TYPE_BIGINT, "9223372036854775808", NULL, NULL},
    {TYPE_VARINT, "0", "00", NULL},
    {TYPE_VARINT, "-128", "80", NULL},
    {TYPE_VARINT, "128", "0080", NULL},
    {TYPE_VARINT, "-129", "FF7F", NULL},
    {TYPE_VARINT, "-1", "FF", NULL},
    {TYPE_VARINT, "340282366920938463463374607431768211456", "0100000000000000000000000000000000",
     NULL},
    {TYPE_VARINT, "1.5", NULL, NULL},
    {TYPE_DECIMAL, "0.005", "0000000305", NULL},
    {TYPE_DECIMAL, "-12.50", "00000002FB1E", NULL},
    {TYPE_DECIMAL, "0.00", "0000000200", NULL},
    {TYPE_DECIMAL, ".5", "0000000105", "0.5"},
    {TYPE_DECIMAL, "5.", "0000000005", "5"},
    {TYPE_DECIMAL, "1e3", "FFFFFFFD01", "1000"},
    {TYPE_DECIMAL, "1.5E-2", "000000030F", "0.015"},
    {TYPE_DECIMAL, ".", NULL, NULL},
    {TYPE_DECIMAL, "1e", NULL, NULL},
    {TYPE_DECIMAL, "1e1001", NULL, NULL},
    {TYPE_DECIMAL, "1.2.3", NULL, NULL},
    {TYPE_DECIMAL, "-", NULL, NULL},
    {TYPE_FLOAT, "0.005", "3BA3D70A", NULL},
    {TYPE_FLOAT, "0.1", "3DCCCCCD", NULL},
    {TYPE_FLOAT, "1e39", NULL, NULL},
    {TYPE_FLOAT, "NaN", "7FC00000", NULL},
    {TYPE_DOUBLE, "0.1", "3FB999999999999A", NULL},
    {TYPE_DOUBLE, "1", "3FF0000000000000", NULL},
    {TYPE_DOUBLE, "-Infinity", "FFF0000000000000", NULL},
    {TYPE_DOUBLE, "1e999", NULL, NULL},
    {TYPE_DOUBLE, "0x10", NULL, NULL},
    {TYPE_DOUBLE, " 1", NULL, NULL},
    {TYPE_BOOLEAN, "True", "01", "true"},
    {TYPE_BOOLEAN, "false", "00", NULL},
    {TYPE_BOOLEAN, "1", NULL, NULL},
    {TYPE_BLOB, "0x00ff", "00FF", NULL},
    {TYPE_BLOB, "0x", "", ""},
    {TYPE_BLOB, "", "", NULL},
    {TYPE_BLOB, "0x0", NULL, NULL},
    {TYPE_BLOB, "00", NULL, NULL},
    {TYPE_UUID, "5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11", "5F0C6D1E8F0A4C579A3C2F1F0D7C9A11", NULL},
    {TYPE_UUID, "5f0c6d1e8f0a-4c57-9a3c-2f1f0d7c9a11", NULL, NULL},
    {TYPE_UUID, "5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a1", NULL, NULL},
    {TYPE_TIMEUUID, "5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11", NULL, NULL},
    {TYPE_TIMEUUID, "5f0c6d1e-8f0a-1c57-9a3c-2f1f0d7c9a11", "5F0C6D1E8F0A1C579A3C2F1F0D7C9A11",
     NULL},
    {TYPE_INET, "127.0.0.1", "7F000001", NULL},
    {TYPE_INET, "::1", "00000000000000000000000000000001", NULL},
    {TYPE_INET, "::ffff:1.2.3.4", "01020304", "1.2.3.4"},
    {TYPE_INET, "localhost", NULL, NULL},
    {TYPE_DATE, "1970-01-01", "80000000", NULL},
    {TYPE_DATE, "1969-12-31", "7FFFFFFF", NULL},
    {TYPE_DATE, "2147483648", "80000000", "1970-01-01"},
    {TYPE_DATE, "4294967295", "FFFFFFFF", NULL},
    {TYPE_DATE, "2013-02-29", NULL, NULL},
    {TYPE_TIME, "23:59:59.999999999", "00004E94914EFFFF", NULL},
    {TYPE_TIME, "8:30:0", "00001BD49E215000", "08:30:00.000000000"},
    {TYPE_TIME, "08:30", NULL, NULL},
    {TYPE_TIME, "08:30:00.1234567890", NULL, NULL},
    {TYPE_TIME, "08:30:00.", NULL, NULL},
    {TYPE_TIME, "86400000000000", NULL, NULL},
    {TYPE_TIME, "24:00:00", NULL, NULL},
    {TYPE_TIMESTAMP, "1385604000123", "000001429C6F297B", "2013-11-28T02:00:00.123Z"},
    {TYPE_TIMESTAMP, "2013-11-28", "000001429C014C00", "2013-11-28T00:00:00.000Z"},
    {TYPE_TIMESTAMP, "2013-11-28 02:00:00.1239", "000001429C6F297B", "2013-11-28T02:00:00.123Z"},
    {TYPE_TIMESTAMP, "2013-11-28T03:00+0100", "000001429C6F2900", "2013-11-28T02:00:00.000Z"},
    {TYPE_TIMESTAMP, "1969-12-31 23:59:59.999Z", "FFFFFFFFFFFFFFFF", "1969-12-31T23:59:59.999Z"},
    {TYPE_TIMESTAMP, "9223372036854775807", "7FFFFFFFFFFFFFFF", NULL},
    {TYPE_TIMESTAMP, "2013-11-28 UTC", "000001429C014C00", "2013-11-28T00:00:00.000Z"},
    {TYPE_TIMESTAMP, "2013-11-28 +0100", "000001429BCA5D80", "2013-11-27T23:00:00.000Z"},
    {TYPE_TIMESTAMP, "2013-11-28 02:00:00 UTC", "000001429C6F2900", "2013-11-28T02:00:00.000Z"},
    {TYPE_TIMESTAMP, "2013-11-28 03:00 +0100", "000001429C6F2900", "2013-11-28T02:00:00.000Z"},
    {TYPE_TIMESTAMP, "2013-11-28 02:00 CET", NULL, NULL},
    {TYPE_TIMESTAMP, "2013-11-28 02", NULL, NULL},
    {TYPE_TIMESTAMP, "2013-11-28T02:00:00x", NULL, NULL},
    {TYPE_DURATION, "", NULL, NULL},
    {TYPE_DURATION, "1h1h", NULL, NULL},
    {TYPE_DURATION, "P", NULL, NULL},
    {TYPE_DURATION, "99999999999mo", NULL, NULL},
};

Test(type, text_reads_and_prints_back)
{
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (size_t i = 0; i < sizeof text_cases / sizeof text_cases[0]; i++) {
        const struct text_case *test = &text_cases[i];
        const struct type *type = type_builtin(test->kind);
        struct buffer value = {0};
        struct buffer printed = {0};
        struct error err = {0};
        int rc = type_parse_text(type, bytes_text(test->text), &value, &err);
        if (test->hex == NULL) {
            cr_expect_eq(rc, ERROR_INVALID, "%s is refused", test->text);
            cr_expect_eq(value.size, 0);
        } else {
            cr_assert_eq(rc, 0, "%s", err.text);
            cr_expect(bytes_equal(buffer_view(&value), from_hex(arena, test->hex)), "%s",
                      test->text);
            type_format(type, buffer_view(&value), &printed);
            expect_text(&printed, test->printed != NULL ? test->printed : test->text);
        }
        buffer_release(&value);
        buffer_release(&printed);
    }
    arena_free(arena);
}

Test(type, the_longest_varints_print_and_read_back)
{
    const struct type *varint = type_builtin(TYPE_VARINT);
    const uint8_t firsts[] = {0x7f, 0x80}; /* of the greatest and of the least number */

    for (size_t i = 0; i < sizeof firsts; i++) {
        struct buffer value = {0};
        struct buffer text = {0};
        struct buffer read = {0};
        struct error err = {0};
        buffer_put_u8(&value, firsts[i]);
        while (value.size < TYPE_VARINT_SIZE_MAX)
            buffer_put_u8(&value, (uint8_t) ~(firsts[i] ^ 0x7f));
        type_format(varint, buffer_view(&value), &text);
        cr_expect_eq(type_parse_text(varint, buffer_view(&text), &read, &err), 0, "%s", err.text);
        cr_expect(bytes_equal(buffer_view(&value), buffer_view(&read)));

        /* The last digit is 7 or 8: this is the next number, which takes one byte more. */
        text.data[text.size - 1]++;
        buffer_clear(&read);
        cr_expect_eq(type_parse_text(varint, buffer_view(&text), &read, &err), ERROR_INVALID);
        buffer_release(&value);
        buffer_release(&text);
        buffer_release(&read);
    }
}

Test(type, durations_have_several_spellings)
{
    static const char *const cases[][2] = {
        {"P1Y2M3DT4H5M6S", "1y2mo3d4h5m6s"},
        {"P2W", "14d"},
        {"P0001-02-03T04:05:06", "1y2mo3d4h5m6s"},
        {"-1Y2MO3W", "-1y2mo21d"},
        {"1\xc2\xb5s1ns", "1us1ns"},
        {"PT90M", "1h30m"},
        {"-14mo", "-1y2mo"},
        {"1500us", "1ms500us"},
        {"0s", "0s"},
        {"24h", "24h"},
        {"1y2mo3d4h5m6s7ms8us9ns", "1y2mo3d4h5m6s7ms8us9ns"},
        {"1w1d", "8d"},
        {"-9223372036854775807ns", "-2562047h47m16s854ms775us807ns"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct type *type = type_builtin(TYPE_DURATION);
        struct buffer value = {0};
        struct buffer printed = {0};
        int rc = type_parse_text(type, bytes_text(cases[i][0]), &value, NULL);
        cr_assert_eq(rc, 0, "%s", cases[i][0]);
        type_format(type, buffer_view(&value), &printed);
        expect_text(&printed, cases[i][1]);
        buffer_release(&value);
        buffer_release(&printed);
    }
}

Test(type, durations_are_refused_in_cassandras_words)
{
    static const char *const cases[][2] = {
        {"", "Unable to convert '' to a duration"},
        {"-", "Unable to convert '' to a duration"},
        {"5", "Unable to convert '5' to a duration"},
        {"1x", "Unable to convert '1x' to a duration"},
        {"1hx", "Unable to convert '1hx' to a duration"},
        {"P", "Unable to convert 'P' to a duration"},
        {"P1W2D", "Unable to convert 'P1W2D' to a duration"},
        {"P1-02-03T04:05:06", "Unable to convert 'P1-02-03T04:05:06' to a duration"},
        {"P0001-02-03T04:05:06x", "Unable to convert 'P0001-02-03T04:05:06x' to a duration"},
        {"1h1h", "Invalid duration. The hours are specified multiple times"},
        {"1m1h", "Invalid duration. The minutes should be after hours"},
        {"2147483648mo",
         "Invalid duration. The total number of months must be less or equal to 2147483647"},
        {"178956971y",
         "Invalid duration. The total number of months must be less or equal to 2147483647"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer value = {0};
        struct error err = {0};
        cr_expect_eq(type_duration_parse(bytes_text(cases[i][0]), &value, &err), ERROR_INVALID,
                     "%s", cases[i][0]);
        cr_expect_str_eq(err.text, cases[i][1]);
        cr_expect_eq(value.size, 0);
        buffer_release(&value);
    }
}

Test(type, collections_print_as_literals)
{
    static const char *const cases[][3] = {
        {"list<int>", "00000002 00000004 00000001 00000004 FFFFFFFF", "[1, -1]"},
        {"set<text>", "00000001 00000003 612762", "{'a''b'}"},
        {"map<int, decimal>", "00000001 00000004 00000007 00000005 0000000105", "{7: 0.5}"},
        {"map<text, boolean>", "00000001 00000001 6B 00000001 01", "{'k': true}"},
        {"tuple<int, text>", "FFFFFFFF 00000001 0A", "(null, '\n')"},
        {"tuple<int, text>", "00000004 00000005", "(5, null)"},
        {"address", "00000001 61 00000004 00000002", "{street: 'a', \"Zip\": 2}"},
        {"double", "7FF8000000000000", "NaN"},
        {"timestamp", "000001429C6F297B", "2013-11-28T02:00:00.123Z"},
        {"int", "", ""},
        {"blob", "00", "0x00"},
    };
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct type *type = parse(arena, cases[i][0]);
        struct bytes value = order_value(arena, cases[i][1]);
        struct buffer text = {0};
        cr_assert_eq(type_validate(type, value, NULL), 0);
        type_format(type, value, &text);
        expect_text(&text, cases[i][2]);
        buffer_release(&text);
    }
    arena_free(arena);
}

Test(type, values_that_are_none_are_refused)
{
    static const char *const cases[][2] = {
        {"int", "000000"},
        {"boolean", "0000"},
        {"time", "00004E94914F0000"},
        {"timeuuid", "00000000000040008000000000000000"},
        {"inet", "0102030405"},
        {"decimal", "00000001"},
        {"decimal", "0000040001"},
        {"duration", "0200"},
        {"duration", "020103"},
        {"list<int>", ""},
        {"list<int>", "00000001"},
        {"list<int>", "00000001 FFFFFFFF"},
        {"list<int>", "00000001 00000004 00000001 00"},
        {"list<int>", "7FFFFFFF 00000004 00000001"},
        {"list<int>", "FFFFFFFF 00000004 00000001"},
        {"map<int, int>", "00000001 00000004 00000001"},
        {"map<text, int>", "00000001 00000001 FF 00000004 00000001"},
        {"tuple<int>", "00000004 00000001 00000004 00000001"},
        {"tuple<int>", "FFFFFFFE"},
    };
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};
        int rc = type_validate(parse(arena, cases[i][0]), order_value(arena, cases[i][1]), &err);
        cr_expect_eq(rc, ERROR_INVALID, "%s %s", cases[i][0], cases[i][1]);
        cr_expect_gt(strlen(err.text), 0);
    }
    arena_free(arena);
}

Test(type, sets_and_maps_are_put_in_one_form)
{
    static const char *const cases[][3] = {
        {"set<int>", "00000003 00000004 00000002 00000004 FFFFFFFF 00000004 00000002",
         "00000002 00000004 FFFFFFFF 00000004 00000002"},
        {"map<text, int>",
         "00000003 00000001 62 00000004 00000001 00000001 61 00000004 00000002 00000001 62 "
         "00000004 "
         "00000003",
         "00000002 00000001 61 00000004 00000002 00000001 62 00000004 00000003"},
        {"list<int>", "00000002 00000004 00000002 00000004 00000001",
         "00000002 00000004 00000002 00000004 00000001"},
        {"tuple<frozen<set<tinyint>>, int>", "0000000E 00000002 00000001 02 00000001 01 FFFFFFFF",
         "0000000E 00000002 00000001 01 00000001 02 FFFFFFFF"},
        {"frozen<list<frozen<set<tinyint>>>>", "00000001 0000000E 00000002 00000001 02 00000001 01",
         "00000001 0000000E 00000002 00000001 01 00000001 02"},
        {"frozen<set<int>>", "00000000", "00000000"},
    };
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct type *type = parse(arena, cases[i][0]);
        struct bytes given = order_value(arena, cases[i][1]);
        cr_assert_eq(type_validate(type, given, NULL), 0, "%s", cases[i][1]);
        cr_expect(bytes_equal(type_normalize(type, given, arena), order_value(arena, cases[i][2])),
                  "%s", cases[i][1]);
    }
    arena_free(arena);
}

/* Whatever bytes a damaged page holds, looking at them must be safe. */
Test(type, any_bytes_can_be_compared_and_printed)
{
    static const char *const types[] = {
        "int",
        "text",
        "decimal",
        "varint",
        "duration",
        "timeuuid",
        "inet",
        "double",
        "date",
        "frozen<map<text, decimal>>",
        "frozen<list<frozen<set<varint>>>>",
        "address",
        "tuple<time, boolean>",
    };
    struct arena *arena = arena_new(ARENA_CHUNK);
    uint64_t random = 7;

    for (int n = 0; n < 30000; n++) {
        uint8_t bytes[48];
        for (size_t i = 0; i < sizeof bytes; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            bytes[i] = random >> 63 ? (uint8_t)(random >> 33 & 7) : (uint8_t)(random >> 40);
            if (random >> 61 & 1)
                bytes[i] = 0;
        }
        const struct type *type = parse(arena, types[n % (int)(sizeof types / sizeof types[0])]);
        struct bytes a = bytes_of(bytes, random >> 50 & 15);
        struct bytes b = bytes_of(bytes + 16, random >> 54 & 31);
        struct buffer text = {0};
        cr_assert_eq(sign(type_compare(type, a, b)), -sign(type_compare(type, b, a)));
        int rc = type_validate(type, a, NULL);
        cr_assert(rc == 0 || rc == ERROR_INVALID);
        type_format(type, b, &text);
        buffer_release(&text);
        arena_reset(arena);
    }
    arena_free(arena);
}

Test(type, keys_are_cassandras_composites)
{
    struct buffer key = {0};
    struct bytes part;

    type_key_put_component(&key, 2, bytes_text("supaboobs"));
    type_key_put_component(&key, 2, bytes_text("2013-11-28"));
    cr_assert_eq(key.size, 2 + 9 + 1 + 2 + 10 + 1);
    cr_assert_eq(type_key_component(buffer_view(&key), 2, 1, &part), 0);
    cr_assert(bytes_equal(part, bytes_text("2013-11-28")));
    for (size_t size = 0; size < key.size; size++)
        cr_assert_eq(type_key_component(bytes_of(key.data, size), 2, 0, &part), ERROR_CORRUPT);
    cr_assert_eq(type_key_component(buffer_view(&key), 3, 0, &part), ERROR_CORRUPT);
    buffer_clear(&key);
    type_key_put_component(&key, 1, bytes_text("ad42"));
    cr_assert_eq(type_key_component(buffer_view(&key), 1, 0, &part), 0);
    cr_assert(bytes_equal(part, bytes_text("ad42")));
    buffer_release(&key);
}

Test(type, names_are_quoted_where_cql_needs_it)
{
    static const char *const cases[][2] = {
        {"time", "time"},       {"Zip", "\"Zip\""}, {"select", "\"select\""},
        {"a\"b", "\"a\"\"b\""}, {"1st", "\"1st\""}, {"ad_id", "ad_id"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer printed = {0};
        type_print_name(cases[i][0], &printed);
        expect_text(&printed, cases[i][1]);
        buffer_release(&printed);
    }
}
