/* Lines of CSV: each is a row or a reject with its reason, the plain way gives what the full way
 * gives. */
#include "ingest/parse/line_parser.h"

#include <stdio.h>

#include <criterion/criterion.h>

#include "base/memory.h"
#include "tests/unit/clicks_fixture.h"

struct fixture {
    struct ingest_stream stream; /* only of clicks with ids */
    struct schema *schema;
    struct row_builder *builder;
    struct line_parser parser;
};

static void fixture_init(struct fixture *fixture)
{
    struct error err = {0};

    fixture->schema = schema_new();
    cr_assert(schema_add_keyspace(fixture->schema, "daybook", &err) == 0, "%s", err.text);
    cr_assert(schema_add_table(fixture->schema, &clicks_definition, &err) == 0, "%s", err.text);
    cr_assert(row_builder_new(&clicks_stream, schema_table(fixture->schema, CLICKS_TABLE), 7,
                              &fixture->builder, &err) == 0,
              "%s", err.text);
    line_parser_init(&fixture->parser);
}

/* Clicks with ids, in the order that `header` gives. */
static void fixture_init_with_ids(struct fixture *fixture, const char *header)
{
    struct line_columns columns = clicks_line_columns;
    struct error err = {0};

    columns.names[FIELD_CLICK_ID] = bytes_text("click_id");
    fixture->stream = clicks_stream;
    fixture->stream.click_id_column_id = 5;
    fixture->stream.click_id_type = type_builtin(TYPE_BIGINT);
    fixture->schema = row_builder_schema(&fixture->stream);
    cr_assert(row_builder_new(&fixture->stream, schema_table(fixture->schema, ROW_BUILDER_TABLE), 7,
                              &fixture->builder, &err) == 0,
              "%s", err.text);
    line_parser_init(&fixture->parser);
    cr_assert(line_parser_header(&fixture->parser, bytes_text(header), &columns, &err) == 0, "%s",
              err.text);
}

static void fixture_release(struct fixture *fixture)
{
    row_builder_free(fixture->builder);
    line_parser_release(&fixture->parser);
    schema_unref(fixture->schema);
}

/* Parse `text` from memory of exactly its size and padding, so that sanitizers see a read past it;
 * returns the bytes taken. */
static size_t parse(struct fixture *fixture, struct bytes text)
{
    uint8_t *copy = memory_alloc(text.size + LINE_PARSER_PADDING);
    size_t taken;

    memcpy(copy, text.data, text.size);
    memset(copy + text.size, ',', LINE_PARSER_PADDING);
    taken = line_parser_run(&fixture->parser, fixture->builder, bytes_of(copy, text.size), 100000);
    memory_free(copy);
    return taken;
}

/* The row as "reseller|day|time|ad|amount e-scale|derived". */
static void row_text(const struct row_builder *builder, uint32_t row, struct buffer *text)
{
    struct block *block = builder->block;
    struct bytes key = block_dictionary_get(&block->partitions, block->partition_codes[row]);
    const struct block_column *ad = block_column_at(block, 4);
    const struct block_column *amount = block_column_at(block, 6);
    const struct block_column *derived = block_column_at(block, 7);
    struct bytes value;

    for (uint32_t i = 0; i < 2; i++) {
        cr_assert(type_key_component(key, 2, i, &value) == 0);
        buffer_append_bytes(text, value);
        buffer_put_u8(text, '|');
    }
    buffer_printf(text, "%lld|", (long long)block_column_at(block, 3)->integers[row]);
    buffer_append_bytes(text, block_dictionary_get(&ad->dictionary, ad->codes[row]));
    buffer_printf(text, "|%llde-%d|%s", (long long)amount->integers[row], amount->scales[row],
                  derived->absent != NULL && derived->absent[row] ? "-" : "derived");
}

struct line_case {
    const char *line;
    const char *row; /* as row_text, or NULL and: */
    enum reject_code code;
    const char *text; /* of the reject; NULL: any */
};

static const struct line_case line_cases[] = {
    {"r1,2013-11-28,1385654400123,ad42,0.005", "r1|2013-11-28|1385654400123|ad42|5e-3|-", 0, NULL},
    {"r1,2013-11-28,1385654400123,ad42,0.005\r", "r1|2013-11-28|1385654400123|ad42|5e-3|-", 0,
     NULL},
    {"r1,,1385654400123,ad42,1.50", "r1|2013-11-28|1385654400123|ad42|150e-2|derived", 0, NULL},
    {"r1,2013-11-28,2013-11-28T16:00:00.123Z,ad42,7", "r1|2013-11-28|1385654400123|ad42|7e-0|-", 0,
     NULL},
    {"\"r,1\",2013-11-28,1385654400123,\"a\"\"d\",1", "r,1|2013-11-28|1385654400123|a\"d|1e-0|-", 0,
     NULL},
    {"\"#x\",2013-11-28,1385654400123,#y,1", "#x|2013-11-28|1385654400123|#y|1e-0|-", 0, NULL},
    {"\"r\",\"2013-11-28\",\"1385654400123\",\"a\",\"1\"", "r|2013-11-28|1385654400123|a|1e-0|-", 0,
     NULL},
    {"caf\xC3\xA9,2013-11-29,1385654400123,ad-of-more-than-sixteen-bytes,000.10",
     "caf\xC3\xA9|2013-11-29|1385654400123|ad-of-more-than-sixteen-bytes|10e-2|-", 0, NULL},
    {"r,1970-01-01,0,a,1", "r|1970-01-01|0|a|1e-0|-", 0, NULL},
    {"r,,253402300799999,a,1", "r|9999-12-31|253402300799999|a|1e-0|derived", 0, NULL},
    {"r,,1385654400123,a,123456789012345678",
     "r|2013-11-28|1385654400123|a|123456789012345678e-0"
     "|derived",
     0, NULL},
    {"r,,1385654400123,a,0.123456789012345678",
     "r|2013-11-28|1385654400123|a|"
     "123456789012345678e-18|derived",
     0, NULL},
    {"", NULL, REJECT_EMPTY_LINE, ""},
    {"\r", NULL, REJECT_EMPTY_LINE, ""},
    {"r", NULL, REJECT_TOO_FEW_FIELDS, "r"},
    {"r,2013-11-28,1385654400123,a", NULL, REJECT_TOO_FEW_FIELDS, NULL},
    {"r,2013-11-28,1385654400123,a,1,", NULL, REJECT_TOO_MANY_FIELDS, NULL},
    {"r,2013-11-28,1385654400123,a,1,2,3,4,5,6,7,8,9", NULL, REJECT_TOO_MANY_FIELDS, NULL},
    {"r,2013-11-28,1385654400123,\"a,1", NULL, REJECT_BAD_QUOTE, "\"a,1"},
    {"r,2013-11-28,1385654400123,\"a\"b,1", NULL, REJECT_BAD_QUOTE, "\"a\"b,1"},
    {"r,2013-11-28,1385654400123,a\"b,1", NULL, REJECT_BAD_QUOTE, "a\"b,1"},
    {"r,2013-11-28,1385654400123,a,1\"", NULL, REJECT_BAD_QUOTE, "1\""},
    {"\"", NULL, REJECT_BAD_QUOTE, "\""},
    {"\"\"\"", NULL, REJECT_BAD_QUOTE, NULL},
    {",2013-11-28,1385654400123,a,1", NULL, REJECT_EMPTY_ID, ""},
    {"\"\",2013-11-28,1385654400123,a,1", NULL, REJECT_EMPTY_ID, ""},
    {"r,2013-11-28,1385654400123,,1", NULL, REJECT_EMPTY_ID, ""},
    {"\xFF,2013-11-28,1385654400123,a,1", NULL, REJECT_BAD_UTF8, "\xFF"},
    {"r,2013-11-28,1385654400123,\xED\xA0\x80,1", NULL, REJECT_BAD_UTF8, NULL},
    {"a\tb,2013-11-28,1385654400123,a,1", NULL, REJECT_CONTROL_CHARACTER, "a\tb"},
    {"a\x7F,2013-11-28,1385654400123,a,1", NULL, REJECT_CONTROL_CHARACTER, NULL},
    {"a\xC2\x85,2013-11-28,1385654400123,a,1", NULL, REJECT_CONTROL_CHARACTER, NULL},
    {"a\r,2013-11-28,1385654400123,a,1", NULL, REJECT_CONTROL_CHARACTER, NULL},
    {"r,2013-13-01,1385654400123,a,1", NULL, REJECT_BAD_DAY, "2013-13-01"},
    {"r,2013-02-29,1361923200000,a,1", NULL, REJECT_BAD_DAY, "2013-02-29"},
    {"r,28.11.2013,1385654400123,a,1", NULL, REJECT_BAD_DAY, NULL},
    {"r,2013-11-26,1385654400123,a,1", NULL, REJECT_DAY_MISMATCH, "2013-11-26"},
    {"r,2013-11-30,1385654400123,a,1", NULL, REJECT_DAY_MISMATCH, "2013-11-30"},
    {"r,2013-11-28,-1,a,1", NULL, REJECT_TIME_OUT_OF_RANGE, "-1"},
    {"r,1969-12-31,1969-12-31T23:59:59Z,a,1", NULL, REJECT_TIME_OUT_OF_RANGE, NULL},
    {"r,2013-11-28,253402300800000,a,1", NULL, REJECT_TIME_OUT_OF_RANGE, NULL},
    {"r,2013-11-28,99999999999999999999999999,a,1", NULL, REJECT_TIME_OUT_OF_RANGE, NULL},
    {"r,2013-11-28,2013-11-28T16:00:00,a,1", NULL, REJECT_BAD_TIME, "2013-11-28T16:00:00"},
    {"r,2013-11-28,,a,1", NULL, REJECT_BAD_TIME, ""},
    {"r,2013-11-28,138565440012x,a,1", NULL, REJECT_BAD_TIME, NULL},
    {"r,2013-11-28,1385654400123,a,", NULL, REJECT_BAD_AMOUNT, ""},
    {"r,2013-11-28,1385654400123,a,1e400", NULL, REJECT_BAD_AMOUNT, "1e400"},
    {"r,2013-11-28,1385654400123,a,NaN", NULL, REJECT_BAD_AMOUNT, "NaN"},
    {"r,2013-11-28,1385654400123,a,-0.01", NULL, REJECT_BAD_AMOUNT, "-0.01"},
    {"r,2013-11-28,1385654400123,a,+1", NULL, REJECT_BAD_AMOUNT, NULL},
    {"r,2013-11-28,1385654400123,a,1.", NULL, REJECT_BAD_AMOUNT, NULL},
    {"r,2013-11-28,1385654400123,a,.5", NULL, REJECT_BAD_AMOUNT, NULL},
    {"r,2013-11-28,1385654400123,a,1.2.3", NULL, REJECT_BAD_AMOUNT, NULL},
    {"r,2013-11-28,1385654400123,a,\"12,3\"", NULL, REJECT_BAD_AMOUNT, "12,3"},
    {"r,2013-11-28,1385654400123,a,1234567890123456789", NULL, REJECT_BAD_AMOUNT, NULL},
    {"r,2013-11-28,1385654400123,a,0.0000000000000000001", NULL, REJECT_BAD_AMOUNT, NULL},
};

Test(line_parser, each_line_is_a_row_or_a_reject_with_its_reason)
{
    for (size_t i = 0; i < sizeof line_cases / sizeof line_cases[0]; i++) {
        const struct line_case *expected = &line_cases[i];
        struct fixture fixture;
        struct buffer text = {0};

        fixture_init(&fixture);
        buffer_append_text(&text, expected->line);
        buffer_put_u8(&text, '\n');
        cr_expect(parse(&fixture, buffer_view(&text)) == text.size, "%s", expected->line);
        row_builder_finish(fixture.builder);
        if (expected->row != NULL) {
            buffer_clear(&text);
            cr_assert(fixture.builder->block->rows == 1, "%s", expected->line);
            row_text(fixture.builder, 0, &text);
            cr_expect(bytes_equal(buffer_view(&text), bytes_text(expected->row)), "%.*s",
                      (int)text.size, (const char *)text.data);
        } else {
            const struct reject *reject = fixture.builder->rejects.items;
            struct bytes line = bytes_text(expected->line);

            cr_assert(fixture.builder->rejects.count == 1, "%s", expected->line);
            cr_expect(reject->code == expected->code, "%s: %s", expected->line,
                      reject_name(reject->code));
            cr_expect(expected->text == NULL ||
                          bytes_equal(reject_text(&fixture.builder->rejects, reject),
                                      bytes_text(expected->text)),
                      "%s", expected->line);
            line.size -= line.size > 0 && line.data[line.size - 1] == '\r';
            cr_expect(bytes_equal(reject_content(&fixture.builder->rejects, reject), line));
            cr_expect(fixture.builder->block->rows == 0);
            cr_expect(fixture.builder->block->partitions.count == 0, "%s", expected->line);
            cr_expect(block_column_at(fixture.builder->block, 4)->dictionary.count == 0);
        }
        buffer_release(&text);
        fixture_release(&fixture);
    }
}

static void repeat(struct buffer *text, char byte, size_t count)
{
    buffer_reserve(text, count);
    memset(text->data + text->size, byte, count);
    text->size += count;
}

Test(line_parser, ids_are_taken_up_to_4096_bytes_and_refused_beyond)
{
    static const struct {
        size_t size;
        bool is_row;
    } cases[] = {
        {4095, true}, {4096, true}, {4097, false}, {65536, false}, {1 << 20, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture fixture;
        struct buffer text = {0};

        fixture_init(&fixture);
        repeat(&text, 'i', cases[i].size);
        buffer_append_text(&text, ",2013-11-28,1385654400123,a,1\n");
        cr_expect(parse(&fixture, buffer_view(&text)) == text.size);
        cr_expect(fixture.builder->block->rows == cases[i].is_row);
        cr_expect(cases[i].is_row ||
                  fixture.builder->rejects.items[0].code ==
                      (cases[i].size < 1 << 20 ? REJECT_ID_TOO_LONG : REJECT_LINE_TOO_LONG));
        cr_expect(cases[i].is_row ||
                  fixture.builder->rejects.items[0].content_size == REJECT_CONTENT_MAX);
        buffer_release(&text);
        fixture_release(&fixture);
    }
}

Test(line_parser, control_lines_and_lines_without_an_end_are_left_to_the_caller)
{
    struct fixture fixture;

    fixture_init(&fixture);
    cr_expect(parse(&fixture, bytes_text("#sync\n")) == 0);
    cr_expect(parse(&fixture, bytes_text("r,,1,a,1\nr,,2,a,1\n#sync\nr,,3,a,1\n")) == 18);
    cr_expect(parse(&fixture, bytes_text("r,,4,a,1\nr,,5,a,")) == 9);
    cr_expect(fixture.parser.line == 4);
    cr_expect(fixture.builder->block->rows == 3);
    fixture_release(&fixture);
}

struct header_case {
    const char *header;
    const char *error; /* NULL: right */
};

static const struct header_case header_cases[] = {
    {"reseller_id,day,time,ad_id,amount", NULL},
    {"amount,ad_id,time,day,reseller_id\r", NULL},
    {"time,ad_id,amount,reseller_id", NULL},
    {"\"time\",\"ad_id\",\"amount\",\"reseller_id\"", NULL},
    {"time,ad_id,amount", "missing_column \"reseller_id\""},
    {"reseller_id,day,time,ad_id,amount,country", "unknown_column \"country\""},
    {"reseller_id,day,time,ad_id,amount,", "unknown_column \"\""},
    {"time,\"\",ad_id", "unknown_column \"\""},
    {"time,ad_id,time,amount", "duplicate_column \"time\""},
    {"time,\"ad_id", "bad_quote \"time,\\\"ad_id\""},
};

Test(line_parser, a_header_orders_the_columns_or_is_refused)
{
    for (size_t i = 0; i < sizeof header_cases / sizeof header_cases[0]; i++) {
        struct fixture fixture;
        struct bytes header = bytes_text(header_cases[i].header);
        struct error err = {0};
        int rc;

        fixture_init(&fixture);
        cr_expect(line_parser_is_header(header, &clicks_line_columns));
        rc = line_parser_header(&fixture.parser, header, &clicks_line_columns, &err);
        if (header_cases[i].error == NULL)
            cr_expect(rc == 0, "%s", err.text);
        else
            cr_expect(rc == ERROR_INVALID && strcmp(err.text, header_cases[i].error) == 0, "%s",
                      err.text);
        fixture_release(&fixture);
    }
    cr_expect(!line_parser_is_header(bytes_text("r1,day,time,ad_id,amount"), &clicks_line_columns));
    cr_expect(!line_parser_is_header(bytes_text(""), &clicks_line_columns));
    cr_expect(!line_parser_is_header(bytes_text("\"time"), &clicks_line_columns));
}

Test(line_parser, a_header_in_another_order_without_a_day_reads_the_same_clicks)
{
    struct fixture fixture;
    struct buffer text = {0};

    fixture_init(&fixture);
    cr_assert(line_parser_header(&fixture.parser, bytes_text("amount,ad_id,time,reseller_id"),
                                 &clicks_line_columns, NULL) == 0);
    parse(&fixture, bytes_text("0.25,a1,1385654400123,r\n0.50,\"a2\",1385654400124,r\r\n"));
    row_builder_finish(fixture.builder);
    cr_assert(fixture.builder->block->rows == 2);
    row_text(fixture.builder, 1, &text);
    cr_expect(
        bytes_equal(buffer_view(&text), bytes_text("r|2013-11-28|1385654400124|a2|50e-2|derived")));
    buffer_release(&text);
    fixture_release(&fixture);
}

/* xorshift64*: the same lines in every run. */
static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void random_field(struct buffer *text, uint64_t *state, int field)
{
    static const char *const odd[] = {"",
                                      "\"\"",
                                      "\"a\"",
                                      "\"a,b\"",
                                      "\"a\"\"b\"",
                                      "\"\"\"a\"\"\"",
                                      "a\"b",
                                      "\"",
                                      "#",
                                      "\xFF",
                                      "\xC3\xA9",
                                      "a b",
                                      "\x01",
                                      "2013-11-28",
                                      "1e5",
                                      "0.10",
                                      "1385654400123",
                                      "138565440012",
                                      "1385654400123456",
                                      "\r",
                                      "2013-11-28T00:00:00Z",
                                      "12345678901234567890",
                                      "-1",
                                      "1.",
                                      "an-id-of-exactly",
                                      "an-id-of-more-than-sixteen-bytes"};
    uint64_t random = random_next(state);

    if (random % 16 == 0) {
        buffer_append_text(text, odd[random / 16 % (sizeof odd / sizeof odd[0])]);
        return;
    }
    random /= 16;
    switch (field) {
    case 0:
        buffer_printf(text, "reseller%d", (int)(random % 7));
        break;
    case 1:
        buffer_printf(text, "2013-11-%02d", (int)(random % 5 + 26));
        break;
    case 2:
        buffer_printf(text, "%lld", 1385654400123 + (long long)(random % 172800000));
        break;
    case 3:
        buffer_printf(text, "ad%d", (int)(random % 50));
        break;
    default:
        buffer_printf(text, "%d.%02d", (int)(random % 100), (int)(random / 100 % 100));
    }
}

static void random_lines(struct buffer *text, uint64_t *state, int lines)
{
    for (int i = 0; i < lines; i++) {
        uint64_t random = random_next(state);
        int fields = random % 32 == 0 ? (int)(random / 32 % 8) : RECORD_FIELDS;

        for (int field = 0; field < fields; field++) {
            if (field > 0)
                buffer_put_u8(text, ',');
            if (field != 1 || random / 256 % 4 != 0)
                random_field(text, state, field);
        }
        buffer_append_text(text, random / 1024 % 4 == 0 ? "\r\n" : "\n");
    }
}

static void expect_equal(struct fixture *a, struct fixture *b)
{
    struct buffer first = {0};
    struct buffer second = {0};

    row_builder_finish(a->builder);
    row_builder_finish(b->builder);
    block_serialize(a->builder->block, &first);
    block_serialize(b->builder->block, &second);
    cr_assert(bytes_equal(buffer_view(&first), buffer_view(&second)));
    cr_assert(a->builder->rejects.count == b->builder->rejects.count);
    for (uint32_t i = 0; i < a->builder->rejects.count; i++) {
        cr_assert(a->builder->rejects.items[i].line == b->builder->rejects.items[i].line);
        cr_assert(a->builder->rejects.items[i].code == b->builder->rejects.items[i].code);
    }
    cr_assert(bytes_equal(buffer_view(&a->builder->rejects.bytes),
                          buffer_view(&b->builder->rejects.bytes)));
    buffer_release(&first);
    buffer_release(&second);
}

Test(line_parser, the_plain_way_gives_what_the_full_way_gives, .timeout = 60)
{
    uint64_t state = 20131128;
    struct fixture plain;
    struct fixture full;

    fixture_init(&plain);
    fixture_init(&full);
    full.parser.is_exact = true;
    for (int round = 0; round < 60; round++) {
        struct buffer text = {0};
        size_t taken = 0;

        random_lines(&text, &state, 1500);
        plain.parser.line = full.parser.line = 1;
        plain.parser.index = round % 2 == 0 ? delimiter_index_best() : delimiter_index_portable;
        /* A line that begins with '#' is left out of both. */
        while (taken < text.size) {
            size_t a = parse(&plain, bytes_of(text.data + taken, text.size - taken));
            size_t b = parse(&full, bytes_of(text.data + taken, text.size - taken));

            cr_assert(a == b);
            taken += a;
            while (taken < text.size && text.data[taken++] != '\n')
                ;
        }
        cr_assert(plain.builder->block->rows > 500 && plain.builder->rejects.count > 100);
        expect_equal(&plain, &full);
        row_builder_clear(plain.builder);
        row_builder_clear(full.builder);
        buffer_release(&text);
    }
    fixture_release(&plain);
    fixture_release(&full);
}

/* Lines that both ways take whole. */
static void expect_one_result(struct bytes text)
{
    struct fixture plain;
    struct fixture full;

    fixture_init(&plain);
    fixture_init(&full);
    full.parser.is_exact = true;
    cr_assert(parse(&plain, text) == text.size);
    cr_assert(parse(&full, text) == text.size);
    expect_equal(&plain, &full);
    fixture_release(&plain);
    fixture_release(&full);
}

/* Without a day, a click with an id has as many fields as one with a day and without an id. */
Test(line_parser, a_click_keeps_its_id_where_the_header_leaves_out_the_day)
{
    static const struct {
        const char *header, *text;
    } cases[] = {
        {"reseller_id,time,ad_id,amount,click_id",
         "r,1385654400123,a,1,17\nr,1385654400124,a,1,x\nr,1385654400125,a,1,18\n"},
        {"click_id,amount,ad_id,time,reseller_id",
         "17,1,a,1385654400123,r\nx,1,a,1385654400124,r\n18,1,a,1385654400125,r\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct bytes text = bytes_text(cases[i].text);
        struct fixture fixture;

        fixture_init_with_ids(&fixture, cases[i].header);
        cr_assert_eq(parse(&fixture, text), text.size);
        const struct block *block = fixture.builder->block;
        const struct block_column *id = fixture.builder->click_id;
        cr_assert_eq(block->rows, 2);
        cr_assert_eq(id->dictionary.count, 2, "%u ids", id->dictionary.count);
        for (uint32_t row = 0; row < 2; row++) {
            struct bytes value = block_dictionary_get(&id->dictionary, id->codes[row]);

            cr_expect_eq(type_value_bigint(value), 17 + row);
            cr_expect_eq(fixture.builder->line->integers[row], 1 + 2 * row);
            cr_expect_eq(fixture.builder->content->codes[row], row);
        }
        cr_assert_eq(fixture.builder->rejects.count, 1);
        cr_expect_eq(fixture.builder->rejects.items[0].code, REJECT_BAD_CLICK_ID);
        fixture_release(&fixture);
    }
}

/* A LINES frame can count a field that it names for no column. */
Test(line_parser, a_field_of_no_column_is_checked_for_quotes_too)
{
    struct fixture fixture;

    fixture_init(&fixture);
    fixture.parser.order = (struct line_order){
        .line_field = {0, LINE_FIELD_NONE, 1, 2, 3, LINE_FIELD_NONE},
        .field_count = 5,
    };
    parse(&fixture, bytes_text("r,1385654400123,a,1,x\nr,1385654400123,a,1,x\"y\n"));
    cr_expect_eq(fixture.builder->block->rows, 1);
    cr_assert_eq(fixture.builder->rejects.count, 1);
    cr_expect_eq(fixture.builder->rejects.items[0].code, REJECT_BAD_QUOTE);
    fixture_release(&fixture);
}

/* An id with a quote is in the dictionary; the same bytes in a line are another id, or none. */
Test(line_parser, an_id_with_a_quote_is_read_as_csv_each_time)
{
    static const char *const cases[][3] = {
        {"\"a\"\"b\"", "a\"b", NULL},
        {"\"an id of many bytes\"\"\"", "an id of many bytes\"", NULL},
        {"\"\"\"x\"\"\"", "\"x\"", "x"},
        {"\"\"\"an id of many bytes\"\"\"", "\"an id of many bytes\"", "an id of many bytes"},
    };

    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        const char *const *ids = cases[i / 2];
        bool is_ad = i % 2 != 0;
        struct buffer text = {0};
        struct fixture fixture;

        fixture_init(&fixture);
        for (int j = 0; j < 4; j++)
            buffer_printf(&text, "%s,2013-11-28,1385654400123,%s,1\n", is_ad ? "r" : ids[j / 2],
                          is_ad ? ids[j / 2] : "a");
        parse(&fixture, buffer_view(&text));
        row_builder_finish(fixture.builder);
        cr_expect_eq(fixture.builder->block->rows, ids[2] == NULL ? 2 : 4, "%s", ids[1]);
        cr_expect_eq(fixture.builder->rejects.count, ids[2] == NULL ? 2 : 0, "%s", ids[1]);
        for (uint32_t row = 0; row < fixture.builder->block->rows; row++) {
            const char *id = ids[1 + row / 2] == NULL ? "" : ids[1 + row / 2];
            struct buffer expected = {0};

            buffer_clear(&text);
            row_text(fixture.builder, row, &text);
            buffer_printf(&expected, "%s|2013-11-28|1385654400123|%s|1e-0|-", is_ad ? "r" : id,
                          is_ad ? id : "a");
            cr_expect(bytes_equal(buffer_view(&text), buffer_view(&expected)), "%.*s",
                      (int)text.size, (const char *)text.data);
            buffer_release(&expected);
        }
        buffer_release(&text);
        fixture_release(&fixture);
    }
}

/* Neither after a click whose day was computed, nor as the day of a reseller's first click. */
Test(line_parser, a_day_of_zero_bytes_is_refused)
{
    static const char line[] = "r,\0\0\0\0\0\0\0\0\0\0,1385654400123,a,1\n";
    struct buffer text = {0};
    struct fixture fixture;

    fixture_init(&fixture);
    for (int i = 0; i < 2; i++) {
        buffer_append(&text, line, sizeof line - 1);
        buffer_append_text(&text, "r,,1385654400123,a,1\n");
    }
    parse(&fixture, buffer_view(&text));
    cr_expect_eq(fixture.builder->block->rows, 2);
    cr_assert_eq(fixture.builder->rejects.count, 2);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(fixture.builder->rejects.items[i].code, REJECT_BAD_DAY);
    buffer_release(&text);
    fixture_release(&fixture);
}

/* Every amount of up to five of these characters, alone and behind so many digits that the point
 * stands at each place of a word, and beyond one. */
Test(line_parser, amounts_of_any_shape_give_what_the_full_way_gives, .timeout = 60)
{
    static const char *const before[] = {"", "9", "90", "907", "1234567", "12345678", "123456789"};
    static const char characters[] = "07.-x";
    struct buffer text = {0};

    for (size_t b = 0; b < sizeof before / sizeof before[0]; b++) {
        for (unsigned size = 0, count = 1; size <= 5; size++, count *= 5) {
            for (unsigned number = 0; number < count; number++) {
                buffer_printf(&text, "r1,2013-11-28,1385654400123,ad1,%s", before[b]);
                for (unsigned i = 0, rest = number; i < size; i++, rest /= 5)
                    buffer_put_u8(&text, (uint8_t)characters[rest % 5]);
                buffer_put_u8(&text, '\n');
            }
        }
    }
    expect_one_result(buffer_view(&text));
    buffer_release(&text);
}

/* Every byte at every place of ids of every size up to and past what two words hold. */
Test(line_parser, ids_with_any_byte_anywhere_give_what_the_full_way_gives, .timeout = 60)
{
    struct buffer text = {0};

    for (unsigned size = 1; size <= 18; size++) {
        for (unsigned at = 0; at < size; at++) {
            for (unsigned byte = 0; byte < 256; byte++) {
                if (byte == '\n' || (byte == '#' && at == 0))
                    continue;
                for (unsigned i = 0; i < size; i++)
                    buffer_put_u8(&text, i == at ? (uint8_t)byte : (uint8_t)('a' + size));
                buffer_append_text(&text, ",2013-11-28,1385654400123,\xC3\xA9");
                for (unsigned i = 0; i < size; i++)
                    buffer_put_u8(&text, i == at ? (uint8_t)byte : (uint8_t)('A' + size));
                buffer_append_text(&text, ",1\n");
            }
        }
    }
    expect_one_result(buffer_view(&text));
    buffer_release(&text);
}

Test(line_parser, lines_cut_anywhere_and_flipped_in_any_bit_do_no_harm)
{
    static const char line[] = "r1,2013-11-28,1385654400123,\"a\"\"d\",0.005\r\n";
    uint8_t bytes[sizeof line];
    struct fixture fixture;

    fixture_init(&fixture);
    for (size_t size = 0; size < sizeof line; size++)
        parse(&fixture, bytes_of(line, size));
    for (size_t bit = 0; bit < 8 * (sizeof line - 1); bit++) {
        memcpy(bytes, line, sizeof line);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        parse(&fixture, bytes_of(bytes, sizeof line - 1));
    }
    row_builder_finish(fixture.builder);
    cr_expect(fixture.builder->block->rows > 0);
    fixture_release(&fixture);
}

Test(line_parser, one_line_is_parsed_without_its_end)
{
    struct fixture fixture;

    fixture_init(&fixture);
    line_parser_line(&fixture.parser, fixture.builder,
                     bytes_text("r1,2013-11-28,1385654400123,\"a,d\",0.5"));
    line_parser_line(&fixture.parser, fixture.builder,
                     bytes_text("\"r1,2013-11-28,1385654400123,ad,0.5"));
    cr_expect_eq(fixture.builder->block->rows, 1);
    cr_expect_eq(fixture.builder->rejects.count, 1, "an open quote is an error of its line");
    fixture_release(&fixture);
}

Test(line_parser, rejected_text_is_json_cut_at_64_bytes_between_characters)
{
    struct buffer text = {0};
    struct buffer json = {0};

    repeat(&text, 'x', 63);
    buffer_append_text(&text, "\xC3\xA9");
    reject_append_json(&json, buffer_view(&text));
    cr_expect(json.size == 63 + 2);
    buffer_clear(&json);
    reject_append_json(&json, bytes_text("a\"b\\\t\x01\xFFz\x7F"));
    cr_expect(bytes_equal(buffer_view(&json),
                          bytes_text("\"a\\\"b\\\\\\t\\u0001\xEF\xBF\xBDz\\u007f\"")));
    buffer_release(&text);
    buffer_release(&json);
}
