/* key_map: an array of the keys, and a hash table of their numbers (key_places.h). */
#include "base/key_map.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/hash64.h"
#include "base/key_places.h"
#include "base/memory.h"

enum { KEYS_FIRST = 32, ARENA_CHUNK = 64 * 1024 };

struct key_map {
    struct arena *arena;
    struct key_places places;
    struct bytes *keys;
    uint8_t *values;
    size_t value_size;
    uint32_t count;
    uint32_t capacity;
};

struct key_map *key_map_new(void)
{
    return key_map_new_of(0);
}

struct key_map *key_map_new_of(size_t value_size)
{
    struct key_map *map = memory_zeroed(1, sizeof(*map));
    map->value_size = value_size;
    map->arena = arena_new(ARENA_CHUNK);
    key_places_init(&map->places, map->arena);
    return map;
}

void key_map_free(struct key_map *map)
{
    if (map == NULL)
        return;
    arena_free(map->arena);
    memory_free(map->keys);
    memory_free(map->values);
    memory_free(map);
}

uint32_t key_map_count(const struct key_map *map)
{
    return map->count;
}

size_t key_map_bytes(const struct key_map *map)
{
    return sizeof(*map) + arena_held(map->arena) +
           map->capacity * (sizeof(*map->keys) + map->value_size);
}

struct bytes key_map_key(const struct key_map *map, uint32_t number)
{
    check(number < map->count);
    return map->keys[number];
}

void *key_map_value(const struct key_map *map, uint32_t number)
{
    check(number < map->count);
    return map->values + number * map->value_size;
}

static uint32_t tag_of(struct bytes key)
{
    return (uint32_t)hash64(key.data, key.size);
}

static uint32_t find(const struct key_map *map, struct bytes key, uint32_t tag)
{
    struct key_probe probe = key_probe_begin(&map->places, tag);
    uint32_t number = key_probe_next(&map->places, &probe);
    while (number != KEY_MAP_NONE && !bytes_equal(map->keys[number], key))
        number = key_probe_next(&map->places, &probe);
    return number;
}

uint32_t key_map_find(const struct key_map *map, struct bytes key)
{
    return find(map, key, tag_of(key));
}

uint32_t key_map_add(struct key_map *map, struct bytes key)
{
    uint32_t tag = tag_of(key);
    uint32_t number = find(map, key, tag);
    if (number != KEY_MAP_NONE)
        return number;
    check(map->count < KEY_MAP_NONE / 4);
    if (map->count == map->capacity) {
        map->capacity = map->capacity == 0 ? KEYS_FIRST : map->capacity * 2;
        map->keys = memory_resize(map->keys, map->capacity * sizeof(*map->keys));
        if (map->value_size > 0)
            map->values = memory_resize(map->values, map->capacity * map->value_size);
    }
    if (map->value_size > 0)
        memset(map->values + map->count * map->value_size, 0, map->value_size);
    map->keys[map->count] = arena_copy(map->arena, key);
    key_places_add(&map->places, tag, map->count);
    return map->count++;
}

static int compare_keys(const void *a, const void *b)
{
    return bytes_compare(*(const struct bytes *)a, *(const struct bytes *)b);
}

struct bytes *key_map_sorted(const struct key_map *map, uint32_t *count_out)
{
    struct bytes *keys = memory_alloc(map->count * sizeof(*keys));
    for (uint32_t i = 0; i < map->count; i++)
        keys[i] = map->keys[i];
    if (map->count > 0)
        qsort(keys, map->count, sizeof(*keys), compare_keys);
    *count_out = map->count;
    return keys;
}
