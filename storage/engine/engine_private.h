/* engine_private: the parts of the embedded store, and the functions that its own files share.
 *
 *     maintenance   flushes, merges, purges           shortage        resources that are missing
 *     reads         pages, sums, groups, scrubs
 *     sequencer     frames, and callbacks when they are durable
 *     memtable_set  open and frozen memtables         engine_clock    timestamps
 *     run_set       segments and the manifest         memory_account  shares of the memory
 *     engine_env    system, options, failure, jobs
 *
 * A part calls only the parts below it, and reports to those above it by callbacks.
 *
 *     engine.c           creates, connects and closes the parts; the table of operations
 *     engine_open.c      opens a directory
 *     engine_restamp.c   replaces write timestamps that are ahead of now, while opening
 *     engine_status.c    status, and the dump for debugging
 *     engine_snapshot.c  the files of a moment, for a backup */
#ifndef DAYBOOK_STORAGE_ENGINE_ENGINE_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_ENGINE_PRIVATE_H

#include "storage/engine/reads.h"
#include "storage/engine/shortage.h"

struct engine_opening;

struct engine {
    struct store store;                /* first */
    struct engine_env env;
    struct run_set runs;
    struct memory_account account;
    struct engine_clock clock;
    struct memtable_set memtables;
    struct sequencer sequencer;
    struct reads reads;
    struct maintenance maintenance;
    struct shortage shortage;
    struct engine_opening *opening;    /* NULL once the store is open */
    struct callback closed;
    struct timer close_timer;
    struct metric *metric_failed_reads;        /* NULL: there are no metrics */
    struct metric *metric_readers;
};

/* ---- engine.c ---- */

struct engine *engine_of(struct store *store);
/* Takes over the manifest and the caller's lock on the directory; engine_free releases both. */
struct engine *engine_new(struct world *world, const struct engine_options *options,
                          struct manifest *manifest);
void engine_free(struct engine *engine);
/* Connect the log, which is open and whose frames are all applied. */
void engine_set_log(struct engine *engine, struct commit_log *log);
void engine_frames_durable(void *context, int status, uint64_t frame);

/* ---- engine_restamp.c ---- */

must_check int engine_restamp_now(struct engine *engine, struct error *err);

#endif
