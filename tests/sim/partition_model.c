/* partition_model: see the header. */
#include "tests/sim/partition_model.h"

#include <criterion/criterion.h>

#include "base/murmur3.h"

enum { MODEL_C1_COUNT = 5, MODEL_C2_COUNT = 3, MODEL_PATHS = 3 };

static const char *const model_texts[] = {"a", "b", "c"};

struct schema *model_schema(void)
{
    static const struct column_definition columns[] = {
        {MODEL_PK, "pk", "text", COLUMN_PARTITION, false},
        {MODEL_C1, "c1", "int", COLUMN_CLUSTERING, false},
        {MODEL_C2, "c2", "text", COLUMN_CLUSTERING, true},
        {MODEL_S, "s", "text", COLUMN_STATIC, false},
        {MODEL_A, "a", "int", COLUMN_REGULAR, false},
        {MODEL_B, "b", "text", COLUMN_REGULAR, false},
        {MODEL_M, "m", "map<text, int>", COLUMN_REGULAR, false},
    };
    static const struct column_definition counters[] = {
        {1, "pk", "text", COLUMN_PARTITION, false},
        {2, "c1", "int", COLUMN_CLUSTERING, false},
        {3, "clicks", "counter", COLUMN_REGULAR, false},
        {4, "views", "counter", COLUMN_REGULAR, false},
        {5, "total", "counter", COLUMN_STATIC, false},
    };
    static const struct column_definition plain[] = {
        {1, "pk", "text", COLUMN_PARTITION, false},
        {2, "a", "int", COLUMN_REGULAR, false},
    };
    const struct table_definition tables[] = {
        {.id = MODEL_TABLE, .keyspace = "k", .name = "t", .columns = columns, .column_count = 7},
        {.id = MODEL_COUNTER_TABLE,
         .keyspace = "k",
         .name = "counters",
         .flags = TABLE_COUNTER,
         .columns = counters,
         .column_count = 5},
        {.id = MODEL_PLAIN_TABLE,
         .keyspace = "k",
         .name = "plain",
         .columns = plain,
         .column_count = 2},
    };
    struct schema *schema = schema_new();
    struct error err = {0};

    cr_assert_eq(schema_add_keyspace(schema, "k", &err), 0, "%s", err.text);
    for (size_t i = 0; i < 3; i++)
        cr_assert_eq(schema_add_table(schema, &tables[i], &err), 0, "%s", err.text);
    return schema;
}

struct bytes model_key(void)
{
    return bytes_text("the key");
}

int64_t model_token(void)
{
    return murmur3_token(model_key().data, model_key().size);
}

uint64_t model_random(uint64_t *state)
{
    /* SplitMix64. */
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int model_below(uint64_t *random, int limit)
{
    return (int)(model_random(random) % (uint64_t)limit);
}

static struct bytes model_int(struct arena *arena, int value)
{
    struct buffer buffer = {0};

    type_value_put_int(&buffer, value);
    struct bytes copy = arena_copy(arena, buffer_view(&buffer));
    buffer_release(&buffer);
    return copy;
}

/* ---- places ---- */

static void model_bound(uint64_t *random, struct arena *arena, struct bound *bound)
{
    *bound = (struct bound){.side = model_below(random, 2) == 0 ? BOUND_BEFORE : BOUND_AFTER};
    bound->prefix.count = (uint32_t)model_below(random, 3);
    bound->prefix.values[0] = model_int(arena, model_below(random, MODEL_C1_COUNT));
    bound->prefix.values[1] = bytes_text(model_texts[model_below(random, MODEL_C2_COUNT)]);
}

/* Is the row before the bound?  c1 ascends, c2 descends. */
static bool row_is_before(int c1, int c2, const struct bound *bound)
{
    bool after = bound->side == BOUND_AFTER;

    if (bound->prefix.count == 0)
        return after;
    int bound_c1 = type_value_int(bound->prefix.values[0]);
    if (c1 != bound_c1 || bound->prefix.count == 1)
        return c1 == bound_c1 ? after : c1 < bound_c1;
    int bound_c2 = bound->prefix.values[1].data[0] - 'a';
    return c2 == bound_c2 ? after : c2 > bound_c2;
}

static bool slice_has_row(const struct slice *slice, int c1, int c2)
{
    return !row_is_before(c1, c2, &slice->start) && row_is_before(c1, c2, &slice->end);
}

struct slice model_slice(uint64_t *random, struct arena *arena)
{
    struct slice slice = stream_slice_all();

    slice.reversed = model_below(random, 2) == 0;
    slice.with_static = model_below(random, 2) == 0;
    if (model_below(random, 3) == 0)
        return slice;
    /* A start behind the end is no slice: draw again. */
    struct schema *schema = model_schema();
    const struct table *table = schema_table(schema, MODEL_TABLE);
    do {
        model_bound(random, arena, &slice.start);
        model_bound(random, arena, &slice.end);
    } while (row_bound_compare(table, &slice.start, &slice.end) >= 0);
    schema_unref(schema);
    return slice;
}

/* ---- writes ---- */

void model_history(uint64_t *random, struct model_write *writes, size_t count, struct arena *arena)
{
    uint64_t frame = 1;

    for (size_t i = 0; i < count; i++) {
        frame += model_below(random, 3) == 0 ? 1 + model_random(random) % 3 : 0;
        int kind = model_below(random, 100);
        writes[i] = (struct model_write){
            .kind = kind < 3 ? MODEL_DELETE_PARTITION
                             : (enum model_kind)model_below(random, MODEL_KINDS),
            .frame = frame,
            .timestamp_us = 1000 + (int64_t)i,
            .server_timestamp = model_below(random, 2) == 0,
            .c1 = model_below(random, MODEL_C1_COUNT),
            .c2 = model_below(random, MODEL_C2_COUNT),
            .value = model_below(random, 1000),
        };
        if (writes[i].kind == MODEL_DELETE_PARTITION && kind >= 3)
            writes[i].kind = MODEL_INSERT;
        writes[i].range = model_slice(random, arena);
    }
    /* Clocks of clients are not in the order of frames. */
    for (size_t i = 1; i < count; i++) {
        size_t other = i - model_random(random) % (i < 8 ? i : 8);
        int64_t timestamp_us = writes[i].timestamp_us;
        writes[i].timestamp_us = writes[other].timestamp_us;
        writes[other].timestamp_us = timestamp_us;
    }
}

static void set_row(const struct model_write *write, int64_t timestamp_us, struct arena *arena,
                    struct row *row)
{
    struct cell *cells = arena_alloc(arena, 2 * sizeof *cells, _Alignof(struct cell));
    struct complex_deletion *complex =
        arena_alloc(arena, sizeof *complex, _Alignof(struct complex_deletion));
    struct cell cell = {.timestamp_us = timestamp_us, .expiry_s = EXPIRY_NONE};

    *row = (struct row){
        .marker = LIVENESS_NONE, .deletion = DELETION_NONE, .cells = cells, .complex = complex};
    row->is_static = write->kind == MODEL_UPDATE_STATIC;
    if (!row->is_static) {
        row->clustering.count = 2;
        row->clustering.values[0] = model_int(arena, write->c1);
        row->clustering.values[1] = bytes_text(model_texts[write->c2]);
    }
    if (write->kind == MODEL_INSERT)
        row->marker.timestamp_us = timestamp_us;
    if (write->kind == MODEL_DELETE_ROW)
        row->deletion = (struct deletion){timestamp_us, 5};
    if (write->kind == MODEL_CLEAR_MAP)
        complex[row->complex_count++] = (struct complex_deletion){MODEL_M, {timestamp_us, 5}};
    cell.column_id = row->is_static ? MODEL_S : MODEL_A;
    cell.value = model_int(arena, write->value);
    if (write->kind == MODEL_DELETE_CELL) {
        cell.flags = CELL_TOMBSTONE;
        cell.value = (struct bytes){0};
    }
    if (write->kind == MODEL_PUT_MAP) {
        cell.column_id = MODEL_M;
        cell.path = bytes_text(model_texts[write->value % MODEL_PATHS]);
    }
    if (write->kind != MODEL_DELETE_ROW && write->kind != MODEL_CLEAR_MAP)
        cells[row->cell_count++] = cell;
    if (write->kind == MODEL_INSERT) {
        cell.column_id = MODEL_B;
        cells[row->cell_count++] = cell;
    }
}

void model_mutation(const struct model_write *write, struct arena *arena,
                    struct mutation *mutation_out)
{
    int64_t timestamp_us = write->server_timestamp ? TIMESTAMP_SERVER : write->timestamp_us;
    struct unfiltered *items = arena_alloc(arena, 2 * sizeof *items, _Alignof(struct unfiltered));
    struct deletion deletion = {timestamp_us, 5};

    *mutation_out = (struct mutation){.table_id = MODEL_TABLE,
                                      .token = model_token(),
                                      .key = model_key(),
                                      .deletion = DELETION_NONE,
                                      .items = items};
    if (write->kind == MODEL_DELETE_PARTITION) {
        mutation_out->deletion = deletion;
        return;
    }
    if (write->kind != MODEL_DELETE_RANGE) {
        items[0] = (struct unfiltered){.kind = UNFILTERED_ROW};
        set_row(write, timestamp_us, arena, &items[0].row);
        mutation_out->item_count = 1;
        return;
    }
    items[0] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                   .bound = write->range.start,
                                   .before = DELETION_NONE,
                                   .after = deletion};
    items[1] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                   .bound = write->range.end,
                                   .before = deletion,
                                   .after = DELETION_NONE};
    mutation_out->item_count = 2;
}

/* ---- what a reader must see ---- */

/* The latest write that `is_it`, of those up to a frame. */
static const struct model_write *
latest(const struct model_write *writes, size_t count, uint64_t frame,
       bool (*is_it)(const struct model_write *write, int c1, int c2, int path), int c1, int c2,
       int path)
{
    const struct model_write *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (writes[i].frame <= frame && is_it(&writes[i], c1, c2, path) &&
            (found == NULL || writes[i].timestamp_us > found->timestamp_us))
            found = &writes[i];
    return found;
}

static bool is_row(const struct model_write *write, int c1, int c2)
{
    return write->c1 == c1 && write->c2 == c2;
}

static bool deletes_row(const struct model_write *write, int c1, int c2, int path)
{
    (void)path;
    return write->kind == MODEL_DELETE_PARTITION ||
           (write->kind == MODEL_DELETE_RANGE && slice_has_row(&write->range, c1, c2)) ||
           (write->kind == MODEL_DELETE_ROW && is_row(write, c1, c2));
}

static bool deletes_partition(const struct model_write *write, int c1, int c2, int path)
{
    (void)c1, (void)c2, (void)path;
    return write->kind == MODEL_DELETE_PARTITION;
}

static bool writes_static(const struct model_write *write, int c1, int c2, int path)
{
    (void)c1, (void)c2, (void)path;
    return write->kind == MODEL_UPDATE_STATIC;
}

static bool writes_marker(const struct model_write *write, int c1, int c2, int path)
{
    (void)path;
    return write->kind == MODEL_INSERT && is_row(write, c1, c2);
}

static bool writes_a(const struct model_write *write, int c1, int c2, int path)
{
    (void)path;
    return (write->kind == MODEL_INSERT || write->kind == MODEL_UPDATE ||
            write->kind == MODEL_DELETE_CELL) &&
           is_row(write, c1, c2);
}

static bool clears_map(const struct model_write *write, int c1, int c2, int path)
{
    return deletes_row(write, c1, c2, path) ||
           (write->kind == MODEL_CLEAR_MAP && is_row(write, c1, c2));
}

static bool writes_map(const struct model_write *write, int c1, int c2, int path)
{
    return write->kind == MODEL_PUT_MAP && is_row(write, c1, c2) &&
           write->value % MODEL_PATHS == path;
}

static bool survives(const struct model_write *write, const struct model_write *deletion)
{
    return write != NULL && write->kind != MODEL_DELETE_CELL &&
           (deletion == NULL || write->timestamp_us > deletion->timestamp_us);
}

static void print_cell(struct buffer *text, const char *column, const char *path, int value,
                       int64_t timestamp_us)
{
    buffer_printf(text, " %s%s=%d@%lld", column, path, value, (long long)timestamp_us);
}

static void model_print_row(const struct model_write *writes, size_t count, uint64_t frame, int c1,
                            int c2, struct buffer *text)
{
    const struct model_write *gone = latest(writes, count, frame, deletes_row, c1, c2, 0);
    const struct model_write *marker = latest(writes, count, frame, writes_marker, c1, c2, 0);
    const struct model_write *a = latest(writes, count, frame, writes_a, c1, c2, 0);
    const struct model_write *cleared = latest(writes, count, frame, clears_map, c1, c2, 0);
    size_t start = text->size;

    buffer_printf(text, "%d%s", c1, model_texts[c2]);
    size_t empty = text->size;
    if (survives(marker, gone))
        buffer_printf(text, " @%lld", (long long)marker->timestamp_us);
    if (survives(a, gone))
        print_cell(text, "a", "", a->value, a->timestamp_us);
    if (survives(marker, gone))
        print_cell(text, "b", "", marker->value, marker->timestamp_us);
    for (int path = 0; path < MODEL_PATHS; path++) {
        const struct model_write *m = latest(writes, count, frame, writes_map, c1, c2, path);
        if (survives(m, cleared))
            print_cell(text, "m", model_texts[path], m->value, m->timestamp_us);
    }
    if (text->size == empty)
        text->size = start;
    else
        buffer_append_text(text, "\n");
}

void model_print(const struct model_write *writes, size_t count, uint64_t frame,
                 const struct slice *slice, struct buffer *text)
{
    const struct model_write *s = latest(writes, count, frame, writes_static, 0, 0, 0);

    if (slice->with_static && survives(s, latest(writes, count, frame, deletes_partition, 0, 0, 0)))
        buffer_printf(text, "static s=%d@%lld\n", s->value, (long long)s->timestamp_us);
    for (int i = 0; i < MODEL_C1_COUNT * MODEL_C2_COUNT; i++) {
        int at = slice->reversed ? MODEL_C1_COUNT * MODEL_C2_COUNT - 1 - i : i;
        int c1 = at / MODEL_C2_COUNT;
        int c2 = MODEL_C2_COUNT - 1 - at % MODEL_C2_COUNT;
        if (slice_has_row(slice, c1, c2))
            model_print_row(writes, count, frame, c1, c2, text);
    }
    buffer_put_u8(text, 0);
}

/* ---- what a stream says ---- */

static void print_place(const struct clustering *clustering, struct buffer *text)
{
    if (clustering->count > 0)
        buffer_printf(text, "%d", type_value_int(clustering->values[0]));
    if (clustering->count > 1)
        buffer_append_bytes(text, clustering->values[1]);
}

static void print_row(const struct row *row, struct buffer *text)
{
    static const char *const names[] = {"", "pk", "c1", "c2", "s", "a", "b", "m"};

    if (row->is_static)
        buffer_append_text(text, "static");
    print_place(&row->clustering, text);
    if (row->marker.timestamp_us != TIMESTAMP_NONE)
        buffer_printf(text, " @%lld", (long long)row->marker.timestamp_us);
    if (row->deletion.timestamp_us != TIMESTAMP_NONE)
        buffer_printf(text, " deleted@%lld", (long long)row->deletion.timestamp_us);
    for (uint32_t i = 0; i < row->complex_count; i++)
        buffer_printf(text, " %s deleted@%lld", names[row->complex[i].column_id],
                      (long long)row->complex[i].deletion.timestamp_us);
    for (uint32_t i = 0; i < row->cell_count; i++) {
        const struct cell *cell = &row->cells[i];
        char path[2] = {cell->path.size > 0 ? (char)cell->path.data[0] : '\0', '\0'};
        bool tombstone = (cell->flags & CELL_TOMBSTONE) != 0;
        print_cell(text, names[cell->column_id], path, tombstone ? -1 : type_value_int(cell->value),
                   cell->timestamp_us);
    }
    buffer_append_text(text, "\n");
}

void model_print_stream(struct stream *stream, struct buffer *text)
{
    struct stream *live = stream_live(stream, 0);
    struct unfiltered item;
    int rc;

    while ((rc = live->next(live, &item, NULL)) > 0)
        print_row(&item.row, text);
    cr_assert_eq(rc, 0);
    stream_close(live);
    buffer_put_u8(text, 0);
}

static void check_in_slice(const struct table *table, const struct slice *slice,
                           const struct unfiltered *item)
{
    if (item->kind == UNFILTERED_BOUND) {
        cr_assert(row_bound_compare(table, &slice->start, &item->bound) <= 0);
        cr_assert(row_bound_compare(table, &slice->end, &item->bound) >= 0);
    } else {
        cr_assert(item->row.is_static ? slice->with_static
                                      : stream_slice_contains(table, slice, &item->row.clustering));
    }
}

/* Is the place of `packed`, an item before, really before `item` in the stream's direction? */
static void check_after(const struct table *table, const struct slice *slice,
                        const struct buffer *packed, const struct unfiltered *item)
{
    struct arena *arena = arena_new(4096);
    struct reader reader = reader_of(buffer_view(packed));
    struct unfiltered last;

    if (packed->size > 0) {
        cr_assert_eq(row_unfiltered_unpack(&reader, arena, &last), 0);
        int order = stream_position_compare(table, &last, item);
        bool forward = !slice->reversed || (last.kind == UNFILTERED_ROW && last.row.is_static);
        cr_assert(forward ? order < 0 : order > 0);
    }
    arena_free(arena);
}

void model_print_raw(struct stream *stream, const struct slice *slice, struct buffer *text)
{
    const struct table *table = stream->table;
    struct buffer packed = {0};
    struct unfiltered item;
    int64_t open_us = TIMESTAMP_NONE;
    int rc;

    buffer_printf(text, "partition %lld\n", (long long)stream->partition_deletion.timestamp_us);
    while ((rc = stream->next(stream, &item, NULL)) > 0) {
        check_in_slice(table, slice, &item);
        check_after(table, slice, &packed, &item);
        buffer_clear(&packed);
        row_unfiltered_pack(&item, &packed);
        if (item.kind == UNFILTERED_ROW) {
            print_row(&item.row, text);
            continue;
        }
        cr_assert_eq(item.before.timestamp_us, open_us);
        cr_assert_neq(item.after.timestamp_us, open_us);
        open_us = item.after.timestamp_us;
        print_place(&item.bound.prefix, text);
        buffer_printf(text, "%c %lld -> %lld\n", item.bound.side == BOUND_AFTER ? '+' : '-',
                      (long long)item.before.timestamp_us, (long long)open_us);
    }
    cr_assert_eq(rc, 0);
    cr_assert_eq(open_us, TIMESTAMP_NONE);
    buffer_release(&packed);
    stream_close(stream);
    buffer_put_u8(text, 0);
}
