/* engine: the embedded store: commit log, memtables, segments and manifest on one directory. */
#ifndef DAYBOOK_STORAGE_ENGINE_ENGINE_H
#define DAYBOOK_STORAGE_ENGINE_ENGINE_H

#include "base/metrics.h"
#include "base/world/world.h"
#include "storage/engine/store.h"
#include "storage/log/commit_log.h"
#include "storage/manifest/manifest.h"

enum {
    ENGINE_MEMORY_DEFAULT = 1 << 30,
    ENGINE_UNFLUSHED_LOG_MAX = 1 << 30  /* bytes; with more, the memtable is frozen */
};

/* How an opening replaces write timestamps that are ahead of now, and what it has found. */
struct engine_restamp {
    bool is_dry_run;                   /* change no timestamp; memtables are still flushed */
    /* Called for each table that has timestamps ahead of now; `times` is their number.  May be
     * NULL. */
    void (*table)(void *context, const struct table *table, uint64_t times);
    void *context;
    /* Set by the opening, microseconds: */
    int64_t now_us;
    int64_t before_us;                 /* the last timestamp that the store gave */
    int64_t after_us;                  /* the last timestamp after the replacement; a dry run
                                        * computes it, too */
};

struct engine_options {
    bool read_only;                    /* shared lock; the log is replayed in memory */
    bool salvage;                      /* as in manifest.h and commit_log.h; also rebuild segments
                                        * with damaged pages from the log (run_recover.h) */
    uint64_t memory_limit;             /* bytes (memory_account.h); 0: the default */
    uint64_t memtable_rows_max;        /* rows of event tables in one memtable; 0: 16 Mi */
    uint64_t unflushed_log_max;        /* bytes; 0: ENGINE_UNFLUSHED_LOG_MAX */
    uint64_t log_file_size;            /* this and the next two: as in commit_log.h */
    uint64_t log_first_file_size;
    uint64_t archive_bytes;
    uint64_t day_rows_min;             /* the fewest rows of a day with its own runs; 0: 2 Mi */
    uint32_t page_rows;                /* the most rows in a page of clicks; 0: 64 Ki */
    uint64_t tier_bytes;               /* 0: COMPACT_TIER_BYTES (compact_plan.h) */
    /* While opening, replace the store's write timestamps that are ahead of now (engine_restamp.c);
     * NULL: replace none.  ERROR_CONFLICT while the clock is in doubt. */
    struct engine_restamp *restamp;
    struct metrics *metrics;           /* may be NULL */
    /* Called while opening for each damaged segment, and if tables are left out; may be NULL.
     * `text` says what was done, and is valid during the call. */
    void (*notice)(void *context, const char *text);
    void *notice_context;
};

/* Make a directory's first manifest.  ERROR_EXISTS when there is a manifest already. */
must_check int engine_create(struct world *world, struct schema *schema, struct bytes properties,
                             struct error *err);

/* Lock and recover the directory, and add the tables and columns of `builtin` (may be NULL) that it
 * lacks.  `world` and `metrics` must outlive the store.  Besides disk errors: ERROR_NOT_FOUND,
 * ERROR_NOT_OURS, ERROR_BUSY, ERROR_NEWER_FORMAT, ERROR_CORRUPT, and ERROR_CONFLICT
 * (commit_log_open). */
must_check int engine_open(struct world *world, const struct engine_options *options,
                           const struct table_definition *const *builtin, uint32_t builtin_count,
                           struct store **store_out, struct error *err);

/* engine_create and engine_open in one, with the directory locked once.  The schema must have all
 * built-in tables, and the options must not be read_only.  Besides disk errors: ERROR_EXISTS,
 * ERROR_NOT_OURS, ERROR_BUSY, and ERROR_CORRUPT (manifest_create). */
must_check int engine_open_new(struct world *world, const struct engine_options *options,
                               struct schema *schema, struct bytes properties,
                               struct store **store_out, struct error *err);

/* ---- calls of the embedded store only: `store` must be one ---- */

/* engine_flush writes the memtables as segments; engine_compact merges all runs that may be merged.
 * `done` is called when all data that the store had at the call is flushed, or merged. */
must_check int engine_flush(struct store *store, store_done done, void *context, struct error *err);
must_check int engine_compact(struct store *store, store_done done, void *context,
                              struct error *err);

/* Read and check all segments, and the manifest and its copy.  `found` gets a line for each
 * damage.  `done` gets 0 when everything was read, damaged or not. */
must_check int engine_scrub(struct store *store, void (*found)(void *context, const char *text),
                            store_done done, void *context, struct error *err);

struct engine_status {
    uint64_t frame_flushed;
    uint64_t log_bytes;           /* all files of the log, spare ones included */
    uint64_t log_unflushed_bytes;
    uint64_t memory_bytes;        /* memtables: open, frozen, and being freed */
    uint64_t memory_ready_bytes;               /* free memory kept for the next memtables */
    uint64_t memory_segments_bytes;
    uint64_t memory_sums_bytes;
    uint64_t memory_readers_bytes;             /* kept for the next readers of segments */
    struct memory_held held;                   /* memory of users of the store */
    uint32_t memtables_frozen;
    uint32_t segments;
    uint64_t failed_reads;        /* pages of segments that were unreadable or damaged */
};
void engine_status(struct store *store, struct engine_status *status_out);

struct engine_table_status {
    uint32_t table_id;
    uint32_t segments;
    uint64_t segment_bytes;
    uint64_t segment_rows;
    uint64_t memory_rows;         /* event tables only */
    int64_t newest_us;            /* newest write timestamp in segments, clients' included */
};

/* The tables with segments, and event tables with rows in memtables, in any order.  The caller
 * frees the array. */
struct engine_table_status *engine_table_status(struct store *store, uint32_t *count_out);

struct engine_examination {
    uint64_t disk_free_bytes;     /* that this process may write */
    uint64_t disk_wanted_bytes;   /* for the next writes: a log file, and the memtables */
    uint32_t unlinked;            /* files in use that were removed from the directory */
    char unlinked_path[64];
};

/* Makes a system call, which takes some microseconds, for each file in use. */
void engine_examine(struct store *store, struct engine_examination *examination_out);

/* Give the free memory kept for the next memtables back to the system, if none of it was used since
 * the last call, or if `at_once`. */
void engine_return_memory(struct store *store, bool at_once);

/* ---- the files of a moment, for a backup ---- */

/* All data up to a frame: the segments of `state`, and the log files with the frames after
 * state.flushed_frame.  These files do not change until the snapshot is released. */
struct engine_snapshot {
    uint64_t frame;                    /* the last durable frame */
    int64_t timestamp_us;              /* at least the last timestamp that the store gave up to
                                        * `frame`; 0: there is no write */
    struct manifest_state state;
    const struct commit_log_extent *log;           /* by file id; the last one is being written */
    uint32_t log_count;
    const struct commit_log_extent *archive;       /* older files, not needed to restore this
                                                    * snapshot */
    uint32_t archive_count;
};

/* Take a snapshot of the files as of now, without waiting.  `frame_kept`: also include log files
 * with frames after this one, even if the frames are flushed; UINT64_MAX: include none of these.  A
 * backup that copies the log without a gap passes the last frame that it has copied.  The backup
 * releases its earlier snapshot only after this call, because the earlier snapshot keeps those
 * files.  The caller releases the snapshot before it closes the store.  ERROR_BUSY: a purge is
 * being published; try again in some milliseconds. */
must_check int engine_snapshot_take(struct store *store, uint64_t frame_kept,
                                    struct engine_snapshot **snapshot_out, struct error *err);
/* From now on, keep only the log files that the snapshot itself needs; files of `archive` may be
 * removed at any time. */
void engine_snapshot_narrow(struct store *store, struct engine_snapshot *snapshot);
/* From now on the log files of the snapshot may change; its segments are still kept. */
void engine_snapshot_let_go(struct store *store, struct engine_snapshot *snapshot);
void engine_snapshot_release(struct store *store, struct engine_snapshot *snapshot);

void engine_dump(const struct store *store, struct buffer *text);

struct bytes engine_properties(const struct store *store);
const uint8_t *engine_directory_id(const struct store *store);
#endif
