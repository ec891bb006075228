/* test_columnar_memtable: against a list per partition: rows and stats, now and as of each
 * frame. */
#include "storage/memtable/columnar_memtable.h"

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/murmur3.h"
#include "tests/unit/columnar_fixture.h"

enum { PARTITIONS = 12 };

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct arena *arena;
    struct columnar_memtable *memtable;
    struct block *block;
    struct columnar_rows rows;
    struct click_model models[PARTITIONS];
};

static void setup(struct fixture *fixture)
{
    *fixture = (struct fixture){.schema = columnar_schema(), .arena = arena_new(1 << 16)};
    fixture->table = schema_table(fixture->schema, COLUMNAR_TABLE);
    fixture->memtable = columnar_memtable_new(fixture->table, fixture->arena);
    fixture->block = block_new(fixture->table, 64);
    columnar_rows_init(&fixture->rows, fixture->table);
}

static void teardown(struct fixture *fixture)
{
    for (uint32_t i = 0; i < PARTITIONS; i++)
        model_release(&fixture->models[i]);
    columnar_rows_release(&fixture->rows);
    block_free(fixture->block);
    columnar_memtable_free(fixture->memtable);
    arena_free(fixture->arena);
    schema_unref(fixture->schema);
}

static uint32_t number_of(const struct fixture *fixture, uint32_t partition)
{
    struct buffer key = {0};
    click_key(partition, &key);
    uint32_t number = columnar_memtable_find(fixture->memtable, buffer_view(&key));
    buffer_release(&key);
    return number;
}

static void assert_partition(struct fixture *fixture, uint32_t partition, uint64_t frame)
{
    uint32_t number = number_of(fixture, partition);
    struct click_model *model = &fixture->models[partition];
    struct partition_stats expected = {0};
    if (number == UINT32_MAX) {
        cr_assert_eq(model->count, 0);
        return;
    }
    columnar_memtable_rows(fixture->memtable, number, frame, &fixture->rows);
    cr_assert(rows_are_model(&fixture->rows, model), "partition %u", partition);
    model_stats(model, &expected);
    const struct partition_stats stats = columnar_memtable_stats(fixture->memtable, number, frame);
    cr_assert(stats_equal(&stats, &expected), "partition %u", partition);
    stats_release(&expected);
}

static void apply_random(struct fixture *fixture, uint64_t *state, uint32_t rows, uint64_t frame)
{
    block_clear(fixture->block);
    for (uint32_t i = 0; i < rows; i++) {
        struct click click = click_make(state, 5000, 40);
        uint32_t partition = (uint32_t)(click_random(state) % PARTITIONS);
        block_add_click(fixture->block, partition, &click);
        model_add(&fixture->models[partition], &click);
    }
    columnar_memtable_apply(fixture->memtable, fixture->block, frame, (int64_t)frame * 10);
}

Test(columnar_memtable, holds_what_blocks_of_every_size_brought)
{
    struct fixture fixture;
    uint64_t state = 1;
    uint64_t total = 0;
    setup(&fixture);
    for (uint64_t frame = 1; frame <= 60; frame++) {
        uint32_t rows = (uint32_t)(click_random(&state) % 200);
        apply_random(&fixture, &state, rows, frame);
        total += rows;
        for (uint32_t i = 0; i < PARTITIONS; i++)
            assert_partition(&fixture, i, UINT64_MAX);
    }
    cr_assert_eq(columnar_memtable_row_count(fixture.memtable), total);
    teardown(&fixture);
}

/* What a reader of the last durable frame must not see: the two frames behind it. */
Test(columnar_memtable, a_frame_sees_the_rows_and_stats_of_its_time)
{
    struct fixture fixture;
    uint64_t state = 2;
    setup(&fixture);
    for (uint64_t base = 10; base < 100; base += 10) {
        apply_random(&fixture, &state, 100, base);
        struct click_model copies[PARTITIONS];
        for (uint32_t i = 0; i < PARTITIONS; i++) {
            copies[i] = fixture.models[i];
            copies[i].clicks =
                memory_copy(copies[i].clicks, copies[i].count * sizeof(struct click));
        }
        apply_random(&fixture, &state, 80, base + 1);
        apply_random(&fixture, &state, 5, base + 2);
        struct click_model newest[PARTITIONS];
        memcpy(newest, fixture.models, sizeof newest);
        memcpy(fixture.models, copies, sizeof copies);
        for (uint32_t i = 0; i < PARTITIONS; i++)
            assert_partition(&fixture, i, base);
        memcpy(fixture.models, newest, sizeof newest);
        for (uint32_t i = 0; i < PARTITIONS; i++) {
            assert_partition(&fixture, i, base + 2);
            model_release(&copies[i]);
        }
    }
    teardown(&fixture);
}

Test(columnar_memtable, before_its_first_frame_a_partition_is_empty)
{
    struct fixture fixture;
    uint64_t state = 3;
    setup(&fixture);
    apply_random(&fixture, &state, 50, 8);
    uint32_t number = number_of(&fixture, 1);
    cr_assert_eq(columnar_memtable_stats(fixture.memtable, number, 7).rows, 0);
    columnar_memtable_rows(fixture.memtable, number, 7, &fixture.rows);
    cr_assert_eq(fixture.rows.rows, 0);
    teardown(&fixture);
}

/* Values that need wider columns come late, when there are chunks of the narrow layout. */
Test(columnar_memtable, columns_widen_for_values_that_do_not_fit)
{
    static const int64_t times[] = {0, 1, 200, 40000, INT64_C(1) << 33, INT64_MAX, INT64_MIN};
    static const int64_t amounts[] = {1,         100,      30000, 1 << 20, INT64_C(1) << 40,
                                      INT64_MIN, INT64_MAX};
    struct fixture fixture;
    setup(&fixture);
    for (uint32_t step = 0; step < 7; step++) {
        block_clear(fixture.block);
        for (uint32_t i = 0; i < 30; i++) {
            struct click click = {.time = i % 10 == 9 ? times[step] : (int64_t)i,
                                  .ad = i,
                                  .amount = i % 10 == 8 ? amounts[step] : (int64_t)i,
                                  .scale = step == 3 && i == 4 ? 18 : 2,
                                  .derived = step < 4 ? 1 : (int)(i % 3) - 1,
                                  .note = step < 5 ? 0 : i % 2};
            block_add_click(fixture.block, i % 3, &click);
            model_add(&fixture.models[i % 3], &click);
        }
        columnar_memtable_apply(fixture.memtable, fixture.block, step + 1, 1);
        for (uint32_t i = 0; i < 3; i++)
            assert_partition(&fixture, i, UINT64_MAX);
    }
    teardown(&fixture);
}

Test(columnar_memtable, codes_pass_sixteen_bits)
{
    struct fixture fixture;
    setup(&fixture);
    for (uint32_t ad = 0; ad < 70000; ad += 1000) {
        struct block *block = fixture.block;
        struct click first = {.time = ad, .ad = ad, .amount = 1, .derived = 1};
        block_clear(block);
        block_add_click(block, 0, &first);
        block_reserve(block, 999);
        for (uint32_t i = 1; i < 1000; i++) {
            /* Not by block_add_click: that looks every ad up. */
            char text[CLICK_TEXT_SIZE];
            uint32_t row = block->rows++;
            block->partition_codes[row] = 0;
            block->columns[0].integers[row] = ad + i;
            block->columns[1].codes[row] =
                block_dictionary_add(&block->columns[1].dictionary, click_text("ad", ad + i, text));
            block->columns[2].integers[row] = 1;
            block->columns[2].scales[row] = 0;
            block->columns[3].integers[row] = 1;
            block_set_absent(block, &block->columns[4], row);
        }
        columnar_memtable_apply(fixture.memtable, block, ad + 1, 1);
    }
    columnar_memtable_rows(fixture.memtable, 0, UINT64_MAX, &fixture.rows);
    cr_assert_eq(fixture.rows.rows, 70000);
    for (uint32_t row = 0; row < 70000; row++) {
        struct click click = {.time = 69999 - row, .ad = 69999 - row, .amount = 1, .derived = 1};
        cr_assert(row_is_click(&fixture.rows, row, &click), "row %u", row);
    }
    teardown(&fixture);
}

Test(columnar_memtable, maps_codes_and_partitions_of_the_last_block)
{
    struct fixture fixture;
    uint64_t state = 4;
    setup(&fixture);
    for (uint64_t frame = 1; frame < 5; frame++) {
        apply_random(&fixture, &state, 60, frame);
        const struct block_dictionary *ads = &fixture.block->columns[1].dictionary;
        const uint32_t *codes = columnar_memtable_mapped_codes(fixture.memtable, 4);
        columnar_memtable_rows(fixture.memtable, 0, UINT64_MAX, &fixture.rows);
        for (uint32_t i = 0; i < ads->count; i++) {
            cr_assert_lt(codes[i], fixture.rows.vectors[1].string_count);
            cr_assert(bytes_equal(fixture.rows.vectors[1].strings[codes[i]],
                                  block_dictionary_get(ads, i)));
        }
        const uint32_t *partitions = columnar_memtable_mapped_partitions(fixture.memtable);
        for (uint32_t i = 0; i < fixture.block->partitions.count; i++)
            cr_assert(bytes_equal(columnar_memtable_partition_key(fixture.memtable, partitions[i]),
                                  block_dictionary_get(&fixture.block->partitions, i)));
    }
    cr_assert_null(columnar_memtable_mapped_codes(fixture.memtable, 6));
    teardown(&fixture);
}

/* With 100,000 resellers nearly every partition has a row or a few. */
Test(columnar_memtable, partitions_of_one_row_take_little_memory)
{
    enum { COUNT = 4000, BYTES_MAX = 480 };
    struct fixture fixture;
    uint64_t state = 6;
    setup(&fixture);
    for (uint32_t partition = 0; partition < COUNT; partition += 50) {
        block_clear(fixture.block);
        for (uint32_t i = 0; i < 50; i++) {
            struct click click = click_make(&state, 5000, 40);
            click.scale = 2;
            block_add_click(fixture.block, partition + i, &click);
        }
        columnar_memtable_apply(fixture.memtable, fixture.block, partition + 1, 1);
    }
    cr_assert_eq(columnar_memtable_partition_count(fixture.memtable), COUNT);
    cr_assert_lt(arena_used(fixture.arena) / COUNT, BYTES_MAX, "%zu bytes",
                 arena_used(fixture.arena) / COUNT);
    teardown(&fixture);
}

Test(columnar_memtable, frozen_it_lists_partitions_by_token_and_key)
{
    struct fixture fixture;
    uint64_t state = 5;
    setup(&fixture);
    apply_random(&fixture, &state, 300, 1);
    columnar_memtable_freeze(fixture.memtable);
    const uint32_t *order = columnar_memtable_order(fixture.memtable);
    for (uint32_t i = 0; i < columnar_memtable_partition_count(fixture.memtable); i++) {
        struct bytes key = columnar_memtable_partition_key(fixture.memtable, order[i]);
        int64_t token = columnar_memtable_partition_token(fixture.memtable, order[i]);
        cr_assert_eq(token, murmur3_token(key.data, key.size));
        if (i > 0)
            cr_assert_leq(columnar_memtable_partition_token(fixture.memtable, order[i - 1]), token);
    }
    teardown(&fixture);
}
