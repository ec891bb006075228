/* memory_account: counts the memory that is kept, and gives memtables their share of the limit.
 *
 *     limit (--memory)
 *     ├─ kept       directories of open segments, sums by partition, what readers of segments keep
 *     │             for the next ones, and what the users of the store keep (memory_held.h); no
 *     │             flush reduces it
 *     ├─ work       what flushes, merges, reads and connections use while they work: a quarter of
 *     │             the limit, at most 64 MiB and at least 28 MiB (or half of the limit, if that is
 *     │             less)
 *     └─ memtables  the rest, at least a quarter of the limit: one open memtable, others being
 *                   flushed or freed, and free memory for the next ones, a third of this share at
 *                   most
 *
 * What must hold: no write is refused for good.  The share of memtables has a minimum, so that
 * there is always a memtable to flush, and waiting for memory ends.  Therefore the process can
 * exceed a limit that is too small for its partitions; docs/OPERATIONS.md says how much memory a
 * partition takes. */
#ifndef DAYBOOK_STORAGE_ENGINE_MEMORY_ACCOUNT_H
#define DAYBOOK_STORAGE_ENGINE_MEMORY_ACCOUNT_H

#include "storage/engine/run_set.h"

struct memory_account {
    const struct run_set *runs;
    uint64_t limit;
    struct memory_held held;
};

/* The limit is the memory_limit of the engine's options.  `runs` outlives the account. */
void memory_account_init(struct memory_account *account, const struct run_set *runs);
/* Bytes of memory that no flush reduces. */
uint64_t memory_account_kept(const struct memory_account *account);
/* Bytes that all memtables together may take. */
uint64_t memory_account_memtables_share(const struct memory_account *account);
/* Bytes that captures of reads may take together. */
uint64_t memory_account_reads_share(const struct memory_account *account);
#endif
