/* row_merge against a model that knows nothing of merging.
 *
 * Method: a history is a set of writes: markers, cells, and deletions of cells, complex columns,
 * the row and the range around it.  The model looks at every (column, path) by itself: it takes all
 * its writes, strikes out what the strongest deletion hides, and picks the greatest by a list of
 * numbers that spells out the rules of DESIGN and Cassandra.  The real code gets each write as a
 * version of its own, in an order and a tree of merges drawn from the seed, partly packed and
 * unpacked on the way, with the range given to some of the merges.  All domains are tiny, so that
 * ties are the rule. */
#include <criterion/criterion.h>
#include <string.h>

#include "counters/counter_cell.h"
#include "base/arena.h"
#include "storage/cell/row.h"

enum { HISTORIES = 6000, WRITES_MAX = 24, PATHS = 4, ARENA_CHUNK = 1 << 16 };

/* Columns of the table below; the last one does not exist (it was dropped). */
enum { C_TEXT = 4, C_INT = 5, C_MAP = 6, C_SET = 7, C_STATIC = 8, C_STATIC_MAP = 9, C_GONE = 10 };

static const struct column_definition columns[] = {
    {1, "pk", "int", COLUMN_PARTITION, false},
    {2, "c", "int", COLUMN_CLUSTERING, false},
    {3, "d", "decimal", COLUMN_CLUSTERING, true},
    {C_TEXT, "z", "text", COLUMN_REGULAR, false},
    {C_INT, "a", "int", COLUMN_REGULAR, false},
    {C_MAP, "m", "map<int, int>", COLUMN_REGULAR, false},
    {C_SET, "b", "set<decimal>", COLUMN_REGULAR, false},
    {C_STATIC, "y", "int", COLUMN_STATIC, false},
    {C_STATIC_MAP, "x", "map<int, int>", COLUMN_STATIC, false},
};
static const struct table_definition definition = {
    .id = 1, .keyspace = "k", .name = "t", .columns = columns, .column_count = 9};

static const struct column_definition counter_columns[] = {
    {1, "pk", "int", COLUMN_PARTITION, false},
    {2, "v", "counter", COLUMN_REGULAR, false},
};
static const struct table_definition counter_definition = {.id = 2,
                                                           .keyspace = "k",
                                                           .name = "u",
                                                           .flags = TABLE_COUNTER,
                                                           .columns = counter_columns,
                                                           .column_count = 2};

static struct schema *make_schema(void)
{
    struct schema *schema = schema_new();

    cr_assert_eq(schema_add_keyspace(schema, "k", NULL), 0);
    cr_assert_eq(schema_add_table(schema, &definition, NULL), 0);
    cr_assert_eq(schema_add_table(schema, &counter_definition, NULL), 0);
    return schema;
}

/* The generator */

struct seeded {
    uint64_t state;
};

static uint32_t draw(struct seeded *seeded, uint32_t below)
{
    /* splitmix64: neighbouring draws must not depend on each other, or ties never meet. */
    uint64_t mixed = seeded->state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)((mixed ^ mixed >> 31) % below);
}

enum write_kind {
    WRITE_MARKER,
    WRITE_CELL,
    WRITE_TOMBSTONE,
    WRITE_COMPLEX_DELETION,
    WRITE_ROW_DELETION
};

struct write {
    enum write_kind kind;
    uint32_t column_id;
    int path; /* -1 in simple columns */
    int64_t timestamp_us;
    int32_t ttl_s;
    int64_t expiry_s;
    int64_t local_s;
    uint8_t value;
};

struct history {
    bool is_static;
    struct deletion range;
    struct write writes[WRITES_MAX];
    uint32_t count;
};

/* The set's paths: 1.0 and 1.00 are one element in two spellings, then 2 and 3. */
static const uint8_t decimal_paths[PATHS][5] = {
    {0, 0, 0, 1, 10}, {0, 0, 0, 2, 100}, {0, 0, 0, 0, 2}, {0, 0, 0, 0, 3}};
static const uint8_t int_paths[PATHS][4] = {
    {0xFF, 0xFF, 0xFF, 0xFF}, {0, 0, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}};
static const uint8_t values[4][1] = {{0}, {1}, {2}, {0xFF}};

static bool is_complex(uint32_t column_id)
{
    return column_id == C_MAP || column_id == C_SET || column_id == C_STATIC_MAP;
}

static struct write draw_write(struct seeded *seeded, bool is_static)
{
    static const uint32_t regular[] = {C_TEXT, C_INT, C_MAP, C_SET, C_GONE, C_STATIC};
    static const uint32_t statics[] = {C_STATIC, C_STATIC_MAP, C_GONE, C_MAP};
    struct write write = {.kind = (enum write_kind)draw(seeded, 5),
                          .timestamp_us = (int64_t)draw(seeded, 7) - 3,
                          .expiry_s = EXPIRY_NONE,
                          .path = -1,
                          .local_s = draw(seeded, 3)};

    if (write.kind == WRITE_ROW_DELETION && draw(seeded, 3) != 0)
        write.kind = WRITE_CELL;
    if (is_static && (write.kind == WRITE_ROW_DELETION || write.kind == WRITE_MARKER))
        write.kind = WRITE_CELL;
    write.column_id = is_static ? statics[draw(seeded, 4)] : regular[draw(seeded, 6)];
    if (write.kind == WRITE_COMPLEX_DELETION && !is_complex(write.column_id))
        write.column_id = is_static ? C_STATIC_MAP : C_MAP;
    if (is_complex(write.column_id))
        write.path = (int)draw(seeded, PATHS);
    if (write.kind == WRITE_TOMBSTONE) {
        write.expiry_s = 10 * (int64_t)draw(seeded, 3);
    } else if (draw(seeded, 2) == 0) {
        write.ttl_s = (int32_t)draw(seeded, 2) + 1;
        write.expiry_s = 10 * (int64_t)draw(seeded, 4);
    }
    write.value = write.column_id == C_SET ? 0 : (uint8_t)draw(seeded, 4);
    return write;
}

static struct history draw_history(struct seeded *seeded)
{
    struct history history = {.is_static = draw(seeded, 4) == 0, .range = DELETION_NONE};

    if (draw(seeded, 3) == 0)
        history.range = (struct deletion){(int64_t)draw(seeded, 5) - 3, draw(seeded, 3)};
    history.count = 1 + draw(seeded, WRITES_MAX);
    for (uint32_t i = 0; i < history.count; i++)
        history.writes[i] = draw_write(seeded, history.is_static);
    return history;
}

/* The model */

/* Compared from the front; the greatest stands. */
struct strength {
    int64_t parts[7];
};

static struct strength strength_of(const struct write *write)
{
    bool tombstone = write->kind == WRITE_TOMBSTONE;
    bool dies = tombstone || write->ttl_s > 0;

    return (struct strength){{write->timestamp_us, dies, tombstone, dies ? write->expiry_s : 0,
                              -write->ttl_s, tombstone ? 0 : write->value, write->path}};
}

static bool stronger(const struct write *a, const struct write *b)
{
    struct strength left = strength_of(a);
    struct strength right = strength_of(b);

    for (int i = 0; i < 7; i++)
        if (left.parts[i] != right.parts[i])
            return left.parts[i] > right.parts[i];
    return false;
}

static void strengthen(struct deletion *deletion, int64_t timestamp_us, int64_t local_s)
{
    bool none = deletion->timestamp_us == TIMESTAMP_NONE;
    bool younger = timestamp_us > deletion->timestamp_us;
    bool later = timestamp_us == deletion->timestamp_us && local_s > deletion->local_s;

    if (none || younger || later)
        *deletion = (struct deletion){timestamp_us, local_s};
}

/* The strongest deletion over the row, and over one of its complex columns unless that is 0. */
static struct deletion model_deletion(const struct history *history, uint32_t column_id)
{
    struct deletion deletion = history->range;

    for (uint32_t i = 0; i < history->count; i++) {
        const struct write *write = &history->writes[i];
        bool counts = write->kind == WRITE_ROW_DELETION ||
                      (write->kind == WRITE_COMPLEX_DELETION && write->column_id == column_id);
        if (counts)
            strengthen(&deletion, write->timestamp_us, write->local_s);
    }
    return deletion;
}

static bool model_knows(bool is_static, uint32_t column_id)
{
    if (is_static)
        return column_id == C_STATIC || column_id == C_STATIC_MAP;
    return column_id >= C_TEXT && column_id <= C_SET;
}

static int model_place(uint32_t column_id, int path)
{
    return column_id == C_SET && path == 1 ? 0 : path;
}

/* The write that stands at a place, or NULL. */
static const struct write *model_cell(const struct history *history, uint32_t column_id, int place)
{
    struct deletion deletion = model_deletion(history, column_id);
    const struct write *best = NULL;

    for (uint32_t i = 0; i < history->count; i++) {
        const struct write *write = &history->writes[i];
        if ((write->kind != WRITE_CELL && write->kind != WRITE_TOMBSTONE) ||
            write->column_id != column_id || model_place(column_id, write->path) != place)
            continue;
        if (deletion.timestamp_us != TIMESTAMP_NONE && write->timestamp_us <= deletion.timestamp_us)
            continue;
        if (best == NULL || stronger(write, best))
            best = write;
    }
    return best;
}

static const struct write *model_marker(const struct history *history)
{
    struct deletion deletion = model_deletion(history, 0);
    const struct write *best = NULL;

    for (uint32_t i = 0; i < history->count; i++) {
        const struct write *write = &history->writes[i];
        if (write->kind != WRITE_MARKER || (deletion.timestamp_us != TIMESTAMP_NONE &&
                                            write->timestamp_us <= deletion.timestamp_us))
            continue;
        struct write bare = *write;
        bare.value = 0;
        bare.path = 0;
        struct write best_bare = best == NULL ? bare : *best;
        best_bare.value = 0;
        best_bare.path = 0;
        if (best == NULL || stronger(&bare, &best_bare))
            best = write;
    }
    return best;
}

static bool model_live(const struct write *write, int64_t now_s)
{
    return write != NULL && write->kind != WRITE_TOMBSTONE &&
           (write->ttl_s == 0 || write->expiry_s > now_s);
}

/* From writes to versions */

static struct bytes path_bytes(uint32_t column_id, int path)
{
    if (path < 0)
        return bytes_of(NULL, 0);
    return column_id == C_SET ? bytes_of(decimal_paths[path], 5) : bytes_of(int_paths[path], 4);
}

static struct cell make_cell(const struct write *write)
{
    struct cell cell = {.column_id = write->column_id,
                        .timestamp_us = write->timestamp_us,
                        .ttl_s = write->ttl_s,
                        .expiry_s = write->expiry_s,
                        .path = path_bytes(write->column_id, write->path)};

    if (write->kind == WRITE_TOMBSTONE)
        cell.flags = CELL_TOMBSTONE;
    else
        cell.value = bytes_of(values[write->value], write->column_id == C_SET ? 0 : 1);
    return cell;
}

static struct row *make_version(const struct history *history, const struct write *write,
                                struct arena *arena)
{
    struct row *row = arena_alloc(arena, sizeof *row, _Alignof(struct row));

    *row = (struct row){
        .is_static = history->is_static, .marker = LIVENESS_NONE, .deletion = DELETION_NONE};
    if (!history->is_static) {
        row->clustering.count = 2;
        row->clustering.values[0] = bytes_of(int_paths[2], 4);
        row->clustering.values[1] = bytes_of(decimal_paths[2], 5);
    }
    if (write->kind == WRITE_MARKER) {
        row->marker = (struct liveness){write->timestamp_us, write->ttl_s, write->expiry_s};
    } else if (write->kind == WRITE_ROW_DELETION) {
        row->deletion = (struct deletion){write->timestamp_us, write->local_s};
    } else if (write->kind == WRITE_COMPLEX_DELETION) {
        struct complex_deletion *complex =
            arena_alloc(arena, sizeof *complex, _Alignof(struct complex_deletion));
        *complex =
            (struct complex_deletion){write->column_id, {write->timestamp_us, write->local_s}};
        row->complex = complex;
        row->complex_count = 1;
    } else {
        struct cell *cell = arena_alloc(arena, sizeof *cell, _Alignof(struct cell));
        *cell = make_cell(write);
        row->cells = cell;
        row->cell_count = 1;
    }
    return row;
}

static struct bytes pack(const struct row *row, struct arena *arena)
{
    struct unfiltered unfiltered = {.kind = UNFILTERED_ROW, .row = *row};
    struct buffer buffer = {0};

    row_unfiltered_pack(&unfiltered, &buffer);
    struct bytes packed = arena_copy(arena, buffer_view(&buffer));
    buffer_release(&buffer);
    return packed;
}

static struct row *repack(const struct row *row, struct arena *arena)
{
    struct unfiltered *unfiltered =
        arena_alloc(arena, sizeof *unfiltered, _Alignof(struct unfiltered));
    struct reader reader = reader_of(pack(row, arena));

    cr_assert_eq(row_unfiltered_unpack(&reader, arena, unfiltered), 0);
    cr_assert_eq(reader_left(&reader), 0);
    return &unfiltered->row;
}

/* Merge all versions in a random tree; the last merge has the range, the others may. */
static struct row *merge_tree(struct seeded *seeded, const struct table *table, struct row **rows,
                              uint32_t count, struct deletion range, struct arena *arena)
{
    for (;;) {
        for (uint32_t i = count; i > 1; i--) {
            uint32_t other = draw(seeded, i);
            struct row *swapped = rows[i - 1];
            rows[i - 1] = rows[other];
            rows[other] = swapped;
        }
        uint32_t take = count < 2 ? count : 1 + draw(seeded, count);
        bool last = take == count;
        const struct row *versions[WRITES_MAX];
        for (uint32_t i = 0; i < take; i++)
            versions[i] = rows[i];
        struct row *merged = arena_alloc(arena, sizeof *merged, _Alignof(struct row));
        row_merge(table, versions, take, last || draw(seeded, 2) ? range : DELETION_NONE, arena,
                  merged);
        if (draw(seeded, 2))
            merged = repack(merged, arena);
        if (last)
            return merged;
        rows[0] = merged;
        for (uint32_t i = take; i < count; i++)
            rows[i - take + 1] = rows[i];
        count = count - take + 1;
    }
}

/* Comparing */

static void expect_cell(const struct cell *cell, const struct write *write)
{
    struct cell expected = make_cell(write);

    cr_assert_eq(cell->column_id, expected.column_id);
    cr_assert_eq(cell->flags, expected.flags);
    cr_assert_eq(cell->timestamp_us, expected.timestamp_us);
    cr_assert_eq(cell->ttl_s, expected.ttl_s);
    cr_assert_eq(cell->expiry_s, expected.expiry_s);
    cr_assert(bytes_equal(cell->path, expected.path));
    cr_assert(bytes_equal(cell->value, expected.value));
}

static void expect_marker(struct liveness marker, const struct write *write)
{
    if (write == NULL) {
        cr_assert_eq(marker.timestamp_us, TIMESTAMP_NONE);
        return;
    }
    cr_assert_eq(marker.timestamp_us, write->timestamp_us);
    cr_assert_eq(marker.ttl_s, write->ttl_s);
    cr_assert_eq(marker.expiry_s, write->expiry_s);
}

/* Every place of the model in the order of cells; `now_s` -1 takes tombstones and expired ones. */
static void expect_cells(const struct history *history, const struct row *row, int64_t now_s)
{
    uint32_t index = 0;

    for (uint32_t column_id = C_TEXT; column_id <= C_GONE; column_id++) {
        for (int place = -1; place < PATHS; place++) {
            const struct write *write = model_cell(history, column_id, place);
            bool there = write != NULL && model_knows(history->is_static, column_id) &&
                         (now_s < 0 || model_live(write, now_s));
            if (!there)
                continue;
            cr_assert_lt(index, row->cell_count);
            expect_cell(&row->cells[index++], write);
        }
    }
    cr_assert_eq(index, row->cell_count);
}

static void expect_deletions(const struct history *history, const struct row *row)
{
    struct deletion whole = model_deletion(history, 0);
    bool is_range = whole.timestamp_us == history->range.timestamp_us &&
                    whole.local_s == history->range.local_s;
    uint32_t index = 0;

    cr_assert_eq(row->deletion.timestamp_us, is_range ? TIMESTAMP_NONE : whole.timestamp_us);
    cr_assert(is_range || row->deletion.local_s == whole.local_s);
    for (uint32_t column_id = C_MAP; column_id <= C_STATIC_MAP; column_id++) {
        struct deletion deletion = model_deletion(history, column_id);
        bool adds =
            deletion.timestamp_us != whole.timestamp_us || deletion.local_s != whole.local_s;
        if (!adds || !model_knows(history->is_static, column_id))
            continue;
        cr_assert_lt(index, row->complex_count);
        cr_assert_eq(row->complex[index].column_id, column_id);
        cr_assert_eq(row->complex[index].deletion.timestamp_us, deletion.timestamp_us);
        cr_assert_eq(row->complex[index].deletion.local_s, deletion.local_s);
        index++;
    }
    cr_assert_eq(index, row->complex_count);
}

static void expect_live(const struct table *table, const struct history *history,
                        const struct row *merged, struct arena *arena)
{
    for (int64_t now_s = 0; now_s <= 30; now_s += 5) {
        const struct write *marker = model_marker(history);
        struct row live;
        struct row kept;
        bool exists = row_live(table, merged, now_s, arena, &live);
        if (!model_live(marker, now_s))
            marker = NULL;
        expect_marker(live.marker, marker);
        expect_cells(history, &live, now_s);
        cr_assert_eq(exists, marker != NULL || live.cell_count > 0);
        cr_assert_eq(live.deletion.timestamp_us, TIMESTAMP_NONE);
        cr_assert_eq(live.complex_count, 0);
        cr_assert_eq(row_purge(table, merged, now_s, INT64_MAX, arena, &kept), exists);
        cr_assert(bytes_equal(pack(&live, arena), pack(&kept, arena)));
    }
}

Test(row_merge, every_history_reads_as_the_model_says, .timeout = 120)
{
    struct schema *schema = make_schema();
    const struct table *table = schema_table(schema, 1);
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct seeded seeded = {seed << 32};
        struct history history = draw_history(&seeded);
        struct row *rows[WRITES_MAX];
        const struct row *all[WRITES_MAX];
        struct row whole;

        arena_reset(arena);
        for (uint32_t i = 0; i < history.count; i++)
            all[i] = rows[i] = make_version(&history, &history.writes[i], arena);
        row_merge(table, all, history.count, history.range, arena, &whole);
        expect_marker(whole.marker, model_marker(&history));
        expect_cells(&history, &whole, -1);
        expect_deletions(&history, &whole);
        expect_live(table, &history, &whole, arena);
        struct bytes packed = pack(&whole, arena);
        for (int tree = 0; tree < 3; tree++) {
            for (uint32_t i = 0; i < history.count; i++)
                rows[i] = make_version(&history, &history.writes[i], arena);
            struct row *merged =
                merge_tree(&seeded, table, rows, history.count, history.range, arena);
            cr_assert(bytes_equal(packed, pack(merged, arena)), "seed %lu", seed);
        }
    }
    arena_free(arena);
    schema_unref(schema);
}

/* Versions in a merge are purged up to a time from which on all others were written: together they
 * read as if nothing had been purged. */
static void check_purge(struct seeded *seeded, const struct table *table,
                        const struct history *history, struct arena *arena)
{
    int64_t before_us = (int64_t)draw(seeded, 8) - 3;
    int64_t now_s = 5 * (int64_t)draw(seeded, 7);
    const struct row *all[WRITES_MAX];
    const struct row *inside[WRITES_MAX];
    const struct row *after[WRITES_MAX + 1];
    uint32_t inside_count = 0, after_count = 0;
    struct row whole, live, merged, purged, again;

    for (uint32_t i = 0; i < history->count; i++) {
        all[i] = make_version(history, &history->writes[i], arena);
        if (history->writes[i].timestamp_us >= before_us && draw(seeded, 2) == 0)
            after[after_count++] = all[i];
        else
            inside[inside_count++] = all[i];
    }
    if (inside_count == 0)
        return;
    row_merge(table, inside, inside_count, DELETION_NONE, arena, &merged);
    if (row_purge(table, &merged, now_s, before_us, arena, &purged))
        after[after_count++] = &purged;
    row_merge(table, all, history->count, DELETION_NONE, arena, &whole);
    bool exists = row_live(table, &whole, now_s, arena, &live);
    if (after_count == 0) {
        cr_assert(!exists);
        return;
    }
    row_merge(table, after, after_count, DELETION_NONE, arena, &merged);
    cr_assert_eq(row_live(table, &merged, now_s, arena, &again), exists);
    cr_assert(!exists || bytes_equal(pack(&live, arena), pack(&again, arena)));
}

Test(row_merge, what_is_purged_hides_nothing_that_was_written_later, .timeout = 120)
{
    struct schema *schema = make_schema();
    const struct table *table = schema_table(schema, 1);
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct seeded seeded = {seed << 32 | 1};
        struct history history = draw_history(&seeded);

        arena_reset(arena);
        check_purge(&seeded, table, &history, arena);
    }
    arena_free(arena);
    schema_unref(schema);
}

/* Counters: increments in time order, each an absolute value of its shard in its generation;
 * deletions of every kind begin a generation, as do resets. */

struct counter_history {
    struct row *rows[WRITES_MAX];
    uint32_t count;
    struct deletion range;
    int64_t expected;
    bool exists;
};

static struct row *counter_row(struct arena *arena, int64_t timestamp_us, struct bytes value)
{
    struct row *row = arena_alloc(arena, sizeof *row, _Alignof(struct row));
    struct cell *cell = arena_alloc(arena, sizeof *cell, _Alignof(struct cell));

    *cell = (struct cell){.column_id = 2,
                          .flags = value.data != NULL ? CELL_COUNTER : CELL_TOMBSTONE,
                          .timestamp_us = timestamp_us,
                          .expiry_s = value.data != NULL ? EXPIRY_NONE : 3,
                          .value = value};
    *row = (struct row){
        .marker = LIVENESS_NONE, .deletion = DELETION_NONE, .cells = cell, .cell_count = 1};
    return row;
}

static struct bytes counter_bytes(struct arena *arena, int64_t generation,
                                  const struct counter_shard *shard)
{
    struct buffer buffer = {0};

    if (shard != NULL)
        counter_cell_write_single(&buffer, generation, *shard);
    else
        counter_cell_write_reset(&buffer, generation);
    struct bytes copy = arena_copy(arena, buffer_view(&buffer));
    buffer_release(&buffer);
    return copy;
}

static struct counter_history draw_counter_history(struct seeded *seeded, struct arena *arena)
{
    struct counter_history history = {.range = DELETION_NONE};
    int64_t shard_values[3] = {0};
    int64_t generation = 0;
    uint32_t writes = 1 + draw(seeded, WRITES_MAX);

    for (uint32_t i = 0; i < writes; i++) {
        int64_t now_us = 8 * ((int64_t)i + 1);
        uint32_t kind = draw(seeded, 12);
        if (kind < 8) {
            uint32_t id = draw(seeded, 3);
            int64_t delta = (int64_t)draw(seeded, 9) - 4;
            shard_values[id] += delta;
            history.expected += delta;
            history.exists = true;
            struct counter_shard shard = {(uint64_t)generation + id, (uint64_t)now_us,
                                          shard_values[id]};
            history.rows[history.count++] =
                counter_row(arena, now_us, counter_bytes(arena, generation, &shard));
            continue;
        }
        if (kind == 8) {
            history.range = (struct deletion){now_us, 1};
        } else if (kind == 9) {
            struct row *row = counter_row(arena, now_us, bytes_of(NULL, 0));
            row->deletion = (struct deletion){now_us, 1};
            row->cell_count = 0;
            history.rows[history.count++] = row;
        } else {
            struct bytes reset =
                kind == 10 ? bytes_of(NULL, 0) : counter_bytes(arena, now_us, NULL);
            history.rows[history.count++] = counter_row(arena, now_us, reset);
        }
        generation = now_us;
        memset(shard_values, 0, sizeof shard_values);
        history.expected = 0;
        history.exists = false;
    }
    return history;
}

Test(row_merge, counters_count_once_in_any_order_and_tree, .timeout = 120)
{
    struct schema *schema = make_schema();
    const struct table *table = schema_table(schema, 2);
    struct arena *arena = arena_new(ARENA_CHUNK);

    for (uint64_t seed = 1; seed <= HISTORIES; seed++) {
        struct seeded seeded = {seed << 40};
        arena_reset(arena);
        struct counter_history history = draw_counter_history(&seeded, arena);
        if (history.count == 0)
            continue;
        struct row live;
        struct row *merged =
            merge_tree(&seeded, table, history.rows, history.count, history.range, arena);
        bool exists = row_live(table, merged, 0, arena, &live);
        cr_assert_eq(exists, history.exists, "seed %lu", seed);
        if (exists)
            cr_assert_eq(counter_cell_value(live.cells[0].value), history.expected, "seed %lu",
                         seed);
    }
    arena_free(arena);
    schema_unref(schema);
}

Test(row_merge, equal_clusterings_in_two_spellings_come_out_the_same)
{
    struct schema *schema = make_schema();
    const struct table *table = schema_table(schema, 1);
    struct arena *arena = arena_new(ARENA_CHUNK);
    struct history history = {.range = DELETION_NONE};
    struct write write = {.kind = WRITE_MARKER, .timestamp_us = 1, .expiry_s = EXPIRY_NONE};
    struct row *a = make_version(&history, &write, arena);
    struct row *b = make_version(&history, &write, arena);
    struct row merged;

    a->clustering.values[1] = bytes_of(decimal_paths[0], 5);
    b->clustering.values[1] = bytes_of(decimal_paths[1], 5);
    cr_assert_eq(row_clustering_compare(table, &a->clustering, &b->clustering), 0);
    row_merge(table, (const struct row *[]){a, b}, 2, DELETION_NONE, arena, &merged);
    cr_assert(bytes_equal(merged.clustering.values[1], a->clustering.values[1]));
    row_merge(table, (const struct row *[]){b, a}, 2, DELETION_NONE, arena, &merged);
    cr_assert(bytes_equal(merged.clustering.values[1], a->clustering.values[1]));
    arena_free(arena);
    schema_unref(schema);
}

Test(row_merge, an_inserted_row_outlives_its_cells_and_an_updated_one_does_not)
{
    struct schema *schema = make_schema();
    const struct table *table = schema_table(schema, 1);
    struct arena *arena = arena_new(ARENA_CHUNK);
    struct history history = {.range = DELETION_NONE};
    struct write marker = {.kind = WRITE_MARKER, .timestamp_us = 1, .expiry_s = EXPIRY_NONE};
    struct write cell = {.kind = WRITE_CELL,
                         .column_id = C_INT,
                         .path = -1,
                         .timestamp_us = 1,
                         .expiry_s = EXPIRY_NONE};
    struct write gone = {
        .kind = WRITE_TOMBSTONE, .column_id = C_INT, .path = -1, .timestamp_us = 2, .expiry_s = 9};
    const struct row *rows[] = {make_version(&history, &cell, arena),
                                make_version(&history, &gone, arena),
                                make_version(&history, &marker, arena)};
    struct row merged;
    struct row live;

    row_merge(table, rows, 2, DELETION_NONE, arena, &merged);
    cr_assert(!row_live(table, &merged, 0, arena, &live));
    row_merge(table, rows, 3, DELETION_NONE, arena, &merged);
    cr_assert(row_live(table, &merged, 0, arena, &live));
    cr_assert_eq(live.cell_count, 0);
    arena_free(arena);
    schema_unref(schema);
}
