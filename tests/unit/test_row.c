/* The order of rows and bounds, and the packed form, whose reader must survive any bytes. */
#include <criterion/criterion.h>
#include <string.h>

#include "counters/counter_cell.h"
#include "base/arena.h"
#include "storage/cell/row.h"

enum { ARENA_CHUNK = 1 << 16 };

static const struct column_definition columns[] = {
    {1, "pk", "int", COLUMN_PARTITION, false},
    {2, "a", "tinyint", COLUMN_CLUSTERING, false},
    {3, "b", "tinyint", COLUMN_CLUSTERING, true},
    {4, "v", "text", COLUMN_REGULAR, false},
    {5, "m", "map<text, int>", COLUMN_REGULAR, false},
    {6, "s", "int", COLUMN_STATIC, false},
};
static const struct table_definition definition = {
    .id = 1, .keyspace = "k", .name = "t", .columns = columns, .column_count = 6};

static struct schema *make_schema(void)
{
    struct schema *schema = schema_new();

    cr_assert_eq(schema_add_keyspace(schema, "k", NULL), 0);
    cr_assert_eq(schema_add_table(schema, &definition, NULL), 0);
    return schema;
}

static const uint8_t digits[4] = {0, 1, 2, 3};

static struct clustering make_clustering(uint32_t count, int a, int b)
{
    struct clustering clustering = {.count = count};

    clustering.values[0] = bytes_of(&digits[a], 1);
    clustering.values[1] = bytes_of(&digits[b], 1);
    return clustering;
}

/* Places on a line: row (a, b) with b descending lies at 100 a + 10 (3 - b) + 5 + 100, a bound
 * before or after a prefix at the edge of the prefix's stretch. */
static int clustering_place(int a, int b)
{
    return 100 + 100 * a + 10 * (3 - b) + 5;
}

static int bound_place(uint32_t count, int a, int b, enum bound_side side)
{
    bool after = side == BOUND_AFTER;

    if (count == 0)
        return after ? 1000 : 0;
    if (count == 1)
        return 100 + 100 * a + (after ? 99 : 0);
    return clustering_place(a, b) + (after ? 1 : -1);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

struct placed_bound {
    struct bound bound;
    int place;
};

static uint32_t make_bounds(struct placed_bound bounds[48])
{
    uint32_t count = 0;

    for (int n = 0; n < 16; n++) {
        for (int side = BOUND_BEFORE; side <= BOUND_AFTER; side += 2) {
            uint32_t prefix = n == 0 ? 0 : n < 4 ? 1 : 2;
            int a = n < 4 ? n : n / 4;
            int b = n % 4;
            bounds[count].bound =
                (struct bound){make_clustering(prefix, a, b), (enum bound_side)side};
            bounds[count++].place = bound_place(prefix, a, b, (enum bound_side)side);
        }
    }
    return count;
}

Test(row, rows_and_bounds_lie_on_one_line)
{
    struct schema *schema = make_schema();
    const struct table *table = schema_table(schema, 1);
    struct placed_bound bounds[48];
    uint32_t bound_count = make_bounds(bounds);

    for (uint32_t i = 0; i < bound_count; i++) {
        for (uint32_t j = 0; j < bound_count; j++)
            cr_expect_eq(sign(row_bound_compare(table, &bounds[i].bound, &bounds[j].bound)),
                         sign(bounds[i].place - bounds[j].place));
        for (int n = 0; n < 16; n++) {
            struct clustering clustering = make_clustering(2, n / 4, n % 4);
            cr_expect_eq(sign(row_bound_compare_clustering(table, &bounds[i].bound, &clustering)),
                         sign(bounds[i].place - clustering_place(n / 4, n % 4)));
        }
    }
    for (int n = 0; n < 256; n++) {
        struct clustering a = make_clustering(2, n / 64, n / 16 % 4);
        struct clustering b = make_clustering(2, n / 4 % 4, n % 4);
        cr_expect_eq(
            sign(row_clustering_compare(table, &a, &b)),
            sign(clustering_place(n / 64, n / 16 % 4) - clustering_place(n / 4 % 4, n % 4)));
    }
    schema_unref(schema);
}

/* One unfiltered with everything that a format byte stands for. */
struct samples {
    struct cell cells[7];
    struct complex_deletion complex[2];
    struct buffer counter;
    struct unfiltered unfiltereds[6];
};

enum { SAMPLE_COUNT = 6 };

static void make_samples(struct samples *samples)
{
    *samples = (struct samples){0};
    counter_cell_write_single(&samples->counter, 5, (struct counter_shard){7, 8, 3});
    struct cell cells[] = {
        {4, 0, 1000, 0, EXPIRY_NONE, {0}, bytes_text("value")},
        {5, 0, 1000, 0, EXPIRY_NONE, bytes_text(""), bytes_text("")},
        {5, 0, -77, 60, 1700000000, bytes_text("k"), bytes_text("1234")},
        {5, CELL_TOMBSTONE, 2000, 0, 1600000000, bytes_text("z"), {0}},
        {7, CELL_TOMBSTONE, INT64_MAX, 0, EXPIRY_NONE, {0}, {0}},
        {9, CELL_COUNTER, 3, 0, EXPIRY_NONE, {0}, buffer_view(&samples->counter)},
        {UINT32_MAX, 0, INT64_MIN + 1, 1, -1, {0}, bytes_text("")},
    };
    memcpy(samples->cells, cells, sizeof cells);
    samples->complex[0] = (struct complex_deletion){5, {-9, 4}};
    samples->complex[1] = (struct complex_deletion){8, {INT64_MAX, INT64_MIN}};
    struct row full = {.clustering = make_clustering(2, 1, 2),
                       .marker = {1000, 30, 1500000000},
                       .deletion = {999, 123},
                       .complex = samples->complex,
                       .complex_count = 2,
                       .cells = samples->cells,
                       .cell_count = 7};
    struct row plain = {.clustering = make_clustering(2, 3, 0),
                        .marker = {5, 0, EXPIRY_NONE},
                        .deletion = DELETION_NONE,
                        .cells = samples->cells,
                        .cell_count = 1};
    struct row fixed = {.is_static = true,
                        .marker = LIVENESS_NONE,
                        .deletion = DELETION_NONE,
                        .cells = samples->cells,
                        .cell_count = 1};
    struct row empty = {
        .clustering = make_clustering(2, 0, 0), .marker = LIVENESS_NONE, .deletion = {-1, 0}};
    const struct row rows[] = {full, plain, fixed, empty};
    for (int i = 0; i < 4; i++)
        samples->unfiltereds[i] = (struct unfiltered){.kind = UNFILTERED_ROW,
                                                      .row = rows[i],
                                                      .before = DELETION_NONE,
                                                      .after = DELETION_NONE};
    samples->unfiltereds[4] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                                  .bound = {make_clustering(1, 2, 0), BOUND_AFTER},
                                                  .before = {7, 8},
                                                  .after = {9, -10}};
    samples->unfiltereds[5] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                                  .bound = {make_clustering(0, 0, 0), BOUND_BEFORE},
                                                  .before = DELETION_NONE,
                                                  .after = {9, 10}};
}

static void expect_equal_cell(const struct cell *a, const struct cell *b)
{
    cr_assert_eq(a->column_id, b->column_id);
    cr_assert_eq(a->flags, b->flags);
    cr_assert_eq(a->ttl_s, b->ttl_s);
    cr_assert_eq(a->path.data == NULL, b->path.data == NULL);
    cr_assert_eq(row_cell_reconcile(a, b), 0);
}

static void expect_equal_row(const struct row *a, const struct row *b)
{
    cr_assert_eq(a->is_static, b->is_static);
    cr_assert_eq(a->clustering.count, b->clustering.count);
    for (uint32_t i = 0; i < a->clustering.count; i++)
        cr_assert(bytes_equal(a->clustering.values[i], b->clustering.values[i]));
    cr_assert_eq(row_liveness_reconcile(a->marker, b->marker), 0);
    cr_assert_eq(a->deletion.timestamp_us, b->deletion.timestamp_us);
    cr_assert_eq(a->deletion.local_s, b->deletion.local_s);
    cr_assert_eq(a->complex_count, b->complex_count);
    for (uint32_t i = 0; i < a->complex_count; i++) {
        cr_assert_eq(a->complex[i].column_id, b->complex[i].column_id);
        cr_assert_eq(a->complex[i].deletion.timestamp_us, b->complex[i].deletion.timestamp_us);
        cr_assert_eq(a->complex[i].deletion.local_s, b->complex[i].deletion.local_s);
    }
    cr_assert_eq(a->cell_count, b->cell_count);
    for (uint32_t i = 0; i < a->cell_count; i++)
        expect_equal_cell(&a->cells[i], &b->cells[i]);
}

Test(row, the_packed_form_reads_back)
{
    struct schema *schema = make_schema();
    const struct table *table = schema_table(schema, 1);
    struct arena *arena = arena_new(ARENA_CHUNK);
    struct samples samples;
    struct buffer packed = {0};

    make_samples(&samples);
    for (int i = 0; i < SAMPLE_COUNT; i++)
        row_unfiltered_pack(&samples.unfiltereds[i], &packed);
    struct reader reader = reader_of(buffer_view(&packed));
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        const struct unfiltered *expected = &samples.unfiltereds[i];
        struct unfiltered read;
        cr_assert_eq(row_unfiltered_unpack(&reader, arena, &read), 0);
        cr_assert_eq(read.kind, expected->kind);
        cr_assert_eq(read.before.timestamp_us, expected->before.timestamp_us);
        cr_assert_eq(read.after.timestamp_us, expected->after.timestamp_us);
        cr_assert_eq(read.after.local_s, expected->after.local_s);
        if (read.kind == UNFILTERED_ROW)
            expect_equal_row(&read.row, &expected->row);
        else
            cr_assert_eq(row_bound_compare(table, &read.bound, &expected->bound), 0);
    }
    cr_assert_eq(reader_left(&reader), 0);
    buffer_release(&packed);
    buffer_release(&samples.counter);
    arena_free(arena);
    schema_unref(schema);
}

Test(row, a_copy_outlives_what_it_was_made_from)
{
    struct arena *arena = arena_new(ARENA_CHUNK);
    struct arena *copies = arena_new(ARENA_CHUNK);
    struct samples samples;

    make_samples(&samples);
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        const struct unfiltered *expected = &samples.unfiltereds[i];
        struct buffer packed = {0};
        struct unfiltered read;
        struct row copy;
        if (expected->kind != UNFILTERED_ROW)
            continue;
        row_unfiltered_pack(expected, &packed);
        struct reader reader = reader_of(buffer_view(&packed));
        cr_assert_eq(row_unfiltered_unpack(&reader, arena, &read), 0);
        row_copy(&read.row, copies, &copy);
        memset(packed.data, 0xff, packed.size);
        if (read.row.cell_count > 0)
            memset((void *)(uintptr_t)read.row.cells, 0xff,
                   read.row.cell_count * sizeof *read.row.cells);
        expect_equal_row(&copy, &expected->row);
        buffer_release(&packed);
    }
    buffer_release(&samples.counter);
    arena_free(copies);
    arena_free(arena);
}

/* A row of a text clustering "d" whose cells are columns 3 .. 3 + cell_count. */
static void pack_write(int64_t marker_us, int64_t cells_us, uint32_t cell_count, uint8_t flags,
                       int32_t ttl_s, struct buffer *packed)
{
    struct cell cells[3];
    struct unfiltered item = {.kind = UNFILTERED_ROW,
                              .before = DELETION_NONE,
                              .after = DELETION_NONE,
                              .row = {.marker = {marker_us, 0, EXPIRY_NONE},
                                      .deletion = DELETION_NONE,
                                      .clustering = {1, {bytes_text("d")}},
                                      .cells = cells,
                                      .cell_count = cell_count}};
    for (uint32_t i = 0; i < cell_count; i++)
        cells[i] = (struct cell){.column_id = 3 + i,
                                 .flags = flags,
                                 .timestamp_us = cells_us,
                                 .ttl_s = ttl_s,
                                 .expiry_s = ttl_s > 0 ? 1000 : EXPIRY_NONE,
                                 .value = bytes_text(flags != 0 ? "" : "value")};
    row_unfiltered_pack(&item, packed);
}

/* Only a later INSERT of all the columns leaves nothing of the row before it. */
Test(row, a_whole_row_replaces_an_older_one_and_nothing_less_does)
{
    static const struct {
        int64_t marker_us;
        int64_t cells_us;
        uint32_t cell_count;
        uint8_t flags;
        int32_t ttl_s;
        bool replaces; /* an INSERT at 10 of two cells */
    } rows[] = {
        {11, 11, 2, 0, 0, true},
        {11, 11, 3, 0, 0, true},
        {11, 11, 2, CELL_TOMBSTONE, 0, true},
        {11, 11, 1, 0, 0, false},
        {11, 11, 0, 0, 0, false},
        {10, 10, 2, 0, 0, false},
        {9, 9, 2, 0, 0, false},
        {11, 9, 2, 0, 0, false},
        {11, 11, 2, 0, 60, false},
        {TIMESTAMP_NONE, 11, 2, 0, 0, false},
    };
    struct buffer older = {0};
    pack_write(10, 10, 2, 0, 0, &older);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buffer newer = {0};
        pack_write(rows[i].marker_us, rows[i].cells_us, rows[i].cell_count, rows[i].flags,
                   rows[i].ttl_s, &newer);
        cr_expect_eq(row_packed_replaces(buffer_view(&newer), buffer_view(&older)),
                     rows[i].replaces, "row %zu", i);
        buffer_release(&newer);
    }
    buffer_release(&older);
}

/* docs/FORMATS.md "Row" shows these bytes. */
Test(row, the_documented_example_has_these_bytes)
{
    static const uint8_t expected[] = {
        0x09,                              /* a row with a marker */
        0x02, 0x01, 0x01, 0x01, 0x02,      /* clustering (1, 2) */
        0xD0, 0x0F,                        /* at 1000 us */
        0x02,                              /* two cells */
        0x04, 0x20, 0x02, 'h',  'i',       /* column 4, marker's time: "hi" */
        0x05, 0x11, 0xD2, 0x0F, 0x01, 'k', /* column 5 ['k']: tombstone at 1001 us */
    };
    struct cell cells[] = {
        {4, 0, 1000, 0, EXPIRY_NONE, {0}, bytes_text("hi")},
        {5, CELL_TOMBSTONE, 1001, 0, EXPIRY_NONE, bytes_text("k"), {0}},
    };
    struct unfiltered unfiltered = {.kind = UNFILTERED_ROW,
                                    .row = {.clustering = make_clustering(2, 1, 2),
                                            .marker = {1000, 0, EXPIRY_NONE},
                                            .deletion = DELETION_NONE,
                                            .cells = cells,
                                            .cell_count = 2}};
    struct buffer packed = {0};

    row_unfiltered_pack(&unfiltered, &packed);
    cr_assert(bytes_equal(buffer_view(&packed), bytes_of(expected, sizeof expected)));
    buffer_release(&packed);
}

/* Whatever a reader lets through must be safe to merge, read and write again. */
static void use(const struct table *table, struct bytes bytes, struct arena *arena)
{
    struct reader reader = reader_of(bytes);
    struct unfiltered read;
    struct buffer again = {0};

    arena_reset(arena);
    if (row_unfiltered_unpack(&reader, arena, &read) < 0)
        return;
    row_unfiltered_pack(&read, &again);
    buffer_release(&again);
    if (read.kind != UNFILTERED_ROW)
        return;
    const struct row *versions[] = {&read.row, &read.row};
    struct row merged;
    struct row live;
    row_merge(table, versions, 2, DELETION_NONE, arena, &merged);
    (void)row_live(table, &merged, 1500000000, arena, &live);
}

Test(row, damaged_rows_never_crash)
{
    struct schema *schema = make_schema();
    const struct table *table = schema_table(schema, 1);
    struct arena *arena = arena_new(ARENA_CHUNK);
    struct samples samples;

    make_samples(&samples);
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        struct buffer packed = {0};
        row_unfiltered_pack(&samples.unfiltereds[i], &packed);
        for (size_t size = 0; size < packed.size; size++) {
            struct reader reader = reader_of(bytes_of(packed.data, size));
            struct unfiltered read;
            cr_assert_eq(row_unfiltered_unpack(&reader, arena, &read), ERROR_CORRUPT);
        }
        for (size_t bit = 0; bit < 8 * packed.size; bit++) {
            packed.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            use(table, buffer_view(&packed), arena);
            packed.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        buffer_release(&packed);
    }
    buffer_release(&samples.counter);
    arena_free(arena);
    schema_unref(schema);
}

Test(row, what_no_writer_writes_is_corrupt)
{
    static const struct {
        const char *what;
        uint8_t bytes[16];
        size_t size;
    } cases[] = {
        {"kind 0", {0x00, 0x00}, 2},
        {"kind 3", {0x03, 0x00}, 2},
        {"an expiring marker without marker", {0x11, 0x00, 0x01, 0x02, 0x00}, 5},
        {"more clustering values than there can be", {0x01, 0x11, 0x00}, 3},
        {"more cells than bytes", {0x01, 0x00, 0xFF, 0x7F, 0x04, 0x00}, 6},
        {"a cell at the timestamp of an absent marker", {0x01, 0x00, 0x01, 0x04, 0x20, 0x00}, 6},
        {"a TTL of 0", {0x01, 0x00, 0x01, 0x04, 0x04, 0x02, 0x00, 0x02, 0x00}, 9},
        {"a tombstone with TTL", {0x01, 0x00, 0x01, 0x04, 0x05, 0x02, 0x02, 0x02}, 8},
        {"two cells of a simple column", {0x01, 0x00, 0x02, 0x04, 0x01, 0x02, 0x04, 0x01, 0x02}, 9},
        {"cells out of order", {0x01, 0x00, 0x02, 0x05, 0x01, 0x02, 0x04, 0x01, 0x02}, 9},
        {"a counter cell that is none", {0x01, 0x00, 0x01, 0x04, 0x02, 0x02, 0x01, 0x00}, 8},
        {"an unknown cell flag", {0x01, 0x00, 0x01, 0x04, 0x81, 0x02}, 6},
        {"an unknown bound flag", {0x22, 0x00}, 2},
        {"an unknown row flag", {0x81, 0x00, 0x00}, 3},
    };
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct reader reader = reader_of(bytes_of(cases[i].bytes, cases[i].size));
        struct unfiltered read;
        cr_expect_eq(row_unfiltered_unpack(&reader, arena, &read), ERROR_CORRUPT, "%s",
                     cases[i].what);
    }
    arena_free(arena);
}
