/* test_partition_table: what was put since the table was cleared is found, and nothing else. */
#include "ingest/parse/partition_table.h"

#include <criterion/criterion.h>

enum { RESELLERS = 300, DAYS = 40, SLOTS_KEPT = 1 << 17 };

static uint32_t put_all(struct partition_table *table, uint32_t resellers)
{
    uint32_t code = 0;

    for (uint32_t reseller = 0; reseller < resellers; reseller++)
        for (int32_t day = 16000; day < 16000 + DAYS; day++) {
            partition_table_reserve(table, 1);
            struct partition_slot *slot = partition_table_find(table, reseller, day);
            cr_assert(partition_table_is_free(table, slot));
            partition_table_put(table, slot,
                                (struct partition_slot){reseller, day, code++, table->first});
        }
    return code;
}

static void expect_all(const struct partition_table *table, bool is_there)
{
    uint32_t code = 0;

    for (uint32_t reseller = 0; reseller < RESELLERS; reseller++)
        for (int32_t day = 16000; day < 16000 + DAYS; day++) {
            const struct partition_slot *slot = partition_table_find(table, reseller, day);
            cr_assert_eq(partition_table_is_free(table, slot), !is_there);
            cr_assert(!is_there || slot->code == code);
            code++;
        }
}

Test(partition_table, finds_what_was_put_and_forgets_it_when_it_is_cleared)
{
    struct partition_table table;

    partition_table_init(&table);
    for (uint32_t i = 0; i < 3; i++) {
        expect_all(&table, false);
        (void)put_all(&table, RESELLERS);
        expect_all(&table, true);
        partition_table_clear(&table, table.first + 1);
    }
    partition_table_release(&table);
}

Test(partition_table, forgets_all_where_marks_begin_anew)
{
    struct partition_table table;

    partition_table_init(&table);
    partition_table_clear(&table, UINT32_MAX);
    (void)put_all(&table, RESELLERS);
    partition_table_clear(&table, 1);
    expect_all(&table, false);
    partition_table_release(&table);
}

Test(partition_table, gives_a_large_batchs_memory_back)
{
    struct partition_table table;

    partition_table_init(&table);
    size_t least = partition_table_bytes(&table);
    (void)put_all(&table, SLOTS_KEPT / DAYS);
    cr_expect_gt(partition_table_bytes(&table), SLOTS_KEPT * sizeof *table.slots);
    partition_table_clear(&table, table.first + 1);
    cr_expect_eq(partition_table_bytes(&table), least);
    partition_table_release(&table);
}
