/* wide_partitions: open addressing with linear probing, at most three quarters full; two lists.
 *
 * A place holds 32 bits of the key's hash beside the number, so a key that is new costs one cache
 * line, and one that is there those of its partition, which is about to be written anyway.  The
 * keys of a block lie anywhere in memory, so many are looked up at once.
 *
 * The table grows in steps, as string_table.h does and for the same reason: the places begin empty,
 * the old ones are copied some at a time, and until all are, a key that is not among the new is
 * looked for among the old.
 *
 * What decides correctness: two keys are the same only if their bytes are; and an entry of an undo
 * list is made before its partition changes in a frame, once. */
#include "storage/wide_partitions.h"

#include <string.h>

#include "storage/base/arena.h"
#include "storage/base/hash.h"
#include "storage/base/memory.h"

enum {
    PLACES_FIRST = 64,
    AHEAD = 32, /* lookups under way at once */
    /* Places looked at for moving, with every new key and every dictionary: the new ones are full
     * when three quarters as many keys have come as there are old places, so 2 would do. */
    MOVES = 8,
    MOVES_DICTIONARY = 1024,
    UNDO_FIRST = 64,
    LINE = 64 /* bytes of a cache line */
};

_Static_assert(sizeof(struct wide_partition) == 96, "a partition takes what the header says");

struct wide_key_place {
    uint32_t tag;    /* of the hash: its low bits say where the search begins */
    uint32_t number; /* plus one; 0: free */
};

struct wide_undo {
    struct wide_slot slot;
    uint32_t undo; /* the entry before this one, in the slot's frame's list */
};

/* ---- life ---- */

static struct wide_key_place *places_new(struct arena *arena, uint64_t count)
{
    return arena_alloc_zeroed(arena, count * sizeof(struct wide_key_place), LINE);
}

void wide_partitions_init(struct wide_partitions *partitions, struct arena *arena,
                          uint32_t column_count)
{
    *partitions = (struct wide_partitions){.arena = arena,
                                           .column_count = column_count,
                                           .places = places_new(arena, PLACES_FIRST),
                                           .mask = PLACES_FIRST - 1};
}

/* Empty a list, for another frame. */
static void undo_clear(struct wide_partitions *partitions, struct wide_undo_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct packed_stats *stats = &list->entries[i].slot.stats;
        if (!stats->is_large)
            continue;
        partitions->sums_bytes -= packed_stats_bytes(stats);
        packed_stats_clear(stats);
    }
    list->count = 0;
}

void wide_partitions_release(struct wide_partitions *partitions)
{
    for (uint32_t i = 0; i < partitions->count; i++)
        packed_stats_clear(&partitions->items[i]->newest.stats);
    for (uint32_t i = 0; i < 2; i++) {
        undo_clear(partitions, &partitions->undo[i]);
        memory_free(partitions->undo[i].entries);
    }
    memory_free(partitions->items);
}

size_t wide_partitions_bytes(const struct wide_partitions *partitions)
{
    return partitions->capacity * sizeof(struct wide_partition *) + partitions->sums_bytes +
           ((size_t)partitions->undo[0].capacity + partitions->undo[1].capacity) *
               sizeof(struct wide_undo);
}

/* ---- finding ---- */

static uint32_t tag_of(struct bytes key)
{
    return (uint32_t)hash64(key.data, key.size);
}

/* The place of the key, or the free one where it belongs. */
static struct wide_key_place *place_probe(const struct wide_partitions *partitions,
                                          struct wide_key_place *places, uint64_t mask,
                                          uint32_t tag, struct bytes key)
{
    for (uint64_t at = tag & mask;; at = (at + 1) & mask) {
        struct wide_key_place *place = &places[at];
        if (place->number == 0)
            return place;
        if (place->tag == tag &&
            bytes_equal(wide_partition_key(partitions, partitions->items[place->number - 1]), key))
            return place;
    }
}

/* The number plus one of a key that is among the old places, moved or not; 0: it is not. */
static uint32_t old_number(const struct wide_partitions *partitions, uint32_t tag, struct bytes key)
{
    if (partitions->old == NULL)
        return 0;
    return place_probe(partitions, partitions->old, partitions->old_count - 1, tag, key)->number;
}

uint32_t wide_partitions_find(const struct wide_partitions *partitions, struct bytes key)
{
    uint32_t tag = tag_of(key);
    uint32_t number =
        place_probe(partitions, partitions->places, partitions->mask, tag, key)->number;
    if (number == 0)
        number = old_number(partitions, tag, key);
    return number - 1;
}

/* ---- adding ---- */

/* Copy the next `count` old places. */
static void places_move(struct wide_partitions *partitions, uint64_t count)
{
    if (partitions->old == NULL)
        return;
    uint64_t left = partitions->old_count - partitions->old_moved;
    uint64_t end = partitions->old_moved + (count < left ? count : left);
    for (uint64_t i = partitions->old_moved; i < end; i++) {
        struct wide_key_place place = partitions->old[i];
        uint64_t at = place.tag & partitions->mask;
        if (place.number == 0)
            continue;
        while (partitions->places[at].number != 0)
            at = (at + 1) & partitions->mask;
        partitions->places[at] = place;
    }
    partitions->old_moved = end;
    if (end == partitions->old_count)
        partitions->old = NULL;
}

static void places_grow(struct wide_partitions *partitions)
{
    check(partitions->old == NULL);
    partitions->old = partitions->places;
    partitions->old_count = partitions->mask + 1;
    partitions->old_moved = 0;
    partitions->places = places_new(partitions->arena, partitions->old_count * 2);
    partitions->mask = partitions->old_count * 2 - 1;
}

static struct wide_partition *partition_new(const struct wide_partitions *partitions,
                                            struct bytes key)
{
    uint32_t columns = partitions->column_count;
    size_t size = sizeof(struct wide_partition) + columns * (sizeof(int64_t) + 1);
    check(key.size <= UINT16_MAX);
    struct wide_partition *partition =
        arena_alloc(partitions->arena, size + key.size, _Alignof(struct wide_partition));
    memset(partition, 0, size);
    memcpy((uint8_t *)partition + size, key.data, key.size);
    partition->key_size = (uint16_t)key.size;
    partition->undo = WIDE_UNDO_NONE;
    partition->token = murmur3_token(key.data, key.size);
    return partition;
}

static uint32_t partition_insert(struct wide_partitions *partitions, struct wide_key_place *place,
                                 uint32_t tag, struct bytes key)
{
    if (partitions->count == partitions->capacity) {
        check(partitions->capacity < UINT32_MAX / 4);
        partitions->capacity = partitions->capacity == 0 ? PLACES_FIRST : partitions->capacity * 2;
        partitions->items = memory_resize(partitions->items,
                                          partitions->capacity * sizeof(struct wide_partition *));
    }
    uint32_t number = partitions->count++;
    partitions->items[number] = partition_new(partitions, key);
    *place = (struct wide_key_place){tag, number + 1};
    places_move(partitions, MOVES);
    if ((uint64_t)partitions->count * 4 > (partitions->mask + 1) * 3)
        places_grow(partitions);
    return number;
}

static uint32_t key_add(struct wide_partitions *partitions, uint32_t tag, struct bytes key)
{
    struct wide_key_place *place =
        place_probe(partitions, partitions->places, partitions->mask, tag, key);
    uint32_t number = place->number != 0 ? place->number : old_number(partitions, tag, key);
    return number != 0 ? number - 1 : partition_insert(partitions, place, tag, key);
}

/* Ask for the partitions that the first places looked at name. */
static void partitions_prefetch(const struct wide_partitions *partitions, const uint32_t *tags,
                                uint32_t count)
{
    const struct wide_key_place *places = partitions->places;
    for (uint32_t i = 0; i < count; i++) {
        struct wide_key_place place = places[tags[i] & partitions->mask];
        if (place.tag == tags[i] && place.number != 0)
            __builtin_prefetch(&partitions->items[place.number - 1]);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct wide_key_place place = places[tags[i] & partitions->mask];
        if (place.tag != tags[i] || place.number == 0)
            continue;
        const struct wide_partition *partition = partitions->items[place.number - 1];
        __builtin_prefetch(partition, 1);
        __builtin_prefetch(&partition->token, 1);
        __builtin_prefetch(partition->bases + partitions->column_count);
    }
}

void wide_partitions_add_all(struct wide_partitions *partitions,
                             const struct block_dictionary *keys, uint32_t *numbers_out)
{
    uint32_t tags[AHEAD];
    places_move(partitions, MOVES_DICTIONARY);
    for (uint32_t start = 0; start < keys->count; start += AHEAD) {
        uint32_t left = keys->count - start;
        uint32_t count = left < AHEAD ? left : AHEAD;
        for (uint32_t i = 0; i < count; i++) {
            tags[i] = tag_of(block_dictionary_get(keys, start + i));
            __builtin_prefetch(&partitions->places[tags[i] & partitions->mask]);
            if (partitions->old != NULL)
                __builtin_prefetch(&partitions->old[tags[i] & (partitions->old_count - 1)]);
        }
        partitions_prefetch(partitions, tags, count);
        for (uint32_t i = 0; i < count; i++)
            numbers_out[start + i] =
                key_add(partitions, tags[i], block_dictionary_get(keys, start + i));
    }
}

/* ---- as of a frame ---- */

/* The last frame's list becomes that of the one before. */
static void undo_turn(struct wide_partitions *partitions, uint64_t frame)
{
    struct wide_undo_list list = partitions->undo[1];
    undo_clear(partitions, &list);
    list.frame = frame;
    partitions->undo[1] = partitions->undo[0];
    partitions->undo[0] = list;
}

static uint32_t undo_add(struct wide_partitions *partitions, const struct wide_partition *partition)
{
    struct wide_undo_list *list = &partitions->undo[0];
    if (list->count == list->capacity) {
        check(list->capacity < UINT32_MAX / 4);
        list->capacity = list->capacity == 0 ? UNDO_FIRST : list->capacity * 2;
        list->entries = memory_resize(list->entries, list->capacity * sizeof *list->entries);
    }
    struct wide_undo *entry = &list->entries[list->count];
    *entry = (struct wide_undo){partition->newest, partition->undo};
    if (partition->newest.stats.is_large) {
        packed_stats_copy(&entry->slot.stats, &partition->newest.stats);
        partitions->sums_bytes += packed_stats_bytes(&partition->newest.stats);
    }
    return list->count++;
}

void wide_partitions_touch(struct wide_partitions *partitions, struct wide_partition *partition,
                           uint64_t frame, int64_t timestamp_us)
{
    struct wide_slot *slot = &partition->newest;
    check(frame >= partitions->undo[0].frame);
    if (frame != partitions->undo[0].frame)
        undo_turn(partitions, frame);
    if (frame != slot->frame && slot->frame != 0)
        partition->undo = undo_add(partitions, partition);
    slot->frame = frame;
    slot->timestamp_us = timestamp_us;
}

const struct wide_slot *wide_partitions_as_of(const struct wide_partitions *partitions,
                                              const struct wide_partition *partition,
                                              uint64_t frame)
{
    static const struct wide_slot none;
    const struct wide_slot *slot = &partition->newest;
    uint32_t undo = partition->undo;
    while (slot->frame > frame) {
        if (undo == WIDE_UNDO_NONE)
            return &none;
        const struct wide_undo_list *list = &partitions->undo[0];
        if (list->frame != slot->frame)
            list = &partitions->undo[1];
        check(list->frame == slot->frame && undo < list->count);
        slot = &list->entries[undo].slot;
        undo = list->entries[undo].undo;
    }
    return slot;
}
