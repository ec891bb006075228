/* test_row_memtable: rows and deletions over frames, held against the naive model. */
#include "storage/memtable/row_memtable.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>

#include "base/murmur3.h"
#include "tests/sim/partition_model.h"

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct arena *arena;   /* the memtable's */
    struct arena *scratch; /* the history's */
    struct row_memtable *memtable;
};

static struct fixture setup(void)
{
    struct fixture fixture = {.schema = model_schema()};

    fixture.table = schema_table(fixture.schema, MODEL_TABLE);
    fixture.arena = arena_new(1 << 16);
    fixture.scratch = arena_new(1 << 16);
    fixture.memtable = row_memtable_new(fixture.arena);
    return fixture;
}

static void teardown(struct fixture *fixture)
{
    row_memtable_free(fixture->memtable);
    arena_free(fixture->arena);
    arena_free(fixture->scratch);
    schema_unref(fixture->schema);
}

static void apply(struct fixture *fixture, const struct model_write *write)
{
    struct mutation mutation;

    model_mutation(write, fixture->scratch, &mutation);
    row_memtable_apply(fixture->memtable, fixture->table, &mutation, write->frame,
                       write->timestamp_us);
}

static struct stream *open_stream(struct fixture *fixture, const struct slice *slice,
                                  uint64_t frame)
{
    struct stream *stream = row_memtable_stream(fixture->memtable, fixture->table, model_token(),
                                                model_key(), slice, frame, NULL);

    return stream != NULL ? stream : stream_of_array(fixture->table, DELETION_NONE, NULL, 0);
}

static void compare(struct fixture *fixture, const struct model_write *writes, size_t count,
                    const struct slice *slice, uint64_t frame, uint64_t seed)
{
    struct buffer expected = {0};
    struct buffer live = {0};
    struct buffer raw = {0};

    model_print(writes, count, frame, slice, &expected);
    model_print_stream(open_stream(fixture, slice, frame), &live);
    cr_assert_str_eq((char *)live.data, (char *)expected.data, "seed %llu frame %llu:\n%s\nnot\n%s",
                     (unsigned long long)seed, (unsigned long long)frame, (char *)live.data,
                     (char *)expected.data);
    model_print_raw(open_stream(fixture, slice, frame), slice, &raw);
    buffer_release(&expected);
    buffer_release(&live);
    buffer_release(&raw);
}

static void run_history(uint64_t seed, size_t count)
{
    struct fixture fixture = setup();
    struct model_write *writes =
        arena_alloc(fixture.scratch, count * sizeof *writes, _Alignof(struct model_write));
    uint64_t random = seed;

    model_history(&random, writes, count, fixture.scratch);
    for (size_t i = 0; i < count; i++)
        apply(&fixture, &writes[i]);
    for (uint64_t frame = 0; frame <= writes[count - 1].frame + 1; frame++) {
        struct slice all = stream_slice_all();
        struct slice some = model_slice(&random, fixture.scratch);
        compare(&fixture, writes, count, &all, frame, seed);
        compare(&fixture, writes, count, &some, frame, seed);
    }
    struct slice all = stream_slice_all();
    compare(&fixture, writes, count, &all, UINT64_MAX, seed);
    teardown(&fixture);
}

Test(row_memtable, every_frame_shows_what_the_model_shows, .timeout = 60)
{
    for (uint64_t seed = 1; seed <= 150; seed++)
        run_history(seed, 1 + seed % 60);
}

/* More versions of each row than are merged at once: folded versions come in. */
Test(row_memtable, a_row_written_over_and_over_shows_what_the_model_shows, .timeout = 60)
{
    for (uint64_t seed = 1000; seed < 1003; seed++)
        run_history(seed, 1500);
}

Test(row_memtable, a_stream_goes_on_behind_its_last_row_when_rows_come_meanwhile)
{
    for (int reversed = 0; reversed < 2; reversed++) {
        struct fixture fixture = setup();
        struct slice slice = stream_slice_all();
        struct model_write write = {.kind = MODEL_INSERT, .frame = 1, .timestamp_us = 7};
        struct unfiltered item;

        slice.reversed = reversed != 0;
        for (write.c1 = 0; write.c1 < 1000; write.c1 += 10)
            apply(&fixture, &write);
        struct stream *stream = open_stream(&fixture, &slice, 1);
        write.frame = 2;
        for (int i = 0; i < 100; i++) {
            cr_assert_eq(stream->next(stream, &item, NULL), 1);
            cr_assert_eq(type_value_int(item.row.clustering.values[0]),
                         10 * (reversed ? 99 - i : i));
            write.c1 = 10 * i + 5;
            apply(&fixture, &write);
        }
        cr_assert_eq(stream->next(stream, &item, NULL), 0);
        stream_close(stream);
        teardown(&fixture);
    }
}

Test(row_memtable, a_limited_stream_ends_among_rows_that_a_deletion_hides)
{
    struct fixture fixture = setup();
    struct slice slice = stream_slice_all();
    struct model_write write = {.kind = MODEL_INSERT, .frame = 1, .timestamp_us = 7};
    struct unfiltered item;
    uint32_t looked = 0;

    for (write.c1 = 0; write.c1 < 100; write.c1++)
        apply(&fixture, &write);
    write = (struct model_write){.kind = MODEL_DELETE_PARTITION, .frame = 2, .timestamp_us = 8};
    apply(&fixture, &write);
    struct stream *stream = open_stream(&fixture, &slice, 2);
    row_memtable_stream_limit(stream, &looked, 10);
    cr_assert_eq(stream->next(stream, &item, NULL), 0);
    cr_assert_eq(looked, 10);
    row_memtable_stream_limit(stream, &looked, 1000);
    cr_assert_eq(stream->next(stream, &item, NULL), 0);
    cr_assert_eq(looked, 100);
    stream_close(stream);
    teardown(&fixture);
}

/* Delete rows c1 = `first` to `last` of the model's partition. */
static void delete_range(struct fixture *fixture, uint64_t frame, int first, int last)
{
    struct model_write write = {.kind = MODEL_DELETE_RANGE,
                                .frame = frame,
                                .timestamp_us = (int64_t)frame,
                                .range = stream_slice_all()};
    uint8_t values[2][4];

    arena_reset(fixture->scratch);
    store_u32_be(values[0], (uint32_t)first);
    store_u32_be(values[1], (uint32_t)last);
    write.range.start.prefix = (struct clustering){1, {bytes_of(values[0], 4)}};
    write.range.end.prefix = (struct clustering){1, {bytes_of(values[1], 4)}};
    apply(fixture, &write);
}

static size_t bounds_count(struct fixture *fixture, const struct slice *slice, uint64_t frame)
{
    struct stream *stream = open_stream(fixture, slice, frame);
    struct unfiltered item;
    size_t count = 0;

    for (; stream->next(stream, &item, NULL) == 1; count++)
        cr_assert_eq(item.kind, UNFILTERED_BOUND);
    stream_close(stream);
    return count;
}

/* However many ranges are deleted, a reader has a place in few runs of them, and what it unpacks
 * are those that it comes to. */
Test(row_memtable, a_reader_takes_little_memory_for_many_range_deletions)
{
    enum { RANGES = 6000, READER_MAX = 40000 };
    struct fixture fixture = setup();
    struct slice slice = stream_slice_all();
    struct unfiltered item;

    for (int i = 0; i < RANGES; i++)
        delete_range(&fixture, (uint64_t)i + 1, 10 * (i * 1009 % RANGES),
                     10 * (i * 1009 % RANGES) + 1);
    for (int reversed = 0; reversed < 2; reversed++) {
        slice.reversed = reversed != 0;
        size_t before = mallinfo2().uordblks;
        struct stream *stream = open_stream(&fixture, &slice, RANGES);
        cr_assert_eq(stream->next(stream, &item, NULL), 1);
        cr_assert_lt(mallinfo2().uordblks - before, READER_MAX);
        stream_close(stream);
        cr_assert_eq(bounds_count(&fixture, &slice, RANGES), 2 * RANGES);
        cr_assert_eq(bounds_count(&fixture, &slice, RANGES / 3), RANGES / 3 * 2);
    }
    teardown(&fixture);
}

/* The same rows deleted over and over are one range in memory, and weaker ranges within a stronger
 * one do not keep the engine thread. */
Test(row_memtable, range_deletions_that_hide_each_other_are_folded)
{
    enum { RANGES = 5000 };
    struct fixture fixture = setup();
    struct slice slice = stream_slice_all();
    struct unfiltered item;
    uint32_t looked = 0;

    for (int i = 0; i < RANGES; i++)
        delete_range(&fixture, (uint64_t)i + 1, 0, 1000000);
    cr_assert_eq(bounds_count(&fixture, &slice, UINT64_MAX), 2);
    struct stream *stream = open_stream(&fixture, &slice, UINT64_MAX);
    row_memtable_stream_limit(stream, &looked, 10);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_assert_eq(item.after.timestamp_us, RANGES);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_assert_eq(looked, 0);
    stream_close(stream);
    for (int i = 0; i < RANGES; i++)
        delete_range(&fixture, RANGES + 1, 10 * i, 10 * i + 1);
    delete_range(&fixture, RANGES + 2, -1, 2000000);
    stream = open_stream(&fixture, &slice, UINT64_MAX);
    row_memtable_stream_limit(stream, &looked, 10);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_assert_eq(stream->next(stream, &item, NULL), 0);
    cr_assert_eq(looked, 10);
    row_memtable_stream_limit(stream, &looked, UINT32_MAX);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_assert_eq(stream->next(stream, &item, NULL), 0);
    stream_close(stream);
    teardown(&fixture);
}

/* Of a history of range deletions alone most of what a reader sees is folded. */
Test(row_memtable, folded_range_deletions_show_what_the_model_shows, .timeout = 60)
{
    enum { WRITES = 700 };
    struct fixture fixture = setup();
    struct model_write *writes =
        arena_alloc(fixture.scratch, WRITES * sizeof *writes, _Alignof(struct model_write));
    uint64_t random = 7;

    model_history(&random, writes, WRITES, fixture.scratch);
    for (size_t i = 0; i < WRITES; i++) {
        if (writes[i].kind != MODEL_DELETE_RANGE && i % 5 != 0) {
            writes[i].kind = MODEL_DELETE_RANGE;
            writes[i].range = model_slice(&random, fixture.scratch);
        }
        apply(&fixture, &writes[i]);
    }
    for (uint64_t frame = 1; frame <= writes[WRITES - 1].frame; frame += 3) {
        struct slice some = model_slice(&random, fixture.scratch);
        compare(&fixture, writes, WRITES, &some, frame, 7);
    }
    teardown(&fixture);
}

static void insert_plain(struct fixture *fixture, struct bytes key, uint64_t frame)
{
    const struct table *plain = schema_table(fixture->schema, MODEL_PLAIN_TABLE);
    struct column_value values[] = {{1, false, key}, {2, true, {0}}};
    struct mutation mutation;

    mutation_insert(plain, values, 2, true, fixture->scratch, &mutation);
    row_memtable_apply(fixture->memtable, plain, &mutation, frame, 1000);
}

Test(row_memtable, partitions_come_in_the_order_of_token_and_key)
{
    struct fixture fixture = setup();
    const struct memtable_partitions *partitions = row_memtable_partitions(fixture.memtable);
    struct bytes at = {0};
    int64_t token = INT64_MIN;
    char text[32];
    int count = 0;

    for (int i = 0; i < 3000; i++) {
        snprintf(text, sizeof text, "key %d", (i * 7919) % 3000);
        insert_plain(&fixture, bytes_text(text), (uint64_t)i + 1);
    }
    int64_t last = INT64_MIN;
    while (memtable_partitions_seek(partitions, MODEL_PLAIN_TABLE, token, at, count > 0, &token,
                                    &at)) {
        cr_assert(token > last);
        cr_assert_eq(token, murmur3_token(at.data, at.size));
        last = token;
        count++;
    }
    cr_assert_eq(count, 3000);
    cr_assert(
        memtable_partitions_seek(partitions, MODEL_PLAIN_TABLE, last, at, false, &token, &at));
    cr_assert_eq(token, last);
    cr_assert_not(
        memtable_partitions_seek(partitions, 77, INT64_MIN, (struct bytes){0}, false, &token, &at));
    teardown(&fixture);
}

Test(row_memtable, a_table_and_a_partition_are_there_from_their_first_write_on)
{
    struct fixture fixture = setup();
    const struct memtable_partitions *partitions = row_memtable_partitions(fixture.memtable);
    struct bytes key = bytes_text("x");
    int64_t token = murmur3_token(key.data, key.size);

    cr_assert_eq(partitions->count, 0);
    cr_assert_not(row_memtable_has(fixture.memtable, MODEL_PLAIN_TABLE, token, key));
    insert_plain(&fixture, key, 1);
    cr_assert(row_memtable_has(fixture.memtable, MODEL_PLAIN_TABLE, token, key));
    cr_assert_eq(partitions->count, 1);
    cr_assert_eq(memtable_partitions_next_table(partitions, 0), MODEL_PLAIN_TABLE);
    cr_assert_eq(memtable_partitions_next_table(partitions, MODEL_PLAIN_TABLE), 0);
    teardown(&fixture);
}

Test(row_memtable, the_servers_timestamp_also_dates_a_deletion)
{
    struct fixture fixture = setup();
    struct slice slice = stream_slice_all();
    struct model_write write = {.kind = MODEL_DELETE_ROW,
                                .frame = 3,
                                .server_timestamp = true,
                                .timestamp_us = 1385654400123456};
    struct unfiltered item;

    apply(&fixture, &write);
    cr_assert_null(row_memtable_stream(fixture.memtable, fixture.table, model_token(), model_key(),
                                       &slice, 2, NULL));
    struct stream *stream = open_stream(&fixture, &slice, 3);
    cr_assert_eq(stream->next(stream, &item, NULL), 1);
    cr_assert_eq(item.row.deletion.timestamp_us, 1385654400123456);
    cr_assert_eq(item.row.deletion.local_s, 1385654400);
    stream_close(stream);
    teardown(&fixture);
}

/* Texts of a few bytes that matter to the order of digits, dates and their neighbours. */
static struct bytes random_text(uint64_t *random, struct arena *arena)
{
    static const uint8_t bytes[] = "0129-:.AZ[]^_az ~\x01\x1f\xc3\xa9";
    uint8_t text[16];
    size_t size = model_random(random) % sizeof text;

    for (size_t i = 0; i < size; i++)
        text[i] = bytes[model_random(random) % (sizeof bytes - 1)];
    if (size > 0 && model_random(random) % 2 == 0)
        text[0] = (uint8_t)('0' + model_random(random) % 3);
    return arena_copy(arena, bytes_of(text, size));
}

Test(row_memtable, rows_with_clustering_texts_come_in_the_order_of_bytes)
{
    static const struct column_definition columns[] = {{0, "id", "text", COLUMN_PARTITION, false},
                                                       {0, "up", "text", COLUMN_CLUSTERING, false},
                                                       {0, "n", "int", COLUMN_REGULAR, false}};
    const struct table_definition definition = {
        .id = 950, .keyspace = "k", .name = "texts", .columns = columns, .column_count = 3};
    struct fixture fixture = setup();
    struct schema *schema = schema_copy(fixture.schema);
    struct slice all = stream_slice_all();
    struct bytes key = bytes_text("k");
    struct bytes last = {0};
    struct unfiltered item;
    struct error err = {0};
    uint64_t random = 1;
    int count = 0;

    cr_assert(schema_add_table(schema, &definition, &err) == 0, "%s", err.text);
    const struct table *table = schema_table(schema, 950);
    for (uint64_t i = 0; i < 20000; i++) {
        const struct column_value values[] = {{1, false, key},
                                              {2, false, random_text(&random, fixture.scratch)}};
        struct mutation mutation;

        mutation_insert(table, values, 2, true, fixture.scratch, &mutation);
        row_memtable_apply(fixture.memtable, table, &mutation, i + 1, 1000);
    }
    struct stream *stream = row_memtable_stream(
        fixture.memtable, table, murmur3_token(key.data, key.size), key, &all, UINT64_MAX, NULL);
    cr_assert_not_null(stream);
    while (stream->next(stream, &item, NULL) == 1) {
        struct bytes text = item.row.clustering.values[0];

        cr_assert(count == 0 || bytes_compare(last, text) < 0, "'%.*s' came after '%.*s'",
                  (int)text.size, (const char *)text.data, (int)last.size, (const char *)last.data);
        last = arena_copy(fixture.scratch, text);
        count++;
    }
    cr_assert(count > 10000);
    stream_close(stream);
    teardown(&fixture);
    schema_unref(schema);
}
