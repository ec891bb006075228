/* key_map: numbers keys, which are byte strings, from 0 in the order in which they are added.
 *
 * The map copies keys, and never removes one.  A key may have a value. */
#ifndef DAYBOOK_BASE_KEY_MAP_H
#define DAYBOOK_BASE_KEY_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct key_map;

#define KEY_MAP_NONE UINT32_MAX

struct key_map *key_map_new(void);
/* Each key has a value of `value_size` bytes, which begins as zeros. */
struct key_map *key_map_new_of(size_t value_size);
void key_map_free(struct key_map *map);                      /* NULL is fine */

uint32_t key_map_count(const struct key_map *map);
size_t key_map_bytes(const struct key_map *map);
uint32_t key_map_find(const struct key_map *map, struct bytes key);      /* or KEY_MAP_NONE */
/* Returns the number of the key, which is added if it is new. */
uint32_t key_map_add(struct key_map *map, struct bytes key);
/* The pointer is valid until a key is added. */
void *key_map_value(const struct key_map *map, uint32_t number);
/* The bytes are valid as long as the map. */
struct bytes key_map_key(const struct key_map *map, uint32_t number);
/* The keys in the order of bytes_compare.  The caller frees the array by memory_free. */
struct bytes *key_map_sorted(const struct key_map *map, uint32_t *count_out);
#endif
