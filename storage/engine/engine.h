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
    ENGINE_UNFLUSHED_LOG_MAX = 1 << 30  /* bytes; more freezes the memtable, so that
                                         * replay is bounded */
};

/* How an opening replaces write timestamps that are ahead of now, and what it has found. */
struct engine_restamp {
    bool is_dry_run;                   /* change no timestamp; memtables are flushed all the same */
    /* Called for each table that has timestamps ahead of now, with their number; may be NULL. */
    void (*table)(void *context, const struct table *table, uint64_t times);
    void *context;
    /* Set by the opening, microseconds: */
    int64_t now_us;
    int64_t before_us;                 /* the last write timestamp that the store gave */
    int64_t after_us;                  /* the new last one; in a dry run: what it would be */
};

struct engine_options {
    bool read_only;                    /* shared lock; the log is replayed in memory */
    bool salvage;                      /* as in manifest.h and commit_log.h; also read all pages of
                                        * all segments, so that segments with damaged pages are made
                                        * again from the log, too (run_recover.h) */
    uint64_t memory_limit;             /* bytes (memory_account.h); 0: the default */
    uint64_t memtable_rows_max;        /* rows of event tables in one memtable; 0: 16 Mi */
    uint64_t unflushed_log_max;        /* bytes; 0: ENGINE_UNFLUSHED_LOG_MAX */
    uint64_t log_file_size;            /* as in commit_log.h, like the two members after it */
    uint64_t log_first_file_size;
    uint64_t archive_bytes;
    uint64_t day_rows_min;             /* a day of so many rows or more has its own runs; 0: 2 Mi */
    uint32_t page_rows;                /* the most rows of a page of clicks; 0: 64 Ki */
    uint64_t tier_bytes;               /* compact_plan.h; 0: COMPACT_TIER_BYTES */
    /* While opening, replace the store's write timestamps that are ahead of now (engine_restamp.c);
     * NULL: do not.  ERROR_CONFLICT while the clock is in doubt. */
    struct engine_restamp *restamp;
    struct metrics *metrics;           /* may be NULL */
    /* Called while opening for each damaged segment, and if tables are left out; `text`, valid
     * during the call, says what was done.  May be NULL. */
    void (*notice)(void *context, const char *text);
    void *notice_context;
};

/* Make a directory's first manifest.  ERROR_EXISTS when there is one. */
must_check int engine_create(struct world *world, struct schema *schema, struct bytes properties,
                             struct error *err);

/* Lock the directory, recover it, and return a store that is ready.  Tables of `builtin` (may be
 * NULL) that the directory does not have yet are added.  `world` and `metrics` outlive the store.
 * Errors are, besides those of the disk, ERROR_NOT_FOUND, ERROR_NOT_OURS, ERROR_BUSY,
 * ERROR_NEWER_FORMAT, ERROR_CORRUPT and ERROR_CONFLICT (commit_log_open). */
must_check int engine_open(struct world *world, const struct engine_options *options,
                           const struct table_definition *const *builtin, uint32_t builtin_count,
                           struct store **store_out, struct error *err);

/* engine_create and engine_open in one, with the directory locked once.  The schema has all
 * built-in tables, and the options are not read_only.  Errors are, besides those of the disk,
 * ERROR_EXISTS, ERROR_NOT_OURS, ERROR_BUSY and ERROR_CORRUPT (manifest_create). */
must_check int engine_open_new(struct world *world, const struct engine_options *options,
                               struct schema *schema, struct bytes properties,
                               struct store **store_out, struct error *err);

/* ---- calls of the embedded store only: `store` must be one ---- */

/* engine_flush writes the memtables to segments, and engine_compact merges all runs that may be
 * merged.  `done` is called when all data that the store had at the call is flushed, or merged;
 * data that is written meanwhile is not waited for. */
must_check int engine_flush(struct store *store, store_done done, void *context, struct error *err);
must_check int engine_compact(struct store *store, store_done done, void *context,
                              struct error *err);

/* Read and check every page of every segment, the stats against the rows, and the manifest and its
 * copy.  `found` is called with a line for each damage, and `done` with 0 when all was read,
 * whatever was found. */
must_check int engine_scrub(struct store *store, void (*found)(void *context, const char *text),
                            store_done done, void *context, struct error *err);

struct engine_status {
    uint64_t frame_flushed;
    uint64_t log_bytes;           /* all files of the log, the spare ones too */
    uint64_t log_unflushed_bytes;
    uint64_t memory_bytes;        /* memtables: open, frozen, and being freed */
    uint64_t memory_ready_bytes;               /* free memory kept for the next memtables */
    uint64_t memory_segments_bytes;            /* lists of partitions (segment_directory.h) */
    uint64_t memory_sums_bytes;                /* sums by partition */
    uint64_t memory_readers_bytes;             /* memory kept for the next readers of segments */
    struct memory_held held;                   /* what users of the store keep (memory_held.h) */
    uint32_t memtables_frozen;
    uint32_t segments;
    uint64_t failed_reads;        /* pages of segments that could not be read, or were damaged */
};
void engine_status(struct store *store, struct engine_status *status_out);

struct engine_table_status {
    uint32_t table_id;
    uint32_t segments;
    uint64_t segment_bytes;
    uint64_t segment_rows;
    uint64_t memory_rows;         /* rows in memtables; event tables only */
    int64_t newest_us;            /* the newest write timestamp in segments, clients' included */
};

/* The tables with segments or, of event tables, rows in memtables, in any order; the caller frees
 * the array.  NULL: there are none. */
struct engine_table_status *engine_table_status(struct store *store, uint32_t *count_out);

/* What engine_examine finds in the file system. */
struct engine_examination {
    uint64_t disk_free_bytes;     /* that this process may write */
    uint64_t disk_wanted_bytes;   /* for the next writes: a log file, and the memtables */
    uint32_t unlinked;            /* files that are in use and were removed from the directory */
    char unlinked_path[64];       /* of one of them */
};

/* This function makes a system call, which takes some microseconds, for each file in use.  So it is
 * not for every turn of the loop. */
void engine_examine(struct store *store, struct engine_examination *examination_out);

/* Give the free memory that is kept for the next memtables back to the system if none of it was
 * used since the last call, or in any case if `at_once`.  A server calls this now and then. */
void engine_return_memory(struct store *store, bool at_once);

/* ---- the files of a moment, for a backup ---- */

/* All data up to a frame, as files of the directory that do not change until the snapshot is
 * released: the segments of `state`, and the beginnings of the log files that hold the frames after
 * state.flushed_frame. */
struct engine_snapshot {
    uint64_t frame;                    /* the last durable one when the snapshot was taken */
    int64_t timestamp_us;              /* no timestamp that the store gave to the snapshot's writes
                                        * is later; 0: the snapshot has no write */
    struct manifest_state state;
    const struct commit_log_extent *log;           /* by file id; the last one is being written */
    uint32_t log_count;
    const struct commit_log_extent *archive;       /* older files; a restore of this snapshot needs
                                                    * none of them */
    uint32_t archive_count;
};

/* Take a snapshot of the files as of now; the call does not wait.  A backup that copies the log
 * without a gap passes as `frame_kept` the last frame that it has copied: log files with later
 * frames are then included even if the frames are flushed.  The log still has these files only if
 * the caller has not released its earlier snapshot.  UINT64_MAX: include only what is needed. A
 * snapshot keeps disk space in use, so the caller releases it as soon as it is copied, or, if it
 * copies the log without a gap, has taken the next one; and before the store is closed.
 * ERROR_BUSY: a purge is being published; try again in some milliseconds. */
must_check int engine_snapshot_take(struct store *store, uint64_t frame_kept,
                                    struct engine_snapshot **snapshot_out, struct error *err);
/* Keep from now on only the log files that the snapshot itself needs: neither later ones nor
 * `archive`, whose files may be removed at any time. */
void engine_snapshot_narrow(struct store *store, struct engine_snapshot *snapshot);
/* Let the log files of the snapshot change from now on, though the snapshot is not released yet. */
void engine_snapshot_let_go(struct store *store, struct engine_snapshot *snapshot);
void engine_snapshot_release(struct store *store, struct engine_snapshot *snapshot);

/* Append the state of the store and its log, a line for each memtable, segment and job. */
void engine_dump(const struct store *store, struct buffer *text);

/* Settings given at init (`key=value` lines), and the directory's id. */
struct bytes engine_properties(const struct store *store);
const uint8_t *engine_directory_id(const struct store *store);
#endif
