/* memory_account: one account of what is kept in memory, and what memtables get of the limit.
 *
 *     limit (--memory)
 *     ├─ kept       directories of open segments, sums by partition, what readers of segments leave
 *     │             for the next ones, and what the folders above hold (memory_held.h): no flush
 *     │             makes it less
 *     ├─ work       a quarter of the limit, at least 28 MiB (of a small limit half) and at most
 *     │             64: what flushes, merges, reads and doors use while they work
 *     └─ memtables  what is left, at least a quarter: one open, others being flushed or freed, and
 *                   what is kept of those for the next, a third of it at most
 *
 * Correct means: nothing is ever refused for good, and nothing lost.  The share of memtables has a
 * floor, so that there is always a memtable to flush and waiting for memory ends.  What is kept can
 * thus push the whole over a limit that is too small for so many partitions; docs/OPERATIONS.md
 * says how much memory a partition takes. */
#ifndef DAYBOOK_STORAGE_ENGINE_MEMORY_ACCOUNT_H
#define DAYBOOK_STORAGE_ENGINE_MEMORY_ACCOUNT_H

#include "storage/engine/run_set.h"

struct memory_account {
    const struct run_set *runs;
    uint64_t limit;
    struct memory_held held;
};

/* The limit is that of the options of `runs`, which outlive this. */
void memory_account_init(struct memory_account *account, const struct run_set *runs);
/* Bytes that stay whatever is flushed. */
uint64_t memory_account_kept(const struct memory_account *account);
/* Bytes that all memtables together may take. */
uint64_t memory_account_memtables_share(const struct memory_account *account);
/* Bytes that captures of reads may take together. */
uint64_t memory_account_reads_share(const struct memory_account *account);
#endif
