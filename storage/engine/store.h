/* store: the interface by which the rest of the program applies batches, and reads rows and stats.
 *
 * The embedded engine (engine.h) is the first implementation; a Cassandra cluster is to be another.
 * So no caller may rely on local files, on one process, or on a fast store.  What an
 * implementation can do is in store_capabilities.  A read continues from a position.  Positions are
 * bytes that stay valid over restarts and compactions; the store keeps no state for them.
 *
 * All calls are made on the engine thread.  A call with a callback is asynchronous.  The callback
 * is called on the engine thread, too: once for each call that returned 0, possibly before the call
 * returns, and never after a call that returned an error.  The callback of a store_read is never
 * called within the callback of another one, so that a caller may begin the next read in the
 * callback of the last, any number of times, and the stack does not grow.
 *
 * Views.  READ_DURABLE shows what no crash can undo; all answers to clients are read with it.
 * READ_APPLIED also shows what was applied and is not synced yet.  It is only for a writer whose
 * own frame follows the frames that it has read (the rollup, a conditional write). */
#ifndef DAYBOOK_STORAGE_ENGINE_STORE_H
#define DAYBOOK_STORAGE_ENGINE_STORE_H

#include "base/world/world.h"
#include "storage/cell/stats.h"
#include "storage/cell/stream.h"
#include "storage/cell/write_batch.h"
#include "storage/engine/memory_held.h"

struct store;

struct store_capabilities {
    bool read_only;               /* apply answers ERROR_READ_ONLY */
    bool files;                   /* the store is the embedded engine: it has files that can be
                                   * copied (engine.h) */
};

enum read_view { READ_DURABLE, READ_APPLIED };

typedef void (*store_done)(void *context, int status, const struct error *err);

/* ---- reads ---- */

struct read_request {
    uint32_t table_id;
    bool is_scan;                 /* read all partitions in the order of (token, key); else the
                                   * partition of `key` */
    bool has_tokens;              /* a scan reads the tokens from first to last, both included */
    int64_t token_first;
    int64_t token_last;
    struct bytes key;
    const struct bytes *keys;     /* read these partitions instead of `key`: ascending by (token,
                                   * key); not of an event table */
    uint32_t key_count;           /* READ_KEYS_MAX at most; 0: `key` is read */
    struct slice slice;           /* the part that is read of each partition */
    bool one_of_each;             /* of the rows with the same first clustering value give only the
                                   * first, in the slice's direction.  Skipping the others costs
                                   * next to nothing */
    bool with_deleted;            /* give rows with their deletions and expired cells, as a merge
                                   * reads them, so that the size of a row can be measured.  Not of
                                   * an event table */
    struct bytes position;        /* read_page.position of the page before; empty: from the start */
    uint32_t row_limit;           /* the most rows of a page, 1..READ_ROWS_MAX; a page of large rows
                                   * has fewer */
    enum read_view view;
};
enum { READ_ROWS_MAX = 10000, READ_KEYS_MAX = 128 };

/* A copy of the request and of all that it points to, in `arena`. */
struct read_request store_request_copy(const struct read_request *request, struct arena *arena);

/* The version of one partition.  If two reads return equal versions, no write was applied to the
 * partition between them.  Versions cannot be compared across a restart.  An increment that follows
 * from a block by a counting rule does not change the version. */
struct store_version {
    uint64_t writes;              /* grows with mutations and increments, perhaps by more than 1 */
    uint64_t appended_rows;       /* of an event table: how many rows the blocks have brought */
};

struct page_row {
    int64_t token;
    struct bytes key;
    struct row row;               /* live cells only, unless the request is with_deleted; counters
                                   * as bigints.  A static row is a row by itself */
};

struct read_page {
    const struct table *table;
    const struct page_row *rows;
    uint32_t row_count;
    struct bytes position;        /* where the next page begins; empty: there is none */
    struct store_version version; /* of the one partition that is read, as of this page; not set for
                                   * a scan or several keys.  A write that follows a read of several
                                   * pages expects the version of the first page */
};

/* `page` is valid during the callback; NULL when status is negative. */
typedef void (*store_page)(void *context, int status, const struct error *err,
                           const struct read_page *page);

/* The serialized value of any column of a row.  False: the column is null. */
bool store_row_value(const struct table *table, const struct page_row *row, uint32_t column_id,
                     struct bytes *value_out);

/* Append the position behind a row of a page; or, if `partition`, behind the whole partition of the
 * row. */
void store_position_after(const struct page_row *row, bool partition, struct buffer *position);

/* ---- partition stats ---- */

struct partition_figure {
    struct bytes key;
    struct partition_stats stats; /* of live rows, exact */
};
/* `position`: where a scan continues; empty: the scan is over.  The arguments are valid during the
 * call; after an error there are no figures. */
typedef void (*store_figures)(void *context, int status, const struct error *err,
                              const struct partition_figure *figures, uint32_t count,
                              struct bytes position);

/* ---- the interface ---- */

/* Called with every batch that is not empty, before the batch is applied, on the engine thread.
 * The hook may add rules, mutations and increments to the batch, and must remove nothing.  After
 * this call the batch is certain to be applied. */
typedef void (*store_commit_hook)(void *context, struct write_batch *batch);

/* Called with every batch that is not empty, before the commit hook, when nothing of the batch is
 * applied yet.  If the function returns a negative status, the batch is refused, and store_apply
 * returns that status. */
typedef int (*store_commit_check)(void *context, const struct write_batch *batch,
                                  struct error *err);

/* ---- writes that read first ---- */

/* The batch is applied only if the partition still has this version. */
struct store_expectation {
    uint32_t table_id;
    struct bytes key;
    struct store_version version;
    bool allows_appended;         /* appended_rows may differ: for a write that names its rows, in a
                                   * partition that gets clicks all the time */
    bool has_changed;             /* set by store_apply_if: the partition has another version */
};

/* A writer that reads first may find its expectations broken again and again, because other writers
 * are faster.  After a few tries it takes the write lock: while it has the lock, every batch that
 * does not name the lock (write_batch.write_lock) is answered ERROR_FULL.  One writer at a time has
 * the lock.  A writer takes the lock as the last resort, because no other writer can work
 * meanwhile.  A store that cannot lock others out grants the lock without delay, and the writer's
 * next try may fail like the one before. */
struct store_write_lock {
    void (*granted)(void *context);    /* once, perhaps before store_write_lock returns */
    void *context;
    struct store_write_lock *next;     /* private */
};

struct store_waiting;
typedef void (*store_waiting_changed)(void *context, const struct store_waiting *waiting);

/* How the rows of a table are grouped. */
struct group_request {
    uint32_t table_id;
    uint32_t column_id;           /* a text column outside the partition key; 0: by partition */
    /* Whether the rows of this value (or partition) are counted.  The function may shorten `*value`
     * to a part of it, under which the rows are then counted.  Called on other threads, with the
     * context of store_group.  NULL: all rows are counted. */
    bool (*takes)(void *context, struct bytes *value);
    size_t bytes_max;             /* of memory that the counting may use; 0: no limit */
};

/* ---- waiting ---- */

/* A resource that the store waits for.  The store continues by itself once it has the resource. */
enum store_shortage {
    STORE_SHORT_OF_NOTHING,
    STORE_SHORT_OF_DISK,          /* space, or quota */
    STORE_SHORT_OF_DESCRIPTORS,   /* open files */
    STORE_SHORT_OF_MEMORY,        /* memory of the system; or of the account (memory_account.h), for
                                   * longer than flushes take */
    STORE_SHORTAGES
};

struct store_waiting {
    enum store_shortage shortage;
    bool stops_writes;            /* batches are answered ERROR_FULL; else only flushes and merges
                                   * wait */
    const char *path;             /* the subdirectory that needs the resource, or "" */
    uint64_t needed_bytes;        /* 0: not known */
    int64_t since_us;             /* when the shortage began, by the monotonic clock; unchanged
                                   * when the shortage ends */
};

/* The name of a shortage: "disk_full", "no_descriptors", "no_memory" or "nothing". */
const char *store_shortage_name(enum store_shortage shortage);

struct store_status {
    uint64_t frame_applied;
    uint64_t frame_durable;
    bool failed;                  /* as after a failed sync; no write is acknowledged any more */
    const char *failure;          /* why, or "" */
    struct store_waiting waiting;
};

/* ---- time ---- */

struct store_clock {
    int64_t wall_us;
    int64_t trusted_us;                /* trusted_clock.h */
    int64_t last_us;                   /* the last write timestamp that the store gave */
    bool is_in_doubt;                  /* the wall clock may be wrong */
};

struct store_ops {
    int (*apply)(struct store *store, struct write_batch *batch,
                 struct store_expectation *expectations, uint32_t expectation_count,
                 store_done done, void *context, struct error *err);      /* count 0: store_apply */
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

/* The functions that are called with every batch, each with its context; NULL: there is none. */
struct store_hooks {
    store_commit_hook commit;
    void *commit_context;
    store_commit_check refuses;
    void *refuses_context;
};

/* The base of every store; implementations embed it first. */
struct store {
    const struct store_ops *ops;
    struct store_capabilities capabilities;
    struct store_hooks hooks;
    struct memory_held *held;          /* memory of the process outside of the store */
};

/* Apply `batch` now.  `done` (may be NULL) is called when the batch is durable, or with a negative
 * status when the store has failed and the batch will never be acknowledged.  After an error
 * nothing was applied: ERROR_FULL (wait for store_on_drain and try again), ERROR_INVALID (a value
 * is not of its column's type), the status of the commit check, ERROR_LIMIT, ERROR_READ_ONLY,
 * ERROR_FAILED, ERROR_CLOSED (the store is closing).  The caller may reuse `batch` when the call
 * returns. */
must_check static inline int store_apply(struct store *store, struct write_batch *batch,
                                         store_done done, void *context, struct error *err)
{
    return store->ops->apply(store, batch, NULL, 0, done, context, err);
}

/* Apply the batch if every expectation holds; else ERROR_CONFLICT, and nothing was applied.  For a
 * write that must read first, because it has a condition, changes an element of a list, or depends
 * on the present state of the row.
 *
 *     store_read(READ_APPLIED) ─▶ decide ─▶ store_apply_if(what was read is unchanged)
 *          ▲                                     │ ERROR_CONFLICT
 *          └─────────────────────────────────────┘
 *
 * The read must be READ_APPLIED, or it would miss an earlier write of the same frame.  What such a
 * read shows may not be durable yet.  So a caller that decides to write nothing applies an empty
 * batch before it reports what it has read: `done` of an empty batch is called when everything is
 * durable that was applied before, and an empty batch never gets ERROR_FULL.  Other errors are
 * those of store_apply. */
must_check static inline int store_apply_if(struct store *store, struct write_batch *batch,
                                            struct store_expectation *expectations,
                                            uint32_t expectation_count, store_done done,
                                            void *context, struct error *err)
{
    return store->ops->apply(store, batch, expectations, expectation_count, done, context, err);
}

/* The memory of `write_lock` is the caller's, and must stay in its place until store_write_unlock,
 * which may be called before the lock is granted. */
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

/* Stats of one partition (count 0: the partition has no rows), or of up to `limit` partitions in
 * (token, key) order, with the sums of a column of numbers.  Column 0: the first decimal column of
 * the table.  The store keeps the sums of that column for event tables.  For other columns, and for
 * other tables, it reads the rows. */
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

/* Group the whole table as `request` (copied) says, in the durable view.  There is one figure for
 * each value, in any order: the figure's `key` is the value, and its stats count the rows with that
 * value.  Every row is read, because verification must not rely on sums that are kept.  `figures`
 * is called once, with an empty position; with ERROR_LIMIT when the groups need more memory than
 * request->bytes_max. */
must_check static inline int store_group(struct store *store, const struct group_request *request,
                                         store_figures figures, void *context, struct error *err)
{
    return store->ops->group(store, request, figures, context, err);
}

/* The current schema, valid until it is changed; a caller that keeps it calls schema_ref. */
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
 * may be added, each with another context.  `drain` NULL removes the function of `context`. */
static inline void store_on_drain(struct store *store, void (*drain)(void *context), void *context)
{
    store->ops->on_drain(store, drain, context);
}

/* Have `changed` called, from the loop, after the store has begun to wait, waits for another
 * resource, or continues; and once if the store waits already.  Several functions may be added,
 * each with another context.  `changed` NULL removes the function of `context`. */
static inline void store_on_waiting(struct store *store, store_waiting_changed changed,
                                    void *context)
{
    store->ops->on_waiting(store, changed, context);
}

static inline void store_status(struct store *store, struct store_status *status_out)
{
    store->ops->status(store, status_out);
}
/* The store's clock.  It is never behind a timestamp that the store has given, unless timestamps
 * are too large to be times (an earlier version took a client's nanoseconds for microseconds). */
static inline int64_t store_now_us(struct store *store)
{
    return store->ops->now_us(store);
}
/* For work that cannot be undone: such work follows the wall clock, and waits while the wall clock
 * is in doubt. */
static inline struct store_clock store_clock(struct store *store)
{
    return store->ops->clock(store);
}
/* Log what is wrong with the clock, and write the mark of trusted time if the mark is old
 * (trusted_clock.h).  A server calls this when it starts, and at least every minute. */
static inline void store_watch_clock(struct store *store)
{
    store->ops->watch_clock(store);
}
/* Trust the wall clock, because the operator says that it is right.  `done` is called when this is
 * durable. */
must_check static inline int store_accept_clock(struct store *store, store_done done, void *context,
                                                struct error *err)
{
    return store->ops->accept_clock(store, done, context, err);
}

/* Sync, and close cleanly; the store is freed before `done` is called. */
static inline void store_close(struct store *store, store_done done, void *context)
{
    store->ops->close(store, done, context);
}
#endif
