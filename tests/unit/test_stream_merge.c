/* test_stream_merge: a history dealt to several runs, merged again in any grouping. */
#include <criterion/criterion.h>
#include <string.h>

#include "storage/memtable/row_memtable.h"
#include "tests/sim/partition_model.h"

enum { RUNS = 5 };

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct arena *arena;
    struct model_write *writes;
    size_t count;
    struct row_memtable *runs[RUNS];
};

/* Each write goes into one of the runs, whatever its timestamp. */
static struct fixture setup(uint64_t seed, size_t count)
{
    struct fixture fixture = {.schema = model_schema(), .count = count};
    uint64_t random = seed;

    fixture.table = schema_table(fixture.schema, MODEL_TABLE);
    fixture.arena = arena_new(1 << 16);
    fixture.writes =
        arena_alloc(fixture.arena, count * sizeof *fixture.writes, _Alignof(struct model_write));
    model_history(&random, fixture.writes, count, fixture.arena);
    for (int i = 0; i < RUNS; i++)
        fixture.runs[i] = row_memtable_new(fixture.arena);
    for (size_t i = 0; i < count; i++) {
        struct mutation mutation;
        model_mutation(&fixture.writes[i], fixture.arena, &mutation);
        row_memtable_apply(fixture.runs[model_random(&random) % RUNS], fixture.table, &mutation,
                           fixture.writes[i].frame, fixture.writes[i].timestamp_us);
    }
    return fixture;
}

static void teardown(struct fixture *fixture)
{
    for (int i = 0; i < RUNS; i++)
        row_memtable_free(fixture->runs[i]);
    arena_free(fixture->arena);
    schema_unref(fixture->schema);
}

/* Merge the runs [first, until) in a tree that `random` draws; 0: all at once. */
static struct stream *merge_runs(struct fixture *fixture, const struct slice *slice, int first,
                                 int until, uint64_t *random)
{
    struct stream *streams[RUNS];
    size_t count = 0;

    if (until - first > 1 && random != NULL && model_random(random) % 4 > 0) {
        int middle = first + 1 + (int)(model_random(random) % (uint64_t)(until - first - 1));
        streams[count++] = merge_runs(fixture, slice, first, middle, random);
        streams[count++] = merge_runs(fixture, slice, middle, until, random);
    } else {
        for (int i = first; i < until; i++) {
            struct stream *stream =
                row_memtable_stream(fixture->runs[i], fixture->table, model_token(), model_key(),
                                    slice, UINT64_MAX, NULL);
            if (stream != NULL)
                streams[count++] = stream;
        }
    }
    return stream_merge(fixture->table, streams, count, slice->reversed);
}

Test(stream_merge, runs_merged_show_what_the_model_shows, .timeout = 60)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct fixture fixture = setup(seed, 1 + seed % 120);
        uint64_t random = seed;
        for (int i = 0; i < 8; i++) {
            struct slice slice = model_slice(&random, fixture.arena);
            struct buffer expected = {0};
            struct buffer merged = {0};
            model_print(fixture.writes, fixture.count, UINT64_MAX, &slice, &expected);
            model_print_stream(merge_runs(&fixture, &slice, 0, RUNS, NULL), &merged);
            cr_assert_str_eq((char *)merged.data, (char *)expected.data, "seed %llu:\n%s\nnot\n%s",
                             (unsigned long long)seed, (char *)merged.data, (char *)expected.data);
            buffer_release(&expected);
            buffer_release(&merged);
        }
        teardown(&fixture);
    }
}

Test(stream_merge, any_grouping_gives_the_same_items_and_bounds, .timeout = 60)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct fixture fixture = setup(seed, 1 + seed % 120);
        uint64_t random = seed;
        for (int i = 0; i < 8; i++) {
            struct slice slice = model_slice(&random, fixture.arena);
            struct buffer flat = {0};
            struct buffer grouped = {0};
            model_print_raw(merge_runs(&fixture, &slice, 0, RUNS, NULL), &slice, &flat);
            model_print_raw(merge_runs(&fixture, &slice, 0, RUNS, &random), &slice, &grouped);
            cr_assert_str_eq((char *)grouped.data, (char *)flat.data, "seed %llu:\n%s\nnot\n%s",
                             (unsigned long long)seed, (char *)grouped.data, (char *)flat.data);
            buffer_release(&flat);
            buffer_release(&grouped);
        }
        teardown(&fixture);
    }
}

/* The picture in stream_merge.c. */
Test(stream_merge, a_bound_goes_out_only_where_the_strongest_deletion_changes)
{
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    struct deletion seven = {7, 0};
    struct deletion nine = {9, 0};
    uint8_t places[4][4];
    struct unfiltered a[2];
    struct unfiltered b[2];
    struct unfiltered item;

    for (uint8_t i = 0; i < 4; i++)
        memcpy(places[i], (uint8_t[]){0, 0, 0, i}, 4);
    for (int i = 0; i < 2; i++) {
        a[i] = (struct unfiltered){.kind = UNFILTERED_BOUND, .bound.side = BOUND_BEFORE};
        a[i].bound.prefix.count = 1;
        b[i] = a[i];
        a[i].bound.prefix.values[0] = bytes_of(places[2 * i], 4);
        b[i].bound.prefix.values[0] = bytes_of(places[2 * i + 1], 4);
        a[i].before = i == 0 ? DELETION_NONE : seven;
        a[i].after = i == 0 ? seven : DELETION_NONE;
        b[i].before = i == 0 ? DELETION_NONE : nine;
        b[i].after = i == 0 ? nine : DELETION_NONE;
    }
    struct stream *inputs[] = {stream_of_array(table, DELETION_NONE, a, 2),
                               stream_of_array(table, DELETION_NONE, b, 2)};
    struct stream *merged = stream_merge(table, inputs, 2, false);
    static const int64_t expected[3][3] = {
        {0, TIMESTAMP_NONE, 7}, {1, 7, 9}, {3, 9, TIMESTAMP_NONE}};
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(merged->next(merged, &item, NULL), 1);
        cr_assert_eq(item.kind, UNFILTERED_BOUND);
        cr_assert_eq(type_value_int(item.bound.prefix.values[0]), expected[i][0]);
        cr_assert_eq(item.before.timestamp_us, expected[i][1]);
        cr_assert_eq(item.after.timestamp_us, expected[i][2]);
    }
    cr_assert_eq(merged->next(merged, &item, NULL), 0);
    stream_close(merged);
    schema_unref(schema);
}

static int failing_next(struct stream *stream, struct unfiltered *out, struct error *err)
{
    (void)stream, (void)out;
    return error_set(err, ERROR_CORRUPT, "page 3 is damaged");
}

Test(stream_merge, an_input_that_fails_fails_the_merge)
{
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    struct stream failing = {
        .table = table, .partition_deletion = DELETION_NONE, .next = failing_next};
    struct stream *inputs[] = {stream_of_array(table, DELETION_NONE, NULL, 0), &failing};
    struct stream *merged = stream_merge(table, inputs, 2, false);
    struct unfiltered item;
    struct error err = {0};

    cr_assert_eq(merged->next(merged, &item, &err), ERROR_CORRUPT);
    cr_assert_str_eq(err.text, "page 3 is damaged");
    stream_close(merged);
    schema_unref(schema);
}

Test(stream_merge, no_inputs_give_an_empty_stream)
{
    struct schema *schema = model_schema();
    struct stream *merged = stream_merge(schema_table(schema, MODEL_TABLE), NULL, 0, false);
    struct unfiltered item;

    cr_assert_eq(merged->next(merged, &item, NULL), 0);
    cr_assert_eq(merged->partition_deletion.timestamp_us, TIMESTAMP_NONE);
    stream_close(merged);
    schema_unref(schema);
}
