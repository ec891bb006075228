/* store: the interface by which the rest of the program applies batches, and reads rows and stats.
 *
 * The embedded engine (engine.h) is the first implementation; a Cassandra cluster is to be another.
 * So no caller may rely on local files, one process, or a fast store (but see store_capabilities).
 *
 * All calls are made on the engine thread.  A call that returned 0 calls its callback once, on the
 * engine thread, possibly before the call returns.  A call that returned an error calls no
 * callback.  The callback of a store_read is never called within the callback of another one, so
 * that chains of reads do not grow the stack.
 *
 * Views.  READ_DURABLE shows only durable writes; reads for clients use it.  READ_APPLIED also
 * shows writes that are applied and not synced yet.  It is only for a writer whose own frame
 * follows the frames that it has read (the rollup, a conditional write). */
#ifndef DAYBOOK_STORAGE_ENGINE_STORE_H
#define DAYBOOK_STORAGE_ENGINE_STORE_H

#include "base/world/world.h"
#include "storage/cell/stats.h"
#include "storage/cell/stream.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/memory_held.h"

struct store;
struct page_row;

struct store_capabilities {
    bool read_only;               /* apply answers ERROR_READ_ONLY */
    bool files;                   /* a backup can copy the store's files */
};

enum read_view { READ_DURABLE, READ_APPLIED };

typedef void (*store_done)(void *context, int status, const struct error *err);

/* ---- reads ---- */

struct read_request {
    uint32_t table_id;
    bool is_scan;                 /* read all partitions by (token, key); false: the one of `key` */
    bool has_tokens;              /* limits a scan to token_first..token_last, inclusive */
    int64_t token_first;
    int64_t token_last;
    struct bytes key;
    const struct bytes *keys;     /* read these instead of `key`: ascending by (token, key); not for
                                   * an event table */
    uint32_t key_count;           /* READ_KEYS_MAX at most; 0: read `key` */
    struct slice slice;
    bool one_of_each;             /* of rows with the same first clustering value, give only the
                                   * first in the slice's direction */
    bool with_deleted;            /* give rows with their deletions and expired cells; not for an
                                   * event table */
    struct bytes position;        /* read_page.position of the page before; empty: the start.  The
                                   * position stays valid over restarts and compactions */
    /* NULL: none.  Else the first READ_FOLDED_MAX rows, and more if decoding took long, are passed
     * to this function, and the page has only rows after these.  Called perhaps on another thread,
     * for one row at a time, and only until the page arrives.  The function borrows the row, and
     * must use nothing that the engine thread changes.  Not allowed for a table with counters, nor
     * with one_of_each. */
    void (*fold)(void *context, const struct table *table, const struct page_row *row);
    void *fold_context;
    uint32_t row_limit;           /* the most rows of a page, 1..READ_ROWS_MAX; a page of large rows
                                   * has fewer */
    enum read_view view;
};
enum { READ_ROWS_MAX = 10000, READ_KEYS_MAX = 128, READ_FOLDED_MAX = 65536 };

/* Copy the request, and all that it points to, into `arena`. */
struct read_request store_request_copy(const struct read_request *request, struct arena *arena);

/* If two reads of a partition return equal versions, no write was applied to the partition between
 * them.  Versions cannot be compared across a restart.  A counting rule changes no version. */
struct store_version {
    uint64_t writes;
    uint64_t appended_rows;       /* of an event table */
};

struct page_row {
    int64_t token;
    struct bytes key;
    struct row row;               /* live cells only, unless with_deleted; counters as bigints.  A
                                   * static row is a row by itself */
};

struct read_page {
    const struct table *table;
    const struct page_row *rows;
    uint32_t row_count;
    struct bytes position;        /* where the next page begins; empty: there is none */
    struct store_version version; /* of the one partition that is read; not set for a scan or
                                   * several keys.  A write after a read of several pages expects
                                   * the version of the first page */
};

/* `page` is valid during the callback; NULL when status is negative. */
typedef void (*store_page)(void *context, int status, const struct error *err,
                           const struct read_page *page);

/* False: the column is null. */
bool store_row_value(const struct table *table, const struct page_row *row, uint32_t column_id,
                     struct bytes *value_out);

/* Append the position behind the row, or, if `partition`, behind the row's partition. */
void store_position_after(const struct page_row *row, bool partition, struct buffer *position);

/* ---- partition stats ---- */

struct partition_figure {
    struct bytes key;
    struct partition_stats stats; /* of live rows */
};
/* `position`: where a scan continues; empty: the scan is over.  The arguments are valid during the
 * call; after an error there are no figures. */
typedef void (*store_figures)(void *context, int status, const struct error *err,
                              const struct partition_figure *figures, uint32_t count,
                              struct bytes position);

/* ---- the interface ---- */

/* Called before a batch is applied, unless the batch is empty.  The hook may add rules, mutations
 * and increments, and must remove nothing.  After this call the batch is certain to be applied. */
typedef void (*store_commit_hook)(void *context, struct write_batch *batch);

/* Called before the commit hook, unless the batch is empty.  A negative status refuses the batch,
 * and store_apply returns that status. */
typedef int (*store_commit_check)(void *context, const struct write_batch *batch,
                                  struct error *err);

/* ---- writes that read first ---- */

struct store_expectation {
    uint32_t table_id;
    struct bytes key;
    struct store_version version;
    bool allows_appended;         /* appended_rows may differ; for a write that names the rows it
                                   * changes */
    bool has_changed;             /* set by store_apply_if */
};

/* For a writer whose expectations fail again and again.  While the writer has the lock, every batch
 * that does not name the lock (write_batch.write_lock) is answered ERROR_FULL. */
struct store_write_lock {
    void (*granted)(void *context);    /* once, perhaps before store_write_lock returns */
    void *context;
    struct store_write_lock *next;     /* private */
};

struct store_waiting;
typedef void (*store_waiting_changed)(void *context, const struct store_waiting *waiting);

struct group_request {
    uint32_t table_id;
    uint32_t column_id;           /* a text column outside the partition key; 0: by partition */
    /* Whether rows of this value (or partition) are counted; NULL: all are.  The function may
     * shorten `*value`; the rows are then counted under the shorter value.  Called on other
     * threads, with the context of store_group. */
    bool (*takes)(void *context, struct bytes *value);
    size_t bytes_max;             /* memory that the counting may use; 0: no limit */
};

/* ---- waiting ---- */

/* A resource that the store waits for; once it is there, the store continues by itself. */
enum store_shortage {
    STORE_SHORT_OF_NOTHING,
    STORE_SHORT_OF_DISK,          /* or of a quota of the disk */
    STORE_SHORT_OF_DESCRIPTORS,
    STORE_SHORT_OF_MEMORY,        /* of the system; or within the limit (memory_account.h), for
                                   * longer than flushes take */
    STORE_SHORTAGES
};

struct store_waiting {
    enum store_shortage shortage;
    bool stops_writes;            /* false: only work in the background waits */
    const char *path;             /* the subdirectory that needs the resource, or "" */
    uint64_t needed_bytes;        /* 0: not known */
    int64_t since_us;             /* monotonic: when the shortage began; unchanged when it ends */
};

/* "disk_full", "no_descriptors", "no_memory" or "nothing". */
const char *store_shortage_name(enum store_shortage shortage);

struct store_status {
    uint64_t frame_applied;
    uint64_t frame_durable;
    bool failed;
    const char *failure;
    struct store_waiting waiting;
};

/* ---- time ---- */

struct store_clock {
    int64_t wall_us;
    int64_t trusted_us;                /* trusted_clock.h */
    int64_t last_us;                   /* the last write timestamp that the store gave */
    bool is_in_doubt;
};

struct store_ops {
    int (*apply)(struct store *store, struct write_batch *batch,
                 struct store_expectation *expectations, uint32_t expectation_count,
                 store_done done, void *context, struct error *err);
    void (*write_lock)(struct store *store, struct store_write_lock *write_lock);
    void (*write_unlock)(struct store *store, struct store_write_lock *write_lock);
    int (*read)(struct store *store, const struct read_request *request, store_page page,
                void *context, struct error *err);
    int (*stats)(struct store *store, uint32_t table_id, uint32_t column_id, struct bytes key,
                 enum read_view view, store_figures figures, void *context, struct error *err);
    int (*stats_scan)(struct store *store, uint32_t table_id, uint32_t column_id,
                      struct bytes position, uint32_t limit, enum read_view view,
                      store_figures figures, void *context, struct error *err);
    int (*group)(struct store *store, const struct group_request *request,
                 store_figures figures, void *context, struct error *err);
    const struct schema *(*schema)(struct store *store);
    void (*on_drain)(struct store *store, void (*drain)(void *context), void *context);
    void (*on_waiting)(struct store *store, store_waiting_changed changed, void *context);
    void (*status)(struct store *store, struct store_status *status_out);
    int64_t (*now_us)(struct store *store);
    struct store_clock (*clock)(struct store *store);
    void (*watch_clock)(struct store *store);
    int (*accept_clock)(struct store *store, store_done done, void *context, struct error *err);
    void (*close)(struct store *store, store_done done, void *context);
};

/* A NULL hook is not called. */
struct store_hooks {
    store_commit_hook commit;
    void *commit_context;
    store_commit_check refuses;
    void *refuses_context;
};

/* The first member of each implementation's struct. */
struct store {
    const struct store_ops *ops;
    struct store_capabilities capabilities;
    struct store_hooks hooks;
    struct memory_held *held;          /* memory that users of the store keep */
};

/* `done` (may be NULL) is called when the batch is durable, or with a negative status if the store
 * fails first.  After an error nothing was applied: ERROR_FULL (wait for store_on_drain and try
 * again), ERROR_INVALID (a value is not of its column's type), the status of the commit check,
 * ERROR_LIMIT (the batch is too large), ERROR_READ_ONLY, ERROR_FAILED (the store has failed),
 * ERROR_CLOSED (it is closing).  The caller may reuse `batch` when the call returns. */
must_check static inline int store_apply(struct store *store, struct write_batch *batch,
                                         store_done done, void *context, struct error *err)
{
    return store->ops->apply(store, batch, NULL, 0, done, context, err);
}

/* Apply the batch if every expectation holds; else ERROR_CONFLICT, and nothing was applied.  Other
 * errors are those of store_apply.
 *
 *     store_read(READ_APPLIED) ─▶ decide ─▶ store_apply_if(what was read is unchanged)
 *          ▲                                     │ ERROR_CONFLICT
 *          └─────────────────────────────────────┘
 *
 * The read must be READ_APPLIED, or it would miss an earlier write of the same frame.  The rows
 * that it returns may not be durable yet.  So a caller that decides to write nothing applies an
 * empty batch before it reports what it has read.  The `done` of an empty batch is called when
 * everything applied before is durable; an empty batch never gets ERROR_FULL. */
must_check static inline int store_apply_if(struct store *store, struct write_batch *batch,
                                            struct store_expectation *expectations,
                                            uint32_t expectation_count, store_done done,
                                            void *context, struct error *err)
{
    return store->ops->apply(store, batch, expectations, expectation_count, done, context, err);
}

/* The caller must not move or free `write_lock` before store_write_unlock, which may also be called
 * before the lock is granted. */
static inline void store_write_lock(struct store *store, struct store_write_lock *write_lock)
{
    store->ops->write_lock(store, write_lock);
}
static inline void store_write_unlock(struct store *store, struct store_write_lock *write_lock)
{
    store->ops->write_unlock(store, write_lock);
}

must_check static inline int store_read(struct store *store, const struct read_request *request,
                                        store_page page, void *context, struct error *err)
{
    check(request->row_limit >= 1 && request->row_limit <= READ_ROWS_MAX);
    return store->ops->read(store, request, page, context, err);
}

/* store_stats gives the stats of one partition (count 0: it has no rows), store_stats_scan of up to
 * `limit` partitions by (token, key), with the sums of a column of numbers.  Column 0: the first
 * regular decimal column, whose sums event tables keep; for other sums the rows are read. */
must_check static inline int store_stats(struct store *store, uint32_t table_id, uint32_t column_id,
                                         struct bytes key, enum read_view view,
                                         store_figures figures, void *context, struct error *err)
{
    return store->ops->stats(store, table_id, column_id, key, view, figures, context, err);
}
must_check static inline int store_stats_scan(struct store *store, uint32_t table_id,
                                              uint32_t column_id, struct bytes position,
                                              uint32_t limit, enum read_view view,
                                              store_figures figures, void *context,
                                              struct error *err)
{
    check(limit >= 1);
    return store->ops->stats_scan(store, table_id, column_id, position, limit, view, figures,
                                  context, err);
}

/* Count and sum all rows of a table by group, in the durable view; `request` is copied.  There is
 * one figure for each value, in any order; its `key` is the value.  Every row is read, because
 * verification must not rely on kept sums.  `figures` is called once, without a position.
 * ERROR_LIMIT: the groups need more memory than request->bytes_max. */
must_check static inline int store_group(struct store *store, const struct group_request *request,
                                         store_figures figures, void *context, struct error *err)
{
    return store->ops->group(store, request, figures, context, err);
}

/* The schema is valid until it is replaced by a changed one; a caller that keeps it calls
 * schema_ref. */
static inline const struct schema *store_schema(struct store *store)
{
    return store->ops->schema(store);
}

/* A store has at most one commit hook and one commit check; a new one replaces the old one. */
static inline void store_set_commit_hook(struct store *store, store_commit_hook hook, void *context)
{
    store->hooks.commit = hook;
    store->hooks.commit_context = context;
}
static inline void store_set_commit_check(struct store *store, store_commit_check check,
                                          void *context)
{
    store->hooks.refuses = check;
    store->hooks.refuses_context = context;
}
/* Have `drain` called whenever a batch may be accepted again after ERROR_FULL.  Several functions
 * may be added, each with another context; NULL removes the function of `context`. */
static inline void store_on_drain(struct store *store, void (*drain)(void *context), void *context)
{
    store->ops->on_drain(store, drain, context);
}

/* Have `changed` called, from the loop, whenever store_waiting changes, or if the store waits
 * already.  Several functions may be added, each with another context; NULL removes the function of
 * `context`. */
static inline void store_on_waiting(struct store *store, store_waiting_changed changed,
                                    void *context)
{
    store->ops->on_waiting(store, changed, context);
}

static inline void store_status(struct store *store, struct store_status *status_out)
{
    store->ops->status(store, status_out);
}
/* The clock is never behind a timestamp that the store has given, unless timestamps are too large
 * to be times (an earlier version took a client's nanoseconds for microseconds). */
static inline int64_t store_now_us(struct store *store)
{
    return store->ops->now_us(store);
}
/* Work that cannot be undone must wait while is_in_doubt is true. */
static inline struct store_clock store_clock(struct store *store)
{
    return store->ops->clock(store);
}
/* Log doubts, and mark trusted time.  A server calls this at start, and at least every minute. */
static inline void store_watch_clock(struct store *store)
{
    store->ops->watch_clock(store);
}
/* Trust the wall clock, because the operator says that it is right. */
must_check static inline int store_accept_clock(struct store *store, store_done done, void *context,
                                                struct error *err)
{
    return store->ops->accept_clock(store, done, context, err);
}

/* The store is freed before `done` is called. */
static inline void store_close(struct store *store, store_done done, void *context)
{
    store->ops->close(store, done, context);
}
#endif
