/* reads_private: what reads.c, reads_capture.c and reads_page.c share.
 *
 * A read of a page goes through them in this order:
 *
 *   reads.c           engine thread   takes the request, its view and its turn
 *   reads_capture.c   engine thread   copies what it needs of the open memtable
 *   reads_page.c      any lane        makes the page of sealed runs and of what was copied, or, on
 *                                     the engine thread, of the open memtable alone
 *   reads.c           engine thread   hands the page over, and begins those that wait */
#ifndef DAYBOOK_STORAGE_ENGINE_READS_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_READS_PRIVATE_H

#include "storage/engine/partition_reader.h"
#include "storage/engine/read_position.h"
#include "storage/engine/reads.h"

enum {
    READ_CAPTURE_ITEMS_MAX = 20000,
    READ_PAGE_BYTES_MAX = 2 << 20
};

/* A partition's rows as the open memtable has them. */
struct captured {
    int64_t token;
    struct bytes key;
    struct deletion deletion;
    struct unfiltered *items;
    size_t count;
    struct unfiltered *cut; /* those within the slice that is read, where not all are; or NULL */
};

/* A partition that is asked for by its key, and what is left of it to be read. */
struct read_part {
    int64_t token;
    struct bytes key;
    struct slice slice;
};

struct read_job {
    struct job job;
    struct freeze_waiter waiter;
    struct reads *reads;
    struct read_job *next; /* waiting to be begun */
    size_t before;         /* bytes of the arena before the capture, */
    size_t counted;        /* and after it: these are in reads->bytes */
    struct arena *arena;
    struct schema *schema; /* referenced: the table's */
    const struct table *table;
    struct read_request request;  /* its bytes copied into the arena */
    struct store_version version; /* of the partition, when the capture was taken */
    struct read_position position;
    struct read_part *parts; /* ascending; of a scan: none */
    uint32_t part_count;
    uint32_t part_end;  /* those from here on were not captured */
    struct bytes given; /* one_of_each: the first clustering value of the partition's last row that
                         * was given; data NULL: none was */
    struct view view;
    struct captured *captured; /* in (token, key) order; one of two streams each */
    uint32_t captured_count;
    uint32_t captured_capacity;
    uint32_t captured_at; /* those before it lie before what is read */
    bool has_horizon;     /* nothing at or past it was captured */
    int64_t horizon_token;
    struct bytes horizon_key;
    struct columnar_rows *appended; /* of the open memtable; NULL: none */
    struct memtable *viewed; /* by the page, referenced; NULL: none */
    struct page_row *rows;
    uint32_t row_count;
    uint32_t row_capacity; /* grows with the answer: a limit is mostly far above it */
    struct buffer position_out;
    store_page page;
    void *context;
    int status;
    struct error err;
};

/* ---- where pages begin and end ---- */

/* Where a scan begins: at its position, or at the first token asked for if that lies behind. */
int64_t reads_scan_start(const struct read_job *read, struct bytes *key_out, bool *after_out);
/* Whether a scan ends before this token. */
bool reads_is_past(const struct read_job *read, int64_t token);

/* ---- reads_capture.c ---- */

/* The next partition of the table in the open memtable; `after`: behind (token, key). */
bool reads_open_seek(struct read_job *read, int64_t token, struct bytes key, bool after,
                           int64_t *token_out, struct bytes *key_out);

/* Copy what the page needs of the open memtable: appended rows, then all else.  False: it is too
 * much.  Then all of it is dropped before the memtable is frozen, of which the page will have it
 * again. */
bool reads_capture_appended(struct read_job *read);
bool reads_capture(struct read_job *read);
void reads_capture_drop(struct read_job *read);

/* Move to the first that was captured at (token, key) or behind: partitions are read in order. */
void reads_captured_seek(struct read_job *read, int64_t token, struct bytes key);
/* What was captured of the partition after the first `index` streams of it; NULL: no more. */
struct captured *reads_captured(const struct read_job *read, uint32_t index, int64_t token,
                                      struct bytes key);
/* Captured items outside of what is left of the partition are dropped. */
struct stream *reads_captured_stream(const struct read_job *read, struct captured *captured,
                                           const struct slice *slice);

/* ---- reads_page.c ---- */

void reads_run(struct job *job); /* the page, of the view and the capture; any thread */

/* Only segments that matter stay in the view of a read of one partition. */
void reads_reduce(struct read_job *read);

/* Whether all there is of what is asked for, one partition or the table, is in the open memtable.
 */
bool reads_is_open_only(struct read_job *read);
/* The page of it.  False: it is too much, and nothing was read. */
bool reads_open(struct read_job *read);
#endif
