/* string_map: see string_map.h. */
#include "client/string_map.h"

#include <stdlib.h>
#include <string.h>

#include "client/array.h"

enum { SLOTS_MIN = 256 };

void string_map_release(struct string_map *map)
{
    free(map->text);
    free(map->offsets);
    free(map->slots);
    *map = (struct string_map){0};
}

void string_map_clear(struct string_map *map)
{
    map->count = 0;
    if (++map->epoch != 0)
        return;
    /* The epoch has wrapped, so slots of old epochs could seem to be in use. */
    map->epoch = 1;
    if (map->slots != NULL)
        memset(map->slots, 0, ((size_t)map->mask + 1) * sizeof *map->slots);
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load(const uint8_t *from, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, from, size);
    return value;
}

uint32_t string_map_hash(const void *data, size_t size)
{
    const uint8_t *at = data;
    size_t left = size;
    uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) ^ size;

    for (; left > 16; at += 16, left -= 16)
        hash = fold(load(at, 8) ^ hash, load(at + 8, 8) ^ UINT64_C(0xD6E8FEB86659FD93));
    /* The two loads of 8 bytes may overlap. */
    if (left >= 8)
        hash = fold(load(at, 8) ^ hash, load(at + left - 8, 8) ^ UINT64_C(0xD6E8FEB86659FD93));
    else if (left > 0)
        hash = fold(load(at, left) ^ hash, UINT64_C(0xD6E8FEB86659FD93));
    return (uint32_t)(hash ^ hash >> 32);
}

int64_t string_map_find(const struct string_map *map, uint32_t hash, const void *data, size_t size)
{
    if (map->slots == NULL)
        return STRING_MAP_NONE;
    for (uint32_t at = hash & map->mask;; at = (at + 1) & map->mask) {
        const struct string_slot *slot = &map->slots[at];

        if (slot->epoch != map->epoch)
            return STRING_MAP_NONE;
        if (slot->hash == hash && string_map_size(map, slot->code) == size &&
            memcmp(map->text + map->offsets[slot->code], data, size) == 0)
            return slot->code;
    }
}

static void slot_place(struct string_slot *slots, uint32_t mask, struct string_slot slot)
{
    uint32_t at = slot.hash & mask;

    while (slots[at].epoch == slot.epoch)
        at = (at + 1) & mask;
    slots[at] = slot;
}

static int slots_grow(struct string_map *map)
{
    size_t slots = map->slots == NULL ? SLOTS_MIN : ((size_t)map->mask + 1) * 2;
    struct string_slot *grown = calloc(slots, sizeof *grown);

    if (grown == NULL)
        return STRING_MAP_NO_MEMORY;
    if (map->epoch == 0)
        map->epoch = 1;
    for (size_t i = 0; map->slots != NULL && i <= map->mask; i++)
        if (map->slots[i].epoch == map->epoch)
            slot_place(grown, (uint32_t)slots - 1, map->slots[i]);
    free(map->slots);
    map->slots = grown;
    map->mask = (uint32_t)slots - 1;
    return 0;
}

static int strings_reserve(struct string_map *map, size_t size)
{
    size_t text = string_map_bytes(map) + size;

    /* The additional byte ensures that `text` is not NULL when all strings are empty. */
    if (text > UINT32_MAX || !array_reserve(&map->text, &map->text_capacity, text + 1, 1) ||
        !array_reserve(&map->offsets, &map->offset_capacity, map->count + 2, sizeof *map->offsets))
        return STRING_MAP_NO_MEMORY;
    return 0;
}

int64_t string_map_add(struct string_map *map, uint32_t hash, const void *data, size_t size)
{
    int64_t code = string_map_find(map, hash, data, size);

    if (code != STRING_MAP_NONE)
        return code;
    if (strings_reserve(map, size) != 0 ||
        ((map->slots == NULL || map->count >= map->mask / 2) && slots_grow(map) != 0))
        return STRING_MAP_NO_MEMORY;
    uint32_t at = (uint32_t)string_map_bytes(map);
    memcpy(map->text + at, data, size);
    map->offsets[map->count] = at;
    map->offsets[map->count + 1] = at + (uint32_t)size;
    slot_place(map->slots, map->mask,
               (struct string_slot){.hash = hash, .epoch = map->epoch, .code = map->count});
    return map->count++;
}
