/* reads: reads pages of rows, stats of partitions and groups of rows, and scrubs the store.
 *
 * A page, a group or a scrub is read from one immutable view (view.h):
 *
 *     request ──▶ view, and a copy of what is needed of the open memtable ──▶ job ──▶ answer
 *              └─▶ if the copy would be too large: freeze the memtable first
 *
 * An answer is as of the last durable frame, or with READ_APPLIED as of the last applied one.
 * Reads of pages begin in the order of the requests, and as many at a time as their share of memory
 * allows.
 *
 * reads.c, reads_capture.c and reads_page.c read pages; reads_stats.c, reads_group.c and
 * reads_scrub.c do the other calls.  Engine thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_READS_H
#define DAYBOOK_STORAGE_ENGINE_READS_H

#include "storage/engine/sequencer.h"
#include "storage/engine/view.h"

struct read_job;

struct reads {
    struct store *store;
    struct engine_env *env;
    struct sequencer *sequencer;
    struct memtable_set *memtables;
    struct run_set *runs;
    const struct memory_account *account;
    uint64_t bytes;                    /* memory of the reads that have begun */
    struct read_job *first, *last;     /* reads that wait to begin, in their order */
    struct timer turn;
    bool is_beginning;
    bool is_answering;
    struct segment_read_budget read_budget;
    int64_t read_budget_began_us;      /* monotonic: when the budget was last filled */
};

/* As the functions of store.h with these names, and engine_scrub. */
must_check int reads_read(struct reads *reads, const struct read_request *request, store_page page,
                          void *context, struct error *err);
must_check int reads_stats(struct reads *reads, uint32_t table_id, uint32_t column_id,
                           struct bytes key, enum read_view view, store_figures figures,
                           void *context, struct error *err);
must_check int reads_stats_scan(struct reads *reads, uint32_t table_id, uint32_t column_id,
                                struct bytes position, uint32_t limit, enum read_view view,
                                store_figures figures, void *context, struct error *err);
must_check int reads_group(struct reads *reads, const struct group_request *request,
                           store_figures figures, void *context, struct error *err);
must_check int reads_scrub(struct reads *reads, void (*found)(void *context, const char *text),
                           store_done done, void *context, struct error *err);

/* ---- shared by the files of this header ---- */

/* The frame up to which a read with this view sees rows. */
static inline uint64_t reads_frame(const struct reads *reads, enum read_view view)
{
    return view == READ_APPLIED ? UINT64_MAX : sequencer_durable_frame(reads->sequencer);
}

/* The column whose sums are kept in the stats: the first regular column of decimals; 0: none. */
uint32_t reads_summed_column(const struct table *table);
/* Add the row, and its value of column `summed` (0: no column), to `stats`. */
must_check int reads_sum_row(const struct table *table, const struct page_row *row, uint32_t summed,
                             struct partition_stats *stats, struct error *err);
/* NULL, with an error: the table does not exist, has counters, or lacks the column.  `column_id` 0:
 * no column is needed. */
const struct table *reads_table_of_rows(const struct reads *reads, uint32_t table_id,
                                        uint32_t column_id, struct error *err);
#endif
