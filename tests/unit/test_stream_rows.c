/* A stream's records, from the choice of the stream to the rows that are to be applied. */
#include "ingest/parse/stream_rows.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/unit/clicks_fixture.h"

#define GOOD "r1,2013-11-28,1385654400123,ad42,0.005"

static struct schema *schema;

static const struct schema *store_has_schema(struct store *store)
{
    (void)store;
    return schema;
}

static const struct store_ops ops = {.schema = store_has_schema};
static struct store store = {.ops = &ops};

struct fixture {
    struct part_pool pool;
    struct stream_rows rows;
};

static void fixture_open(struct fixture *fixture)
{
    struct error err = {0};

    schema = schema_new();
    cr_assert(schema_add_keyspace(schema, "daybook", &err) == 0);
    cr_assert(schema_add_table(schema, &clicks_definition, &err) == 0, "%s", err.text);
    part_pool_open(&fixture->pool, &store, NULL, 42);
    stream_rows_open(&fixture->rows, &fixture->pool);
    cr_assert(stream_rows_choose(&fixture->rows, &clicks_stream));
}

static void fixture_close(struct fixture *fixture)
{
    stream_rows_release(&fixture->rows);
    part_pool_close(&fixture->pool);
    schema_unref(schema);
}

static void add_line(struct fixture *fixture, const char *line)
{
    struct error err = {0};

    cr_assert_eq(stream_rows_prepare(&fixture->rows, &err), 0, "%s", err.text);
    line_parser_line(&fixture->rows.parser, fixture->rows.builder, bytes_text(line));
}

Test(stream_rows, a_stream_without_its_table_is_refused)
{
    struct fixture fixture;
    struct ingest_stream other = clicks_stream;

    fixture_open(&fixture);
    other.table_id = CLICKS_TABLE + 1;
    cr_expect_not(stream_rows_choose(&fixture.rows, &other));
    cr_expect(part_pool_take(&fixture.pool, &other) == NULL);
    fixture_close(&fixture);
}

Test(stream_rows, another_choice_begins_anew)
{
    struct fixture fixture;
    uint64_t settings;

    fixture_open(&fixture);
    cr_expect(bytes_equal(fixture.rows.columns.names[FIELD_AD], bytes_text("ad_id")));
    add_line(&fixture, GOOD);
    fixture.rows.format = RECORDS_CSV;
    fixture.rows.is_first = false;
    settings = fixture.rows.settings;
    cr_assert(stream_rows_choose(&fixture.rows, &clicks_stream));
    cr_expect(fixture.rows.builder == NULL);
    cr_expect_eq(fixture.rows.format, RECORDS_UNKNOWN);
    cr_expect(fixture.rows.is_first);
    cr_expect_neq(fixture.rows.settings, settings);
    fixture_close(&fixture);
}

/* With sanitizers this test fails if the names belong to the schema that was freed. */
Test(stream_rows, the_names_of_columns_stay_when_the_schema_is_replaced)
{
    struct fixture fixture;
    struct schema *older;
    struct error err = {0};

    fixture_open(&fixture);
    older = schema;
    schema = schema_copy(older);
    schema_unref(older);
    cr_expect(bytes_equal(fixture.rows.columns.names[FIELD_AMOUNT], bytes_text("amount")));
    cr_expect(line_parser_is_header(bytes_text("day,time"), &fixture.rows.columns));
    cr_assert_eq(line_parser_header(&fixture.rows.parser,
                                    bytes_text("amount,time,ad_id,reseller_id"),
                                    &fixture.rows.columns, &err),
                 0, "%s", err.text);
    fixture_close(&fixture);
}

Test(stream_rows, a_stream_whose_click_id_is_no_column_is_refused)
{
    struct fixture fixture;
    struct ingest_stream other = clicks_stream;

    fixture_open(&fixture);
    other.click_id_column_id = 99;
    cr_expect_not(stream_rows_choose(&fixture.rows, &other));
    fixture_close(&fixture);
}

Test(stream_rows, rows_are_idle_when_they_are_cleared_and_a_builder_comes_again)
{
    struct fixture fixture;

    fixture_open(&fixture);
    cr_expect_not(stream_rows_is_idle(&fixture.rows), "there is no builder yet");
    add_line(&fixture, GOOD);
    cr_expect_not(stream_rows_is_idle(&fixture.rows));
    stream_rows_clear(&fixture.rows);
    cr_expect(stream_rows_is_idle(&fixture.rows));
    stream_rows_spare(&fixture.rows);
    cr_expect_eq(stream_rows_bytes(&fixture.rows), 0);
    add_line(&fixture, GOOD);
    cr_expect_eq(stream_rows_accepted(&fixture.rows), 1);
    fixture_close(&fixture);
}

Test(stream_rows, parts_keep_the_order_of_their_lines_and_go_back_to_the_pool)
{
    struct fixture fixture;
    struct row_part *part;
    const struct reject_list *rejects;

    fixture_open(&fixture);
    add_line(&fixture, "first,is,bad");
    part = part_pool_take(&fixture.pool, &clicks_stream);
    cr_assert(part != NULL);
    reject_list_add(&part->rejects, 2, REJECT_EMPTY_LINE, bytes_text(""), bytes_text(""));
    stream_rows_append(&fixture.rows, part);
    add_line(&fixture, GOOD);
    add_line(&fixture, "last,is,bad");
    rejects = stream_rows_finish(&fixture.rows);
    cr_assert_eq(rejects->count, 3);
    cr_expect_eq(rejects->items[1].code, REJECT_EMPTY_LINE);
    cr_expect(bytes_equal(reject_content(rejects, &rejects->items[2]), bytes_text("last,is,bad")));
    cr_expect_eq(stream_rows_accepted(&fixture.rows), 1);
    stream_rows_clear(&fixture.rows);
    cr_expect_eq(fixture.pool.count, 2);
    fixture_close(&fixture);
}
