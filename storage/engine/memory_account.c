#include "storage/engine/memory_account.h"

enum {
    WORK_LEAST = 28 << 20, /* a merge of eight runs uses so much, however small the limit is */
    WORK_MAX = 64 << 20,
    READS_SHARE = 16,
    READS_BYTES_MAX = 16 << 20
};

void memory_account_init(struct memory_account *account, const struct run_set *runs)
{
    *account = (struct memory_account){.runs = runs, .limit = runs->env->options.memory_limit};
}

uint64_t memory_account_kept(const struct memory_account *account)
{
    uint64_t bytes = run_set_kept_bytes(account->runs);
    for (uint32_t i = 0; i < MEMORY_HOLDERS; i++)
        bytes += account->held.bytes[i];
    return bytes;
}

static uint64_t smaller(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static uint64_t work_share(uint64_t limit)
{
    uint64_t quarter = limit / 4;
    return quarter < WORK_LEAST ? smaller(limit / 2, WORK_LEAST) : smaller(quarter, WORK_MAX);
}

uint64_t memory_account_memtables_share(const struct memory_account *account)
{
    uint64_t least = account->limit / 4;
    uint64_t taken = memory_account_kept(account) + work_share(account->limit);
    return taken + least < account->limit ? account->limit - taken : least;
}

uint64_t memory_account_reads_share(const struct memory_account *account)
{
    return smaller(account->limit / READS_SHARE, READS_BYTES_MAX);
}
