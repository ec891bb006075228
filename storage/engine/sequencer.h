/* sequencer: puts batches into the open frame and the open memtable, and frames into the log.
 *
 *     store_apply ─▶ open memtable + open frame ──seal──▶ commit log ──durable──▶ waiters
 *
 * What decides correctness:
 * - A batch is applied to the open memtable and added to the open frame in one call, so memtable
 *   and log hold the same batches in the same order.
 * - The `done` of a batch is called, and READ_DURABLE shows the batch, only after the sync of its
 *   frame has returned.
 * - At most two frames are not durable: the one the log is writing and the open one.  Memtables
 *   rely on this (columnar_memtable.h).
 * - A memtable is frozen between two frames only.
 *
 * To seal a frame means to give it to the log.  If the log is idle, a batch's frame is sealed at
 * once, with two exceptions (write_batch.h).  After a batch with joins_loop_turn, the frame is
 * sealed at the end of the loop turn.  After a batch with is_followed, the frame waits up to 4 ms
 * for the next batch.
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

/* Bytes of the log that a clean close, or schema changes, may leave to be replayed. */
enum { SEQUENCER_REPLAY_BYTES = 4 << 20 };

struct sequencer_drain;

struct sequencer {
    struct engine_env *env;
    struct engine_clock *clock;
    struct memtable_set *memtables;
    const struct run_set *runs;
    struct commit_log *log;            /* NULL while opening */

    struct buffer payload;             /* batches of the open frame */
    uint64_t frame;
    int64_t timestamp_us;
    bool is_followed;                  /* all batches of the open frame say that another follows */
    bool freeze_requested;
    struct timer seal_timer;
    struct buffer scratch;
    int64_t opened_us;                 /* monotonic: when the open frame got its first batch */
    int64_t writing_us;                /* opened_us of the frame that the log is writing; 0: none */
    struct metric *metric_frames;      /* counts sealed frames; this and the next may be NULL */
    struct metric *metric_commits;

    struct frame_waiters waiters;
    struct partition_versions versions;
    struct write_lock lock;
    bool refuses_clicks;               /* a purge is being published, which frees ranks */
    const struct store_hooks *hooks;

    struct sequencer_drain *drains;
    uint32_t drain_count;
    bool drain_owed;                   /* a batch was answered ERROR_FULL */
};

/* All pointers must outlive the sequencer.  The caller sets the hooks, and the log once it is
 * open. */
void sequencer_init(struct sequencer *sequencer, struct engine_env *env, struct engine_clock *clock,
                    struct memtable_set *memtables, const struct run_set *runs);
void sequencer_release(struct sequencer *sequencer);

/* As store_apply_if. */
must_check int sequencer_apply(struct sequencer *sequencer, struct write_batch *batch,
                               struct store_expectation *expectations,
                               uint32_t expectation_count, store_done done, void *context,
                               struct error *err);
struct store_version sequencer_version(const struct sequencer *sequencer, uint32_t table_id,
                                       struct bytes key);

/* The number of the last frame that has a batch. */
uint64_t sequencer_applied_frame(const struct sequencer *sequencer);
/* The last durable frame; UINT64_MAX while opening, because all that is replayed is durable. */
uint64_t sequencer_durable_frame(const struct sequencer *sequencer);

/* Seal the open frame, at once or by a timer, and call the callbacks of frames up to `frame`. */
void sequencer_frames_durable(struct sequencer *sequencer, uint64_t frame);
void sequencer_fail(struct sequencer *sequencer);
/* Seal the open frame if the log is idle and has room. */
void sequencer_seal_if_idle(struct sequencer *sequencer);

void sequencer_stop(struct sequencer *sequencer);

/* Freeze the open memtable, which covers the frames up to `frame_last`.  Call this between two
 * frames. */
void sequencer_freeze(struct sequencer *sequencer, uint64_t frame_last);
/* Freeze the open memtable now, or, if the open frame has a batch, when that frame is sealed. */
void sequencer_request_freeze(struct sequencer *sequencer);
/* Call `waiter->resume` once the present open memtable is frozen.  If the engine has failed and the
 * open frame has a batch, call it now with the failure. */
void sequencer_freeze_then(struct sequencer *sequencer, struct freeze_waiter *waiter);
/* As sequencer_freeze_then, but call `resume` at once if the open memtable has nothing of the
 * table. */
void sequencer_freeze_table_then(struct sequencer *sequencer, uint32_t table_id,
                                 struct freeze_waiter *waiter);

void sequencer_on_drain(struct sequencer *sequencer, void (*drain)(void *context), void *context);
/* Call the functions of sequencer_on_drain, if a batch was answered ERROR_FULL since the last
 * call. */
void sequencer_drain(struct sequencer *sequencer);
/* As store_write_unlock; also calls sequencer_drain if no other writer waits for the lock. */
void sequencer_unlock(struct sequencer *sequencer, struct store_write_lock *write_lock);
#endif
