/* reads_private: what reads.c, reads_capture.c and reads_page.c share to read a page.
 *
 * A read passes through these files in this order:
 *
 *   reads.c           engine thread   takes the request and a view, or queues the read
 *   reads_capture.c   engine thread   copies the rows that the page needs of the open memtable
 *   reads_page.c      LANE_READ, or   makes the page of sealed runs and of what was copied; or of
 *                     engine thread   the open memtable alone
 *   reads.c           engine thread   calls back with the page, and begins reads that wait */
#ifndef DAYBOOK_STORAGE_ENGINE_READS_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_READS_PRIVATE_H

#include "storage/engine/partition_reader.h"
#include "storage/engine/read_position.h"
#include "storage/engine/reads.h"

enum {
    READ_CAPTURE_ITEMS_MAX = 20000,
    READ_PAGE_BYTES_MAX = 2 << 20
};

struct captured {
    int64_t token;
    struct bytes key;
    struct deletion deletion;
    struct unfiltered *items;
    uint32_t count;
    struct unfiltered *cut; /* the items within a slice; NULL: all are */
};

struct read_part {
    int64_t token;
    struct bytes key;
    struct slice slice;
};

struct read_job {
    struct job job;
    struct freeze_waiter waiter;
    struct reads *reads;
    struct read_job *next;
    size_t before;         /* bytes of the arena before the capture */
    size_t counted;        /* bytes of the arena after the capture; added to reads->bytes */
    struct arena *arena;
    struct schema *schema; /* referenced: the table's */
    const struct table *table;
    struct read_request request;  /* its bytes are in the arena */
    struct store_version version; /* of the partition, when the capture was taken */
    struct read_position position;
    struct read_part *parts; /* ascending; a scan has none */
    uint32_t part_count;
    uint32_t part_end;  /* parts from here on were not captured */
    struct bytes given; /* one_of_each: the first clustering value of the last row given of this
                         * partition, by this page or the previous one; data NULL: no row was
                         * given */
    struct view view;
    struct captured *captured; /* in (token, key) order; up to two for a partition */
    uint32_t captured_count;
    uint32_t captured_capacity;
    uint32_t captured_at; /* index of the first capture at or behind the present partition */
    bool has_horizon;     /* no partition at the horizon or past it was captured */
    int64_t horizon_token;
    struct bytes horizon_key;
    struct columnar_rows *appended; /* of the open memtable; NULL: none */
    struct memtable *viewed; /* referenced, because rows of the page point into it; or NULL */
    uint64_t folded;       /* rows that were passed to request.fold */
    int64_t fold_until_us; /* monotonic */
    struct page_row *rows;
    uint32_t row_count;
    uint32_t row_capacity;
    struct buffer position_out;
    store_page page;
    void *context;
    int status;
    struct error err;
};

/* ---- where pages begin and end ---- */

/* Where a scan begins: at its position, or at token_first if that comes later. */
int64_t reads_scan_start(const struct read_job *read, struct bytes *key_out, bool *after_out);
bool reads_is_past(const struct read_job *read, int64_t token);

/* ---- reads_capture.c ---- */

/* Find the first partition of the table in the open memtable at (token, key) or behind it; if
 * `after`, only behind it.  False: there is none. */
bool reads_open_seek(struct read_job *read, int64_t token, struct bytes key, bool after,
                           int64_t *token_out, struct bytes *key_out);

/* Copy what the page needs of the open memtable: reads_capture_appended copies the appended rows,
 * reads_capture all others.  False: the copy would be too large, or a scan needs appended rows; the
 * caller must drop the capture and freeze the memtable. */
bool reads_capture_appended(struct read_job *read);
bool reads_capture(struct read_job *read);
void reads_capture_drop(struct read_job *read);

/* Move captured_at forward to the first capture at (token, key) or behind it. */
void reads_captured_seek(struct read_job *read, int64_t token, struct bytes key);
/* Capture number `index` of the partition, whose captures begin at captured_at; NULL: the partition
 * has fewer. */
struct captured *reads_captured(const struct read_job *read, uint32_t index, int64_t token,
                                      struct bytes key);
struct stream *reads_captured_stream(const struct read_job *read, struct captured *captured,
                                           const struct slice *slice);

/* ---- reads_page.c ---- */

void reads_run(struct job *job); /* any thread */

/* Keep only the segments in the view that a read of one partition needs. */
void reads_reduce(struct read_job *read);

/* Whether all rows of the partition, or of the table, are in the open memtable; false for an event
 * table or a table of counters. */
bool reads_is_open_only(struct read_job *read);
/* Read the page from the open memtable alone.  False: there are too many items, and nothing was
 * read. */
bool reads_open(struct read_job *read);
#endif
