/* store: what the rooms above see of storage: apply, read, stats, schema; every call asynchronous.
 *
 * The embedded engine (engine.h) is the first implementation; a Cassandra cluster is to be another.
 * So nothing above counts on local files, on one process, or on the store being fast; what an
 * implementation can do is asked (store_capabilities), and a read goes on from a position, which
 * is bytes that survive restarts and compactions, never something held by the store.
 *
 * Everything happens on the engine thread.  Callbacks come on it too, once per call that returned
 * 0, possibly before the call returns; never after a call that returned an error.
 *
 * Views.  READ_DURABLE shows what no crash can take back, and is what every door uses.
 * READ_APPLIED also shows what was applied and is not yet synced: only for writers whose own frame
 * follows what they read (the rollup). */
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
    bool files;                   /* it is the embedded engine, with files to copy (engine.h) */
};

enum read_view { READ_DURABLE, READ_APPLIED };

typedef void (*store_done)(void *context, int status, const struct error *err);

/* ---- reads ---- */

struct read_request {
    uint32_t table_id;
    bool is_scan;                 /* all partitions in (token, key) order; else the one of `key` */
    bool has_tokens;              /* a scan of the tokens from first to last, both included */
    int64_t token_first;
    int64_t token_last;
    struct bytes key;
    const struct bytes *keys;     /* these partitions, not `key`: ascending by (token, key); not */
    uint32_t key_count;           /* of an event table.  READ_KEYS_MAX at most */
    struct slice slice;           /* of every partition read */
    bool one_of_each;             /* of rows with the same first clustering value only the first, in
                                   * the slice's direction: the others cost next to nothing */
    bool with_deleted;            /* rows come with deletions and expired cells too, as a merge has
                                   * them: for the size of a row.  Of tables that are not ranked */
    struct bytes position;        /* go on after this: read_page.position; empty: from the start */
    uint32_t row_limit;           /* rows in a page, 1..READ_ROWS_MAX; of large ones it has fewer */
    enum read_view view;
};
enum { READ_ROWS_MAX = 10000, READ_KEYS_MAX = 128 };

/* The state of one partition: two that are equal mean that nothing was applied to it in between.
 * They say nothing across a restart, and nothing of counters that follow from blocks by a rule. */
struct store_version {
    uint64_t writes;              /* mutations and increments: ascending, not one by one */
    uint64_t appended_rows;       /* of an event table: how many blocks brought */
};

struct page_row {
    int64_t token;
    struct bytes key;
    struct row row;               /* live cells only, unless asked for with_deleted, counters as
                                   * bigints; a static row comes as a row of its own */
};

struct read_page {
    const struct table *table;
    const struct page_row *rows;
    uint32_t row_count;
    struct bytes position;        /* where to go on; empty: there is no more */
    struct store_version version; /* of the one partition that was read, at that moment; a read of
                                   * several pages keeps the first one's.  Not of a scan or of
                                   * several keys */
};

/* `page` is valid during the callback; NULL when status is negative. */
typedef void (*store_page)(void *context, int status, const struct error *err,
                           const struct read_page *page);

/* The serialized value of a column of a row: key columns too.  False when it has none. */
bool store_row_value(const struct table *table, const struct page_row *row, uint32_t column_id,
                     struct bytes *value_out);

/* The position right after a row of a page, as if the page had ended with it, or after all of its
 * partition; appended. */
void store_position_after(const struct page_row *row, bool partition, struct buffer *position);

/* ---- partition stats ---- */

struct partition_figure {
    struct bytes key;
    struct partition_stats stats; /* exact: overwrites subtracted */
};
typedef void (*store_figures)(void *context, int status, const struct error *err,
                              const struct partition_figure *figures, uint32_t count,
                              struct bytes position);

/* ---- the interface ---- */

/* Called with every batch before it is applied, on the engine thread; may add to it (rules,
 * mutations, increments), must not take away.  The batch is then certain to be applied. */
typedef void (*store_commit_hook)(void *context, struct write_batch *batch);

/* Called with every batch before that, and before anything of it is done: a negative status, which
 * store_apply then answers, refuses the batch. */
typedef int (*store_commit_check)(void *context, const struct write_batch *batch,
                                  struct error *err);

/* ---- writes that read first ---- */

/* That the partition is still as it was read. */
struct store_expectation {
    uint32_t table_id;
    struct bytes key;
    struct store_version version;
    bool allows_appended;         /* only mutations matter: for a write that names its rows, in a
                                   * partition that clicks pour into */
};

/* Who finds what he read changed again and again, as others write faster than he reads: while a
 * hold is his, every batch but his own (write_batch.hold) is answered ERROR_FULL.  Holds are
 * granted one after the other.  The last resort, after a few tries: nobody else can write.  A store
 * that cannot keep others away grants at once, and the next try may be refused like the one before.
 */
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
    uint32_t column_id;           /* of text, none of the partition key's; 0: by partition */
    /* Whether rows of this value (or partition) are counted; it may be made a part of itself, under
     * which they then are.  Called on other threads, with the call's context.  NULL: all are. */
    bool (*takes)(void *context, struct bytes *value);
    size_t bytes_max;             /* of memory, while it is counted; 0: no limit */
};

/* ---- waiting ---- */

/* What a store is short of, so that it goes on later; it needs nobody's help once that is there. */
enum store_shortage {
    STORE_SHORT_OF_NOTHING,
    STORE_SHORT_OF_DISK,          /* space, or quota */
    STORE_SHORT_OF_DESCRIPTORS,   /* open files */
    STORE_SHORT_OF_MEMORY,        /* of the system's; or of the account's, for longer than flushes
                                   * take */
    STORE_SHORTAGES
};

struct store_waiting {
    enum store_shortage shortage;
    bool stops_writes;            /* batches are answered ERROR_FULL; else flushes and merges alone
                                   * wait */
    const char *path;             /* below the directory: where it is missing; "" */
    uint64_t needed_bytes;        /* 0: not known */
    int64_t since_us;             /* of the monotonic clock; when it has ended: when it had begun */
};

/* "disk_full", "no_descriptors", "no_memory"; "nothing". */
const char *store_shortage_name(enum store_shortage shortage);

struct store_status {
    uint64_t frame_applied;
    uint64_t frame_durable;
    bool failed;                  /* a write or sync failed: nothing is acknowledged any more */
    const char *failure;          /* why, or "" */
    struct store_waiting waiting;
};

/* ---- time ---- */

struct store_clock {
    int64_t wall_us;
    int64_t trusted_us;                /* trusted_clock.h */
    int64_t last_us;                   /* the last write timestamp that the store gave */
    bool is_in_doubt;                  /* the wall clock is */
};

struct store_ops {
    int (*apply)(struct store *store, struct write_batch *batch,
                 const struct store_expectation *expectations, uint32_t expectation_count,
                 store_done done, void *context, struct error *err);      /* none: store_apply */
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

/* What is called with every batch; NULL: nothing is. */
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
    struct memory_held *held;          /* the account of the process that the store works in */
};

static inline struct store_capabilities store_capabilities(const struct store *store)
{
    return store->capabilities;
}

/* Apply `batch` now; `done` when it is durable (or, with a negative status, when it is certain
 * that it never will be acknowledged).  ERROR_FULL: nothing was applied, wait for on_drain and try
 * again; ERROR_INVALID (a value that is none of its column's type, or what the commit check
 * refuses), ERROR_LIMIT, ERROR_READ_ONLY, ERROR_FAILED: nothing was applied.  `batch` is free for
 * use again when the call returns.  `done` may be NULL. */
must_check static inline int store_apply(struct store *store, struct write_batch *batch,
                                         store_done done, void *context, struct error *err)
{
    return store->ops->apply(store, batch, NULL, 0, done, context, err);
}

/* The same if every expectation holds, else ERROR_CONFLICT and nothing was applied: the way of a
 * write that reads first (a condition, an element of a list, a row's state before).
 *
 *     store_read(READ_APPLIED) ─▶ decide ─▶ store_apply_if(what was read is unchanged)
 *          ▲                                     │ ERROR_CONFLICT
 *          └─────────────────────────────────────┘
 *
 * The read must be READ_APPLIED, or the write before it in the same frame would be missed.  What it
 * showed may not be durable yet, so whoever decides to write nothing applies an empty batch before
 * he tells anybody what he saw: it is `done` when all that was applied before it is durable, and
 * never finds the store full.  ERROR_FULL as in store_apply; the expectations hold on. */
must_check static inline int store_apply_if(struct store *store, struct write_batch *batch,
                                            const struct store_expectation *expectations,
                                            uint32_t expectation_count, store_done done,
                                            void *context, struct error *err)
{
    return store->ops->apply(store, batch, expectations, expectation_count, done, context, err);
}

/* `hold` is the caller's memory until it is given back, granted or not. */
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

/* Stats of one partition (count 0: it has no rows), or of up to `limit` in (token, key) order, with
 * sums of a column of numbers; 0: the table's first decimal one.  Of an event table those are sums
 * that are kept; of others, and of other columns, rows are read. */
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

/* The whole table grouped as `request` says: one figure per value (in `key`) with its rows and
 * sums, in any order, durable view.  Reads every row: for verification, which believes no sums that
 * are kept.  Called once, with an empty position; ERROR_LIMIT: it would have taken more memory than
 * may be.  `request` is copied. */
must_check static inline int store_group(struct store *store, const struct group_request *request,
                                         store_figures figures, void *context, struct error *err)
{
    return store->ops->group(store, request, figures, context, err);
}

/* Valid until the next schema change; schema_ref it to keep it. */
static inline const struct schema *store_schema(struct store *store)
{
    return store->ops->schema(store);
}

/* At most one hook, and one check. */
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
/* `drain` is called whenever there may be room again after ERROR_FULL; several may be added, each
 * with a context of its own.  NULL takes back the one of `context`, which is about to go. */
static inline void store_on_drain(struct store *store, void (*drain)(void *context), void *context)
{
    store->ops->on_drain(store, drain, context);
}

/* `changed` is called soon after the store began to wait, waits for something else, or went on, and
 * soon if it waits already; never from within another call.  Several may be added, each with a
 * context of its own.  NULL takes back the one of `context`. */
static inline void store_on_waiting(struct store *store, store_waiting_changed changed,
                                    void *context)
{
    store->ops->on_waiting(store, changed, context);
}

static inline void store_status(struct store *store, struct store_status *status_out)
{
    store->ops->status(store, status_out);
}
/* The store's clock: never behind a timestamp it has given, but where those are no times any more
 * (a directory of a version that took a client's nanoseconds for its own). */
static inline int64_t store_now_us(struct store *store)
{
    return store->ops->now_us(store);
}
/* For what cannot be undone: it goes by the wall clock, and waits while that is in doubt. */
static inline struct store_clock store_clock(struct store *store)
{
    return store->ops->clock(store);
}
/* To be called by a server, at first and at least every minute: says what is wrong with the clock,
 * and keeps the mark of trusted time. */
static inline void store_watch_clock(struct store *store)
{
    store->ops->watch_clock(store);
}
/* The wall clock is right; `done` when that is kept. */
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
