/* sequencer: puts batches into the open frame and the open memtable, and frames into the log.
 *
 *     store_apply ─▶ open memtable + open payload ──seal──▶ commit log ──durable──▶ waiters
 *
 * What decides correctness:
 * - A batch is applied to the open memtable and added to the open frame in one call, so memtable
 *   and log hold the same batches in the same order, and a frame is a whole number of batches.
 * - The `done` of a batch is called, and READ_DURABLE shows the batch, only after the sync of its
 *   frame has returned.
 * - At most two frames are not durable: the one the log is writing and the open one.  Memtables
 *   rely on this (columnar_memtable.h): they keep three versions of their sums.
 * - A memtable is frozen between two frames only.
 *
 * When sequencer_admit.c admits a batch, the commit hook is called, the batch is serialized into
 * the open payload and applied to the open memtable, and its `done` is kept until the frame is
 * durable.  To seal a frame is to hand it to the log.  If the log is idle, the frame is sealed in
 * the same call, with two exceptions (write_batch.h): after a batch with joins_loop_turn the frame
 * is sealed at the end of the loop turn, and after a batch with is_followed it waits up to 4 ms for
 * the next batch.  While the log writes another frame, the open frame grows.  So frames become
 * larger with the load.
 *
 * Engine thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_SEQUENCER_H
#define DAYBOOK_STORAGE_ENGINE_SEQUENCER_H

#include "base/metrics.h"
#include "storage/engine/engine_clock.h"
#include "storage/engine/frame_waiters.h"
#include "storage/engine/memtable_set.h"
#include "storage/engine/partition_versions.h"
#include "storage/engine/write_lock.h"

/* Bytes of the log that a clean close, or changes of the schema, may leave to be replayed. */
enum { SEQUENCER_REPLAY_BYTES = 4 << 20 };

struct sequencer_drain;

struct sequencer {
    struct engine_env *env;
    struct engine_clock *clock;
    struct memtable_set *memtables;
    const struct run_set *runs;
    struct commit_log *log;            /* NULL while opening */

    struct buffer payload;             /* the open frame's batches, not yet handed to the log */
    uint64_t frame;                    /* number of the open frame */
    int64_t timestamp_us;              /* of the open frame's first batch */
    bool is_followed;                  /* all batches of the open frame say that another follows */
    bool freeze_requested;             /* the memtable is to be frozen at the end of the frame */
    struct timer seal_timer;           /* seals the open frame after a delay */
    struct buffer scratch;             /* for sizing a batch */
    struct metric *metric_frames;      /* sealed; or NULL */

    struct frame_waiters waiters;
    struct partition_versions versions;
    struct write_lock lock;
    bool refuses_clicks;               /* a purge is being published, which frees ranks of clicks */
    const struct store_hooks *hooks;   /* the store's */

    struct sequencer_drain *drains;
    uint32_t drain_count;
    bool drain_owed;                   /* a batch was answered ERROR_FULL */
};

/* All pointers outlive the sequencer.  The caller sets the hooks, and the log once it is open. */
void sequencer_init(struct sequencer *sequencer, struct engine_env *env, struct engine_clock *clock,
                    struct memtable_set *memtables, const struct run_set *runs);
void sequencer_release(struct sequencer *sequencer);

/* As store_apply_if says. */
must_check int sequencer_apply(struct sequencer *sequencer, struct write_batch *batch,
                               struct store_expectation *expectations,
                               uint32_t expectation_count, store_done done, void *context,
                               struct error *err);
/* The present version of a partition, for a later expectation. */
struct store_version sequencer_version(const struct sequencer *sequencer, uint32_t table_id,
                                       struct bytes key);

/* The number of the last frame that has a batch. */
uint64_t sequencer_applied_frame(const struct sequencer *sequencer);
/* The number of the last durable frame; UINT64_MAX while opening: all that is replayed is durable.
 */
uint64_t sequencer_durable_frame(const struct sequencer *sequencer);

/* The log has synced the frames up to `frame`: seal the next one, then call the callbacks that wait
 * for these frames. */
void sequencer_frames_durable(struct sequencer *sequencer, uint64_t frame);
/* The engine has failed: call all waiting callbacks with the failure. */
void sequencer_fail(struct sequencer *sequencer);
/* Hand the open frame to the log if the log is idle and has room. */
void sequencer_seal_if_idle(struct sequencer *sequencer);

/* Stop the timer. */
void sequencer_stop(struct sequencer *sequencer);

/* Freeze the open memtable, between two frames; it covers the frames up to `frame_last`. */
void sequencer_freeze(struct sequencer *sequencer, uint64_t frame_last);
/* Freeze the open memtable now if the open frame is empty, else when that frame is sealed. */
void sequencer_request_freeze(struct sequencer *sequencer);
/* Call `waiter->resume` once the present open memtable is frozen; or now with the failure, if the
 * engine has failed and the open frame has a batch. */
void sequencer_freeze_then(struct sequencer *sequencer, struct freeze_waiter *waiter);
/* The same; but if the open memtable has nothing of the table, call `resume` now and do not
 * freeze. */
void sequencer_freeze_table_then(struct sequencer *sequencer, uint32_t table_id,
                                 struct freeze_waiter *waiter);

void sequencer_on_drain(struct sequencer *sequencer, void (*drain)(void *context), void *context);
/* Call the functions that store_on_drain added, if a batch was answered ERROR_FULL since the last
 * call. */
void sequencer_drain(struct sequencer *sequencer);
/* As store_write_unlock.  If no other writer waits for the lock, sequencer_drain is called. */
void sequencer_unlock(struct sequencer *sequencer, struct store_write_lock *write_lock);
#endif
