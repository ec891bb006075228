/* What memtables get of the limit: what is left of it, but never less than a quarter. */
#include <criterion/criterion.h>

#include "storage/engine/memory_account.h"

#define MIB (UINT64_C(1) << 20)

static void start(struct memory_account *account, struct engine_env *env, struct run_set *runs,
                  uint64_t limit)
{
    engine_env_init(env, NULL, &(struct engine_options){.memory_limit = limit});
    *runs = (struct run_set){.env = env, .readers = reader_pool_new(0)};
    memory_account_init(account, runs);
}

Test(memory_account, memtables_get_what_is_not_kept_and_not_worked_with)
{
    struct engine_env env;
    struct run_set runs;
    struct memory_account account;
    start(&account, &env, &runs, 1024 * MIB);
    cr_expect_eq(memory_account_memtables_share(&account), (1024 - 64) * MIB);
    runs.bytes = 100 * MIB;
    memory_held_change(&account.held, MEMORY_HELD_DAYS, 50 * (int64_t)MIB);
    memory_held_change(&account.held, MEMORY_HELD_INPUT, 10 * (int64_t)MIB);
    cr_expect_eq(memory_account_kept(&account), 160 * MIB);
    cr_expect_eq(memory_account_memtables_share(&account), (1024 - 64 - 160) * MIB);
    memory_held_change(&account.held, MEMORY_HELD_DAYS, -50 * (int64_t)MIB);
    cr_expect_eq(memory_account_kept(&account), 110 * MIB);
    reader_pool_unref(runs.readers);
}

/* There is always a memtable to flush, so waiting for memory ends. */
Test(memory_account, the_share_of_memtables_has_a_floor)
{
    struct engine_env env;
    struct run_set runs;
    struct memory_account account;
    start(&account, &env, &runs, 100 * MIB);
    memory_held_change(&account.held, MEMORY_HELD_PRODUCERS, 500 * (int64_t)MIB);
    cr_expect_eq(memory_account_memtables_share(&account), 25 * MIB);
    reader_pool_unref(runs.readers);
}

Test(memory_account, a_small_limit_leaves_half_for_work)
{
    struct engine_env env;
    struct run_set runs;
    struct memory_account account;
    start(&account, &env, &runs, 32 * MIB);
    cr_expect_eq(memory_account_memtables_share(&account), 16 * MIB);
    cr_expect_eq(memory_account_reads_share(&account), 2 * MIB);
    reader_pool_unref(runs.readers);
}
