/* test_columnar_rows: sorting and merging keep equals in order; streams number them. */
#include "storage/cell/columnar_rows.h"

#include <criterion/criterion.h>

#include "base/arena.h"
#include "storage/memtable/columnar_memtable.h"
#include "tests/unit/columnar_fixture.h"

/* Rows by way of a memtable, with timestamp `timestamp_us`; `model` gets them too. */
struct source {
    struct arena *arena;
    struct columnar_memtable *memtable;
    struct columnar_rows rows;
};

static void source_init(struct source *source, const struct table *table, uint64_t seed,
                        uint32_t count, uint32_t times, struct click_model *model)
{
    uint64_t state = seed;
    struct block *block = block_new(table, count);
    for (uint32_t i = 0; i < count; i++) {
        struct click click = click_make(&state, times, 20);
        block_add_click(block, 1, &click);
        model_add(model, &click);
    }
    source->arena = arena_new(1 << 16);
    source->memtable = columnar_memtable_new(table, source->arena);
    columnar_memtable_apply(source->memtable, block, 1, (int64_t)seed);
    columnar_rows_init(&source->rows, table);
    columnar_memtable_rows(source->memtable, 0, UINT64_MAX, &source->rows);
    block_free(block);
}

static void source_release(struct source *source)
{
    columnar_rows_release(&source->rows);
    columnar_memtable_free(source->memtable);
    arena_free(source->arena);
}

/* Few times make long runs of equals; many rows take the radix sort's other digits. */
Test(columnar_rows, are_sorted_and_equals_keep_their_order)
{
    static const struct {
        uint32_t rows, times;
    } cases[] = {{1, 1}, {2, 2}, {20, 3}, {200, 1}, {300, 40}, {3000, 1000000}, {2000, 5}};
    struct schema *schema = columnar_schema();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct source source;
        struct click_model model = {0};
        source_init(&source, schema_table(schema, COLUMNAR_TABLE), i + 1, cases[i].rows,
                    cases[i].times, &model);
        cr_assert(rows_are_model(&source.rows, &model), "case %zu", i);
        model_release(&model);
        source_release(&source);
    }
    schema_unref(schema);
}

Test(columnar_rows, a_merge_puts_equals_in_the_order_of_its_inputs)
{
    enum { INPUTS = 5 };
    struct schema *schema = columnar_schema();
    struct source sources[INPUTS];
    const struct columnar_rows *inputs[INPUTS];
    struct click_model model = {0};
    struct columnar_rows merged;
    struct columnar_strings *strings = columnar_rows_strings_new();
    columnar_rows_init(&merged, schema_table(schema, COLUMNAR_TABLE));
    for (uint32_t i = 0; i < INPUTS; i++) {
        source_init(&sources[i], schema_table(schema, COLUMNAR_TABLE), i + 10, 150, 12, &model);
        inputs[i] = &sources[i].rows;
    }
    for (int again = 0; again < 2; again++) {
        cr_assert_eq(columnar_rows_merge(inputs, INPUTS, strings, &merged), 0);
        cr_assert(rows_are_model(&merged, &model));
        cr_assert_null(merged.ranks);
        cr_assert_not_null(merged.timestamps_us);
    }
    struct partition_stats expected = {0};
    struct partition_stats stats = {0};
    model_stats(&model, &expected);
    columnar_rows_stats(&merged, &stats);
    cr_assert(stats_equal(&stats, &expected));
    stats_release(&stats);
    stats_release(&expected);
    for (uint32_t i = 0; i < INPUTS; i++)
        source_release(&sources[i]);
    columnar_rows_release(&merged);
    columnar_rows_strings_free(strings);
    model_release(&model);
    schema_unref(schema);
}

/* After a purge the ranks of what is left are explicit, and later clicks go on from the highest. */
Test(columnar_rows, ranks_go_on_behind_explicit_ones)
{
    struct schema *schema = columnar_schema();
    struct source sources[2];
    struct click_model model = {0};
    struct columnar_rows merged;
    struct columnar_strings *strings = columnar_rows_strings_new();
    columnar_rows_init(&merged, schema_table(schema, COLUMNAR_TABLE));
    for (uint32_t i = 0; i < 2; i++)
        source_init(&sources[i], schema_table(schema, COLUMNAR_TABLE), 3, 1, 1, &model);
    columnar_rows_ranks(&sources[0].rows);
    sources[0].rows.ranks[0] = 4;
    const struct columnar_rows *inputs[2] = {&sources[0].rows, &sources[1].rows};
    cr_assert_eq(columnar_rows_merge(inputs, 2, strings, &merged), 0);
    cr_assert_eq(merged.ranks[0], 4);
    cr_assert_eq(merged.ranks[1], 5);
    for (uint32_t i = 0; i < 2; i++)
        source_release(&sources[i]);
    columnar_rows_release(&merged);
    columnar_rows_strings_free(strings);
    model_release(&model);
    schema_unref(schema);
}

/* Pull the whole stream; its rows must be the model's, ranks their places among equals. */
static uint32_t stream_drain(const struct columnar_rows *rows, const struct click_model *model,
                             bool reversed)
{
    struct slice slice = stream_slice_all();
    slice.reversed = reversed;
    struct stream *stream = columnar_rows_stream(rows, &slice);
    struct unfiltered item;
    uint32_t count = 0;
    while (stream->next(stream, &item, NULL) == 1) {
        uint32_t at = reversed ? model->count - 1 - count : count;
        const struct click *click = &model->clicks[at];
        uint32_t first = at;
        while (first > 0 && click_compare(&model->clicks[first - 1], click) == 0)
            first--;
        cr_assert_eq(item.row.clustering.count, 3);
        cr_assert_eq(type_value_bigint(item.row.clustering.values[0]), click->time);
        cr_assert_eq(type_value_bigint(item.row.clustering.values[2]), at - first);
        cr_assert_eq(item.row.cell_count, 1u + (click->derived >= 0) + (click->note > 0));
        cr_assert_eq(item.row.cells[0].column_id, 6);
        count++;
    }
    stream->close(stream);
    return count;
}

Test(columnar_rows, stream_in_both_directions_with_their_ranks)
{
    struct schema *schema = columnar_schema();
    struct source source;
    struct click_model model = {0};
    source_init(&source, schema_table(schema, COLUMNAR_TABLE), 5, 400, 10, &model);
    cr_assert_eq(stream_drain(&source.rows, &model, false), 400);
    cr_assert_eq(stream_drain(&source.rows, &model, true), 400);
    model_release(&model);
    source_release(&source);
    schema_unref(schema);
}

Test(columnar_rows, a_stream_begins_within_equals_where_its_slice_does)
{
    struct schema *schema = columnar_schema();
    struct source source;
    struct click_model model = {0};
    source_init(&source, schema_table(schema, COLUMNAR_TABLE), 6, 400, 3, &model);
    /* After row 100: its whole clustering, rank included. */
    uint32_t rank = 0;
    while (click_compare(&model.clicks[100 - rank - 1], &model.clicks[100]) == 0)
        rank++;
    uint8_t time[8];
    uint8_t rank_value[8] = {0};
    char ad[CLICK_TEXT_SIZE];
    for (int i = 0; i < 8; i++)
        time[i] = (uint8_t)((uint64_t)model.clicks[100].time >> (56 - 8 * i));
    rank_value[7] = (uint8_t)rank;
    struct slice slice = stream_slice_all();
    slice.start.side = BOUND_AFTER;
    slice.start.prefix.count = 3;
    slice.start.prefix.values[0] = bytes_of(time, 8);
    slice.start.prefix.values[1] = click_text("ad", model.clicks[100].ad, ad);
    slice.start.prefix.values[2] = bytes_of(rank_value, 8);
    struct stream *stream = columnar_rows_stream(&source.rows, &slice);
    struct unfiltered item;
    uint32_t count = 0;
    while (stream->next(stream, &item, NULL) == 1) {
        cr_assert_eq(type_value_bigint(item.row.clustering.values[0]),
                     model.clicks[101 + count].time);
        count++;
    }
    stream->close(stream);
    cr_assert_eq(count, 299);
    model_release(&model);
    source_release(&source);
    schema_unref(schema);
}
