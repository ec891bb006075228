/* Brings sets and maps into the form in which they are stored.
 *
 * Equal frozen sets must have the same bytes, because a set can be a partition key.  {2, 1, 2}
 * becomes {1, 2}.  Of equal keys of a map the last one stays, with its value.  Sets and maps within
 * lists, tuples and user types are sorted, too. */
#include <stdlib.h>

#include "base/arena.h"
#include "storage/schema/type_private.h"

struct entry {
    struct bytes key;
    struct bytes value;
    uint32_t index; /* as given */
};

static bool type_has_order(const struct type *type)
{
    bool has = type->kind == TYPE_SET || type->kind == TYPE_MAP;

    for (uint32_t i = 0; i < type->argument_count && !has; i++)
        has = type_has_order(type->arguments[i]);
    return has;
}

static int order_entries(const void *a, const void *b, void *context)
{
    const struct type *key_type = context;
    const struct entry *left = a;
    const struct entry *right = b;
    int order = type_compare(key_type, left->key, right->key);

    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

/* Keeps the last of equal entries; returns how many are left. */
static uint32_t sort_entries(const struct type *key_type, struct entry *entries, uint32_t count)
{
    struct type context = *key_type; /* qsort_r takes no const context */
    uint32_t kept = 0;

    qsort_r(entries, count, sizeof *entries, order_entries, &context);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && type_compare(key_type, entries[kept - 1].key, entries[i].key) == 0)
            kept--;
        entries[kept++] = entries[i];
    }
    return kept;
}

static void put_item(struct buffer *buffer, struct bytes item)
{
    if (item.data == NULL) {
        type_value_put_int(buffer, -1);
        return;
    }
    type_value_put_int(buffer, (int32_t)item.size);
    buffer_append_bytes(buffer, item);
}

static struct bytes next_item(const struct type *type, struct type_items *items, uint32_t index,
                              struct arena *arena)
{
    struct bytes item;
    bool sound = type_items_next(items, &item);

    check(sound);
    return item.data == NULL ? item : type_normalize(type_item_type(type, index), item, arena);
}

static void normalize_entries(const struct type *type, struct type_items *items,
                              struct arena *arena, struct buffer *buffer)
{
    bool is_map = type->kind == TYPE_MAP;
    uint32_t count = is_map ? items->count / 2 : items->count;
    struct entry *entries = arena_array(arena, count, sizeof *entries);

    for (uint32_t i = 0; i < count; i++) {
        entries[i] = (struct entry){.key = next_item(type, items, 0, arena), .index = i};
        if (is_map)
            entries[i].value = next_item(type, items, 1, arena);
    }
    count = sort_entries(type->arguments[0], entries, count);
    type_value_put_int(buffer, (int32_t)count);
    for (uint32_t i = 0; i < count; i++) {
        put_item(buffer, entries[i].key);
        if (is_map)
            put_item(buffer, entries[i].value);
    }
}

struct bytes type_normalize(const struct type *type, struct bytes value, struct arena *arena)
{
    struct buffer buffer = {.arena = arena};
    struct type_items items;

    if (!type_has_order(type) || !type_items_open(type, value, &items))
        return value;
    if (type->kind == TYPE_SET || type->kind == TYPE_MAP) {
        normalize_entries(type, &items, arena, &buffer);
    } else {
        if (type->kind == TYPE_LIST)
            type_value_put_int(&buffer, (int32_t)items.count);
        for (uint32_t i = 0; i < items.count && reader_left(&items.reader) > 0; i++)
            put_item(&buffer, next_item(type, &items, i, arena));
    }
    return buffer_view(&buffer);
}
