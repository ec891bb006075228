/* test_streams: streams over tables of users' own: defined, rolled up, truncated, after crashes. */
#include <criterion/criterion.h>
#include <errno.h>

#include "rollup/streams/stream_definition.h"
#include "base/memory.h"
#include "tests/lib/rollup_fixture.h"

static const struct stream_definition hotel = {
    .name = "hotel",
    .texts = {"hotel.nights", "agent", "night", "booked", "room", "price", "hotel.commission",
              "agent", "since", "share", "", "", "", "", ""}};

static const struct column_definition night_columns[] = {
    {1, "agent", "text", COLUMN_PARTITION, false},
    {2, "night", "text", COLUMN_PARTITION, false},
    {3, "room", "text", COLUMN_CLUSTERING, false},
    {4, "booked", "timestamp", COLUMN_REGULAR, false},
    {5, "price", "float", COLUMN_REGULAR, false},
};

static const struct column_definition commission_columns[] = {
    {1, "agent", "text", COLUMN_PARTITION, false},
    {2, "since", "text", COLUMN_CLUSTERING, false},
    {3, "share", "double", COLUMN_REGULAR, false},
};

enum { NIGHTS = 1000, COMMISSION = 1001, NOVEMBER_1 = 16010 }; /* a day of 2013 */

static void must(int rc, const struct error *err)
{
    cr_assert_eq(rc, 0, "%s", err->text);
}

typedef int (*schema_edit)(struct schema *schema, struct write_batch *batch, struct error *err);

/* A change of the schema, and what goes into its frame, by the holder of `lock` (may be NULL). */
static void change_schema_locked(struct rollup_fixture *fixture, schema_edit edit,
                                 const struct store_write_lock *lock)
{
    struct schema *schema = schema_copy(store_schema(fixture->store));
    struct write_batch *batch = write_batch_new();
    struct error err = {0};
    must(edit(schema, batch, &err), &err);
    batch->schema = schema;
    batch->write_lock = lock;
    must(rollup_fixture_apply(fixture, batch), &err);
    write_batch_free(batch);
    schema_unref(schema);
}

static void change_schema(struct rollup_fixture *fixture, schema_edit edit)
{
    change_schema_locked(fixture, edit, NULL);
}

static int add_tables(struct schema *schema, struct write_batch *batch, struct error *err)
{
    const struct table_definition nights = {0, "hotel", "nights", "", 0, night_columns, 5};
    const struct table_definition commission = {0, "hotel", "commission", "", 0, commission_columns,
                                                3};
    (void)batch;
    int rc = schema_add_keyspace(schema, "hotel", err);
    rc = rc == 0 ? schema_add_table(schema, &nights, err) : rc;
    return rc == 0 ? schema_add_table(schema, &commission, err) : rc;
}

static int define_hotel(struct schema *schema, struct write_batch *batch, struct error *err)
{
    return stream_definition_make(&hotel, schema, batch, err);
}

static int truncate_nights(struct schema *schema, struct write_batch *batch, struct error *err)
{
    (void)batch;
    return schema_truncate_table(schema, schema_table_named(schema, "hotel", "nights")->id, err);
}

static struct bytes float_of(struct write_batch *batch, float number)
{
    uint32_t bits;
    struct buffer value = {0};
    memcpy(&bits, &number, sizeof(bits));
    buffer_put_u32_be(&value, bits);
    struct bytes copy = arena_copy(batch->arena, buffer_view(&value));
    buffer_release(&value);
    return copy;
}

static void stay(struct rollup_fixture *fixture, const char *night, const char *room, float price)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table_named(store_schema(fixture->store), "hotel", "nights");
    struct error err = {0};
    const struct column_value values[] = {{1, false, bytes_text("globe")},
                                          {2, false, bytes_text(night)},
                                          {3, false, bytes_text(room)},
                                          {5, false, float_of(batch, price)}};
    write_batch_insert(batch, table, values, 4);
    must(rollup_fixture_apply(fixture, batch), &err);
    write_batch_free(batch);
}

static void share(struct rollup_fixture *fixture, const char *since, double number)
{
    struct write_batch *batch = write_batch_new();
    struct buffer value = {0};
    struct error err = {0};
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    buffer_put_u64_be(&value, bits);
    const struct column_value values[] = {
        {1, false, bytes_text("globe")},
        {2, false, bytes_text(since)},
        {3, false, arena_copy(batch->arena, buffer_view(&value))}};
    write_batch_insert(batch, schema_table(store_schema(fixture->store), COMMISSION), values, 3);
    must(rollup_fixture_apply(fixture, batch), &err);
    buffer_release(&value);
    write_batch_free(batch);
}

struct waiting {
    bool done;
    int status;
};

static void set_done(void *context, int status, const struct error *err)
{
    struct waiting *waiting = context;
    (void)err;
    waiting->done = true;
    waiting->status = status;
}

/* What a stream's report says after all is worked off: the fixture looks at that stream. */
static void expect_hotel(struct rollup_fixture *fixture, const char *expected)
{
    struct rollup *clicks = fixture->rollup;
    fixture->rollup = streams_find(fixture->streams, "hotel");
    cr_assert_not_null(fixture->rollup);
    cr_assert_eq(rollup_fixture_refresh_now(fixture, false), 0);
    rollup_fixture_expect_figures(fixture, expected);
    fixture->rollup = clicks;
}

static void open_hotel(struct rollup_fixture *fixture)
{
    struct waiting opened = {0};
    struct waiting marked = {0};
    struct error err = {0};
    must(streams_add(fixture->streams, &hotel, set_done, &opened, &err), &err);
    rollup_fixture_step_until(fixture, &opened.done);
    streams_take_rows(fixture->streams, "hotel", set_done, &marked);
    rollup_fixture_step_until(fixture, &marked.done);
    cr_assert_eq(opened.status + marked.status, 0);
}

Test(streams, rows_of_before_are_rolled_up_and_a_float_is_the_decimal_that_was_written)
{
    struct rollup_fixture fixture = {.seed = 1};
    rollup_fixture_start(&fixture);
    change_schema(&fixture, add_tables);
    share(&fixture, "2013-01-01", 0.1);
    for (int i = 0; i < 3; i++)
        stay(&fixture, "2013-11-28", (const char *[]){"a", "b", "c"}[i], 0.1F);
    change_schema(&fixture, define_hotel);
    open_hotel(&fixture);
    expect_hotel(&fixture, "globe 2013-11-28 3 0.3 0.1 0.03 open\n");
    stay(&fixture, "2013-11-28", "c", 7.25F);
    stay(&fixture, "2013-11-29", "c", 1e9F);
    expect_hotel(&fixture, "globe 2013-11-29 1 1000000000 0.1 100000000.0 open\n"
                           "globe 2013-11-28 3 7.45 0.1 0.745 open\n");
    share(&fixture, "2013-11-29", 0.5);
    expect_hotel(&fixture, "globe 2013-11-29 1 1000000000 0.5 500000000.0 open\n"
                           "globe 2013-11-28 3 7.45 0.1 0.745 open\n");
    rollup_fixture_restart(&fixture);
    expect_hotel(&fixture, "globe 2013-11-29 1 1000000000 0.5 500000000.0 open\n"
                           "globe 2013-11-28 3 7.45 0.1 0.745 open\n");
    rollup_fixture_expect_figures(&fixture, "");
    rollup_fixture_stop(&fixture);
}

Test(streams, a_crash_right_after_the_definition_loses_no_row_of_before)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        struct rollup_fixture fixture = {.seed = seed};
        rollup_fixture_start(&fixture);
        change_schema(&fixture, add_tables);
        for (int32_t day = 0; day < 20; day++) {
            char text[DAY_TEXT_SIZE + 1];
            calendar_day_format(NOVEMBER_1 + day, text);
            stay(&fixture, text, "a", 0.5F);
        }
        change_schema(&fixture, define_hotel);
        rollup_fixture_crash(&fixture, seed);
        struct figure_query query = {.day_from = DAY_MIN, .day_to = DAY_MAX};
        fixture.rollup = streams_find(fixture.streams, "hotel");
        cr_assert_not_null(fixture.rollup);
        cr_assert_eq(rollup_fixture_refresh_now(&fixture, false), 0);
        struct buffer found = rollup_fixture_asked(&fixture, &query);
        uint32_t lines = 0;
        for (size_t i = 0; i < found.size; i++)
            lines += found.data[i] == '\n';
        cr_assert_eq(lines, 20, "seed %d: %s", (int)seed, (const char *)found.data);
        buffer_release(&found);
        rollup_fixture_stop(&fixture);
    }
}

Test(streams, truncated_rows_are_in_no_figure_not_even_after_a_crash)
{
    for (int crashes = 0; crashes < 2; crashes++) {
        struct rollup_fixture fixture = {.seed = 3};
        rollup_fixture_start(&fixture);
        change_schema(&fixture, add_tables);
        change_schema(&fixture, define_hotel);
        open_hotel(&fixture);
        stay(&fixture, "2013-11-28", "a", 0.5F);
        stay(&fixture, "2013-11-29", "a", 0.5F);
        expect_hotel(&fixture, "globe 2013-11-29 1 0.5 - - open\n"
                               "globe 2013-11-28 1 0.5 - - open\n");
        change_schema(&fixture, truncate_nights);
        if (crashes != 0)
            rollup_fixture_crash(&fixture, 7);
        stay(&fixture, "2013-11-29", "b", 0.25F);
        rollup_fixture_advance(&fixture, 2);
        expect_hotel(&fixture, "globe 2013-11-29 1 0.25 - - open\n");
        rollup_fixture_stop(&fixture);
    }
}

/* Whether the hidden table says that rows of the stream are not marked yet. */
static bool has_unmarked(struct rollup_fixture *fixture)
{
    struct engine_fixture engine = {.world = fixture->world, .store = fixture->store};
    struct buffer rows =
        engine_fixture_rows(&engine, TABLE_DEFINED_STREAM, (struct bytes){0}, 10, false);
    bool has = strstr((const char *)rows.data, "|0x63") != NULL;
    buffer_release(&rows);
    return has;
}

/* At whatever moment of the marking the TRUNCATE comes, all days are marked after it. */
Test(streams, a_truncate_during_the_marking_begins_it_again)
{
    for (uint64_t steps = 0; steps < 16; steps++) {
        struct rollup_fixture fixture = {.seed = 3};
        struct waiting opened = {0}, marked = {0};
        struct error err = {0};
        rollup_fixture_start(&fixture);
        change_schema(&fixture, add_tables);
        stay(&fixture, "2013-11-28", "a", 0.5F);
        change_schema(&fixture, define_hotel);
        must(streams_add(fixture.streams, &hotel, set_done, &opened, &err), &err);
        rollup_fixture_step_until(&fixture, &opened.done);
        streams_take_rows(fixture.streams, "hotel", set_done, &marked);
        for (uint64_t i = 0; i < steps && !marked.done; i++)
            fixture.world->executor->step(fixture.world->executor);
        change_schema(&fixture, truncate_nights);
        rollup_fixture_step_until(&fixture, &marked.done);
        rollup_fixture_advance(&fixture, 2);
        cr_expect_not(has_unmarked(&fixture), "%d steps", (int)steps);
        expect_hotel(&fixture, "");
        rollup_fixture_stop(&fixture);
    }
}

static void publish_hotel(struct rollup_fixture *fixture)
{
    struct waiting settled = {0};
    rollup_refresh_now(streams_find(fixture->streams, "hotel"), true, set_done, &settled);
    rollup_fixture_step_until(fixture, &settled.done);
    cr_assert_eq(settled.status, 0);
}

static void lock_granted(void *context)
{
    (void)context;
}

/* A page waits for room while the table is truncated again: what it had to mark is marked after
 * the crash, too. */
Test(streams, a_page_that_a_truncate_overtakes_loses_no_mark)
{
    for (uint64_t steps = 0; steps < 16; steps++) {
        struct rollup_fixture fixture = {.seed = 3};
        struct store_write_lock lock = {.granted = lock_granted};
        rollup_fixture_start(&fixture);
        change_schema(&fixture, add_tables);
        change_schema(&fixture, define_hotel);
        open_hotel(&fixture);
        share(&fixture, "2013-01-01", 0.5);
        stay(&fixture, "2013-11-28", "a", 0.5F);
        publish_hotel(&fixture);
        expect_hotel(&fixture, "globe 2013-11-28 1 0.5 0.5 0.25 published\n");
        change_schema(&fixture, truncate_nights);
        for (uint64_t i = 0; i < steps; i++)
            fixture.world->executor->step(fixture.world->executor);
        store_write_lock(fixture.store, &lock);
        rollup_fixture_advance(&fixture, 1);
        change_schema_locked(&fixture, truncate_nights, &lock);
        store_write_unlock(fixture.store, &lock);
        rollup_fixture_advance(&fixture, 2);
        cr_expect_not(has_unmarked(&fixture), "%d steps", (int)steps);
        rollup_fixture_crash(&fixture, steps + 1);
        expect_hotel(&fixture, "globe 2013-11-28 0 0 0.5 0.0 published\n");
        rollup_fixture_stop(&fixture);
    }
}

/* A server that cannot read a page tells who waits, and reads it again later; a pause holds up no
 * closing. */
Test(streams, a_page_that_cannot_be_read_is_marked_later)
{
    for (int closes = 0; closes < 2; closes++) {
        struct rollup_fixture fixture = {.seed = 3, .is_automatic = true};
        struct waiting opened = {0}, marked = {0};
        struct error err = {0};
        rollup_fixture_start(&fixture);
        change_schema(&fixture, add_tables);
        for (int i = 0; i < 2; i++) {
            stay(&fixture, "2013-11-28", "a", 0.5F);
            rollup_fixture_flush(&fixture);
        }
        rollup_fixture_go_on(&fixture, sim_world_restart(fixture.sim, 1));
        change_schema(&fixture, define_hotel);
        must(streams_add(fixture.streams, &hotel, set_done, &opened, &err), &err);
        rollup_fixture_step_until(&fixture, &opened.done);
        sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, -EIO, true);
        streams_take_rows(fixture.streams, "hotel", set_done, &marked);
        rollup_fixture_step_until(&fixture, &marked.done);
        sim_disk_fail(sim_world_disk(fixture.sim), SIM_READ, 1, 0, false);
        cr_expect_eq(marked.status, -EIO);
        cr_expect(has_unmarked(&fixture));
        int64_t began_us = world_monotonic_us(fixture.world);
        if (closes)
            rollup_fixture_restart(&fixture);
        cr_expect_lt(world_monotonic_us(fixture.world) - began_us, 1000000);
        rollup_fixture_advance(&fixture, 12);
        cr_expect_not(has_unmarked(&fixture));
        expect_hotel(&fixture, "globe 2013-11-28 1 0.5 - - open\n");
        rollup_fixture_stop(&fixture);
    }
}

/* Before anything is worked off. */
Test(streams, whoever_asks_after_a_truncate_is_told_of_no_clicks_that_are_gone)
{
    const struct figure_query query = {.day_from = DAY_MIN, .day_to = DAY_MAX, .is_current = true};
    struct rollup_fixture fixture = {.seed = 4};
    rollup_fixture_start(&fixture);
    change_schema(&fixture, add_tables);
    change_schema(&fixture, define_hotel);
    open_hotel(&fixture);
    stay(&fixture, "2013-11-28", "a", 0.5F);
    stay(&fixture, "2013-11-29", "a", 0.5F);
    expect_hotel(&fixture, "globe 2013-11-29 1 0.5 - - open\n"
                           "globe 2013-11-28 1 0.5 - - open\n");
    change_schema(&fixture, truncate_nights);
    rollup_fixture_restart(&fixture);
    stay(&fixture, "2013-11-29", "b", 0.25F);
    fixture.rollup = streams_find(fixture.streams, "hotel");
    struct buffer found = rollup_fixture_asked(&fixture, &query);
    cr_assert_str_eq((const char *)found.data, "globe 2013-11-29 1 0.25 - - open\n");
    buffer_release(&found);
    rollup_fixture_stop(&fixture);
}

Test(streams, what_is_no_stream_is_refused_and_changes_nothing)
{
    static const struct {
        enum stream_text text;
        const char *value;
        const char *says;
    } wrong[] = {{STREAM_CLICKS, "hotel.rooms", "there is no table"},
                 {STREAM_CLICKS, "nights", "KEYSPACE.TABLE"},
                 {STREAM_CLICKS, "hotel.commission", "has no column night"},
                 {STREAM_DAY, "agent", "partition key"},
                 {STREAM_DAY, "booked", "text, with days"},
                 {STREAM_TIME, "room", "timestamp would do"},
                 {STREAM_AMOUNT, "room", "a type of numbers"},
                 {STREAM_RATES, "hotel.nights", "the reseller alone"},
                 {STREAM_COUNTERS, "hotel.nights", "no counter table"},
                 {STREAM_ZONE, "Middle/Earth", "no time zone"}};
    struct rollup_fixture fixture = {.seed = 1};
    rollup_fixture_start(&fixture);
    change_schema(&fixture, add_tables);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct stream_definition definition = hotel;
        struct schema *schema = schema_copy(store_schema(fixture.store));
        struct write_batch *batch = write_batch_new();
        struct error err = {0};
        definition.texts[wrong[i].text] = wrong[i].value;
        cr_assert_lt(stream_definition_make(&definition, schema, batch, &err), 0);
        cr_assert_not_null(strstr(err.text, wrong[i].says), "%s: %s", wrong[i].value, err.text);
        cr_assert(write_batch_is_empty(batch));
        write_batch_free(batch);
        schema_unref(schema);
    }
    rollup_fixture_stop(&fixture);
}

/* A row of the hidden table, of `name` and texts that are all `text`. */
static int read_row(struct bytes name, struct bytes text)
{
    struct schema *schema = schema_new();
    struct write_batch *batch = write_batch_new();
    struct column_value values[1 + STREAM_TEXTS] = {{DEFINED_NAME, false, name}};
    struct stream_definition definition;
    struct bytes unmarked;
    struct error err = {0};
    uint32_t count;
    const struct table_definition *const *tables = tables_builtin(&count);
    must(schema_add_keyspace(schema, "daybook", &err), &err);
    must(schema_add_keyspace(schema, "daybook_system", &err), &err);
    for (uint32_t i = 0; i < count; i++)
        must(schema_add_table(schema, tables[i], &err), &err);
    for (uint32_t i = 0; i < STREAM_TEXTS; i++)
        values[1 + i] = (struct column_value){stream_definition_column(i), false, text};
    const struct table *table = schema_table(schema, TABLE_DEFINED_STREAM);
    write_batch_insert(batch, table, values, 1 + STREAM_TEXTS);
    const struct page_row row = {.key = name, .row = batch->mutations[0].items[0].row};
    int rc = stream_definition_read(table, &row, batch->arena, &definition, &unmarked, &err);
    cr_assert((rc == 0) == (err.text[0] == '\0'));
    write_batch_free(batch);
    schema_unref(schema);
    return rc;
}

Test(streams, a_row_that_no_definition_left_is_corrupt)
{
    char longest[STREAM_NAME_MAX + 2];
    memset(longest, 'a', sizeof(longest));
    cr_assert_eq(read_row(bytes_of(longest, STREAM_NAME_MAX), bytes_text("x")), 0);
    cr_assert_eq(read_row(bytes_of(longest, STREAM_NAME_MAX + 1), bytes_text("x")), ERROR_CORRUPT);
    cr_assert_eq(read_row(bytes_text("clicks"), bytes_text("x")), ERROR_CORRUPT);
    cr_assert_eq(read_row(bytes_text(""), bytes_text("x")), ERROR_CORRUPT);
    cr_assert_eq(read_row(bytes_text("a"), bytes_of("x\0y", 3)), ERROR_CORRUPT);
}
