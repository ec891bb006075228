/* counter_memtable: slots of 64 bytes, found by a hash table.  A lookup takes three cache misses,
 * one after the other.  Therefore up to COUNTER_AHEAD lookups are under way at once. */
#include "storage/memtable/counter_memtable.h"

#include "base/hash64.h"
#include "base/memory.h"
#include "base/murmur3.h"
#include "counters/counter_slot.h"
#include "storage/memtable/row_memtable.h"

enum {
    COUNTER_CHUNK_SLOTS = 1024, /* 64 KiB of slots */
    COUNTER_AHEAD = 32,         /* the most lookups under way at once */
    COUNTER_STREAM_CHUNK = 4096
};

struct counter_partition {
    struct memtable_partition base;
    struct memtable_index counters; /* static columns first, then by row and column */
};

struct counter_identity {
    struct counter_partition *partition;
    const struct counter_slot *slot;
    struct bytes clustering; /* packed */
    uint32_t column_id;
    uint32_t number;
};

struct counter_chunk {
    struct counter_slot slots[COUNTER_CHUNK_SLOTS];
    struct counter_identity identities[COUNTER_CHUNK_SLOTS];
};

struct counter_memtable {
    struct arena *arena;
    struct memtable_partitions partitions;
    struct key_places places;
    struct counter_chunk **chunks; /* chunks never move */
    uint32_t count;
};

struct counter_memtable *counter_memtable_new(struct arena *arena)
{
    struct counter_memtable *memtable = memory_zeroed(1, sizeof *memtable);

    memtable->arena = arena;
    memtable_partitions_init(&memtable->partitions, arena, sizeof(struct counter_partition));
    key_places_init(&memtable->places, arena);
    return memtable;
}

void counter_memtable_free(struct counter_memtable *memtable)
{
    memtable_partitions_release(&memtable->partitions);
    memory_free(memtable->chunks);
    memory_free(memtable);
}

size_t counter_memtable_bytes(const struct counter_memtable *memtable)
{
    return memtable_partitions_bytes(&memtable->partitions) +
           memtable->count / COUNTER_CHUNK_SLOTS * sizeof(struct counter_chunk *);
}

/* ---- slots ---- */

struct counter_slot *counter_memtable_at(const struct counter_memtable *memtable, uint32_t slot)
{
    check(slot < memtable->count);
    return &memtable->chunks[slot / COUNTER_CHUNK_SLOTS]->slots[slot % COUNTER_CHUNK_SLOTS];
}

static inline struct counter_identity *identity_at(const struct counter_memtable *memtable,
                                                   uint32_t slot)
{
    return &memtable->chunks[slot / COUNTER_CHUNK_SLOTS]->identities[slot % COUNTER_CHUNK_SLOTS];
}

static uint32_t identity_tag(uint32_t table_id, struct bytes key, struct bytes clustering,
                             uint32_t column_id)
{
    uint64_t hash = hash64(key.data, key.size);

    /* The constants of SplitMix64 spread numbers that are close together. */
    if (clustering.size > 0)
        hash = (hash ^ (hash >> 31)) * UINT64_C(0x94D049BB133111EB) +
               hash64(clustering.data, clustering.size);
    hash += ((uint64_t)table_id << 32 | column_id) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(hash >> 32);
}

/* ---- the order of a partition's counters ---- */

/* A slot without clustering, in a table that has clustering columns, belongs to a static column. */
static bool identity_is_static(const struct table *table, const struct counter_identity *identity)
{
    return identity->clustering.size == 0 && table->clustering_count > 0;
}

static void identity_clustering(const struct counter_identity *identity,
                                struct clustering *clustering_out)
{
    clustering_out->count = 0;
    if (identity->clustering.size == 0)
        return;
    struct reader reader = reader_of(identity->clustering);
    row_clustering_unpack(&reader, clustering_out);
    check(!reader.failed);
}

/* The order of the rows of two counters: static columns are a row of their own, before others. */
static int identity_compare_rows(const struct table *table, const struct counter_identity *a,
                                 const struct counter_identity *b)
{
    struct clustering left;
    struct clustering right;

    if (identity_is_static(table, a) != identity_is_static(table, b))
        return identity_is_static(table, a) ? -1 : 1;
    identity_clustering(a, &left);
    identity_clustering(b, &right);
    return row_clustering_compare(table, &left, &right);
}

static int identity_compare(const void *table, const void *key, const void *item)
{
    const struct counter_identity *a = key;
    const struct counter_identity *b = item;
    int order = identity_compare_rows(table, a, b);

    return order != 0 ? order : (a->column_id > b->column_id) - (a->column_id < b->column_id);
}

/* A key of NULL is less than all counters. */
static int bound_compare(const void *table, const void *key, const void *item)
{
    struct clustering clustering;

    if (key == NULL)
        return -1;
    if (identity_is_static(table, item))
        return 1;
    identity_clustering(item, &clustering);
    return row_bound_compare_clustering(table, key, &clustering);
}

/* 0 for static columns, which come first. */
static uint64_t identity_prefix(const void *table, const void *item)
{
    struct clustering clustering;

    identity_clustering(item, &clustering);
    return row_memtable_prefix(table, &clustering);
}

/* ---- finding slots ---- */

/* The bytes of equal clusterings may differ: the decimals 1.0 and 1.00 are one row. */
static bool identity_is(const struct counter_identity *identity, const struct table *table,
                        struct bytes key, struct bytes clustering, uint32_t column_id)
{
    const struct counter_identity other = {.clustering = clustering};

    return identity->column_id == column_id && identity->partition->base.table_id == table->id &&
           bytes_equal(memtable_partitions_key(&identity->partition->base), key) &&
           (bytes_equal(identity->clustering, clustering) ||
            identity_compare_rows(table, identity, &other) == 0);
}

static struct counter_identity *identity_new(struct counter_memtable *memtable)
{
    uint32_t number = memtable->count++;

    check(number < UINT32_MAX - 1);
    if (number % COUNTER_CHUNK_SLOTS == 0) {
        uint32_t chunk = number / COUNTER_CHUNK_SLOTS;
        memtable->chunks =
            memory_resize(memtable->chunks, (chunk + 1) * sizeof(struct counter_chunk *));
        memtable->chunks[chunk] = arena_alloc(memtable->arena, sizeof(struct counter_chunk), 64);
    }
    identity_at(memtable, number)->number = number;
    return identity_at(memtable, number);
}

/* The counter may already have a slot whose clustering has other bytes, but the same value. */
static uint32_t slot_make(struct counter_memtable *memtable, const struct table *table,
                          struct bytes key, struct bytes clustering, uint32_t column_id)
{
    struct counter_identity added = {
        .partition = memtable_partitions_get(&memtable->partitions, table->id,
                                             murmur3_token(key.data, key.size), key),
        .clustering = clustering,
        .column_id = column_id,
    };
    struct memtable_index *counters = &added.partition->counters;
    struct memtable_index_search search = {
        .prefix = identity_prefix(table, &added),
        .key = &added,
        .compare = identity_compare,
        .context = table,
        .prefix_of = identity_prefix,
    };
    struct memtable_index_cursor place;
    const struct counter_identity *found = memtable_index_find_place(counters, &search, &place);

    if (found != NULL)
        return found->number;
    struct counter_identity *identity = identity_new(memtable);
    struct counter_slot *slot = counter_memtable_at(memtable, identity->number);
    *slot = (struct counter_slot){0};
    added.slot = slot;
    added.clustering = arena_copy(memtable->arena, clustering);
    added.number = identity->number;
    *identity = added;
    memtable_index_insert(counters, memtable->arena, &search, &place, identity);
    return identity->number;
}

static uint32_t slot_find(struct counter_memtable *memtable, uint32_t tag,
                          const struct table *table, struct bytes key, struct bytes clustering,
                          uint32_t column_id)
{
    struct key_probe probe = key_probe_begin(&memtable->places, tag);
    uint32_t slot;

    while ((slot = key_probe_next(&memtable->places, &probe)) != KEY_PLACES_NONE)
        if (identity_is(identity_at(memtable, slot), table, key, clustering, column_id))
            return slot;
    slot = slot_make(memtable, table, key, clustering, column_id);
    key_places_add(&memtable->places, tag, slot);
    return slot;
}

uint32_t counter_memtable_slot(struct counter_memtable *memtable, const struct table *table,
                               struct bytes key, struct bytes clustering, uint32_t column_id)
{
    return slot_find(memtable, identity_tag(table->id, key, clustering, column_id), table, key,
                     clustering, column_id);
}

static void identities_prefetch(const struct counter_memtable *memtable, const uint32_t *tags,
                                uint32_t count)
{
    uint32_t slots[COUNTER_AHEAD];
    uint32_t guesses = key_places_guess_all(&memtable->places, tags, count, slots);

    for (uint32_t i = 0; i < guesses; i++)
        __builtin_prefetch(identity_at(memtable, slots[i]));
    for (uint32_t i = 0; i < guesses; i++) {
        const struct counter_partition *partition = identity_at(memtable, slots[i])->partition;
        __builtin_prefetch(partition);
        __builtin_prefetch(partition + 1);
    }
}

void counter_memtable_slots(struct counter_memtable *memtable, const struct table *table,
                            const struct bytes *keys, uint32_t count, uint32_t column_id,
                            uint32_t *slots_out)
{
    const struct bytes none = {0};
    uint32_t tags[COUNTER_AHEAD];

    for (uint32_t start = 0; start < count; start += COUNTER_AHEAD) {
        uint32_t left = count - start;
        uint32_t now = left < COUNTER_AHEAD ? left : COUNTER_AHEAD;
        for (uint32_t i = 0; i < now; i++) {
            tags[i] = identity_tag(table->id, keys[start + i], none, column_id);
            key_places_prefetch(&memtable->places, tags[i]);
        }
        identities_prefetch(memtable, tags, now);
        for (uint32_t i = 0; i < now; i++)
            slots_out[start + i] =
                slot_find(memtable, tags[i], table, keys[start + i], none, column_id);
    }
}

/* ---- reading ---- */

const struct memtable_partitions *
counter_memtable_partitions(const struct counter_memtable *memtable)
{
    return &memtable->partitions;
}

/* A write between two pulls makes the cursor invalid.  The cursor is then set again, behind the
 * last row that it gave. */
struct counter_stream {
    struct stream base;
    const struct counter_partition *partition;
    struct slice slice;
    uint64_t frame;
    uint64_t shard_id;
    bool static_pending;
    struct memtable_index_cursor cursor;
    uint32_t cursor_counters;
    const struct counter_identity *last; /* of the last row that the cursor gave; NULL: none */
    const struct counter_identity **row; /* the counters of that row, in the cursor's order;
                                          * owned */
    uint32_t row_count;
    uint32_t row_capacity;
    struct buffer value;
    struct arena *arena; /* for what was last yielded */
};

/* `place` NULL: before the static columns. */
static void stream_seek(struct counter_stream *stream, const struct bound *place)
{
    const struct table *table = stream->base.table;
    struct memtable_index_search search = {
        .prefix = place != NULL ? row_memtable_bound_prefix(table, place) : 0,
        .key = place,
        .compare = bound_compare,
        .context = table,
        .prefix_of = identity_prefix,
    };

    stream->cursor = memtable_index_seek(&stream->partition->counters, &search);
    stream->cursor_counters = stream->partition->counters.count;
}

static void stream_set_cursor(struct counter_stream *stream)
{
    struct bound place = stream->slice.reversed ? stream->slice.end : stream->slice.start;

    if (stream->last != NULL) {
        identity_clustering(stream->last, &place.prefix);
        place.side = stream->slice.reversed ? BOUND_BEFORE : BOUND_AFTER;
    }
    stream_seek(stream, &place);
}

static const struct counter_identity *stream_step(struct counter_stream *stream, bool back)
{
    return back ? memtable_index_previous(&stream->cursor) : memtable_index_next(&stream->cursor);
}

static void stream_step_row(struct counter_stream *stream, bool back)
{
    const struct counter_identity *at = stream_step(stream, back);

    stream->row_count = 0;
    while (at != NULL && (stream->row_count == 0 ||
                          identity_compare_rows(stream->base.table, stream->row[0], at) == 0)) {
        stream->row = memory_make_room(stream->row, stream->row_count, &stream->row_capacity,
                                       sizeof(struct counter_identity *));
        stream->row[stream->row_count++] = at;
        at = stream_step(stream, back);
    }
    if (at != NULL)
        stream_step(stream, !back);
}

static struct cell stream_cell(struct counter_stream *stream,
                               const struct counter_identity *identity)
{
    buffer_clear(&stream->value);
    int64_t generation =
        counter_slot_write(identity->slot, stream->frame, stream->shard_id, &stream->value);
    return (struct cell){
        .column_id = identity->column_id,
        .flags = CELL_COUNTER,
        .timestamp_us = generation,
        .expiry_s = EXPIRY_NONE,
        .value = arena_copy(stream->arena, buffer_view(&stream->value)),
    };
}

/* False: nothing of the row that was stepped over is visible. */
static bool stream_row(struct counter_stream *stream, bool back, struct unfiltered *out)
{
    struct cell *cells =
        arena_alloc(stream->arena, stream->row_count * sizeof *cells, _Alignof(struct cell));
    uint32_t count = 0;

    for (uint32_t i = 0; i < stream->row_count; i++) {
        const struct counter_identity *at = stream->row[back ? stream->row_count - 1 - i : i];
        if (counter_slot_visible(at->slot, stream->frame) >= 0)
            cells[count++] = stream_cell(stream, at);
    }
    *out = (struct unfiltered){.kind = UNFILTERED_ROW, .before = DELETION_NONE};
    out->after = DELETION_NONE;
    out->row.is_static = identity_is_static(stream->base.table, stream->row[0]);
    identity_clustering(stream->row[0], &out->row.clustering);
    out->row.marker = LIVENESS_NONE;
    out->row.deletion = DELETION_NONE;
    out->row.cells = cells;
    out->row.cell_count = count;
    return count > 0;
}

static bool stream_static(struct counter_stream *stream, struct unfiltered *out)
{
    if (!stream->static_pending)
        return false;
    stream->static_pending = false;
    stream_seek(stream, NULL);
    stream_step_row(stream, false);
    bool found = stream->row_count > 0 && identity_is_static(stream->base.table, stream->row[0]) &&
                 stream_row(stream, false, out);
    stream_set_cursor(stream);
    return found;
}

static bool stream_has_row(const struct counter_stream *stream)
{
    bool reversed = stream->slice.reversed;
    struct clustering clustering;

    if (stream->row_count == 0 || identity_is_static(stream->base.table, stream->row[0]))
        return false;
    identity_clustering(stream->row[0], &clustering);
    int order = row_bound_compare_clustering(
        stream->base.table, reversed ? &stream->slice.start : &stream->slice.end, &clustering);
    return reversed ? order < 0 : order > 0;
}

static int counter_stream_next(struct stream *base, struct unfiltered *out, struct error *err)
{
    struct counter_stream *stream = (struct counter_stream *)base;
    bool reversed = stream->slice.reversed;

    (void)err;
    arena_reset(stream->arena);
    if (stream_static(stream, out))
        return 1;
    if (stream->cursor_counters != stream->partition->counters.count)
        stream_set_cursor(stream);
    do {
        arena_reset(stream->arena);
        stream_step_row(stream, reversed);
        if (!stream_has_row(stream))
            return 0;
        stream->last = stream->row[0];
    } while (!stream_row(stream, reversed, out));
    return 1;
}

static void counter_stream_close(struct stream *base)
{
    struct counter_stream *stream = (struct counter_stream *)base;

    memory_free(stream->row);
    buffer_release(&stream->value);
    arena_free(stream->arena);
    memory_free(stream);
}

struct stream *counter_memtable_stream(const struct counter_memtable *memtable,
                                       const struct table *table, struct bytes key,
                                       const struct slice *slice, uint64_t frame, uint64_t shard_id)
{
    const struct counter_partition *partition = memtable_partitions_find(
        &memtable->partitions, table->id, murmur3_token(key.data, key.size), key);

    if (partition == NULL)
        return NULL;
    struct counter_stream *stream = memory_zeroed(1, sizeof *stream);
    stream->base = (struct stream){
        .table = table,
        .partition_deletion = DELETION_NONE,
        .next = counter_stream_next,
        .close = counter_stream_close,
    };
    stream->partition = partition;
    stream->slice = *slice;
    stream->frame = frame;
    stream->shard_id = shard_id;
    stream->static_pending = slice->with_static;
    stream->arena = arena_new(COUNTER_STREAM_CHUNK);
    stream_set_cursor(stream);
    return &stream->base;
}
