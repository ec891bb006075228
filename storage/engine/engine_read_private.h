/* engine_read_private: what engine_read.c, engine_read_capture.c and engine_read_page.c share.
 *
 * Nobody else includes this.  A read goes through them in this order:
 *
 *   engine_read.c           engine thread   takes the request, its view and its turn
 *   engine_read_capture.c   engine thread   copies what it needs of the open memtable
 *   engine_read_page.c      any lane        makes the page of sealed runs and of what was copied,
 *                                           or, on the engine thread, of the open memtable alone
 *   engine_read.c           engine thread   hands the page over, and begins who waited */
#ifndef DAYBOOK_STORAGE_ENGINE_ENGINE_READ_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_ENGINE_READ_PRIVATE_H

#include "storage/engine/engine_private.h"

enum {
    READ_CAPTURE_ITEMS_MAX = 20000,
    READ_PAGE_BYTES_MAX = 2 << 20
};

/* ---- engine_read.c ---- */

enum position_kind { AFTER_ROW = 0, AFTER_STATIC = 1, AFTER_PARTITION = 2 };

struct position {
    bool is_set;
    enum position_kind kind;
    int64_t token;
    struct bytes key;
    struct clustering clustering;
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
    struct engine *engine;
    struct read_job *next; /* waiting to be begun */
    size_t before;         /* bytes of the arena before the capture, */
    size_t counted;        /* and after it: these are in the engine's sum */
    struct arena *arena;
    struct schema *schema; /* referenced: the table's */
    const struct table *table;
    struct read_request request;  /* its bytes copied into the arena */
    struct store_version version; /* of the partition, when the capture was taken */
    struct position position;
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
    struct wide_rows *fresh; /* of the open memtable; NULL: none */
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

void engine_read_put_position(struct buffer *buffer, enum position_kind kind, int64_t token,
                              struct bytes key, const struct clustering *clustering);
/* Where a scan begins: at its position, or at the first token asked for if that lies behind. */
int64_t engine_read_scan_start(const struct read_job *read, struct bytes *key_out, bool *after_out);
/* Whether a scan ends before this token. */
bool engine_read_is_past(const struct read_job *read, int64_t token);
/* What is left of the slice of a partition that the position lies in; behind all rows that begin as
 * the position does. */
struct slice engine_read_rest(const struct position *position, struct slice slice);

/* ---- engine_read_capture.c ---- */

/* The next partition of the table in the open memtable; `after`: behind (token, key). */
bool engine_read_open_seek(struct read_job *read, int64_t token, struct bytes key, bool after,
                           int64_t *token_out, struct bytes *key_out);

/* Copy what the page needs of the open memtable: fresh rows, then all else.  False: it is too much.
 * Then all of it is dropped before the memtable is frozen, of which the page will have it again. */
bool engine_read_capture_fresh(struct read_job *read);
bool engine_read_capture(struct read_job *read);
void engine_read_capture_drop(struct read_job *read);

/* Move to the first that was captured at (token, key) or behind: partitions are read in order. */
void engine_read_captured_seek(struct read_job *read, int64_t token, struct bytes key);
/* What was captured of the partition after the first `index` streams of it; NULL: no more. */
struct captured *engine_read_captured(const struct read_job *read, uint32_t index, int64_t token,
                                      struct bytes key);
/* Captured items outside of what is left of the partition are dropped. */
struct stream *engine_read_captured_stream(const struct read_job *read, struct captured *captured,
                                           const struct slice *slice);

/* ---- engine_read_page.c ---- */

void engine_read_run(struct job *job); /* the page, of the view and the capture; any thread */

/* Only segments that matter stay in the view of a read of one partition. */
void engine_read_reduce(struct read_job *read);

/* Whether all there is of what is asked for, one partition or the table, is in the open memtable.
 */
bool engine_read_is_open_only(struct read_job *read);
/* The page of it.  False: it is too much, and nothing was read. */
bool engine_read_open(struct read_job *read);
#endif
