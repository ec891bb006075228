/* sequencer: one writer, one order: batches into the open frame and memtable, frames into the log.
 *
 *     store_apply ─▶ open memtable + open payload ──seal──▶ commit log ──durable──▶ waiters
 *
 * What decides correctness:
 * - A batch is applied to the open memtable and added to the open frame in one call, so memtable
 *   and log hold the same batches in the same order, and a frame is a whole number of batches.
 * - No `done` is called, and no reader sees a batch, before the sync of its frame returned.
 * - At most two frames are not durable: the one the log is writing and the open one.  Memtables
 *   rely on it (columnar_memtable.h): they keep three versions of their sums.
 * - A memtable is frozen between two frames only.
 *
 * Happy path of a batch that sequencer_admit.c admits: the hook runs, the batch is serialized into
 * the open payload, applied, and its `done` kept for the frame.  If the log is idle the frame is
 * sealed at once, or at the end of the turn; else it grows until the write under way returns: the
 * group sizes itself by load.
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

/* Of the log, which a clean close or changes of the schema leave to be replayed. */
enum { SEQUENCER_REPLAY_BYTES = 4 << 20 };

struct sequencer_drain;

struct sequencer {
    struct engine_env *env;
    struct engine_clock *clock;
    struct memtable_set *memtables;
    const struct run_set *runs;
    struct commit_log *log;            /* NULL while opening */

    struct buffer payload;             /* the open frame's batches, not yet handed to the log */
    uint64_t frame;                    /* its number */
    int64_t timestamp_us;              /* of its first batch */
    bool is_followed;                  /* each of its batches says that another follows */
    bool freeze_requested;             /* at its end */
    struct timer seal_timer;           /* until it is sealed though a batch was to follow */
    struct buffer scratch;             /* for sizing a batch */
    struct metric *metric_frames;      /* sealed; or NULL */

    struct frame_waiters waiters;
    struct partition_versions versions;
    struct write_lock lock;
    bool refuses_clicks;               /* ranks of purged ones are about to be free */
    const struct store_hooks *hooks;   /* the store's */

    struct sequencer_drain *drains;
    uint32_t drain_count;
    bool drain_owed;                   /* a batch was answered ERROR_FULL */
};

/* All pointers outlive the sequencer.  The hooks are the caller's to set, and
 * the log once it is open. */
void sequencer_init(struct sequencer *sequencer, struct engine_env *env, struct engine_clock *clock,
                    struct memtable_set *memtables, const struct run_set *runs);
void sequencer_release(struct sequencer *sequencer);

/* As store_apply_if says. */
must_check int sequencer_apply(struct sequencer *sequencer, struct write_batch *batch,
                               const struct store_expectation *expectations,
                               uint32_t expectation_count, store_done done, void *context,
                               struct error *err);
/* The state of a partition, for a later expectation. */
struct store_version sequencer_version(const struct sequencer *sequencer, uint32_t table_id,
                                       struct bytes key);

/* The last frame that has a batch. */
uint64_t sequencer_applied_frame(const struct sequencer *sequencer);
/* UINT64_MAX while opening: all that is replayed is durable. */
uint64_t sequencer_durable_frame(const struct sequencer *sequencer);

/* The log has synced the frames up to `frame`: begin the next one, then tell who waited. */
void sequencer_frames_durable(struct sequencer *sequencer, uint64_t frame);
/* Nothing is durable any more: tell all who wait. */
void sequencer_fail(struct sequencer *sequencer);
void sequencer_seal_if_idle(struct sequencer *sequencer);

/* No timer fires any more. */
void sequencer_stop(struct sequencer *sequencer);

/* Between two frames: the open memtable covers the frames up to `frame_last`. */
void sequencer_freeze(struct sequencer *sequencer, uint64_t frame_last);
/* Freeze when the open frame holds nothing; else its sealing will. */
void sequencer_request_freeze(struct sequencer *sequencer);
/* Call `waiter->resume` once the open memtable of now is frozen. */
void sequencer_freeze_then(struct sequencer *sequencer, struct freeze_waiter *waiter);
/* The same, but at once when the open memtable has nothing of the table. */
void sequencer_freeze_table_then(struct sequencer *sequencer, uint32_t table_id,
                                 struct freeze_waiter *waiter);

void sequencer_on_drain(struct sequencer *sequencer, void (*drain)(void *context), void *context);
/* Tell those whose batches were answered ERROR_FULL, if there are any. */
void sequencer_drain(struct sequencer *sequencer);
void sequencer_lock(struct sequencer *sequencer, struct store_write_lock *write_lock);
void sequencer_unlock(struct sequencer *sequencer, struct store_write_lock *write_lock);
#endif
