/* test_row_span: which slices a span of rows lets go by, and bytes that are none. */
#include "storage/segment/row_span.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct column_definition columns[] = {
    {1, "reseller", "text", COLUMN_PARTITION, false},
    {2, "day", "text", COLUMN_CLUSTERING, true},
    {3, "place", "text", COLUMN_CLUSTERING, false},
};

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct row_span span;
    struct buffer bytes;
};

static void setup(struct fixture *fixture)
{
    const struct table_definition definition = {.id = 900,
                                                .keyspace = "test",
                                                .name = "spans",
                                                .columns = columns,
                                                .column_count = sizeof columns / sizeof columns[0]};
    *fixture = (struct fixture){.schema = schema_new()};
    cr_assert_eq(schema_add_keyspace(fixture->schema, "test", NULL), 0);
    cr_assert_eq(schema_add_table(fixture->schema, &definition, NULL), 0);
    fixture->table = schema_table(fixture->schema, 900);
}

static void teardown(struct fixture *fixture)
{
    row_span_release(&fixture->span);
    buffer_release(&fixture->bytes);
    schema_unref(fixture->schema);
}

static struct clustering clustering_of(const char *day, const char *place)
{
    struct clustering clustering = {.count = place != NULL ? 2 : 1};
    clustering.values[0] = bytes_text(day);
    if (place != NULL)
        clustering.values[1] = bytes_text(place);
    return clustering;
}

static void add(struct fixture *fixture, const char *day, const char *place, bool is_first)
{
    const struct unfiltered item = {.kind = UNFILTERED_ROW,
                                    .row = {.clustering = clustering_of(day, place)}};
    row_span_add(&fixture->span, fixture->table, &item, is_first);
}

static void put(struct fixture *fixture)
{
    buffer_clear(&fixture->bytes);
    row_span_put(&fixture->span, &fixture->bytes);
}

/* Days descend: a slice begins with the later one. */
static bool meets(const struct fixture *fixture, const char *later, const char *earlier)
{
    const struct slice slice = {.start = {clustering_of(later, NULL), BOUND_BEFORE},
                                .end = {clustering_of(earlier, NULL), BOUND_AFTER}};
    return row_span_may_meet(buffer_view(&fixture->bytes), fixture->table, &slice);
}

/* Two partitions, of which neither has the least and the greatest row. */
static void add_days(struct fixture *fixture)
{
    add(fixture, "2026-08-07", "a", true);
    add(fixture, "2026-08-03", "b", false);
    add(fixture, "2026-08-09", "c", true);
    add(fixture, "2026-08-05", "d", false);
    put(fixture);
}

Test(row_span, is_met_by_slices_of_its_days_and_no_others)
{
    struct fixture fixture;
    setup(&fixture);
    add_days(&fixture);
    cr_assert(meets(&fixture, "2026-08-09", "2026-08-09"));
    cr_assert(meets(&fixture, "2026-08-03", "2026-08-03"));
    cr_assert(meets(&fixture, "2026-08-06", "2026-08-06"));
    cr_assert(meets(&fixture, "2026-08-20", "2026-08-01"));
    cr_assert_not(meets(&fixture, "2026-08-20", "2026-08-10"));
    cr_assert_not(meets(&fixture, "2026-08-02", "2026-07-01"));
    const struct slice all = stream_slice_all();
    cr_assert(row_span_may_meet(buffer_view(&fixture.bytes), fixture.table, &all));
    teardown(&fixture);
}

Test(row_span, tells_rows_of_one_day_apart_by_the_whole_clustering)
{
    struct fixture fixture;
    setup(&fixture);
    add_days(&fixture);
    struct slice slice = {.start = {clustering_of("2026-08-03", "b"), BOUND_BEFORE},
                          .end = {clustering_of("2026-08-03", "b"), BOUND_AFTER}};
    cr_assert(row_span_may_meet(buffer_view(&fixture.bytes), fixture.table, &slice));
    slice.start.side = BOUND_AFTER;
    slice.end = (struct bound){clustering_of("2026-08-03", "z"), BOUND_AFTER};
    cr_assert_not(row_span_may_meet(buffer_view(&fixture.bytes), fixture.table, &slice));
    teardown(&fixture);
}

/* What counts where no row is: a reader of any slice must see it. */
Test(row_span, is_none_beside_static_rows_bounds_and_deleted_partitions)
{
    const struct unfiltered open[] = {{.kind = UNFILTERED_ROW, .row = {.is_static = true}},
                                      {.kind = UNFILTERED_BOUND}};
    for (int way = 0; way < 3; way++) {
        struct fixture fixture;
        setup(&fixture);
        add(&fixture, "2026-08-07", "a", true);
        if (way < 2)
            row_span_add(&fixture.span, fixture.table, &open[way], true);
        else
            fixture.span.is_open = true;
        add(&fixture, "2026-08-08", "a", true);
        put(&fixture);
        cr_assert_eq(fixture.bytes.size, 0);
        cr_assert(meets(&fixture, "2020-01-01", "2020-01-01"));
        teardown(&fixture);
    }
}

Test(row_span, is_none_where_its_rows_have_too_long_names)
{
    struct fixture fixture;
    char place[ROW_SPAN_MAX + 1];
    memset(place, 'p', sizeof place);
    place[ROW_SPAN_MAX] = '\0';
    setup(&fixture);
    add(&fixture, "2026-08-07", place, true);
    put(&fixture);
    cr_assert_eq(fixture.bytes.size, 0);
    teardown(&fixture);
}

Test(row_span, the_example_of_the_format_is_written_byte_for_byte)
{
    static const struct column_definition day_columns[] = {
        {1, "reseller", "text", COLUMN_PARTITION, false},
        {2, "day", "text", COLUMN_CLUSTERING, true},
    };
    const struct table_definition definition = {
        .id = 901, .keyspace = "test", .name = "days", .columns = day_columns, .column_count = 2};
    struct fixture fixture;
    setup(&fixture);
    cr_assert_eq(schema_add_table(fixture.schema, &definition, NULL), 0);
    fixture.table = schema_table(fixture.schema, 901);
    add(&fixture, "2026-08-09", NULL, true);
    add(&fixture, "2026-08-03", NULL, false);
    put(&fixture);
    struct bytes expected = bytes_text("\1\1\n2026-08-09\1\n2026-08-03");
    cr_assert(bytes_equal(buffer_view(&fixture.bytes), expected));
    teardown(&fixture);
}

/* Nothing is left out on the word of bytes that were cut, go on, or are of a later format. */
Test(row_span, bytes_that_are_no_span_are_met_by_every_slice)
{
    struct fixture fixture;
    setup(&fixture);
    add_days(&fixture);
    size_t size = fixture.bytes.size;
    cr_assert_not(meets(&fixture, "2026-08-20", "2026-08-10"));
    for (fixture.bytes.size = 0; fixture.bytes.size < size; fixture.bytes.size++)
        cr_assert(meets(&fixture, "2026-08-20", "2026-08-10"), "%zu bytes", fixture.bytes.size);
    buffer_put_u8(&fixture.bytes, 0);
    cr_assert(meets(&fixture, "2026-08-20", "2026-08-10"));
    fixture.bytes.size = size;
    fixture.bytes.data[0] = 2;
    cr_assert(meets(&fixture, "2026-08-20", "2026-08-10"));
    teardown(&fixture);
}

Test(row_span, a_turned_bit_makes_another_span_or_none)
{
    struct fixture fixture;
    setup(&fixture);
    add_days(&fixture);
    const struct slice all = stream_slice_all();
    for (size_t bit = 0; bit < fixture.bytes.size * 8; bit++) {
        fixture.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert(row_span_may_meet(buffer_view(&fixture.bytes), fixture.table, &all));
        (void)meets(&fixture, "2026-08-20", "2026-08-10");
        fixture.bytes.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    teardown(&fixture);
}
