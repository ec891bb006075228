/* cql_select_private: the state of a SELECT while it is carried out.  Two files share this state:
 *
 *   cql_select.c        reads the store's pages, an index's entries and their rows, or stats
 *   cql_select_rows.c   makes rows and groups of the answer from what was read, until a limit or
 *                       the end of the client's page */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PRIVATE_H
#define DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PRIVATE_H

#include "query/cql/expression/cql_function.h"
#include "query/cql/read/cql_select_plan.h"

/* A row of an answer that ORDER BY sorts over several partitions. */
struct sorted_row {
    struct clustering clustering;
    size_t start;                        /* in the cells */
    size_t size;
    uint64_t number;                     /* counts rows as they are read; equal rows keep this
                                          * order */
};

struct select {
    struct cql_execution *execution;
    const struct cql_select_plan *plan;
    struct cql_restrict_bound bound;
    struct arena *scratch;               /* for one row of the answer */
    struct arena *group_arena;           /* for the first row of the group */
    struct arena *static_arena;
    bool checks_slices;                  /* a scan by an index, or with no slice or several: each
                                          * row is compared with the slices */
    bool is_going, goes_again, is_done;  /* select_continue runs; it was called again
                                          * meanwhile; nothing more is read */
    bool looks_each_row;                 /* the clock is read before each row, because a row may
                                          * take long */
    uint32_t read_rows;                  /* rows of a store's page, if it is unknown how many the
                                          * answer needs, because of filters, groups or sorting */
    int status;
    const struct read_page *page;        /* the store's page that is being processed */

    uint64_t unit;
    uint64_t unit_count;
    struct buffer position;              /* the store's position for the next read */
    bool unit_ended;
    bool reads_static_only;              /* the next read fetches the static row of a resumed
                                          * partition */
    uint64_t limit_left;
    uint64_t partition_limit;
    bool is_paged;                       /* the answer ends where the client's page is full */
    uint64_t page_rows;                  /* that the client's page may have */

    struct buffer partition_key;         /* of the row that was read last */
    bool has_partition;
    uint64_t partition_rows;             /* rows of this partition in the answer, over all pages */
    bool partition_is_taken;             /* a row of this partition has passed the filters */
    struct row static_row;               /* in static_arena */
    bool has_static;
    bool static_is_pending;              /* the static row was read, and no other row of its
                                          * partition yet */
    struct buffer static_position;       /* the position right before the static row */
    uint64_t static_unit;

    struct cql_accumulator **accumulators;
    bool has_group;
    struct buffer group_key;
    struct cql_row group;                /* the group's first row, in group_arena */
    struct row group_row, group_static;

    struct buffer cells;
    uint32_t row_count;
    struct sorted_row *sorted;
    uint32_t sorted_capacity;
    struct buffer paging_state;
    bool is_virtual;                     /* the table is not stored; virtual_rows are its rows */
    const struct page_row *virtual_rows;
    uint32_t virtual_count;
    struct page_row *virtual_page;       /* those of one key or token range; NULL: not made
                                          * yet */
    bool by_index;                       /* rows are looked up from an index's entries */
    struct cql_index_use use;            /* the index, and the relation that it answers */
    struct arena *entry_arena;
    struct page_row *entries;            /* of the index's page, in entry_arena */
    uint32_t entry_count, entry;
    bool reads_row;                      /* the next read is of the row or partition of `entry`,
                                          * not of the index */
    struct buffer after_entries;         /* the index's position after its page */
    /* Used if an entry stands for a partition, whose rows are read in pages from `position` on: */
    struct buffer before_entry;          /* the index's position right before the entry */
    struct buffer resumed;               /* where the paging state continues in the first entry's
                                          * partition */
};

/* End the reading.  `status` is 0 if the answer is complete, or has the paging state of the next
 * page; otherwise the execution's fault is filled. */
void cql_select_stop(struct select *select, int status);

/* Whether ORDER BY sorts the rows of several partitions.  All these rows are then in memory. */
bool cql_select_sorts(const struct select *select);
int cql_select_sort_rows(void *select);          /* a guarded step (cql_guard.h) */

/* Add the answer's row for the open group, or for all rows, even none, if there is no GROUP BY, and
 * reset the accumulators. */
int cql_select_group_end(struct select *select);
/* Process row `i` of a page of the store.  Rows are processed in the order of the answer. */
int cql_select_page_row(struct select *select, const struct read_page *page, uint32_t i);
/* Add a stored row to the answer if the row passes the filters.  If the client's page has no room
 * for it, the page ends, and the paging state has the position right before rows[i]. */
int cql_select_take_stored(struct select *select, const struct table *table,
                           const struct page_row *row, const struct page_row *rows, uint32_t i);
/* Set `position` to the place right before rows[i]; rows[0] is the first row after the position of
 * the last read. */
void cql_select_place_before(const struct select *select, const struct page_row *rows, uint32_t i,
                             struct buffer *position);

/* Call this before each row, with the key of its partition.  A key that differs from the last
 * key ends the partition of the last key. */
int cql_select_enter_partition(struct select *select, struct bytes key);
/* Call this when the partition has no further rows.  A partition with a static row and no other row
 * is one row of the answer, unless the statement restricts clustering or regular columns. */
int cql_select_end_partition(struct select *select);
void cql_select_keep_static(struct select *select, const struct page_row *row);
bool cql_select_in_slices(const struct select *select, const struct row *row);

/* Whether the entries of the index stand for partitions, not for rows. */
bool cql_select_reads_partition(const struct select *select);
/* A hash of the key columns' types and order, on which every position depends. */
uint64_t cql_select_key_hash(const struct select *select);
#endif
