/* test_counter_memtable: sums by frame, generations, and the order of what is read. */
#include "storage/memtable/counter_memtable.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "counters/counter_cell.h"
#include "counters/counter_slot.h"
#include "tests/sim/partition_model.h"

enum { CLICKS = 3, VIEWS = 4, TOTAL = 5, SHARD = 40 };

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct arena *arena;
    struct counter_memtable *memtable;
};

static struct fixture setup(void)
{
    struct fixture fixture = {.schema = model_schema(), .arena = arena_new(1 << 16)};

    fixture.table = schema_table(fixture.schema, MODEL_COUNTER_TABLE);
    fixture.memtable = counter_memtable_new(fixture.arena);
    return fixture;
}

static void teardown(struct fixture *fixture)
{
    counter_memtable_free(fixture->memtable);
    arena_free(fixture->arena);
    schema_unref(fixture->schema);
}

static uint32_t slot_of(struct fixture *fixture, const char *key, int c1, uint32_t column_id)
{
    struct buffer value = {0};
    struct buffer packed = {0};

    type_value_put_int(&value, c1);
    struct clustering clustering = {.count = 1, .values = {buffer_view(&value)}};
    if (column_id != TOTAL)
        row_clustering_pack(&clustering, &packed);
    uint32_t slot = counter_memtable_slot(fixture->memtable, fixture->table, bytes_text(key),
                                          buffer_view(&packed), column_id);
    buffer_release(&value);
    buffer_release(&packed);
    return slot;
}

static void print(struct fixture *fixture, const char *key, const struct slice *slice,
                  uint64_t frame, struct buffer *text)
{
    struct stream *stream = counter_memtable_stream(fixture->memtable, fixture->table,
                                                    bytes_text(key), slice, frame, SHARD);
    struct unfiltered item;

    buffer_clear(text);
    while (stream != NULL && stream->next(stream, &item, NULL) > 0) {
        if (item.row.is_static)
            buffer_append_text(text, "static");
        else
            buffer_printf(text, "%d", type_value_int(item.row.clustering.values[0]));
        for (uint32_t i = 0; i < item.row.cell_count; i++) {
            const struct cell *cell = &item.row.cells[i];
            cr_assert_eq(cell->flags, CELL_COUNTER);
            cr_assert_eq(counter_cell_validate(cell->value), 0);
            cr_assert_eq(cell->timestamp_us, counter_cell_generation(cell->value));
            buffer_printf(text, " %u:", cell->column_id);
            if (counter_cell_generation(cell->value) != 0)
                buffer_printf(text, "g%lld:", (long long)counter_cell_generation(cell->value));
            if (counter_cell_shard_count(cell->value) > 0)
                buffer_printf(text, "%lld", (long long)counter_cell_value(cell->value));
        }
        buffer_append_text(text, "\n");
    }
    buffer_put_u8(text, 0);
    stream_close(stream);
}

static void expect(struct fixture *fixture, const char *key, uint64_t frame, const char *expected)
{
    struct slice slice = stream_slice_all();
    struct buffer text = {0};

    print(fixture, key, &slice, frame, &text);
    cr_assert_str_eq((char *)text.data, expected, "frame %llu: %s, not %s",
                     (unsigned long long)frame, (char *)text.data, expected);
    buffer_release(&text);
}

Test(counter_memtable, a_reader_sees_the_sum_as_of_its_frame)
{
    struct fixture fixture = setup();
    uint32_t slot = slot_of(&fixture, "ad", 1, CLICKS);

    expect(&fixture, "ad", UINT64_MAX, "");
    counter_slot_add(counter_memtable_at(fixture.memtable, slot), 1, 7);
    expect(&fixture, "ad", 6, "");
    counter_slot_add(counter_memtable_at(fixture.memtable, slot), 5, 9);
    counter_slot_add(counter_memtable_at(fixture.memtable, slot), 1, 9);
    expect(&fixture, "ad", 6, "");
    expect(&fixture, "ad", 8, "1 3:1\n");
    expect(&fixture, "ad", 9, "1 3:7\n");
    counter_slot_add(counter_memtable_at(fixture.memtable, slot), 2, 10);
    counter_slot_add(counter_memtable_at(fixture.memtable, slot), 1, 12);
    expect(&fixture, "ad", 9, "1 3:7\n");
    expect(&fixture, "ad", 11, "1 3:9\n");
    expect(&fixture, "ad", UINT64_MAX, "1 3:10\n");
    teardown(&fixture);
}

/* The durable frame trails the open one by at most two; some frames touch the counter, some not. */
Test(counter_memtable, the_durable_view_never_holds_a_later_frame)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct fixture fixture = setup();
        uint32_t slot = slot_of(&fixture, "ad", 1, CLICKS);
        int64_t sums[64] = {0};
        int64_t sum = 0;
        bool touched[64] = {false};
        uint64_t random = seed;
        for (uint64_t frame = 1; frame < 64; frame++) {
            touched[frame] = touched[frame - 1];
            for (uint64_t adds = model_random(&random) % 3; adds > 0; adds--) {
                int64_t delta = (int64_t)(model_random(&random) % 100) - 30;
                counter_slot_add(counter_memtable_at(fixture.memtable, slot), delta, frame);
                sum += delta;
                touched[frame] = true;
            }
            sums[frame] = sum;
            for (uint64_t durable = frame > 2 ? frame - 2 : 0; durable <= frame; durable++) {
                char expected[64] = "";
                if (touched[durable])
                    snprintf(expected, sizeof expected, "1 3:%lld\n", (long long)sums[durable]);
                expect(&fixture, "ad", durable, expected);
            }
        }
        teardown(&fixture);
    }
}

Test(counter_memtable, set_and_delete_begin_generations_that_earlier_frames_do_not_see)
{
    struct fixture fixture = setup();
    uint32_t slot = slot_of(&fixture, "ad", 1, CLICKS);

    counter_slot_add(counter_memtable_at(fixture.memtable, slot), 5, 1);
    counter_slot_set(counter_memtable_at(fixture.memtable, slot), fixture.arena, 100, 2000, 2);
    counter_slot_add(counter_memtable_at(fixture.memtable, slot), 1, 2);
    expect(&fixture, "ad", 1, "1 3:5\n");
    expect(&fixture, "ad", 2, "1 3:g2000:101\n");
    counter_slot_reset(counter_memtable_at(fixture.memtable, slot), fixture.arena, 3000, 3);
    expect(&fixture, "ad", 2, "1 3:g2000:101\n");
    expect(&fixture, "ad", 3, "1 3:g3000:\n");
    counter_slot_add(counter_memtable_at(fixture.memtable, slot), 7, 4);
    expect(&fixture, "ad", 2, "1 3:g2000:101\n");
    expect(&fixture, "ad", 3, "1 3:g3000:\n");
    expect(&fixture, "ad", 4, "1 3:g3000:7\n");
    counter_slot_set(counter_memtable_at(fixture.memtable, slot), fixture.arena, 1, 2500, 4);
    expect(&fixture, "ad", 4, "1 3:g3000:7\n");
    teardown(&fixture);
}

Test(counter_memtable, a_cell_names_its_shard_and_the_last_frame_that_counted)
{
    struct fixture fixture = setup();
    struct slice slice = stream_slice_all();
    struct buffer expected = {0};
    struct unfiltered item;

    counter_slot_add(counter_memtable_at(fixture.memtable, slot_of(&fixture, "ad", 1, CLICKS)), 3,
                     41);
    counter_slot_add(counter_memtable_at(fixture.memtable, slot_of(&fixture, "ad", 1, CLICKS)), 4,
                     44);
    struct stream *stream = counter_memtable_stream(fixture.memtable, fixture.table,
                                                    bytes_text("ad"), &slice, 43, SHARD);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    counter_cell_write_single(&expected, 0, (struct counter_shard){SHARD, 41, 3});
    cr_assert(bytes_equal(item.row.cells[0].value, buffer_view(&expected)));
    buffer_release(&expected);
    stream_close(stream);
    teardown(&fixture);
}

Test(counter_memtable, rows_come_in_clustering_order_with_the_static_row_first)
{
    struct fixture fixture = setup();
    struct buffer text = {0};
    struct slice slice = stream_slice_all();

    for (int c1 = 3; c1 >= -1; c1 -= 2)
        counter_slot_add(counter_memtable_at(fixture.memtable, slot_of(&fixture, "ad", c1, VIEWS)),
                         c1, 1);
    counter_slot_add(counter_memtable_at(fixture.memtable, slot_of(&fixture, "ad", 1, CLICKS)), 9,
                     1);
    counter_slot_add(counter_memtable_at(fixture.memtable, slot_of(&fixture, "ad", 0, TOTAL)), 2,
                     1);
    counter_slot_add(counter_memtable_at(fixture.memtable, slot_of(&fixture, "ad2", 0, CLICKS)), 2,
                     1);
    expect(&fixture, "ad", 1, "static 5:2\n-1 4:-1\n1 3:9 4:1\n3 4:3\n");
    slice.reversed = true;
    print(&fixture, "ad", &slice, 1, &text);
    cr_assert_str_eq((char *)text.data, "static 5:2\n3 4:3\n1 3:9 4:1\n-1 4:-1\n");
    slice.with_static = false;
    slice.start.prefix = (struct clustering){.count = 1, .values = {{(uint8_t[]){0, 0, 0, 1}, 4}}};
    print(&fixture, "ad", &slice, 1, &text);
    cr_assert_str_eq((char *)text.data, "3 4:3\n1 3:9 4:1\n");
    buffer_release(&text);
    teardown(&fixture);
}

Test(counter_memtable, a_slot_is_found_again_among_many)
{
    struct fixture fixture = setup();
    char key[32];

    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "ad %u", i / 2);
        cr_assert_eq(slot_of(&fixture, key, 1, i % 2 == 0 ? CLICKS : VIEWS), i);
    }
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(key, sizeof key, "ad %u", i / 2);
        cr_assert_eq(slot_of(&fixture, key, 1, i % 2 == 0 ? CLICKS : VIEWS), i);
    }
    teardown(&fixture);
}

Test(counter_memtable, partitions_come_in_the_order_of_token)
{
    struct fixture fixture = setup();
    const struct memtable_partitions *partitions = counter_memtable_partitions(fixture.memtable);
    struct bytes at = {0};
    int64_t token = INT64_MIN;
    int count = 0;
    char key[32];

    cr_assert_eq(partitions->count, 0);
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "ad %d", i);
        slot_of(&fixture, key, i, CLICKS);
    }
    for (int64_t last = token; memtable_partitions_seek(partitions, MODEL_COUNTER_TABLE, token, at,
                                                        count > 0, &token, &at);
         count++) {
        cr_assert(token > last);
        last = token;
    }
    cr_assert_eq(count, 500);
    cr_assert_eq(memtable_partitions_next_table(partitions, 0), MODEL_COUNTER_TABLE);
    cr_assert_eq(memtable_partitions_next_table(partitions, MODEL_COUNTER_TABLE), 0);
    teardown(&fixture);
}

/* More than are looked up at once, some of them again, and so many that the table grows between. */
Test(counter_memtable, slots_of_many_keys_are_those_of_each)
{
    enum { KEYS = 3000, MANY = 500, KEY_SIZE = 16 };
    static char texts[KEYS][KEY_SIZE];
    struct fixture fixture = setup();
    struct bytes keys[MANY];
    uint32_t slots[MANY];

    for (uint32_t i = 0; i < KEYS; i++)
        snprintf(texts[i], KEY_SIZE, "key-%u", i);
    for (uint32_t from = 0; from < KEYS; from += MANY / 4) {
        for (uint32_t i = 0; i < MANY; i++)
            keys[i] = bytes_text(texts[(from + i / 2) % KEYS]);
        counter_memtable_slots(fixture.memtable, fixture.table, keys, MANY, TOTAL, slots);
        for (uint32_t i = 0; i < MANY; i++) {
            const char *text = texts[(from + i / 2) % KEYS];
            cr_assert_eq(slots[i], slot_of(&fixture, text, 0, TOTAL));
            cr_assert_eq(slots[i], slots[i - i % 2]);
            cr_assert_neq(slots[i], slot_of(&fixture, text, 0, CLICKS));
        }
    }
    teardown(&fixture);
}

/* A page that cost as much as its partition would take this test a minute. */
Test(counter_memtable, a_large_partition_is_read_in_small_pages, .timeout = 10)
{
    enum { ROWS = 40000, PAGE = 20 };
    struct fixture fixture = setup();
    struct slice slice = stream_slice_all();
    struct buffer start = {0};
    int expected = 0;

    for (int i = 0; i < ROWS; i++) /* 7919 has no divisor in common with ROWS */
        counter_slot_add(
            counter_memtable_at(fixture.memtable,
                                slot_of(&fixture, "ad", (int)(i * 7919LL % ROWS), CLICKS)),
            1, 1);
    while (expected < ROWS) {
        struct stream *stream = counter_memtable_stream(fixture.memtable, fixture.table,
                                                        bytes_text("ad"), &slice, 1, SHARD);
        struct unfiltered item;
        for (int i = 0; i < PAGE; i++) {
            cr_assert_eq(stream->next(stream, &item, NULL), 1);
            cr_assert_eq(type_value_int(item.row.clustering.values[0]), expected++);
        }
        buffer_clear(&start);
        buffer_append_bytes(&start, item.row.clustering.values[0]);
        stream_close(stream);
        slice.start.side = BOUND_AFTER;
        slice.start.prefix = (struct clustering){.count = 1, .values = {buffer_view(&start)}};
    }
    buffer_release(&start);
    teardown(&fixture);
}

/* Before each pull there are new rows on both sides, and new columns of the last row. */
/* The decimals 1.0 and 1.00 have other bytes and are one row. */
Test(counter_memtable, counters_of_equal_values_are_one)
{
    static const struct column_definition columns[] = {
        {1, "pk", "text", COLUMN_PARTITION, false},
        {2, "d", "decimal", COLUMN_CLUSTERING, false},
        {3, "clicks", "counter", COLUMN_REGULAR, false},
    };
    const struct table_definition definition = {.id = 90,
                                                .keyspace = "k",
                                                .name = "decimals",
                                                .flags = TABLE_COUNTER,
                                                .columns = columns,
                                                .column_count = 3};
    static const char *const texts[] = {"1.0", "1.00", "2", "1.0", "1.00", "1.000"};
    struct fixture fixture = setup();
    struct error err = {0};
    uint32_t slots[6];

    cr_assert_eq(schema_add_table(fixture.schema, &definition, &err), 0, "%s", err.text);
    for (uint32_t i = 0; i < 6; i++) {
        struct buffer value = {0};
        struct buffer packed = {0};
        struct decimal decimal;
        cr_assert_eq(decimal_parse(bytes_text(texts[i]), &decimal), 0);
        decimal_serialize(&value, decimal);
        struct clustering clustering = {.count = 1, .values = {buffer_view(&value)}};
        row_clustering_pack(&clustering, &packed);
        slots[i] = counter_memtable_slot(fixture.memtable, schema_table(fixture.schema, 90),
                                         bytes_text("p"), buffer_view(&packed), CLICKS);
        buffer_release(&value);
        buffer_release(&packed);
    }
    for (uint32_t i = 0; i < 6; i++)
        cr_expect_eq(slots[i], i == 2 ? slots[2] : slots[0], "%s", texts[i]);
    cr_expect_neq(slots[2], slots[0]);
    teardown(&fixture);
}

Test(counter_memtable, slots_that_are_made_between_pulls_are_in_their_places)
{
    for (int reversed = 0; reversed < 2; reversed++) {
        struct fixture fixture = setup();
        struct slice slice = stream_slice_all();
        struct unfiltered item;
        int sign = reversed ? -1 : 1;

        slice.reversed = reversed;
        counter_slot_add(counter_memtable_at(fixture.memtable, slot_of(&fixture, "ad", 0, VIEWS)),
                         1, 1);
        struct stream *stream = counter_memtable_stream(
            fixture.memtable, fixture.table, bytes_text("ad"), &slice, UINT64_MAX, SHARD);
        for (int i = 0; i < 1000; i++) {
            cr_assert_eq(stream->next(stream, &item, NULL), 1);
            cr_assert_eq(type_value_int(item.row.clustering.values[0]), sign * i);
            cr_assert_eq(item.row.cells[0].column_id, VIEWS);
            int made[] = {i, i + 1, -i - 1};
            for (uint32_t c = 0; c < 3; c++)
                counter_slot_add(
                    counter_memtable_at(fixture.memtable, slot_of(&fixture, "ad", sign * made[c],
                                                                  c == 1 ? VIEWS : CLICKS)),
                    1, 1);
        }
        stream_close(stream);
        teardown(&fixture);
    }
}
