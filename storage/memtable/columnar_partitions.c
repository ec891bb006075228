/* columnar_partitions: a hash table, and two undo lists.
 *
 * What decides correctness: two keys are the same only if all their bytes are equal.  A partition
 * gets its entry in the undo list of a frame once, before the frame changes the partition. */
#include "storage/memtable/columnar_partitions.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash64.h"
#include "base/memory.h"
#include "base/murmur3.h"

enum { AHEAD = 32 /* lookups under way at once */ };

_Static_assert(sizeof(struct columnar_partition) == 96, "a partition takes what the header says");

struct columnar_undo {
    struct columnar_slot slot;
    uint32_t undo; /* the partition's next older entry, in the list of slot.frame */
};

/* ---- making and freeing ---- */

void columnar_partitions_init(struct columnar_partitions *partitions, struct arena *arena,
                              uint32_t column_count)
{
    *partitions = (struct columnar_partitions){.arena = arena, .column_count = column_count};
    key_places_init(&partitions->places, arena);
}

static void undo_clear(struct columnar_partitions *partitions, struct columnar_undo_list *list)
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

void columnar_partitions_release(struct columnar_partitions *partitions)
{
    for (uint32_t i = 0; i < partitions->count; i++)
        packed_stats_clear(&partitions->items[i]->newest.stats);
    for (uint32_t i = 0; i < 2; i++) {
        undo_clear(partitions, &partitions->undo[i]);
        memory_free(partitions->undo[i].entries);
    }
    memory_free(partitions->items);
}

size_t columnar_partitions_bytes(const struct columnar_partitions *partitions)
{
    return partitions->capacity * sizeof(struct columnar_partition *) + partitions->sums_bytes +
           ((size_t)partitions->undo[0].capacity + partitions->undo[1].capacity) *
               sizeof(struct columnar_undo);
}

/* ---- finding ---- */

static uint32_t tag_of(struct bytes key)
{
    return (uint32_t)hash64(key.data, key.size);
}

static uint32_t partition_search(const struct columnar_partitions *partitions, uint32_t tag,
                                 struct bytes key)
{
    struct key_probe probe = key_probe_begin(&partitions->places, tag);
    uint32_t number;
    while ((number = key_probe_next(&partitions->places, &probe)) != KEY_PLACES_NONE)
        if (bytes_equal(columnar_partition_key(partitions, partitions->items[number]), key))
            break;
    return number;
}

uint32_t columnar_partitions_find(const struct columnar_partitions *partitions, struct bytes key)
{
    return partition_search(partitions, tag_of(key), key);
}

/* ---- adding ---- */

static struct columnar_partition *partition_new(const struct columnar_partitions *partitions,
                                                struct bytes key)
{
    uint32_t columns = partitions->column_count;
    size_t size = sizeof(struct columnar_partition) + columns * (sizeof(int64_t) + 1);
    check(key.size <= UINT16_MAX);
    struct columnar_partition *partition =
        arena_alloc(partitions->arena, size + key.size, _Alignof(struct columnar_partition));
    memset(partition, 0, size);
    memcpy((uint8_t *)partition + size, key.data, key.size);
    partition->key_size = (uint16_t)key.size;
    partition->undo = COLUMNAR_UNDO_NONE;
    partition->token = murmur3_token(key.data, key.size);
    return partition;
}

static uint32_t partition_add(struct columnar_partitions *partitions, uint32_t tag,
                              struct bytes key)
{
    uint32_t number = partition_search(partitions, tag, key);
    if (number != KEY_PLACES_NONE)
        return number;
    partitions->items =
        memory_make_room(partitions->items, partitions->count, &partitions->capacity,
                         sizeof(struct columnar_partition *));
    number = partitions->count++;
    partitions->items[number] = partition_new(partitions, key);
    key_places_add(&partitions->places, tag, number);
    return number;
}

static void partitions_prefetch(const struct columnar_partitions *partitions, const uint32_t *tags,
                                uint32_t count)
{
    uint32_t numbers[AHEAD];
    uint32_t guesses = key_places_guess_all(&partitions->places, tags, count, numbers);
    for (uint32_t i = 0; i < guesses; i++)
        __builtin_prefetch(&partitions->items[numbers[i]]);
    for (uint32_t i = 0; i < guesses; i++) {
        const struct columnar_partition *partition = partitions->items[numbers[i]];
        __builtin_prefetch(partition, 1);
        __builtin_prefetch(&partition->token, 1);
        __builtin_prefetch(partition->bases + partitions->column_count);
    }
}

void columnar_partitions_add_all(struct columnar_partitions *partitions,
                                 const struct block_dictionary *keys, uint32_t *numbers_out)
{
    uint32_t tags[AHEAD];
    key_places_move(&partitions->places);
    for (uint32_t start = 0; start < keys->count; start += AHEAD) {
        uint32_t left = keys->count - start;
        uint32_t count = left < AHEAD ? left : AHEAD;
        for (uint32_t i = 0; i < count; i++) {
            tags[i] = tag_of(block_dictionary_get(keys, start + i));
            key_places_prefetch(&partitions->places, tags[i]);
        }
        partitions_prefetch(partitions, tags, count);
        for (uint32_t i = 0; i < count; i++)
            numbers_out[start + i] =
                partition_add(partitions, tags[i], block_dictionary_get(keys, start + i));
    }
}

/* ---- as of a frame ---- */

/* Begin the list of `frame` in undo[0].  The list in undo[0] moves to undo[1], and the memory of
 * the older list is reused. */
static void undo_turn(struct columnar_partitions *partitions, uint64_t frame)
{
    struct columnar_undo_list list = partitions->undo[1];
    undo_clear(partitions, &list);
    list.frame = frame;
    partitions->undo[1] = partitions->undo[0];
    partitions->undo[0] = list;
}

static uint32_t undo_add(struct columnar_partitions *partitions,
                         const struct columnar_partition *partition)
{
    struct columnar_undo_list *list = &partitions->undo[0];
    list->entries =
        memory_make_room(list->entries, list->count, &list->capacity, sizeof *list->entries);
    struct columnar_undo *entry = &list->entries[list->count];
    *entry = (struct columnar_undo){partition->newest, partition->undo};
    if (partition->newest.stats.is_large) {
        packed_stats_copy(&entry->slot.stats, &partition->newest.stats);
        partitions->sums_bytes += packed_stats_bytes(&partition->newest.stats);
    }
    return list->count++;
}

void columnar_partitions_touch(struct columnar_partitions *partitions,
                               struct columnar_partition *partition, uint64_t frame,
                               int64_t timestamp_us)
{
    struct columnar_slot *slot = &partition->newest;
    check(frame >= partitions->undo[0].frame);
    if (frame != partitions->undo[0].frame)
        undo_turn(partitions, frame);
    if (frame != slot->frame && slot->frame != 0)
        partition->undo = undo_add(partitions, partition);
    slot->frame = frame;
    slot->timestamp_us = timestamp_us;
}

const struct columnar_slot *columnar_partitions_as_of(const struct columnar_partitions *partitions,
                                                      const struct columnar_partition *partition,
                                                      uint64_t frame)
{
    static const struct columnar_slot none;
    const struct columnar_slot *slot = &partition->newest;
    uint32_t undo = partition->undo;
    while (slot->frame > frame) {
        if (undo == COLUMNAR_UNDO_NONE)
            return &none;
        const struct columnar_undo_list *list = &partitions->undo[0];
        if (list->frame != slot->frame)
            list = &partitions->undo[1];
        check(list->frame == slot->frame && undo < list->count);
        slot = &list->entries[undo].slot;
        undo = list->entries[undo].undo;
    }
    return slot;
}
