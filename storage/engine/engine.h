/* engine: the embedded store: commit log, memtables, segments and manifest on one directory. */
#ifndef DAYBOOK_STORAGE_ENGINE_ENGINE_H
#define DAYBOOK_STORAGE_ENGINE_ENGINE_H

#include "base/metrics.h"
#include "base/world/world.h"
#include "storage/engine/store.h"

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
    uint64_t memtable_rows_max;        /* rows of ranked tables in one memtable; 0: 16 Mi */
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

/* Settings given at init (`key=value` lines), and the directory's id. */
struct bytes engine_properties(const struct store *store);
const uint8_t *engine_directory_id(const struct store *store);
#endif
