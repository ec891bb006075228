/* string_map: numbers different strings: their codes are 0, 1, 2 … in the order of addition.
 *
 * Clearing keeps the memory.  A map that cannot grow stays unchanged.  All-zero is an empty map. */
#ifndef DAYBOOK_CLIENT_STRING_MAP_H
#define DAYBOOK_CLIENT_STRING_MAP_H

#include <stddef.h>
#include <stdint.h>

struct string_slot {
    uint32_t hash;
    uint32_t epoch;                    /* other than the map's: the slot is empty */
    uint32_t code;
};

struct string_map {
    char *text;                        /* string i is from offsets[i] to offsets[i + 1] */
    uint32_t *offsets;
    uint32_t count;
    /* private */
    size_t text_capacity;
    size_t offset_capacity;
    struct string_slot *slots;
    uint32_t mask;                     /* the number of slots, minus 1 */
    uint32_t epoch;
};

enum { STRING_MAP_NONE = -1, STRING_MAP_NO_MEMORY = -2 };

void string_map_release(struct string_map *map);
void string_map_clear(struct string_map *map);

uint32_t string_map_hash(const void *data, size_t size);
/* `hash` is string_map_hash of the data.  Returns the code, or STRING_MAP_NONE. */
int64_t string_map_find(const struct string_map *map, uint32_t hash, const void *data, size_t size);
/* Returns the code, or STRING_MAP_NO_MEMORY. */
int64_t string_map_add(struct string_map *map, uint32_t hash, const void *data, size_t size);

static inline size_t string_map_size(const struct string_map *map, uint32_t code)
{
    return map->offsets[code + 1] - map->offsets[code];
}

static inline size_t string_map_bytes(const struct string_map *map)
{
    return map->count == 0 ? 0 : map->offsets[map->count];
}
#endif
