/* cql_select_private: a SELECT while it is carried out.  cql_select.c reads;
 * cql_select_rows.c makes rows and groups of the answer. */
#ifndef DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PRIVATE_H
#define DAYBOOK_QUERY_CQL_READ_CQL_SELECT_PRIVATE_H

#include "query/cql/expression/cql_function.h"
#include "query/cql/read/cql_by_time.h"
#include "query/cql/read/cql_select_plan.h"

/* A row that ORDER BY sorts over several partitions. */
struct sorted_row {
    struct clustering clustering;
    size_t start;
    size_t size;
    uint64_t number;                     /* the order of reading, which equal rows keep */
};

struct select {
    struct cql_execution *execution;
    const struct cql_select_plan *plan;
    struct cql_restrict_bound bound;
    struct arena *scratch;
    struct arena *group_arena;
    struct arena *static_arena;
    bool checks_slices;                  /* each row is compared with the slices */
    bool is_going, goes_again, is_done;  /* is_going: select_continue runs; goes_again: it was
                                          * called meanwhile; is_done: nothing more is to be read */
    bool looks_each_row;                 /* read the clock before each row, because a row may take
                                          * long */
    uint32_t read_rows;                  /* rows to read if it is unknown how many the answer
                                          * needs */
    int status;
    const struct read_page *page;

    uint64_t unit;
    uint64_t unit_count;
    struct buffer position;              /* the store's position for the next read */
    bool unit_ended;
    bool reads_static_only;              /* read the static row of a resumed partition next */
    uint64_t limit_left;
    uint64_t partition_limit;
    bool is_paged;
    uint64_t page_rows;

    struct buffer partition_key;         /* of the row that was read last */
    bool has_partition;
    uint64_t partition_rows;             /* rows of the partition in the answer, over all pages */
    bool partition_is_taken;             /* a row of the partition has passed the filters */
    struct row static_row;
    bool has_static;
    bool static_is_pending;              /* the static row was read, but no other row of its
                                          * partition yet */
    struct buffer static_position;       /* right before the static row */
    uint64_t static_unit;

    struct cql_accumulator **accumulators;
    bool has_group;
    struct buffer group_key;
    struct cql_row group;                /* the group's first row */
    struct row group_row, group_static;

    struct buffer cells;
    uint32_t row_count;
    struct sorted_row *sorted;
    uint32_t sorted_capacity;
    struct buffer paging_state;
    bool is_virtual;
    const struct page_row *virtual_rows;
    uint32_t virtual_count;
    struct cql_by_time *by_time;         /* NULL: the table is not clicks_by_hour or
                                          * clicks_by_minute */
    struct page_row *virtual_page;       /* rows of one key or token range; NULL: not made yet */
    bool by_index;
    struct cql_index_use use;
    struct arena *entry_arena;
    struct page_row *entries;
    uint32_t entry_count, entry;
    bool reads_row;                      /* the next read is of the row or partition of `entry` */
    struct buffer after_entries;         /* the index's position after its page */
    /* Used if entries stand for partitions: */
    struct buffer before_entry;          /* the index's position right before the entry */
    struct buffer resumed;               /* where to continue in the first entry's partition */
};

/* End the SELECT.  If `status` is 0, the answer is complete or has the paging state of the next
 * page.  Otherwise the fault is filled. */
void cql_select_stop(struct select *select, int status);

/* Whether ORDER BY sorts the rows of several partitions in memory. */
bool cql_select_sorts(const struct select *select);
int cql_select_sort_rows(void *select);          /* a guarded step */

/* Add the answer's row for the open group, and reset the accumulators.  Without GROUP BY all rows,
 * even none, are a group. */
int cql_select_group_end(struct select *select);
/* Take row `i` of a page.  Call this for the rows in the order of the answer. */
int cql_select_page_row(struct select *select, const struct read_page *page, uint32_t i);
/* Add `row` if it passes the filters.  If it passes but the client's page is full, the page ends
 * right before rows[i], which is `row` or its index entry. */
int cql_select_take_stored(struct select *select, const struct table *table,
                           const struct page_row *row, const struct page_row *rows, uint32_t i);
/* Set `position` to right before rows[i].  rows[0] is the first row after the last read's
 * position. */
void cql_select_place_before(const struct select *select, const struct page_row *rows, uint32_t i,
                             struct buffer *position);

/* Call this before each row.  A new key ends the partition of the row before. */
int cql_select_enter_partition(struct select *select, struct bytes key);
/* Call this when the partition has no further rows.  A partition that has only a static row gives
 * one row of the answer, unless clustering or regular columns are restricted. */
int cql_select_end_partition(struct select *select);
void cql_select_keep_static(struct select *select, const struct page_row *row);
bool cql_select_in_slices(const struct select *select, const struct row *row);

bool cql_select_reads_partition(const struct select *select);
/* A hash of the key columns' types and order, on which every position depends. */
uint64_t cql_select_key_hash(const struct select *select);
#endif
