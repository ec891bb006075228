/* test_cql_json: values as JSON and back. */
#include "query/cql/expression/cql_json.h"

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/memory.h"

static const struct type *find_address(void *context, struct bytes name)
{
    static const struct type text = {.kind = TYPE_TEXT};
    static const struct type integer = {.kind = TYPE_INT};
    static const struct type *const arguments[] = {&text, &integer};
    static const char *const names[] = {"street", "Zip"};
    static const struct type address = {.kind = TYPE_UDT,
                                        .argument_count = 2,
                                        .frozen = true,
                                        .arguments = arguments,
                                        .name = "address",
                                        .field_names = names};

    (void)context;
    return bytes_equal(name, bytes_text("address")) ? &address : NULL;
}

static const struct type *parse_type(struct arena *arena, const char *text)
{
    const struct type *type;

    cr_assert_eq(type_parse(bytes_text(text), arena, find_address, NULL, &type, NULL), 0, "%s",
                 text);
    return type;
}

static int read_value(struct arena *arena, const struct type *type, const char *text,
                      struct buffer *value, struct error *err)
{
    const struct cql_json *json;
    int rc = cql_json_read(bytes_text(text), arena, &json, err);

    return rc < 0 ? rc : cql_json_value(json, type, arena, value, err);
}

struct json_case {
    const char *type;
    const char *in;
    const char *out; /* NULL: the same */
};

/* What Cassandra 5.0 gives for each. */
static const struct json_case both_ways[] = {
    {"int", "-5", NULL},
    {"int", "\"42\"", "42"},
    {"tinyint", "-128", NULL},
    {"smallint", "32767", NULL},
    {"bigint", "9223372036854775807", NULL},
    {"varint", "123456789012345678901234567890", NULL},
    {"varint", "\"-1\"", "-1"},
    {"text", "\"a'b\\\"c\\\\ \\n\\t\\u0001 \\u007F é 😀\"",
     "\"a'b\\\"c\\\\ \\n\\t\\u0001 \x7F é 😀\""},
    {"text", "\"\\uD83D\\uDE00\"", "\"😀\""},
    {"text", "\"\"", NULL},
    {"ascii", "\"x\"", NULL},
    {"boolean", "true", NULL},
    {"boolean", "\"FALSE\"", "false"},
    {"boolean", "\"\"", "false"},
    {"double", "1", "1.0"},
    {"double", "0.001", "0.001"},
    {"double", "0.0001", "1.0E-4"},
    {"double", "123456.5", "123456.5"},
    {"double", "9999999", "9999999.0"},
    {"double", "1e7", "1.0E7"},
    {"double", "-1.25e10", "-1.25E10"},
    {"double", "1.7976931348623157e308", "1.7976931348623157E308"},
    {"double", "0", "0.0"},
    {"double", "-0.0", NULL},
    {"double", "\"NaN\"", "null"},
    {"double", "\"-Infinity\"", "null"},
    {"float", "0.1", NULL},
    {"float", "\"3.5\"", "3.5"},
    {"float", "16777216", "1.6777216E7"},
    {"decimal", "0.10", NULL},
    {"decimal", "\"12.50\"", "12.50"},
    {"decimal", "100", NULL},
    {"decimal", "1e3", "1E+3"},
    {"decimal", "12e3", "1.2E+4"},
    {"decimal", "0.0000001", "1E-7"},
    {"decimal", "0.000001", NULL},
    {"decimal", "-0.00000123", "-0.00000123"},
    {"decimal", "-0.0000000123", "-1.23E-8"},
    {"decimal", "12345678901234567890.0123456789", NULL},
    {"blob", "\"0x00fF\"", "\"0x00ff\""},
    {"blob", "\"0x\"", NULL},
    {"uuid", "\"12345678-1234-1234-1234-123456789abc\"", NULL},
    {"inet", "\"127.0.0.1\"", NULL},
    {"inet", "\"2001:db8::1\"", "\"2001:db8:0:0:0:0:0:1\""},
    {"timestamp", "1385604000123", "\"2013-11-28 02:00:00.123Z\""},
    {"timestamp", "\"2013-11-28 02:00:00+0100\"", "\"2013-11-28 01:00:00.000Z\""},
    {"date", "\"2013-11-28\"", NULL},
    {"time", "\"08:12:54.123456789\"", NULL},
    {"duration", "\"1y2mo3d4h\"", NULL},
    {"int", "\"\"", "\"\""},
    {"list<int>", "[1, 2]", NULL},
    {"list<int>", "[]", NULL},
    {"list<int>", "\"[1, 2]\"", "[1, 2]"},
    {"set<text>", "[\"b\", \"a\", \"b\"]", "[\"a\", \"b\"]"},
    {"map<text, int>", "{\"b\": 1, \"a\": 2}", "{\"a\": 2, \"b\": 1}"},
    {"map<int, decimal>", "{\"7\": 0.5}", NULL},
    {"map<frozen<list<int>>, int>", "{\"[1, 2]\": 3}", NULL},
    {"tuple<int, text>", "[1, null]", NULL},
    {"frozen<address>", "{\"street\": \"a\", \"\\\"Zip\\\"\": 2}", NULL},
    {"frozen<address>", "{\"STREET\": \"a\"}", "{\"street\": \"a\", \"\\\"Zip\\\"\": null}"},
    {"list<frozen<map<text, frozen<set<int>>>>>", "[{\"a\": [2, 1]}]", "[{\"a\": [1, 2]}]"},
};

Test(cql_json, values_are_read_and_printed_as_cassandra_does)
{
    struct arena *arena = arena_new(4096);

    for (size_t i = 0; i < sizeof both_ways / sizeof both_ways[0]; i++) {
        const struct json_case *test = &both_ways[i];
        const char *wanted = test->out == NULL ? test->in : test->out;
        const struct type *type = parse_type(arena, test->type);
        struct buffer value = {0};
        struct buffer json = {0};
        struct error err = {0};
        int rc = read_value(arena, type, test->in, &value, &err);

        cr_assert_eq(rc, 0, "%s %s: %s", test->type, test->in, err.text);
        cql_json_format(type, value.size == 0 ? bytes_text("") : buffer_view(&value), &json);
        cr_expect(bytes_equal(buffer_view(&json), bytes_text(wanted)), "%s %s: %.*s", test->type,
                  test->in, (int)json.size, (const char *)json.data);
        buffer_release(&json);
        buffer_release(&value);
    }
    arena_free(arena);
}

/* A client's driver may send the 16 bytes; a text never gives them. */
Test(cql_json, an_ipv4_address_within_ipv6_is_printed_as_java_does)
{
    static const uint8_t mapped[16] = {[10] = 0xFF, [11] = 0xFF, [12] = 1, 2, 3, 255};
    static const uint8_t other[16] = {[9] = 1, [10] = 0xFF, [11] = 0xFF, [12] = 1, 2, 3, 255};
    struct buffer json = {0};

    cql_json_format(type_builtin(TYPE_INET), bytes_of(mapped, sizeof mapped), &json);
    cql_json_format(type_builtin(TYPE_INET), bytes_of(other, sizeof other), &json);
    buffer_put_u8(&json, 0);
    cr_expect_str_eq((const char *)json.data, "\"1.2.3.255\"\"0:0:0:0:1:ffff:102:3ff\"");
    buffer_release(&json);
}

Test(cql_json, values_of_another_kind_are_refused_in_cassandras_words)
{
    static const char *const cases[][3] = {
        {"int", "1.5", "Expected an int value, but got a Double: 1.5"},
        {"int", "3000000000", "Expected an int value, but got a Long: 3000000000"},
        {"int", "true", "Expected an int value, but got a Boolean: true"},
        {"int", "\"x\"", "Unable to make int from 'x'"},
        {"int", "[1, {\"a\": 2}]", "Expected an int value, but got a ArrayList: [1, {a=2}]"},
        {"text", "1", "Expected a UTF-8 string, but got a Integer: 1"},
        {"ascii", "1", "Expected an ascii string, but got a Integer: 1"},
        {"boolean", "1", "Expected a boolean value, but got a Integer: 1"},
        {"uuid", "00", NULL},
        {"blob", "\"00\"",
         "Value '00' is not a valid blob representation: String representation of blob is missing "
         "0x prefix: 00"},
        {"tinyint", "128", "Unable to make byte from '128'"},
        {"smallint", "1.0", "Unable to make short from '1.0'"},
        {"varint", "1.5", "Value '1.5' is not a valid representation of a varint value"},
        {"uuid", "1", "Expected a string representation of a uuid, but got a Integer: 1"},
        {"date", "1", "Expected a string representation of a date value, but got a Integer: 1"},
        {"timestamp", "1.5",
         "Expected a long or a datestring representation of a timestamp value, but got a Double: "
         "1.5"},
        {"list<int>", "{\"a\": 1}", "Expected a list, but got a LinkedHashMap: {a=1}"},
        {"list<int>", "[1, null]", "Invalid null element in list"},
        {"set<int>", "1", "Expected a list (representing a set), but got a Integer: 1"},
        {"set<int>", "[null]", "Invalid null element in set"},
        {"map<text, int>", "[]", "Expected a map, but got a ArrayList: []"},
        {"map<text, int>", "{\"a\": null}", "Invalid null value in map"},
        {"tuple<int>", "1", "Expected a list representation of a tuple, but got a Integer: 1"},
        {"tuple<int>", "[1, 2]", "Tuple contains extra items (expected 1): [1, 2]"},
        {"tuple<int, text>", "[1]", "Tuple is missing items (expected 2): [1]"},
        {"frozen<address>", "{\"zip\": 1}",
         "Unknown field 'zip' in value of user defined type address"},
        {"list<int>", "\"[1\"", NULL},
        {"text", "\"\\uD83D\"", "half of a surrogate pair in a string"},
        {"text", "\"\\uDE00x\"", "half of a surrogate pair in a string"},
        {"text", "\"\xC3\"", NULL},
    };
    struct arena *arena = arena_new(4096);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer value = {0};
        struct error err = {0};
        int rc = read_value(arena, parse_type(arena, cases[i][0]), cases[i][1], &value, &err);

        cr_expect_eq(rc, ERROR_INVALID, "%s %s", cases[i][0], cases[i][1]);
        if (cases[i][2] != NULL)
            cr_expect_str_eq(err.text, cases[i][2], "%s %s: %s", cases[i][0], cases[i][1],
                             err.text);
        buffer_release(&value);
    }
    arena_free(arena);
}

Test(cql_json, a_row_is_an_object_whose_keys_fold_like_names)
{
    struct arena *arena = arena_new(4096);
    const struct cql_json *row;
    struct error err;

    const char *text = "{\"A\": 1, \"\\\"B\\\"\": 2, \"a\": 3, \"c\": null}";

    cr_assert_eq(cql_json_read_row(bytes_text(text), arena, &row, NULL), 0);
    cr_expect(bytes_equal(cql_json_member(row, "a")->text, bytes_text("3")));
    cr_expect(bytes_equal(cql_json_member(row, "B")->text, bytes_text("2")));
    cr_expect_null(cql_json_member(row, "b"));
    cr_expect_eq(cql_json_member(row, "c")->kind, CQL_JSON_NULL);
    cr_expect_eq(cql_json_read_row(bytes_text("null"), arena, &row, &err), ERROR_INVALID);
    cr_expect_str_eq(err.text, "Got null for INSERT JSON values");
    cr_expect_eq(cql_json_read_row(bytes_text("[1]"), arena, &row, &err), ERROR_INVALID);
    cr_expect_str_eq(err.text,
                     "Could not decode JSON string as a map: not an object. (String was: [1])");
    arena_free(arena);
}

Test(cql_json, deep_nesting_is_refused)
{
    struct arena *arena = arena_new(4096);
    const struct cql_json *json;
    char text[100001];

    memset(text, '[', sizeof text);
    cr_expect_eq(cql_json_read(bytes_of(text, sizeof text), arena, &json, NULL), ERROR_LIMIT);
    cr_expect_null(json);
    arena_free(arena);
}

/* Every text of the table with each byte left out and each bit of it turned over. */
Test(cql_json, texts_with_a_wrong_byte_are_safe_to_read)
{
    struct arena *arena = arena_new(4096);

    for (size_t i = 0; i < sizeof both_ways / sizeof both_ways[0]; i++) {
        const struct type *type;
        size_t size = strlen(both_ways[i].in);

        for (size_t bit = 0; bit < 8 * size; bit++) {
            uint8_t *copy = memory_copy(both_ways[i].in, size);
            size_t cut = bit % 8 == 0 ? bit / 8 : size;
            const struct cql_json *json;
            struct buffer value = {0};

            copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
            type = parse_type(arena, both_ways[i].type);
            if (cql_json_read(bytes_of(copy, cut), arena, &json, NULL) == 0 &&
                json->kind != CQL_JSON_NULL && cql_json_value(json, type, arena, &value, NULL) == 0)
                cr_expect_eq(type_validate(type, buffer_view(&value), NULL), 0);
            buffer_release(&value);
            memory_free(copy);
            arena_reset(arena);
        }
    }
    arena_free(arena);
}
