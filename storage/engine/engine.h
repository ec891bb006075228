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
    ENGINE_UNFLUSHED_LOG_MAX = 1 << 30  /* past this the memtable is sealed, to bound replay */
};

/* What an opening that restamps has found and done. */
struct engine_restamp {
    bool is_dry_run;                   /* only look; memory is flushed all the same */
    /* Told of each table that has times ahead of now, and how many; NULL: nobody is. */
    void (*table)(void *context, const struct table *table, uint64_t times);
    void *context;
    int64_t now_us;
    int64_t before_us;                 /* the last write timestamp that the store had given */
    int64_t after_us;                  /* and what it is then */
};

struct engine_options {
    bool read_only;                    /* shared lock; the log is replayed in memory */
    bool salvage;                      /* manifest.h, commit_log.h; and every page of every segment
                                        * is read, to make damaged ones again where that can be */
    uint64_t memory_limit;             /* bytes (memory_account.h); 0: the default */
    uint64_t memtable_rows_max;        /* rows of event tables in one memtable; 0: 16 Mi */
    uint64_t unflushed_log_max;        /* bytes; 0: ENGINE_UNFLUSHED_LOG_MAX */
    uint64_t log_file_size;            /* commit_log.h, as the next; 0: default */
    uint64_t log_first_file_size;
    uint64_t archive_bytes;            /* commit_log.h */
    uint64_t day_rows_min;             /* of a day that gets runs of its own; 0: 2 Mi */
    uint32_t page_rows;                /* of a page of clicks, at most; 0: 64 Ki */
    uint64_t tier_bytes;               /* compact_plan.h; 0: COMPACT_TIER_BYTES */
    /* Bring write timestamps of the store's that are ahead of now behind it, while opening
     * (engine_restamp.c); NULL: do not.  ERROR_CONFLICT while the clock is in doubt. */
    struct engine_restamp *restamp;
    struct metrics *metrics;           /* may be NULL */
    /* Told, while opening, of segments that were damaged and what became of them; NULL: nobody is.
     * `text` is valid during the call. */
    void (*notice)(void *context, const char *text);
    void *notice_context;
};

/* Make a directory's first manifest.  ERROR_EXISTS when there is one. */
must_check int engine_create(struct world *world, struct schema *schema, struct bytes properties,
                             struct error *err);

/* Take the lock, recover, be ready.  ERROR_NOT_FOUND, ERROR_NOT_OURS, ERROR_BUSY,
 * ERROR_NEWER_FORMAT, ERROR_CORRUPT.  Tables of `builtin` (may be NULL) that the directory does not
 * have yet are added.  `world` and `metrics` outlive the store. */
must_check int engine_open(struct world *world, const struct engine_options *options,
                           const struct table_definition *const *builtin, uint32_t builtin_count,
                           struct store **store_out, struct error *err);

/* Both in one: make a directory, and be ready in it, without writing again what was just written.
 * The schema has all tables, and the options are not read_only.  ERROR_EXISTS, ERROR_NOT_OURS,
 * ERROR_BUSY. */
must_check int engine_open_new(struct world *world, const struct engine_options *options,
                               struct schema *schema, struct bytes properties,
                               struct store **store_out, struct error *err);

/* ---- what only the embedded store has; `store` is one ---- */

/* Write memtables to segments; merge all runs that may be merged; until it is done with what was
 * there when it was asked for, whatever comes meanwhile. */
must_check int engine_flush(struct store *store, store_done done, void *context, struct error *err);
must_check int engine_compact(struct store *store, store_done done, void *context,
                              struct error *err);

/* Read every page of every segment and check it, stats against rows, and the manifest and its copy;
 * `found` is called with a line per damage.  `done` with 0 when all was read, whatever was
 * found. */
must_check int engine_scrub(struct store *store, void (*found)(void *context, const char *text),
                            store_done done, void *context, struct error *err);

struct engine_status {
    uint64_t frame_flushed;
    uint64_t log_bytes;           /* files of the log, spare ones too */
    uint64_t log_unflushed_bytes;
    uint64_t memory_bytes;        /* memtables, open and frozen */
    uint64_t memory_ready_bytes;               /* for the next rows */
    uint64_t memory_segments_bytes;            /* directories of segments */
    uint64_t memory_sums_bytes;                /* sums by partition */
    uint64_t memory_readers_bytes;             /* what readers of segments left for the next */
    struct memory_held held;                   /* what the folders above said that they hold */
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
    uint64_t memory_rows;         /* of event tables: in memtables */
};

/* Fills up to `capacity`; returns how many tables have data. */
uint32_t engine_table_status(struct store *store, struct engine_table_status *tables,
                             uint32_t capacity);

/* What only the files of a store can tell. */
struct engine_examination {
    uint64_t disk_free_bytes;     /* for this process */
    uint64_t disk_wanted_bytes;   /* what it will write next: a log file, and what is in memory */
    uint32_t unlinked;            /* files that are in use, and have no name any more */
    char unlinked_path[64];       /* one of them */
};

/* Asks the system for each file that is in use, some microseconds for each: not at every turn. */
void engine_examine(struct store *store, struct engine_examination *examination_out);

/* Now and then: what is kept for rows to come goes back to the system, if none needed any of it
 * since the last call, or `at_once`. */
void engine_return_memory(struct store *store, bool at_once);

/* ---- the files of a moment, for a backup ---- */

/* Everything up to a frame, as files below the directory that stay as they are until the snapshot
 * is released: the segments of `state`, and the fronts of log files that hold the frames after its
 * flushed one. */
struct engine_snapshot {
    uint64_t frame;                    /* the last durable one when it was taken */
    int64_t timestamp_us;              /* nothing in it was written later; 0: it holds nothing */
    struct manifest_state state;
    const struct commit_log_extent *log;           /* by file id; the last one is being written */
    uint32_t log_count;
    const struct commit_log_extent *archive;       /* older files, which it does not need */
    uint32_t archive_count;
};

/* The files as of now, at once.  Log files with frames past `frame_kept` are in it too, though
 * flushed, as far as an earlier snapshot that is still there kept them: for a backup that copies
 * the log without a gap.  UINT64_MAX: only what is needed.  While it is there, disk space is not
 * given back, so it is released as soon as it is copied, and before the store is closed.
 * ERROR_BUSY: there is none now, but there will be within moments. */
must_check int engine_snapshot_take(struct store *store, uint64_t frame_kept,
                                    struct engine_snapshot **snapshot_out, struct error *err);
/* Its log files may change from now on, though the snapshot is not released yet: for a backup that
 * has to give up, and whose copying cannot be ended at once. */
void engine_snapshot_let_go(struct store *store, struct engine_snapshot *snapshot);
void engine_snapshot_release(struct store *store, struct engine_snapshot *snapshot);

/* Append what the store and its log are at, a line for each memtable, segment and job. */
void engine_dump(const struct store *store, struct buffer *text);

/* Settings given at init (`key=value` lines), and the directory's id. */
struct bytes engine_properties(const struct store *store);
const uint8_t *engine_directory_id(const struct store *store);
#endif
