/* test_key_map: each distinct key has one number, which stays, and by which it is found again. */
#include "base/key_map.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "base/memory.h"

enum { KEYS = 20000, KEY_SIZE_MAX = 16 };

static struct bytes key_of(uint32_t i, char text[KEY_SIZE_MAX])
{
    return bytes_of(text, (size_t)snprintf(text, KEY_SIZE_MAX, "%u", i * 7));
}

Test(key_map, numbers_ascend_and_stay_while_it_grows)
{
    struct key_map *map = key_map_new_of(sizeof(uint64_t));
    char text[KEY_SIZE_MAX];
    for (uint32_t i = 0; i < KEYS; i++) {
        cr_assert_eq(key_map_find(map, key_of(i, text)), KEY_MAP_NONE);
        cr_assert_eq(key_map_add(map, key_of(i, text)), i);
        cr_assert_eq(*(uint64_t *)key_map_value(map, i), 0);
        *(uint64_t *)key_map_value(map, i) = i + 1;
        cr_assert_eq(key_map_add(map, key_of(i / 2, text)), i / 2);
    }
    cr_assert_eq(key_map_count(map), KEYS);
    for (uint32_t i = 0; i < KEYS; i++) {
        cr_assert_eq(key_map_find(map, key_of(i, text)), i);
        cr_assert(bytes_equal(key_map_key(map, i), key_of(i, text)));
        cr_assert_eq(*(uint64_t *)key_map_value(map, i), i + 1);
    }
    cr_assert_geq(key_map_bytes(map), KEYS * (sizeof(struct bytes) + sizeof(uint64_t) + 8));
    key_map_free(map);
}

Test(key_map, keys_are_sorted_by_bytes_the_empty_one_first)
{
    static const char *const keys[] = {"b", "", "ab", "a"};
    static const char *const sorted[] = {"", "a", "ab", "b"};
    struct key_map *map = key_map_new();
    uint32_t count;
    for (int i = 0; i < 4; i++)
        key_map_add(map, bytes_text(keys[i]));
    struct bytes *all = key_map_sorted(map, &count);
    cr_assert_eq(count, 4);
    for (int i = 0; i < 4; i++)
        cr_assert(bytes_equal(all[i], bytes_text(sorted[i])));
    memory_free(all);
    key_map_free(map);
}
