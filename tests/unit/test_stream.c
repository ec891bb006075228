/* test_stream: slices, the order of items, and the filters. */
#include "storage/cell/stream.h"

#include <criterion/criterion.h>
#include <malloc.h>

#include "base/memory.h"
#include "tests/sim/partition_model.h"

static const uint8_t ints[4][4] = {{0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 2}, {0, 0, 0, 3}};

static struct clustering place(int c1, const char *c2)
{
    struct clustering clustering = {.count = c2 != NULL ? 2 : 1};

    clustering.values[0] = bytes_of(ints[c1], 4);
    if (c2 != NULL)
        clustering.values[1] = bytes_text(c2);
    return clustering;
}

static struct unfiltered row_at(int c1, const char *c2, const struct cell *cell)
{
    struct unfiltered item = {.kind = UNFILTERED_ROW};

    item.row = (struct row){.clustering = place(c1, c2),
                            .marker = LIVENESS_NONE,
                            .deletion = DELETION_NONE,
                            .cells = cell,
                            .cell_count = 1};
    return item;
}

static struct unfiltered bound_at(struct clustering prefix, enum bound_side side)
{
    return (struct unfiltered){.kind = UNFILTERED_BOUND,
                               .bound = {prefix, side},
                               .before = DELETION_NONE,
                               .after = {7, 0}};
}

Test(stream, a_slice_holds_what_lies_between_its_bounds)
{
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    struct slice slice = stream_slice_all();
    struct clustering first = place(1, "c"), second = place(1, "a"), third = place(2, "b");

    cr_assert(stream_slice_contains(table, &slice, &first));
    cr_assert(slice.with_static && !slice.reversed);
    slice.start = (struct bound){place(1, "b"), BOUND_BEFORE};
    slice.end = (struct bound){place(1, NULL), BOUND_AFTER};
    cr_assert_not(stream_slice_contains(table, &slice, &first), "c2 descends: c is before b");
    cr_assert(stream_slice_contains(table, &slice, &second));
    cr_assert_not(stream_slice_contains(table, &slice, &third));
    slice.start = (struct bound){second, BOUND_AFTER};
    cr_assert_not(stream_slice_contains(table, &slice, &second));
    schema_unref(schema);
}

/* Each of the list stands before every later one, whichever is compared with which. */
Test(stream, items_are_ordered_static_row_first_then_by_place)
{
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    struct clustering none = {0};
    struct unfiltered items[] = {
        {.kind = UNFILTERED_ROW, .row.is_static = true},
        bound_at(none, BOUND_BEFORE),
        row_at(0, "a", NULL),
        bound_at(place(1, NULL), BOUND_BEFORE),
        bound_at(place(1, "b"), BOUND_BEFORE),
        row_at(1, "b", NULL),
        bound_at(place(1, "b"), BOUND_AFTER),
        row_at(1, "a", NULL),
        bound_at(place(1, NULL), BOUND_AFTER),
        row_at(2, "c", NULL),
        bound_at(none, BOUND_AFTER),
    };
    int count = sizeof items / sizeof items[0];

    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++) {
            int order = stream_position_compare(table, &items[i], &items[j]);
            cr_assert_eq((order > 0) - (order < 0), (i > j) - (i < j), "%d against %d", i, j);
        }
    }
    schema_unref(schema);
}

Test(stream, an_array_comes_as_it_is)
{
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    struct unfiltered items[] = {row_at(0, "a", NULL), row_at(1, "a", NULL)};
    struct stream *stream = stream_of_array(table, (struct deletion){9, 1}, items, 2);
    struct unfiltered item;

    cr_assert_eq(stream->partition_deletion.timestamp_us, 9);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(stream->next(stream, &item, NULL), 1);
        cr_assert_eq(type_value_int(item.row.clustering.values[0]), i);
    }
    cr_assert_eq(stream->next(stream, &item, NULL), 0);
    cr_assert_eq(stream->next(stream, &item, NULL), 0);
    stream_close(stream);
    stream_close(NULL);
    schema_unref(schema);
}

/* Rows: a value, a tombstone, a value that expires at 100; and a bound pair around them. */
static void check_filter(struct stream *(*filter)(struct stream *stream, int64_t now_s))
{
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    struct cell value = {.column_id = MODEL_A,
                         .timestamp_us = 5,
                         .expiry_s = EXPIRY_NONE,
                         .value = bytes_of(ints[1], 4)};
    struct cell tombstone = value;
    struct cell expiring = value;
    tombstone.flags = CELL_TOMBSTONE;
    tombstone.value = (struct bytes){0};
    expiring.ttl_s = 10;
    expiring.expiry_s = 100;
    struct unfiltered items[] = {bound_at((struct clustering){0}, BOUND_BEFORE),
                                 row_at(0, "a", &value), row_at(1, "a", &tombstone),
                                 row_at(2, "a", &expiring),
                                 bound_at((struct clustering){0}, BOUND_AFTER)};
    struct unfiltered item;

    items[4].before = items[0].after;
    items[4].after = DELETION_NONE;
    for (int64_t now_s = 99; now_s <= 100; now_s++) {
        struct stream *stream =
            filter(stream_of_array(table, (struct deletion){3, 0}, items, 5), now_s);
        cr_assert_eq(stream->partition_deletion.timestamp_us, TIMESTAMP_NONE);
        cr_assert_eq(stream->next(stream, &item, NULL), 1);
        cr_assert_eq(type_value_int(item.row.clustering.values[0]), 0);
        if (now_s < 100) {
            cr_assert_eq(stream->next(stream, &item, NULL), 1);
            cr_assert_eq(type_value_int(item.row.clustering.values[0]), 2);
        }
        cr_assert_eq(stream->next(stream, &item, NULL), 0);
        stream_close(stream);
    }
    schema_unref(schema);
}

Test(stream, live_yields_only_rows_that_a_reader_sees)
{
    check_filter(stream_live);
}

static bool has_dropped;

static struct stream *stream_purged_whole(struct stream *stream, int64_t now_s)
{
    has_dropped = false;
    return stream_purged(stream, now_s, INT64_MAX, &has_dropped);
}

Test(stream, purged_yields_only_what_a_compaction_keeps)
{
    check_filter(stream_purged_whole);
    cr_expect(has_dropped);
}

/* Yields one row again and again, which has expired, and notes the memory in use at each pull. */
struct expired_stream {
    struct stream base;
    struct cell cells[16];
    uint32_t left;
    size_t bytes_first, bytes_most;
};

static int expired_next(struct stream *stream, struct unfiltered *out, struct error *err)
{
    struct expired_stream *expired = (struct expired_stream *)stream;
    size_t bytes = mallinfo2().uordblks;

    (void)err;
    if (expired->bytes_first == 0)
        expired->bytes_first = bytes;
    if (bytes > expired->bytes_most)
        expired->bytes_most = bytes;
    if (expired->left == 0)
        return 0;
    *out = row_at((int)(--expired->left % 2), "a", expired->cells);
    out->row.cell_count = 16;
    return 1;
}

static void expect_no_growth(struct expired_stream *expired, struct stream *stream)
{
    struct unfiltered item;

    cr_assert_eq(stream->next(stream, &item, NULL), 0);
    cr_expect_lt(expired->bytes_most, expired->bytes_first + (256 << 10), "%zu bytes more",
                 expired->bytes_most - expired->bytes_first);
    stream_close(stream);
}

Test(stream, rows_that_are_left_out_leave_no_memory_behind)
{
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    const struct deletion none = DELETION_NONE;
    struct expired_stream begin = {
        .base = {.table = table, .partition_deletion = none, .next = expired_next}, .left = 20000};
    for (int i = 0; i < 16; i++)
        begin.cells[i] = (struct cell){.column_id = MODEL_A,
                                       .timestamp_us = 5,
                                       .ttl_s = 10,
                                       .expiry_s = 100,
                                       .value = bytes_of(ints[1], 4)};
    struct expired_stream live = begin, purged = begin, alone = begin, merged = begin;
    struct stream *one = &alone.base;
    alone.base.partition_deletion = merged.base.partition_deletion = (struct deletion){9, 0};
    struct stream *two[] = {&merged.base, stream_of_array(table, none, NULL, 0)};

    expect_no_growth(&live, stream_live(&live.base, 200));
    expect_no_growth(&purged, stream_purged_whole(&purged.base, 200));
    expect_no_growth(&alone, stream_merge(table, &one, 1, false));
    expect_no_growth(&merged, stream_merge(table, two, 2, false));
    schema_unref(schema);
}
