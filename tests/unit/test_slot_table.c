/* test_slot_table: what was added and not removed is found, whatever else has come and gone. */
#include "base/slot_table.h"

#include <criterion/criterion.h>

enum { ITEMS = 5000 };

struct item {
    uint32_t key;
    bool is_there;
};

/* Few hashes, so that searches are long and run over the end of the slots. */
static uint64_t hash_of(uint32_t key)
{
    return (uint64_t)(key % 701) * 37 - 20;
}

static uint64_t item_hash(const void *item)
{
    return hash_of(((const struct item *)item)->key);
}

static struct item *find(const struct slot_table *table, uint32_t key, uint32_t *at)
{
    struct item *item = slot_table_first(table, hash_of(key), at);
    while (item != NULL && item->key != key)
        item = slot_table_next(table, at);
    return item;
}

static void expect_all(const struct slot_table *table, struct item *items, uint32_t expected)
{
    uint32_t found = 0;
    for (uint32_t i = 0, at; i < ITEMS; i++)
        cr_assert_eq(find(table, i, &at), items[i].is_there ? &items[i] : NULL, "%u", i);
    uint32_t place = 0;
    while (slot_table_each(table, &place) != NULL)
        found++;
    cr_assert_eq(found, expected);
    cr_assert_eq(table->count, expected);
}

Test(slot_table, items_are_found_while_others_come_and_go)
{
    static struct item items[ITEMS];
    struct slot_table table;
    uint32_t state = 1;
    uint32_t count = 0;
    slot_table_init(&table, item_hash);
    for (uint32_t step = 0; step < 6 * ITEMS; step++) {
        state = state * 1664525u + 1013904223u;
        struct item *item = &items[(state >> 8) % ITEMS];
        uint32_t at;
        item->key = (uint32_t)(item - items);
        if (item->is_there) {
            cr_assert_eq(find(&table, item->key, &at), item);
            slot_table_remove(&table, at);
            count--;
        } else {
            slot_table_add(&table, item);
            count++;
        }
        item->is_there = !item->is_there;
        if (step % 3000 == 0)
            expect_all(&table, items, count);
    }
    expect_all(&table, items, count);
    cr_assert_geq(slot_table_bytes(&table), 2 * count * sizeof(void *));
    slot_table_release(&table);
}

Test(slot_table, one_item_takes_the_place_of_another_with_the_same_key)
{
    struct item old = {.key = 7};
    struct item new = {.key = 7};
    struct slot_table table;
    uint32_t at;
    slot_table_init(&table, item_hash);
    slot_table_add(&table, &old);
    cr_assert_eq(find(&table, 7, &at), &old);
    slot_table_replace(&table, at, &new);
    cr_assert_eq(find(&table, 7, &at), &new);
    cr_assert_eq(slot_table_first(&table, hash_of(7), &at), &new);
    cr_assert_eq(table.count, 1);
    slot_table_release(&table);
}
