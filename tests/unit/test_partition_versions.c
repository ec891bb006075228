/* A partition's number changes with each write to it; others keep theirs, but where slots are
 * shared. */
#include <criterion/criterion.h>

#include "storage/engine/partition_versions.h"

enum { TABLE = 7 };

static void apply(struct partition_versions *versions, int64_t token)
{
    struct mutation mutation = {.table_id = TABLE, .token = token};
    struct write_batch batch = {.mutations = &mutation, .mutation_count = 1};
    partition_versions_advance(versions, &batch);
}

Test(partition_versions, a_write_changes_its_own_partition_alone)
{
    struct partition_versions versions;
    partition_versions_init(&versions);
    apply(&versions, 1);
    apply(&versions, 2);
    uint64_t one = partition_versions_of(&versions, TABLE, 1);
    uint64_t two = partition_versions_of(&versions, TABLE, 2);
    apply(&versions, 2);
    cr_expect_eq(partition_versions_of(&versions, TABLE, 1), one);
    cr_expect_gt(partition_versions_of(&versions, TABLE, 2), two);
    cr_expect_eq(partition_versions_of(&versions, TABLE + 1, 2), 0);
    partition_versions_release(&versions);
}

Test(partition_versions, a_batch_without_writes_changes_none)
{
    struct partition_versions versions;
    struct write_batch empty = {0};
    partition_versions_init(&versions);
    apply(&versions, 1);
    uint64_t one = partition_versions_of(&versions, TABLE, 1);
    partition_versions_advance(&versions, &empty);
    cr_expect_eq(versions.last, one);
    partition_versions_release(&versions);
}

Test(partition_versions, an_end_changes_all)
{
    struct partition_versions versions;
    partition_versions_init(&versions);
    apply(&versions, 1);
    uint64_t one = partition_versions_of(&versions, TABLE, 1);
    partition_versions_end(&versions);
    cr_expect_gt(partition_versions_of(&versions, TABLE, 1), one);
    cr_expect_gt(partition_versions_of(&versions, TABLE, 12345), one);
    partition_versions_release(&versions);
}
