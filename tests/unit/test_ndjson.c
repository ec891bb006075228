/* Lines of JSON: one flat object is a row, anything else a reject, and no line reaches into the
 * next. */
#include "ingest/parse/ndjson.h"

#include <criterion/criterion.h>

#include "tests/unit/clicks_fixture.h"

static struct schema *schema;
static struct row_builder *builder;
static struct ndjson *ndjson;

static void setup(void)
{
    schema = schema_new();
    cr_assert(schema_add_keyspace(schema, "daybook", NULL) == 0);
    cr_assert(schema_add_table(schema, &clicks_definition, NULL) == 0);
    cr_assert(row_builder_new(&clicks_stream, schema_table(schema, CLICKS_TABLE), 1, &builder,
                              NULL) == 0);
    ndjson = ndjson_new(&clicks_line_columns);
}

static void teardown(void)
{
    ndjson_free(ndjson);
    row_builder_free(builder);
    schema_unref(schema);
}

TestSuite(ndjson, .init = setup, .fini = teardown);

static const char good[] =
    "{\"reseller_id\":\"r1\",\"day\":null,\"time\":1385654400123,\"ad_id\":\"a\\u00e9\\n\","
    "\"amount\":0.10}";

struct ndjson_case {
    const char *line;
    int code; /* -1: a row */
};

#define R "{\"reseller_id\":\"r\",\"time\":1385654400123,\"ad_id\":"
static const struct ndjson_case cases[] = {
    {R "\"a\",\"amount\":0.10}", -1},
    {R "\"a\",\"amount\":\"0.10\"}\r", -1},
    {" " R "\"a\",\"amount\":1} ", -1},
    {R "7,\"amount\":1}", -1},
    {R "\"\\ud83d\\ude00\",\"amount\":1}", -1},
    {R "\"a\\\\ud800\",\"amount\":1}", -1},
    {"", REJECT_EMPTY_LINE},
    {"\r", REJECT_EMPTY_LINE},
    {"r,,1385654400123,a,1", REJECT_BAD_JSON},
    {"5", REJECT_BAD_JSON},
    {"[]", REJECT_BAD_JSON},
    {"\"x\"", REJECT_BAD_JSON},
    {"null", REJECT_BAD_JSON},
    {"{", REJECT_BAD_JSON},
    {"}", REJECT_BAD_JSON},
    {R "\"a\",\"amount\":1", REJECT_BAD_JSON},
    {R "\"a\",\"amount\":1}}", REJECT_BAD_JSON},
    {R "\"a\",\"amount\":1}{}", REJECT_BAD_JSON},
    {R "\"a\",\"amount\":1} x", REJECT_BAD_JSON},
    {R "\"a\",\"amount\":1,\"amount\":2}", REJECT_BAD_JSON},
    {R "\"a\",\"amount\":true}", REJECT_BAD_JSON},
    {R "\"a\",\"amount\":[1]}", REJECT_BAD_JSON},
    {R "{\"x\":1},\"amount\":1}", REJECT_BAD_JSON},
    {R "\"a,\"amount\":1}", REJECT_BAD_JSON},
    {R "\"\\ud83d\",\"amount\":1}", REJECT_BAD_JSON},
    {R "\"\\ude00\",\"amount\":1}", REJECT_BAD_JSON},
    {R "\"a\",\"amount\":1,\"country\":\"de\"}", REJECT_UNKNOWN_FIELD},
    {R "\"a\",\"amount\":1e400}", REJECT_BAD_AMOUNT},
    {R "\"a\",\"amount\":-0.01}", REJECT_BAD_AMOUNT},
    {R "\"a\",\"amount\":NaN}", REJECT_BAD_JSON},
    {R "\"a\"}", REJECT_BAD_AMOUNT},
    {R "\"\",\"amount\":1}", REJECT_EMPTY_ID},
    {R "\"\\u0000\",\"amount\":1}", REJECT_CONTROL_CHARACTER},
    {R "\"\xFF\",\"amount\":1}", REJECT_BAD_UTF8},
    {"{}", REJECT_EMPTY_ID},
};

Test(ndjson, each_line_is_a_row_or_a_reject_and_the_next_is_right_again)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        row_builder_clear(builder);
        ndjson_line(ndjson, builder, bytes_text(cases[i].line), 1);
        if (cases[i].code < 0) {
            cr_expect(builder->block->rows == 1, "%s", cases[i].line);
        } else {
            cr_assert(builder->rejects.count == 1, "%s", cases[i].line);
            cr_expect((int)builder->rejects.items[0].code == cases[i].code, "%s: %s", cases[i].line,
                      reject_name(builder->rejects.items[0].code));
        }
        ndjson_line(ndjson, builder, bytes_text(R "\"z\",\"amount\":1}"), 2);
        cr_expect(builder->block->rows == (cases[i].code < 0 ? 2 : 1), "after %s", cases[i].line);
    }
}

Test(ndjson, values_are_taken_as_they_are_written)
{
    struct block_column *amount;
    struct bytes ad;

    ndjson_line(ndjson, builder,
                bytes_text("{\"amount\":0.100000000000000001,\"ad_id\":\"a\\u00e9\\\"\","
                           "\"day\":\"2013-11-28\",\"time\":\"2013-11-28T16:00:00.123Z\","
                           "\"reseller_id\":12345678901234567890}"),
                1);
    cr_assert(builder->block->rows == 1);
    amount = block_column_at(builder->block, 6);
    cr_expect(amount->integers[0] == 100000000000000001 && amount->scales[0] == 18);
    ad = block_dictionary_get(&block_column_at(builder->block, 4)->dictionary, 0);
    cr_expect(bytes_equal(ad, bytes_text("a\xC3\xA9\"")));
    cr_expect(block_column_at(builder->block, 3)->integers[0] == 1385654400123);
}

Test(ndjson, lines_cut_anywhere_and_flipped_in_any_bit_do_no_harm)
{
    uint8_t bytes[sizeof good];

    for (size_t size = 0; size < sizeof good; size++)
        ndjson_line(ndjson, builder, bytes_of(good, size), size);
    for (size_t bit = 0; bit < 8 * (sizeof good - 1); bit++) {
        memcpy(bytes, good, sizeof good);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ndjson_line(ndjson, builder, bytes_of(bytes, sizeof good - 1), bit);
    }
    row_builder_finish(builder);
}
