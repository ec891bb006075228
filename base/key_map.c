/* Slots hold number + 1, 0 is free; at most half of them are used, so a probe is short.  A key's
 * hash is kept beside it: most mismatches end there, and growing rehashes nothing. */
#include "base/key_map.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash64.h"
#include "base/memory.h"

enum { SLOTS_MIN = 64, ARENA_CHUNK = 64 * 1024 };

struct entry {
    struct bytes key;
    uint64_t hash;
};

struct key_map {
    struct arena *arena;
    struct entry *entries;
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots;
    uint32_t slot_count; /* a power of two */
};

struct key_map *key_map_new(void)
{
    struct key_map *map = memory_zeroed(1, sizeof(*map));
    map->arena = arena_new(ARENA_CHUNK);
    map->slot_count = SLOTS_MIN;
    map->slots = memory_zeroed(map->slot_count, sizeof(*map->slots));
    return map;
}

void key_map_free(struct key_map *map)
{
    if (map == NULL)
        return;
    arena_free(map->arena);
    memory_free(map->entries);
    memory_free(map->slots);
    memory_free(map);
}

uint32_t key_map_count(const struct key_map *map)
{
    return map->count;
}

size_t key_map_bytes(const struct key_map *map)
{
    return sizeof(*map) + arena_held(map->arena) + map->capacity * sizeof(*map->entries) +
           map->slot_count * sizeof(*map->slots);
}

struct bytes key_map_key(const struct key_map *map, uint32_t number)
{
    check(number < map->count);
    return map->entries[number].key;
}

/* The slot that has the key, or the free one where it belongs. */
static uint32_t find_slot(const struct key_map *map, struct bytes key, uint64_t hash)
{
    uint32_t slot = (uint32_t)hash & (map->slot_count - 1);
    while (map->slots[slot] != 0) {
        const struct entry *entry = &map->entries[map->slots[slot] - 1];
        if (entry->hash == hash && bytes_equal(entry->key, key))
            break;
        slot = (slot + 1) & (map->slot_count - 1);
    }
    return slot;
}

uint32_t key_map_find(const struct key_map *map, struct bytes key)
{
    uint32_t slot = find_slot(map, key, hash64(key.data, key.size));
    return map->slots[slot] == 0 ? KEY_MAP_NONE : map->slots[slot] - 1;
}

static void grow_slots(struct key_map *map)
{
    memory_free(map->slots);
    map->slot_count *= 2;
    map->slots = memory_zeroed(map->slot_count, sizeof(*map->slots));
    for (uint32_t i = 0; i < map->count; i++) {
        uint32_t slot = (uint32_t)map->entries[i].hash & (map->slot_count - 1);
        while (map->slots[slot] != 0)
            slot = (slot + 1) & (map->slot_count - 1);
        map->slots[slot] = i + 1;
    }
}

uint32_t key_map_add(struct key_map *map, struct bytes key, bool *is_new_out)
{
    uint64_t hash = hash64(key.data, key.size);
    uint32_t slot = find_slot(map, key, hash);
    *is_new_out = map->slots[slot] == 0;
    if (!*is_new_out)
        return map->slots[slot] - 1;
    check(map->count < KEY_MAP_NONE / 4);
    if (map->count == map->capacity) {
        map->capacity = map->capacity == 0 ? SLOTS_MIN / 2 : map->capacity * 2;
        map->entries = memory_resize(map->entries, map->capacity * sizeof(*map->entries));
    }
    map->entries[map->count++] = (struct entry){arena_copy(map->arena, key), hash};
    if (map->count * 2 > map->slot_count)
        grow_slots(map);
    else
        map->slots[slot] = map->count;
    return map->count - 1;
}

static int compare_keys(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

struct bytes *key_map_sorted(const struct key_map *map, uint32_t *count_out)
{
    struct bytes *keys = memory_alloc(map->count * sizeof(*keys));
    for (uint32_t i = 0; i < map->count; i++)
        keys[i] = map->entries[i].key;
    if (map->count > 0)
        qsort(keys, map->count, sizeof(*keys), compare_keys);
    *count_out = map->count;
    return keys;
}
