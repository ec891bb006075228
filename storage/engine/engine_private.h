/* engine_private: the embedded store: its parts, and what its own files share.
 *
 *     maintenance   flushes, merges, purges           shortage        what it waits for
 *     reads         pages, sums, groups, scrubs
 *     sequencer     frames, and who waits for them
 *     memtable_set  the open one and the frozen ones  engine_clock    timestamps
 *     run_set       segments and the manifest         memory_account
 *     engine_env    system, options, failure, jobs
 *
 * A part calls those below it.  Upward it tells only by the callbacks that engine.c sets, which
 * connects the parts and does nothing else.
 *
 *     engine.c           its life, the notices of the parts, and the table of operations
 *     engine_open.c      a directory becomes a store
 *     engine_restamp.c   write timestamps that are ahead of now, while opening
 *     engine_status.c    what there is to be told of it
 *     engine_snapshot.c  the files of a moment */
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
    struct engine_opening *opening;    /* NULL once it is open */
    struct callback closed;            /* who closes it */
    struct timer close_timer;
    struct metric *metric_failed_reads;        /* NULL: there are no metrics */
    struct metric *metric_readers;
};

/* ---- engine.c ---- */

/* The engine that the store is; it must be one. */
struct engine *engine_of(struct store *store);
/* Takes the manifest, and the directory's lock, which engine_free lets go. */
struct engine *engine_new(struct world *world, const struct engine_options *options,
                          struct manifest *manifest);
void engine_free(struct engine *engine);
/* The log is open, and all its frames are applied. */
void engine_set_log(struct engine *engine, struct commit_log *log);
/* A notice of the log: a sync has returned. */
void engine_frames_durable(void *context, int status, uint64_t frame);

/* ---- engine_restamp.c ---- */

/* While opening, once the log is replayed: as engine_options.restamp says. */
must_check int engine_restamp_now(struct engine *engine, struct error *err);

#endif
