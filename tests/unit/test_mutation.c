/* test_mutation: builders, the packed form, and bytes that lie. */
#include "storage/cell/mutation.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/memory.h"
#include "base/murmur3.h"
#include "storage/memtable/row_memtable.h"
#include "tests/sim/partition_model.h"

struct fixture {
    struct schema *schema;
    const struct table *table;
    struct arena *arena;
};

static struct fixture setup(void)
{
    struct fixture fixture = {.schema = model_schema(), .arena = arena_new(1 << 16)};

    fixture.table = schema_table(fixture.schema, MODEL_TABLE);
    return fixture;
}

static void teardown(struct fixture *fixture)
{
    arena_free(fixture->arena);
    schema_unref(fixture->schema);
}

static int unpack(struct fixture *fixture, struct bytes packed, struct mutation *mutation)
{
    struct reader reader = reader_of(packed);
    struct error err = {0};
    int rc = mutation_unpack(&reader, fixture->schema, fixture->arena, NULL, mutation, &err);

    if (rc == 0)
        cr_assert_eq(reader.offset <= packed.size, true);
    else
        cr_assert(rc == ERROR_CORRUPT && err.text[0] != '\0');
    return rc;
}

static const uint8_t one[] = {0, 0, 0, 1};

static const struct column_value row_values[] = {
    {MODEL_B, false, {(const uint8_t *)"text", 4}},
    {MODEL_A, true, {NULL, 0}},
    {MODEL_C2, false, {(const uint8_t *)"z", 1}},
    {MODEL_PK, false, {(const uint8_t *)"p", 1}},
    {MODEL_C1, false, {one, 4}},
    {MODEL_S, false, {(const uint8_t *)"st", 2}},
};

Test(mutation, insert_makes_a_marker_and_sorted_cells)
{
    struct fixture fixture = setup();
    struct mutation mutation;

    mutation_insert(fixture.table, row_values, 6, true, fixture.arena, &mutation);
    cr_assert_eq(mutation.table_id, MODEL_TABLE);
    cr_assert(bytes_equal(mutation.key, bytes_text("p")));
    cr_assert_eq(mutation.token, murmur3_token("p", 1));
    cr_assert_eq(mutation.item_count, 2);
    const struct row *row = &mutation.items[0].row;
    cr_assert(row->is_static && row->cell_count == 1 && row->cells[0].column_id == MODEL_S);
    cr_assert_eq(row->marker.timestamp_us, TIMESTAMP_NONE);
    row = &mutation.items[1].row;
    cr_assert_eq(row->marker.timestamp_us, TIMESTAMP_SERVER);
    cr_assert_eq(row->clustering.count, 2);
    cr_assert_eq(type_value_int(row->clustering.values[0]), 1);
    cr_assert_eq(row->cell_count, 2);
    cr_assert(row->cells[0].column_id == MODEL_A && row->cells[0].flags == CELL_TOMBSTONE);
    cr_assert(row->cells[1].column_id == MODEL_B &&
              bytes_equal(row->cells[1].value, bytes_text("text")));
    teardown(&fixture);
}

Test(mutation, update_without_values_of_its_kind_writes_no_row)
{
    struct fixture fixture = setup();
    struct mutation mutation;

    mutation_insert(fixture.table, row_values, 6, false, fixture.arena, &mutation);
    cr_assert_eq(mutation.items[1].row.marker.timestamp_us, TIMESTAMP_NONE);
    mutation_insert(fixture.table, &row_values[2], 4, false, fixture.arena, &mutation);
    cr_assert_eq(mutation.item_count, 1);
    cr_assert(mutation.items[0].row.is_static);
    teardown(&fixture);
}

Test(mutation, delete_takes_a_row_or_the_partition)
{
    struct fixture fixture = setup();
    struct mutation mutation;

    mutation_delete(fixture.table, row_values, 6, fixture.arena, &mutation);
    cr_assert_eq(mutation.deletion.timestamp_us, TIMESTAMP_NONE);
    cr_assert_eq(mutation.item_count, 1);
    cr_assert_eq(mutation.items[0].row.deletion.timestamp_us, TIMESTAMP_SERVER);
    mutation_delete(fixture.table, &row_values[3], 1, fixture.arena, &mutation);
    cr_assert_eq(mutation.deletion.timestamp_us, TIMESTAMP_SERVER);
    cr_assert_eq(mutation.item_count, 0);
    teardown(&fixture);
}

/* Histories have every kind of write; what comes back packs to the same bytes. */
Test(mutation, what_was_packed_comes_back)
{
    struct fixture fixture = setup();
    struct model_write writes[200];
    uint64_t random = 1;

    model_history(&random, writes, 200, fixture.arena);
    for (int i = 0; i < 200; i++) {
        struct buffer packed = {0};
        struct buffer again = {0};
        struct mutation mutation;
        model_mutation(&writes[i], fixture.arena, &mutation);
        /* The model's b is four bytes of an int, which is no text where it is above 127. */
        if (writes[i].kind == MODEL_INSERT && writes[i].value % 256 > 127)
            continue;
        mutation_pack(&mutation, &packed);
        struct mutation back;
        int rc = unpack(&fixture, buffer_view(&packed), &back);
        bool is_text_s = writes[i].kind == MODEL_UPDATE_STATIC && writes[i].value % 256 > 127;
        cr_assert_eq(rc, is_text_s ? ERROR_CORRUPT : 0, "write %d", i);
        if (rc == 0) {
            mutation_pack(&back, &again);
            cr_assert(bytes_equal(buffer_view(&packed), buffer_view(&again)));
            cr_assert_eq(back.token, mutation.token);
            cr_assert_eq(back.deletion.timestamp_us, mutation.deletion.timestamp_us);
        }
        buffer_release(&packed);
        buffer_release(&again);
    }
    teardown(&fixture);
}

/* One of everything: static row, map cells, tombstone, row deletion, range, partition deletion. */
static void pack_everything(struct fixture *fixture, struct buffer *packed)
{
    struct unfiltered items[4];
    struct mutation mutation;
    struct complex_deletion cleared = {MODEL_M, {900, 1}};
    struct cell cells[3] = {
        {.column_id = MODEL_A, .flags = CELL_TOMBSTONE, .timestamp_us = 4, .expiry_s = 9},
        {.column_id = MODEL_M,
         .timestamp_us = 4,
         .ttl_s = 60,
         .expiry_s = 99,
         .path = bytes_text("k"),
         .value = bytes_of(one, 4)},
        {.column_id = MODEL_M,
         .timestamp_us = 4,
         .expiry_s = EXPIRY_NONE,
         .path = bytes_text("l"),
         .value = bytes_of(one, 4)}};

    mutation_insert(fixture->table, row_values, 6, true, fixture->arena, &mutation);
    memcpy(items, mutation.items, 2 * sizeof *items);
    items[1].row.deletion = (struct deletion){800, 2};
    items[1].row.complex = &cleared;
    items[1].row.complex_count = 1;
    items[1].row.cells = cells;
    items[1].row.cell_count = 3;
    for (int i = 2; i < 4; i++) {
        items[i] = (struct unfiltered){.kind = UNFILTERED_BOUND};
        items[i].bound.prefix = items[1].row.clustering;
        items[i].bound.prefix.count = 1;
        items[i].before = i == 2 ? DELETION_NONE : (struct deletion){700, 3};
        items[i].after = i == 2 ? (struct deletion){700, 3} : DELETION_NONE;
        items[i].bound.side = BOUND_AFTER;
    }
    items[3].bound.prefix.count = 0;
    mutation.deletion = (struct deletion){600, 4};
    mutation.items = items;
    mutation.item_count = 4;
    mutation_pack(&mutation, packed);
}

Test(mutation, cut_anywhere_is_corrupt)
{
    struct fixture fixture = setup();
    struct buffer packed = {0};
    struct mutation mutation;

    pack_everything(&fixture, &packed);
    cr_assert_eq(unpack(&fixture, buffer_view(&packed), &mutation), 0);
    for (size_t size = 0; size < packed.size; size++) {
        /* A copy of just that size, so that a read past it is seen. */
        uint8_t *cut = memory_copy(packed.data, size);
        cr_assert_eq(unpack(&fixture, bytes_of(cut, size), &mutation), ERROR_CORRUPT);
        memory_free(cut);
    }
    buffer_release(&packed);
    teardown(&fixture);
}

static void apply_and_read(struct fixture *fixture, const struct mutation *mutation)
{
    const struct table *table = schema_table(fixture->schema, mutation->table_id);
    struct row_memtable *memtable = row_memtable_new(fixture->arena);
    struct slice slice = stream_slice_all();
    struct unfiltered item;

    row_memtable_apply(memtable, table, mutation, 1, 1000);
    struct stream *stream = stream_live(
        row_memtable_stream(memtable, table, mutation->token, mutation->key, &slice, 1, NULL), 50);
    while (stream->next(stream, &item, NULL) > 0)
        cr_assert_eq(item.kind, UNFILTERED_ROW);
    stream_close(stream);
    row_memtable_free(memtable);
}

Test(mutation, a_flipped_bit_is_refused_or_gives_something_that_can_be_applied)
{
    struct fixture fixture = setup();
    struct buffer packed = {0};
    struct buffer again = {0};
    struct mutation mutation;

    pack_everything(&fixture, &packed);
    for (size_t bit = 0; bit < 8 * packed.size; bit++) {
        uint8_t *flipped = memory_copy(packed.data, packed.size);
        flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
        buffer_clear(&again);
        if (unpack(&fixture, bytes_of(flipped, packed.size), &mutation) == 0) {
            mutation_pack(&mutation, &again);
            apply_and_read(&fixture, &mutation);
        }
        memory_free(flipped);
        arena_reset(fixture.arena);
    }
    buffer_release(&packed);
    buffer_release(&again);
    teardown(&fixture);
}

static void expect_refused(struct fixture *fixture, const struct mutation *mutation,
                           const char *reason)
{
    struct buffer packed = {0};
    struct mutation back;
    struct error err = {0};

    mutation_pack(mutation, &packed);
    struct reader reader = reader_of(buffer_view(&packed));
    cr_assert_eq(mutation_unpack(&reader, fixture->schema, fixture->arena, NULL, &back, &err),
                 ERROR_CORRUPT, "accepted, should be refused: %s", reason);
    cr_assert_not_null(strstr(err.text, reason), "\"%s\" lacks \"%s\"", err.text, reason);
    buffer_release(&packed);
}

/* Its place in the batch stays, on which timestamps depend; what it says is passed over. */
Test(mutation, one_of_a_table_that_is_kept_as_bytes_is_passed_over)
{
    struct fixture fixture = setup();
    struct buffer packed = {0}, serialized = {0};
    struct mutation mutation;
    struct schema *other;
    struct error err = {0};

    mutation_insert(fixture.table, row_values, 6, true, fixture.arena, &mutation);
    mutation.deletion = (struct deletion){5, 5};
    mutation_pack(&mutation, &packed);
    schema_serialize(fixture.schema, &serialized);
    uint8_t *type = memmem(serialized.data, serialized.size, "map<text", 8);
    cr_assert_not_null(type);
    memcpy(type, "map<tekt", 8);
    cr_assert_eq(schema_deserialize(buffer_view(&serialized), &other, &err), 0, "%s", err.text);
    cr_assert(schema_is_unread(other, MODEL_TABLE));
    struct reader reader = reader_of(buffer_view(&packed));
    cr_assert_eq(mutation_unpack(&reader, other, fixture.arena, NULL, &mutation, &err), 0);
    cr_expect(mutation.table_id == MODEL_TABLE && mutation.item_count == 0);
    cr_expect_eq(reader_left(&reader), 0);
    for (size_t size = 0; size < packed.size; size++) {
        reader = reader_of(bytes_of(packed.data, size));
        cr_expect_eq(mutation_unpack(&reader, other, fixture.arena, NULL, &mutation, &err),
                     ERROR_CORRUPT);
    }
    schema_unref(other);
    buffer_release(&serialized);
    buffer_release(&packed);
    teardown(&fixture);
}

Test(mutation, what_the_schema_does_not_allow_is_refused)
{
    struct fixture fixture = setup();
    struct mutation good;
    struct mutation bad;
    struct unfiltered items[2];

    mutation_insert(fixture.table, row_values, 6, true, fixture.arena, &good);
    bad = good;
    bad.table_id = 4711;
    expect_refused(&fixture, &bad, "does not exist");

    bad = good;
    bad.items = items;
    memcpy(items, good.items, sizeof items);
    items[1].row.clustering.count = 1;
    expect_refused(&fixture, &bad, "wrong number of clustering values");
    memcpy(items, good.items, sizeof items);
    items[1].row.clustering.values[0].size = 3;
    expect_refused(&fixture, &bad, "clustering holds no value");
    memcpy(items, good.items, sizeof items);
    items[0] = items[1];
    expect_refused(&fixture, &bad, "items out of order");

    struct cell cell = good.items[1].row.cells[1];
    memcpy(items, good.items, sizeof items);
    items[1].row.cells = &cell;
    items[1].row.cell_count = 1;
    cell.column_id = MODEL_S;
    expect_refused(&fixture, &bad, "a column that the row cannot have");
    cell.column_id = MODEL_A;
    cell.value.size = 3;
    expect_refused(&fixture, &bad, "cell holds no value of its type");
    cell.column_id = MODEL_M;
    expect_refused(&fixture, &bad, "cell path missing");
    teardown(&fixture);
}

Test(mutation, a_range_deletion_must_end)
{
    struct fixture fixture = setup();
    struct mutation mutation = {.table_id = MODEL_TABLE,
                                .key = bytes_text("p"),
                                .deletion = DELETION_NONE,
                                .item_count = 1};
    struct unfiltered bound = {.kind = UNFILTERED_BOUND,
                               .bound.side = BOUND_BEFORE,
                               .before = DELETION_NONE,
                               .after = {7, 1}};

    mutation.items = &bound;
    expect_refused(&fixture, &mutation, "without end");
    bound.before = (struct deletion){9, 1};
    expect_refused(&fixture, &mutation, "do not pair up");
    teardown(&fixture);
}

/* The log holds writes from before a column was dropped; they must stay readable. */
Test(mutation, a_cell_of_a_dropped_column_is_accepted)
{
    struct fixture fixture = setup();
    struct buffer packed = {0};
    struct mutation mutation;
    struct error err = {0};

    mutation_insert(fixture.table, row_values, 6, true, fixture.arena, &mutation);
    mutation_pack(&mutation, &packed);
    cr_assert_eq(schema_drop_column(fixture.schema, MODEL_TABLE, "b", 1000, &err), 0, "%s",
                 err.text);
    cr_assert_eq(unpack(&fixture, buffer_view(&packed), &mutation), 0);
    buffer_release(&packed);
    teardown(&fixture);
}
