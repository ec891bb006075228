/* cql_select_private: the state of a SELECT that is being carried out, which two files share.
 *
 *   cql_select.c        reads: the store's pages, an index's entries and their rows, stats
 *   cql_select_rows.c   what is read becomes rows and groups of the answer, until a limit or the
 *                       page's end */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PRIVATE_H
#define DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PRIVATE_H

#include "query/cql/expression/cql_function.h"
#include "query/cql/read/cql_select_plan.h"

/* A row that ORDER BY over several partitions sorts, by the columns that it names. */
struct sorted_row {
    struct clustering clustering;
    size_t start;                        /* in the cells */
    size_t size;
    uint64_t number;                     /* by which rows that are equal in the order stay as they
                                          * came */
};

struct select {
    struct cql_execution *execution;
    const struct cql_select_plan *plan;
    struct cql_restrict_bound bound;
    struct arena *scratch;               /* of one row */
    struct arena *group_arena;           /* of the group's first row */
    struct arena *static_arena;
    bool checks_slices;                  /* a scan with several slices */
    bool is_going, goes_again, is_done;
    bool looks_each_row;                 /* the clock is read before each row, because a row may
                                          * take long */
    uint32_t read_rows;                  /* of a store's page where nothing says how many */
    int status;
    const struct read_page *page;        /* the store's, while it is taken in */

    uint64_t unit;
    uint64_t unit_count;
    struct buffer position;              /* the store's, of the next read */
    bool unit_ended;
    bool reads_static_only;              /* the next read fetches the static row of a resumed
                                          * partition */
    uint64_t limit_left;
    uint64_t partition_limit;
    uint64_t page_rows;                  /* rows that the page may have */

    struct buffer partition_key;         /* of the rows that come now */
    bool has_partition;
    uint64_t partition_rows;             /* given of it */
    bool partition_is_taken;             /* a row of it has passed the filters */
    struct row static_row;               /* in static_arena */
    bool has_static;
    bool static_is_pending;              /* no other row of the partition has been read yet */
    struct buffer static_position;       /* the place before it */
    uint64_t static_unit;

    struct cql_accumulator **accumulators;
    bool has_group;
    struct buffer group_key;
    struct cql_row group;                /* its first row, in group_arena */
    struct row group_row, group_static;

    struct buffer cells;
    uint32_t row_count;
    struct sorted_row *sorted;
    uint32_t sorted_capacity;
    struct buffer paging_state;
    bool is_virtual;                     /* all rows are there */
    const struct page_row *virtual_rows;
    bool by_index;                       /* rows are looked up from an index's entries */
    struct cql_index_use use;            /* which, and for which relation */
    struct arena *entry_arena;
    struct page_row *entries;            /* of the index's page, in entry_arena */
    uint32_t entry_count, entry;
    bool reads_row;                      /* the next answer is the row of `entry` */
    struct buffer after_entries;         /* the index's position after its page */
    /* Of an entry that stands for a partition, whose rows are read in pages from `position` on: */
    struct buffer before_entry;          /* the index's position right before it */
    struct buffer resumed;               /* where the paging state continues in the first entry's
                                          * partition */
    uint32_t virtual_count;
};

/* Read nothing more: the answer is complete (0), or the execution's fault is filled. */
void cql_select_stop(struct select *select, int status);

/* Whether ORDER BY sorts the rows of several partitions, which needs all of them in memory. */
bool cql_select_sorts(const struct select *select);
int cql_select_sort_rows(void *select);          /* a guarded step (cql_guard.h) */

/* Add the answer's row for the group that is open, and reset the accumulators. */
int cql_select_group_end(struct select *select);
/* Row `i` of a page of the store, in the order of the answer. */
int cql_select_page_row(struct select *select, const struct read_page *page, uint32_t i);
/* A stored row that belongs into the answer if its filters say so.  Where the client's page has no
 * room for it, the page ends, and the paging state names the place right before rows[i]. */
int cql_select_take_stored(struct select *select, const struct table *table,
                           const struct page_row *row, const struct page_row *rows, uint32_t i);
/* The place right before rows[i]; rows[0] is the first row behind the position of the last read. */
void cql_select_place_before(const struct select *select, const struct page_row *rows, uint32_t i,
                             struct buffer *position);

/* The rows that follow are of the partition with this key, which may be the one before. */
int cql_select_enter_partition(struct select *select, struct bytes key);
/* The partition has no further rows.  If it has a static row and no other, that is one row of the
 * answer, unless the statement restricts clustering columns. */
int cql_select_end_partition(struct select *select);
void cql_select_keep_static(struct select *select, const struct page_row *row);
bool cql_select_in_slices(const struct select *select, const struct row *row);

/* Whether the entries of the index stand for partitions, not for rows. */
bool cql_select_reads_partition(const struct select *select);
/* Of the key columns' types and order, on which every position depends. */
uint64_t cql_select_key_hash(const struct select *select);
#endif
