/* test_packed_rows: rows packed at once are what mutations of the same rows would be. */
#include "storage/cell/packed_rows.h"

#include <criterion/criterion.h>

#include "base/murmur3.h"
#include "storage/memtable/row_memtable.h"
#include "storage/cell/write_batch.h"
#include "tests/sim/partition_model.h"

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct arena *arena;
    struct packed_rows rows;
};

static struct fixture setup(void)
{
    struct fixture fixture = {.schema = model_schema(), .arena = arena_new(1 << 16)};

    fixture.table = schema_table(fixture.schema, MODEL_TABLE);
    return fixture;
}

static void teardown(struct fixture *fixture)
{
    packed_rows_release(&fixture->rows);
    arena_free(fixture->arena);
    schema_unref(fixture->schema);
}

static struct bytes int_value(struct fixture *fixture, int value)
{
    uint8_t bytes[] = {0, 0, (uint8_t)(value >> 8), (uint8_t)value};
    return arena_copy(fixture->arena, bytes_of(bytes, sizeof bytes));
}

/* Row (c1, 'x'): a is a number or null, b a text that may be left out. */
struct sample {
    int c1;
    int a; /* below 0: null */
    const char *b;
};

static void pack_sample(struct fixture *fixture, struct bytes key, const struct sample *sample)
{
    const struct clustering clustering = {2, {int_value(fixture, sample->c1), bytes_text("x")}};
    uint32_t cells = 1 + (sample->b != NULL);

    packed_rows_begin(&fixture->rows, fixture->table, murmur3_token(key.data, key.size), key,
                      &clustering, cells);
    if (sample->a < 0)
        packed_rows_null(&fixture->rows, MODEL_A);
    else
        packed_rows_value(&fixture->rows, MODEL_A, int_value(fixture, sample->a));
    if (sample->b != NULL)
        packed_rows_value(&fixture->rows, MODEL_B, bytes_text(sample->b));
}

/* The same row as a mutation of its own. */
static struct mutation sample_mutation(struct fixture *fixture, struct bytes key,
                                       const struct sample *sample)
{
    const struct column_value values[] = {
        {MODEL_PK, false, key},
        {MODEL_C1, false, int_value(fixture, sample->c1)},
        {MODEL_C2, false, bytes_text("x")},
        {MODEL_A, sample->a < 0, sample->a < 0 ? bytes_of(NULL, 0) : int_value(fixture, sample->a)},
        {MODEL_B, false, bytes_text(sample->b != NULL ? sample->b : "")}};
    struct mutation mutation;

    mutation_insert(fixture->table, values, sample->b != NULL ? 5 : 4, true, fixture->arena,
                    &mutation);
    return mutation;
}

static const struct sample samples[] = {
    {1, 7, "one"}, {2, -1, ""}, {3, 500, NULL}, {9, -1, NULL}, {10, 0, "ten"}};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

/* A run of one row has the bytes that mutation_pack gives the row, and of several rows those of one
 * mutation with all of them. */
Test(packed_rows, a_run_is_packed_as_the_mutation_of_its_rows)
{
    struct fixture fixture = setup();
    struct bytes key = model_key();
    struct unfiltered items[SAMPLES];
    struct mutation whole = {0};
    struct buffer expected = {0};
    struct buffer packed = {0};

    for (uint32_t i = 0; i < SAMPLES; i++) {
        whole = sample_mutation(&fixture, key, &samples[i]);
        items[i] = whole.items[0];
        pack_sample(&fixture, key, &samples[i]);
    }
    whole.items = items;
    whole.item_count = SAMPLES;
    mutation_pack(&whole, &expected);
    cr_assert_eq(fixture.rows.span_count, 1);
    packed_rows_pack_span(&fixture.rows, &fixture.rows.spans[0], &packed);
    cr_assert(bytes_equal(buffer_view(&packed), buffer_view(&expected)));
    cr_assert(packed.size <= packed_rows_span_bytes(&fixture.rows, &fixture.rows.spans[0]));
    buffer_release(&expected);
    buffer_release(&packed);
    teardown(&fixture);
}

/* The elements of a set or map column are cells with a path. */
Test(packed_rows, elements_come_back_with_their_paths)
{
    struct fixture fixture = setup();
    struct bytes key = model_key();
    const struct clustering clustering = {2, {int_value(&fixture, 1), bytes_text("x")}};
    struct unfiltered item;

    packed_rows_begin(&fixture.rows, fixture.table, model_token(), key, &clustering, 2);
    packed_rows_element(&fixture.rows, MODEL_M, bytes_text("a"));
    packed_rows_element(&fixture.rows, MODEL_M, bytes_text("bc"));
    struct reader reader = reader_of(packed_rows_get(&fixture.rows, 0));
    cr_assert_eq(row_unfiltered_unpack(&reader, fixture.arena, &item), 0);
    cr_assert_eq(reader_left(&reader), 0);
    cr_assert_eq(item.row.marker.timestamp_us, TIMESTAMP_SERVER);
    cr_assert_eq(item.row.cell_count, 2);
    cr_assert(bytes_equal(item.row.cells[1].path, bytes_text("bc")));
    cr_assert_eq(item.row.cells[1].timestamp_us, TIMESTAMP_SERVER);
    cr_assert_eq(item.row.cells[1].value.size, 0);
    teardown(&fixture);
}

/* What mutation_unpack would refuse is never written: rows that do not ascend are runs of their
 * own, and so are those of another partition. */
Test(packed_rows, a_row_that_does_not_follow_begins_a_run)
{
    struct fixture fixture = setup();
    const int order[] = {1, 2, 2, 1, 5};
    struct buffer packed = {0};
    struct error err = {0};

    for (uint32_t i = 0; i < 5; i++)
        pack_sample(&fixture, model_key(), &(struct sample){order[i], 1, NULL});
    pack_sample(&fixture, bytes_text("other"), &(struct sample){6, 1, NULL});
    cr_assert_eq(fixture.rows.span_count, 4);
    cr_assert_eq(fixture.rows.spans[0].row_count, 2);
    cr_assert_eq(fixture.rows.spans[2].row_count, 2);
    for (uint32_t i = 0; i < fixture.rows.span_count; i++) {
        struct mutation mutation;
        buffer_clear(&packed);
        packed_rows_pack_span(&fixture.rows, &fixture.rows.spans[i], &packed);
        struct reader reader = reader_of(buffer_view(&packed));
        cr_assert(mutation_unpack(&reader, fixture.schema, fixture.arena, NULL, &mutation, &err) ==
                      0,
                  "%s", err.text);
        cr_assert_eq(mutation.item_count, fixture.rows.spans[i].row_count);
        cr_assert_eq(mutation.token, fixture.rows.spans[i].token);
    }
    buffer_release(&packed);
    teardown(&fixture);
}

/* All that a reader at `frame` gets, packed. */
static void read_all(const struct fixture *fixture, const struct row_memtable *memtable,
                     uint64_t frame, struct buffer *packed)
{
    struct slice all = stream_slice_all();
    struct stream *stream = row_memtable_stream(memtable, fixture->table, model_token(),
                                                model_key(), &all, frame, NULL);
    struct unfiltered item;

    buffer_clear(packed);
    while (stream != NULL && stream->next(stream, &item, NULL) == 1)
        row_unfiltered_pack(&item, packed);
    stream_close(stream);
}

/* A live store applies the packed run and a replay the mutation that it is in the log: both must
 * come to the same, at every frame.  Rows with some of their columns are written over one another
 * more often than a reader merges, so that folded versions come in. */
Test(packed_rows, applied_live_and_replayed_are_the_same_at_every_frame)
{
    struct fixture fixture = setup();
    struct arena *arenas[2] = {arena_new(1 << 16), arena_new(1 << 16)};
    struct row_memtable *live = row_memtable_new(arenas[0]);
    struct row_memtable *replayed = row_memtable_new(arenas[1]);
    struct buffer seen[2] = {{0}};
    struct buffer packed = {0};
    struct error err = {0};
    uint64_t random = 5;
    enum { FRAMES = 60 };

    for (uint64_t frame = 1; frame <= FRAMES; frame++) {
        int64_t timestamp_us = 1385654400123456 + (int64_t)frame;
        struct mutation mutation;
        packed_rows_clear(&fixture.rows);
        for (int c1 = 0; c1 < 40; c1++)
            if (model_random(&random) % 3 > 0)
                pack_sample(&fixture, model_key(),
                            &(struct sample){c1, (int)(model_random(&random) % 9) - 1,
                                             model_random(&random) % 2 == 0 ? "b" : NULL});
        buffer_clear(&packed);
        packed_rows_pack_span(&fixture.rows, &fixture.rows.spans[0], &packed);
        struct reader reader = reader_of(buffer_view(&packed));
        cr_assert_eq(mutation_unpack(&reader, fixture.schema, fixture.arena, NULL, &mutation, &err),
                     0);
        row_memtable_apply_rows(live, fixture.table, &fixture.rows, &fixture.rows.spans[0], frame,
                                timestamp_us);
        row_memtable_apply(replayed, fixture.table, &mutation, frame, timestamp_us);
    }
    for (uint64_t frame = 0; frame <= FRAMES; frame++) {
        read_all(&fixture, live, frame, &seen[0]);
        read_all(&fixture, replayed, frame, &seen[1]);
        cr_assert(frame == 0 || seen[0].size > 100);
        cr_assert(bytes_equal(buffer_view(&seen[0]), buffer_view(&seen[1])), "frame %llu",
                  (unsigned long long)frame);
    }
    buffer_release(&seen[0]);
    buffer_release(&seen[1]);
    buffer_release(&packed);
    row_memtable_free(live);
    row_memtable_free(replayed);
    arena_free(arenas[0]);
    arena_free(arenas[1]);
    teardown(&fixture);
}

/* A batch with nothing but packed rows is none that may be left out, and in the log it is a
 * mutation like any other. */
Test(packed_rows, a_batch_of_them_reads_back_as_mutations)
{
    struct fixture fixture = setup();
    struct write_batch *batch = write_batch_new();
    struct write_batch *read = write_batch_new();
    struct schema *schema = schema_ref(fixture.schema);
    const struct clustering clustering = {2, {int_value(&fixture, 1), bytes_text("x")}};
    struct buffer payload = {0};
    struct error err = {0};

    cr_assert(write_batch_is_empty(batch));
    packed_rows_begin(&batch->rows, fixture.table, model_token(), model_key(), &clustering, 0);
    cr_assert_not(write_batch_is_empty(batch));
    write_batch_serialize(batch, NULL, &payload);
    struct reader reader = reader_of(buffer_view(&payload));
    cr_assert(write_batch_deserialize(&reader, &schema, NULL, read, &err) == 0, "%s", err.text);
    cr_assert_eq(read->mutation_count, 1);
    cr_assert_eq(read->rows.span_count, 0);
    cr_assert(bytes_equal(read->mutations[0].key, model_key()));
    write_batch_clear(batch);
    cr_assert(write_batch_is_empty(batch));
    buffer_release(&payload);
    write_batch_free(batch);
    write_batch_free(read);
    schema_unref(schema);
    teardown(&fixture);
}
