/* test_memtable_partitions: partitions are found by table, token and key, and walked in that order
 * within their table. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/murmur3.h"
#include "storage/memtable/memtable_partitions.h"

enum { CHUNK = 4096, TABLES = 3, KEYS = 300 };

static const uint32_t ids[TABLES] = {7, 8, UINT32_MAX};

struct fixture {
    struct arena *arena;
    struct memtable_partitions partitions;
};

static struct fixture setup(void)
{
    struct fixture fixture = {.arena = arena_new(CHUNK)};
    memtable_partitions_init(&fixture.partitions, fixture.arena, sizeof(struct memtable_partition));
    return fixture;
}

static void teardown(struct fixture *fixture)
{
    memtable_partitions_release(&fixture->partitions);
    arena_free(fixture->arena);
}

/* The tables' partitions come in turn, so that neighbours in memory are of different tables. */
static void fill(struct fixture *fixture)
{
    char text[16];

    for (int i = 0; i < KEYS * TABLES; i++) {
        snprintf(text, sizeof text, "key %d", i / TABLES);
        struct bytes key = bytes_text(text);
        struct memtable_partition *partition = memtable_partitions_get(
            &fixture->partitions, ids[i % TABLES], murmur3_token(key.data, key.size), key);
        cr_assert_eq(partition->table_id, ids[i % TABLES]);
    }
}

Test(memtable_partitions, a_walk_ends_with_its_table)
{
    struct fixture fixture = setup();
    fill(&fixture);
    for (int i = 0; i < TABLES; i++) {
        int64_t token = INT64_MIN;
        struct bytes key = {0};
        int64_t last = INT64_MIN;
        int count = 0;
        for (; memtable_partitions_seek(&fixture.partitions, ids[i], token, key, count > 0, &token,
                                        &key);
             count++) {
            cr_assert(token > last);
            last = token;
        }
        cr_assert_eq(count, KEYS);
    }
    teardown(&fixture);
}

Test(memtable_partitions, tables_come_by_id)
{
    struct fixture fixture = setup();
    cr_assert_eq(memtable_partitions_next_table(&fixture.partitions, 0), 0);
    fill(&fixture);
    cr_assert_eq(memtable_partitions_next_table(&fixture.partitions, 0), ids[0]);
    cr_assert_eq(memtable_partitions_next_table(&fixture.partitions, ids[0]), ids[1]);
    cr_assert_eq(memtable_partitions_next_table(&fixture.partitions, ids[1]), ids[2]);
    cr_assert_eq(memtable_partitions_next_table(&fixture.partitions, ids[2]), 0);
    teardown(&fixture);
}

/* Only the half of a token that the tree's prefix has, and with it the whole prefix, is the same.
 */
Test(memtable_partitions, tokens_and_keys_that_share_a_prefix_are_apart)
{
    struct fixture fixture = setup();
    const int64_t tokens[] = {-1, -2, INT64_MIN, INT64_MIN + 1, 5, 5};
    const char *const keys[] = {"a", "b", "c", "d", "f", "e"};
    const char expected[] = "cdbaef";
    int64_t token = INT64_MIN;
    struct bytes key = {0};

    for (int i = 0; i < 6; i++)
        memtable_partitions_get(&fixture.partitions, 1, tokens[i], bytes_text(keys[i]));
    for (int i = 0; i < 6; i++) {
        cr_assert(
            memtable_partitions_seek(&fixture.partitions, 1, token, key, i > 0, &token, &key));
        cr_assert_eq(key.data[0], expected[i]);
        cr_assert_not_null(memtable_partitions_find(&fixture.partitions, 1, token, key));
    }
    cr_assert_not(memtable_partitions_seek(&fixture.partitions, 1, token, key, true, &token, &key));
    cr_assert_null(memtable_partitions_find(&fixture.partitions, 1, 5, bytes_text("g")));
    cr_assert_null(memtable_partitions_find(&fixture.partitions, 2, 5, bytes_text("e")));
    teardown(&fixture);
}
