/* memory_account: counts the memory that is kept, and gives memtables their share of the limit.
 *
 *     limit (--memory)
 *     ├─ kept       directories of open segments, sums by partition, memory for the next readers of
 *     │             segments, and what users of the store keep (memory_held.h); no flush reduces it
 *     ├─ work       of flushes, merges, reads and connections: a quarter of the limit, at most 64
 *     │             MiB and at least 28 MiB (or half of the limit, if that is less)
 *     └─ memtables  the rest, at least a quarter of the limit: one open memtable, others being
 *                   flushed or freed, and free memory for the next ones
 *
 * What must hold: no write is refused for ever.  Therefore the share of memtables has a minimum:
 * some memtable can always be flushed, and every wait for memory ends.  So if kept memory is large,
 * the process can exceed its limit. */
#ifndef DAYBOOK_STORAGE_ENGINE_MEMORY_ACCOUNT_H
#define DAYBOOK_STORAGE_ENGINE_MEMORY_ACCOUNT_H

#include "storage/engine/run_set.h"

struct memory_account {
    const struct run_set *runs;
    uint64_t limit;
    struct memory_held held;
};

/* `runs` must outlive the account. */
void memory_account_init(struct memory_account *account, const struct run_set *runs);
uint64_t memory_account_kept(const struct memory_account *account);
uint64_t memory_account_memtables_share(const struct memory_account *account);
/* Bytes that reads may take together for copies of the open memtable. */
uint64_t memory_account_reads_share(const struct memory_account *account);
#endif
