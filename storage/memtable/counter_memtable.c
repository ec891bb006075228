/* counter_memtable: slots of 64 bytes, found by a hash table.
 *
 * A slot's identity says which counter the slot belongs to.  A lookup reads the identities whose 32
 * bits of hash agree, at the cost of three cache misses, one after the other; so many counters are
 * looked up at the same time.  The rows of a partition are sorted when they are read: their order
 * follows from the table's types, and the function that makes a slot does not have the types. */
#include "storage/memtable/counter_memtable.h"

#include <stdlib.h>

#include "base/hash64.h"
#include "base/murmur3.h"
#include "counters/counter_slot.h"
#include "base/memory.h"

enum {
    COUNTER_CHUNK_SLOTS = 1024, /* 64 KiB of slots */
    COUNTER_AHEAD = 32,         /* lookups under way at once */
    COUNTER_STREAM_CHUNK = 4096
};

struct counter_partition {
    struct memtable_partition base;
    struct counter_identity *identities;
    uint32_t count;
};

/* The counter that a slot belongs to. */
struct counter_identity {
    struct counter_partition *partition;
    struct counter_identity *next; /* in the partition */
    const struct counter_slot *slot;
    struct bytes clustering; /* packed */
    uint32_t column_id;
};

struct counter_chunk {
    struct counter_slot slots[COUNTER_CHUNK_SLOTS];
    struct counter_identity identities[COUNTER_CHUNK_SLOTS];
};

struct counter_memtable {
    struct arena *arena;
    struct memtable_partitions partitions;
    struct key_places places;      /* of slots */
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

    /* Odd constants (from SplitMix64) spread small numbers that differ little. */
    if (clustering.size > 0)
        hash = (hash ^ (hash >> 31)) * UINT64_C(0x94D049BB133111EB) +
               hash64(clustering.data, clustering.size);
    hash += ((uint64_t)table_id << 32 | column_id) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(hash >> 32);
}

static bool identity_is(const struct counter_identity *identity, uint32_t table_id,
                        struct bytes key, struct bytes clustering, uint32_t column_id)
{
    return identity->column_id == column_id && identity->partition->base.table_id == table_id &&
           bytes_equal(identity->clustering, clustering) &&
           bytes_equal(memtable_partitions_key(&identity->partition->base), key);
}

static uint32_t slot_add(struct counter_memtable *memtable, uint32_t table_id, struct bytes key,
                         struct bytes clustering, uint32_t column_id)
{
    uint32_t number = memtable->count++;

    check(number < UINT32_MAX - 1);
    if (number % COUNTER_CHUNK_SLOTS == 0) {
        uint32_t chunk = number / COUNTER_CHUNK_SLOTS;
        memtable->chunks =
            memory_resize(memtable->chunks, (chunk + 1) * sizeof(struct counter_chunk *));
        memtable->chunks[chunk] = arena_alloc(memtable->arena, sizeof(struct counter_chunk), 64);
    }
    struct counter_partition *partition = memtable_partitions_get(
        &memtable->partitions, table_id, murmur3_token(key.data, key.size), key);
    struct counter_slot *slot = counter_memtable_at(memtable, number);
    struct counter_identity *identity = identity_at(memtable, number);
    *identity = (struct counter_identity){
        .partition = partition,
        .next = partition->identities,
        .slot = slot,
        .clustering = arena_copy(memtable->arena, clustering),
        .column_id = column_id,
    };
    partition->identities = identity;
    partition->count++;
    *slot = (struct counter_slot){0};
    return number;
}

static uint32_t slot_find(struct counter_memtable *memtable, uint32_t tag, uint32_t table_id,
                          struct bytes key, struct bytes clustering, uint32_t column_id)
{
    struct key_probe probe = key_probe_begin(&memtable->places, tag);
    uint32_t slot;

    while ((slot = key_probe_next(&memtable->places, &probe)) != KEY_PLACES_NONE)
        if (identity_is(identity_at(memtable, slot), table_id, key, clustering, column_id))
            return slot;
    slot = slot_add(memtable, table_id, key, clustering, column_id);
    key_places_add(&memtable->places, tag, slot);
    return slot;
}

uint32_t counter_memtable_slot(struct counter_memtable *memtable, uint32_t table_id,
                               struct bytes key, struct bytes clustering, uint32_t column_id)
{
    return slot_find(memtable, identity_tag(table_id, key, clustering, column_id), table_id, key,
                     clustering, column_id);
}

/* Fetch the identities that probably belong to the tags, and the partitions they point to, into the
 * cache. */
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

void counter_memtable_slots(struct counter_memtable *memtable, uint32_t table_id,
                            const struct bytes *keys, uint32_t count, uint32_t column_id,
                            uint32_t *slots_out)
{
    const struct bytes none = {0};
    uint32_t tags[COUNTER_AHEAD];

    for (uint32_t start = 0; start < count; start += COUNTER_AHEAD) {
        uint32_t left = count - start;
        uint32_t now = left < COUNTER_AHEAD ? left : COUNTER_AHEAD;
        for (uint32_t i = 0; i < now; i++) {
            tags[i] = identity_tag(table_id, keys[start + i], none, column_id);
            key_places_prefetch(&memtable->places, tags[i]);
        }
        identities_prefetch(memtable, tags, now);
        for (uint32_t i = 0; i < now; i++)
            slots_out[start + i] =
                slot_find(memtable, tags[i], table_id, keys[start + i], none, column_id);
    }
}

/* ---- reading ---- */

const struct memtable_partitions *
counter_memtable_partitions(const struct counter_memtable *memtable)
{
    return &memtable->partitions;
}

/* A cell that the stream will yield. */
struct counter_place {
    struct clustering clustering;
    bool is_static;
    const struct counter_identity *identity;
};

struct counter_stream {
    struct stream base;
    uint64_t frame;
    uint64_t shard_id;
    struct counter_place *places; /* in stream order; owned */
    uint32_t count;
    uint32_t next;
    struct buffer value; /* scratch of one cell */
    struct arena *arena; /* for what was last yielded */
};

struct place_order {
    const struct table *table;
    bool reversed;
};

static int place_compare_rows(const struct place_order *order, const struct counter_place *a,
                              const struct counter_place *b)
{
    if (a->is_static != b->is_static)
        return a->is_static ? -1 : 1;
    int rows = row_clustering_compare(order->table, &a->clustering, &b->clustering);
    return order->reversed ? -rows : rows;
}

static int place_compare(const void *a, const void *b, void *context)
{
    const struct counter_place *left = a;
    const struct counter_place *right = b;
    int order = place_compare_rows(context, left, right);
    uint32_t left_id = left->identity->column_id;
    uint32_t right_id = right->identity->column_id;

    return order != 0 ? order : (left_id > right_id) - (left_id < right_id);
}

/* Set the place of a slot's cell; false: the slice does not contain the cell's row.  A slot without
 * clustering, in a table that has clustering columns, belongs to a static column. */
static bool place_set(struct counter_place *place, const struct table *table,
                      const struct slice *slice, const struct counter_identity *identity)
{
    place->identity = identity;
    place->is_static = identity->clustering.size == 0 && table->clustering_count > 0;
    place->clustering.count = 0;
    if (place->is_static)
        return slice->with_static;
    if (identity->clustering.size > 0) {
        struct reader reader = reader_of(identity->clustering);
        row_clustering_unpack(&reader, &place->clustering);
        check(!reader.failed);
    }
    return stream_slice_contains(table, slice, &place->clustering);
}

static int counter_stream_next(struct stream *base, struct unfiltered *out, struct error *err)
{
    struct counter_stream *stream = (struct counter_stream *)base;
    const struct counter_place *first = &stream->places[stream->next];
    struct place_order order = {base->table, false};
    uint32_t count = 0;

    (void)err;
    arena_reset(stream->arena);
    if (stream->next == stream->count)
        return 0;
    while (stream->next + count < stream->count &&
           place_compare_rows(&order, first, first + count) == 0)
        count++;
    struct cell *cells = arena_alloc(stream->arena, count * sizeof *cells, _Alignof(struct cell));
    for (uint32_t i = 0; i < count; i++) {
        buffer_clear(&stream->value);
        int64_t generation = counter_slot_write(first[i].identity->slot, stream->frame,
                                                stream->shard_id, &stream->value);
        cells[i] = (struct cell){
            .column_id = first[i].identity->column_id,
            .flags = CELL_COUNTER,
            .timestamp_us = generation,
            .expiry_s = EXPIRY_NONE,
            .value = arena_copy(stream->arena, buffer_view(&stream->value)),
        };
    }
    stream->next += count;
    *out = (struct unfiltered){.kind = UNFILTERED_ROW, .before = DELETION_NONE};
    out->after = DELETION_NONE;
    out->row.is_static = first->is_static;
    out->row.clustering = first->clustering;
    out->row.marker = LIVENESS_NONE;
    out->row.deletion = DELETION_NONE;
    out->row.cells = cells;
    out->row.cell_count = count;
    return 1;
}

static void counter_stream_close(struct stream *base)
{
    struct counter_stream *stream = (struct counter_stream *)base;

    memory_free(stream->places);
    buffer_release(&stream->value);
    arena_free(stream->arena);
    memory_free(stream);
}

/* The cells within the slice that are visible at `frame`, in stream order. */
static uint32_t places_collect(const struct counter_partition *partition, const struct table *table,
                               const struct slice *slice, uint64_t frame,
                               struct counter_place *places)
{
    struct place_order order = {table, slice->reversed};
    uint32_t count = 0;

    for (const struct counter_identity *at = partition->identities; at != NULL; at = at->next)
        if (counter_slot_visible(at->slot, frame) >= 0)
            count += place_set(&places[count], table, slice, at);
    qsort_r(places, count, sizeof *places, place_compare, &order);
    return count;
}

struct stream *counter_memtable_stream(const struct counter_memtable *memtable,
                                       const struct table *table, struct bytes key,
                                       const struct slice *slice, uint64_t frame, uint64_t shard_id)
{
    const struct counter_partition *partition = memtable_partitions_find(
        &memtable->partitions, table->id, murmur3_token(key.data, key.size), key);

    if (partition == NULL)
        return NULL;
    struct counter_place *places = memory_alloc(partition->count * sizeof *places);
    uint32_t count = places_collect(partition, table, slice, frame, places);
    if (count == 0) {
        memory_free(places);
        return NULL;
    }
    struct counter_stream *stream = memory_zeroed(1, sizeof *stream);
    stream->base = (struct stream){
        .table = table,
        .partition_deletion = DELETION_NONE,
        .next = counter_stream_next,
        .close = counter_stream_close,
    };
    stream->frame = frame;
    stream->shard_id = shard_id;
    stream->places = places;
    stream->count = count;
    stream->arena = arena_new(COUNTER_STREAM_CHUNK);
    return &stream->base;
}
