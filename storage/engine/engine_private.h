/* engine_private: the embedded store's state, shared by the engine_*.c files only.
 *
 *   store_apply ─▶ open memtable + open payload ──seal──▶ commit log ──durable──▶ waiters
 *                       │ freeze (at a frame's end)
 *                       ▼
 *                  frozen memtables ──flush job──▶ segments ──compaction job──▶ segments
 *
 * The engine thread owns all of it.  Jobs work on a struct view: references to runs that no longer
 * change, and a frame. */
#ifndef DAYBOOK_STORAGE_ENGINE_ENGINE_PRIVATE_H
#define DAYBOOK_STORAGE_ENGINE_ENGINE_PRIVATE_H

#include <stdatomic.h>

#include "base/log.h"
#include "storage/cell/partition_index.h"
#include "storage/engine/callbacks.h"
#include "storage/engine/engine_env.h"
#include "storage/engine/frame_waiters.h"
#include "storage/engine/partition_versions.h"
#include "storage/engine/write_lock.h"
#include "storage/log/commit_log.h"
#include "storage/memtable/memtable.h"
#include "storage/schema/schema.h"
#include "storage/segment/segment.h"

struct drain {
    void (*call)(void *context);
    void *context;
};

struct waiting_listener {
    store_waiting_changed changed;
    void *context;
};

/* A reader that needs the open memtable sealed first. */
struct freeze_waiter {
    void (*resume)(struct freeze_waiter *waiter, int status);
    struct freeze_waiter *next;
};

struct read_job;
struct flush_job;
struct compact_job;

/* Deletions were looked at of all days before `day`, with the exceptions up to `frame`. */
struct purge_tried {
    uint32_t table_id;
    uint64_t frame;
    int32_t day;
    bool was_disturbed;                /* by a click: the next merge of the table leaves it be */
};

enum {
    ENGINE_REPLAY_BYTES = 4 << 20      /* of the log, which a clean close or schemas leave */
};

/* Jobs that wait when the system is short of something, and are tried again. */
enum engine_job { ENGINE_FLUSH, ENGINE_MERGE, ENGINE_JOBS };

struct engine {
    struct store store;
    struct engine_env env;
    struct schema *schema;             /* referenced: the current one */
    struct schema *schema_flushed;     /* referenced: the manifest's, as of frame_flushed */
    uint32_t schema_frozen;            /* the newest version that is flushed or frozen */
    struct buffer replayed_schema;     /* while opening: of the last frame that has nothing else */
    uint64_t replayed_schema_frame;    /* and the first of those frames; it is not read yet */
    struct manifest *manifest;
    struct commit_log *log;

    struct arena_supply *memory;       /* for memtables, */
    bool is_memory_coming;             /* and a job makes more of it ready */
    uint64_t giving_bytes;             /* of flushed memtables that a job frees */
    struct memtable *open;             /* frames from open->frame_first to the open frame */
    struct memtable **frozen;          /* oldest first */
    uint32_t frozen_count;
    struct segment **segments;         /* by (table id, kind, frame_first) */
    uint32_t segment_count;
    uint64_t segments_bytes;           /* of memory, of all of them */
    struct reader_pool *readers;       /* what their readers leave */
    uint64_t held_bytes[STORE_HOLDERS];        /* by rooms above: store_hold_memory */
    struct partition_index **indexes;  /* sealed stats, one per ranked table */
    uint32_t index_count;

    struct buffer payload;             /* the open frame's batches, not yet handed to the log */
    uint64_t payload_frame;            /* its number */
    uint64_t frame_flushed;            /* every frame up to here is in segments */
    int64_t payload_timestamp_us;      /* of its first batch */
    bool payload_is_followed;          /* each of its batches says that another follows */
    int64_t timestamp_next_us;         /* the next write timestamp to be given */
    int64_t timestamp_flushed_us;      /* the last one that was given up to frame_flushed; 0: not
                                        * known, for a directory of an older format */
    struct trusted_clock clock;
    int64_t marked_us;                 /* trusted time of the manifest's mark; 0: there is none */
    uint32_t markings;                 /* jobs that write one */
    struct log_group doubts;           /* in the clock */
    bool is_doubt_said;
    bool is_watched;
    struct buffer scratch;             /* for sizing a batch */

    struct partition_versions versions;
    struct write_lock lock;
    struct segment_haste haste;        /* of reads on the engine thread, since then */
    int64_t haste_began_us;

    struct frame_waiters waiters;
    struct drain *drains;
    uint32_t drain_count;
    bool drain_owed;                   /* somebody was answered ERROR_FULL */
    store_commit_hook hook;
    void *hook_context;
    store_commit_check refuses;
    void *refuses_context;

    bool freeze_requested;
    struct freeze_waiter *freeze_waiters;
    uint64_t reads_bytes;              /* of reads that were begun */
    struct read_job *reads_waiting, *reads_last;       /* others, in their order */
    bool is_beginning_reads;
    struct flush_job *flush;           /* under way */
    struct compact_job *compactions[SEGMENT_KINDS]; /* under way; by kind of runs */
    struct purge_tried *purges;        /* by table: what need not be tried again */
    uint32_t purge_count;
    struct timer seal_timer;           /* until a frame is sealed that a batch was to follow */
    struct timer compact_timer;        /* until a closed day has been quiet for long enough */
    int64_t oldest_us;                 /* of what was applied since a narrow merge was begun */
    /* Ranks of purged clicks are about to be free: until then no click may take one. */
    bool is_purging;
    uint64_t purges_published;         /* as manifest_state has them, */
    uint64_t purges_begun;             /* and numbers given to such as are to be */
    uint32_t purges_under_way;         /* being published: no snapshot meanwhile */
    /* Read by the merge: that it is to end, and how many frames were sealed, so that it rests
     * while there is ingest. */
    atomic_bool merge_ends;
    atomic_uint_fast64_t frames_sealed;
    atomic_uint open_fill;             /* read by the flush: how soon the next one is to be done */
    struct callbacks flush_waiters;    /* store_flush: until `flush_until` is in segments */
    uint64_t flush_until;              /* the newest frame when the last of them asked */
    struct callbacks compact_askers;   /* store_compact: until flushed, */
    struct callbacks compact_waiters;  /* then merged up to compact_until */
    uint64_t compact_until;            /* newest in segments when it was asked */

    uint64_t cells_skipped;            /* of the log: no values of their types; the first is */
    struct error cell_skipped;

    struct timer retry_timer;          /* runs while flush and compaction wait for space */
    int job_status[ENGINE_JOBS];       /* why the last one is to be tried again; 0: it is not */
    struct store_waiting waiting;      /* engine_waiting.c, to the next empty line */
    struct waiting_listener *waiting_listeners;
    uint32_t waiting_listener_count;
    struct timer stall_timer;
    struct timer tell_timer;
    int64_t refused_since_us;          /* batches are, as memory is full; 0: the last was applied */

    struct callback closed;
    struct timer close_timer;

    /* Taken by jobs.  Ahead of the manifest's after a job that failed, so that a file which such a
     * job left behind is never taken for another. */
    atomic_uint_fast64_t segment_id_next;

    struct metric *metric_frames;
    struct metric *metric_flushes;
    struct metric *metric_compactions;
    struct metric *metric_failed_reads;
    struct metric *metric_readers;
    struct metric *metric_waiting[STORE_SHORTAGES]; /* the first is NULL */
};

/* ---- engine.c ---- */
/* A background job could not be done: whoever waits for it is told, and it is tried again in a
 * while, or the engine fails for good where waiting mends nothing. */
void engine_job_failed(struct engine *engine, enum engine_job kind, int status,
                       const struct error *err);
bool engine_is_waiting_for_space(const struct engine *engine);
extern const struct store_ops engine_ops;
/* Between two frames: what is open covers the frames up to `frame_last`. */
void engine_freeze_open(struct engine *engine, uint64_t frame_last);
bool engine_open_is_empty(const struct engine *engine);
/* Whether a batch overwrites or deletes where the open memtable has fresh rows. */
bool engine_meets_exceptions(const struct engine *engine, const struct write_batch *batch);
/* The log's callbacks. */
void engine_frames_durable(void *context, int status, uint64_t frame);
void engine_log_has_room(void *context);
void engine_seal_if_idle(struct engine *engine);
void engine_request_freeze(struct engine *engine);
/* Call `waiter->resume` once the open memtable of now is frozen. */
void engine_freeze_then(struct engine *engine, struct freeze_waiter *waiter);
/* The same, but at once when the open memtable, which other threads may not read, has nothing of
 * the table. */
void engine_freeze_table_then(struct engine *engine, uint32_t table_id,
                              struct freeze_waiter *waiter);
void engine_drain(struct engine *engine);      /* tell those who were answered ERROR_FULL */
/* The parts' notices: the engine has failed, a job has ended. */
void engine_on_failure(void *context);
uint64_t engine_durable_frame(const struct engine *engine);

/* Engine thread. */
struct store_version engine_version(const struct engine *engine, uint32_t table_id,
                                    struct bytes key);

/* ---- engine_memory.c: the limit ---- */
/* Of memtables, open and frozen. */
uint64_t engine_memtables_bytes(const struct engine *engine);
/* Of what stays whatever is flushed. */
uint64_t engine_kept_bytes(const struct engine *engine);
/* The open memtable is to be frozen. */
bool engine_open_is_full(const struct engine *engine);
/* No batch may be applied before a memtable was flushed. */
bool engine_memory_is_full(const struct engine *engine);
uint64_t engine_sums_bytes(const struct engine *engine);
/* The most that readers of segments may leave. */
size_t engine_readers_share(const struct engine *engine);
void engine_hold_memory_op(struct store *store, enum store_holder holder, int64_t change_bytes);
void engine_return_memory_op(struct store *store, bool at_once);
/* Tell the flush how full the open memtable is, of ENGINE_FILL_WHOLE; or that it is waited for, or
 * memory is short. */
enum { ENGINE_FILL_WHOLE = 1024 };
void engine_note_fill(struct engine *engine);
/* Have memory for memtables made ready by another thread, where more will be wanted soon. */
void engine_make_memory_ready(struct engine *engine);
/* Let go of a flushed memtable, which is freed by another thread, but for what the next ones get.
 */
void engine_give_back(struct engine *engine, struct memtable *memtable);

/* ---- engine_waiting.c ---- */
/* Something of what engine.waiting says may be otherwise: a function of the log's, too. */
void engine_waiting_update(void *context);
/* A batch was answered ERROR_FULL. */
void engine_batch_refused(struct engine *engine);
void engine_waiting_metrics(struct engine *engine);
void engine_on_waiting_op(struct store *store, store_waiting_changed changed, void *context);
void engine_examine_op(struct store *store, struct store_examination *examination_out);

/* ---- engine_clock.c ---- */
/* Once manifest and log are open. */
void engine_clock_open(struct engine *engine);
/* The next write timestamp. */
int64_t engine_now_us(struct engine *engine);
/* What expired before it has expired for good: the wall clock's time, or while that is in doubt the
 * earlier one. */
int64_t engine_past_us(struct engine *engine);
int64_t engine_now_us_op(struct store *store);
struct store_clock engine_clock_op(struct store *store);
void engine_watch_clock_op(struct store *store);
int engine_accept_clock_op(struct store *store, store_done done, void *context, struct error *err);

/* ---- engine_restamp.c ---- */
/* While opening, once the log is replayed: as engine_options.restamp says. */
must_check int engine_restamp_now(struct engine *engine, struct error *err);

/* ---- engine_open.c ---- */
void engine_close_if_idle(struct engine *engine);
void engine_close_op(struct store *store, store_done done, void *context);

/* ---- engine_runs.c: the set of runs ---- */

/* What a job reads: sealed runs and the frame up to which they are seen. */
struct view {
    struct schema *schema;
    struct memtable **frozen;          /* oldest first */
    uint32_t frozen_count;
    struct segment **segments;         /* of one table, or all: by (kind, frame_first) */
    uint32_t segment_count;
    uint64_t frame;
    struct segment_haste *haste;       /* of a reader on the engine thread; NULL: it may wait.  Only
                                        * for tables without fresh rows */
};
/* Runs of `table_id`, or of all tables when it is 0.  Engine thread, both. */
void view_take(struct engine *engine, uint32_t table_id, uint64_t frame, struct view *view_out);
/* Give up the sealed fresh runs: for who has the index. */
void view_leave_wide(struct view *view);
void view_release(struct view *view);

/* Open the manifest's segments and build the indexes; remove files that are in neither. */
must_check int engine_open_segments(struct engine *engine, struct error *err);
void engine_add_segment(struct engine *engine, struct segment *segment);       /* takes the ref */
void engine_remove_segment(struct engine *engine, uint64_t segment_id);        /* and its file */
void engine_index_segment(struct engine *engine, struct segment *segment);
/* Work the partition's entry out again, from the runs of now. */
void engine_reindex_partition(struct engine *engine, uint32_t table_id, int64_t token,
                              struct bytes key);
/* segment_open, and its days.  `table` NULL: it is gone.  Any thread. */
must_check int engine_open_segment(struct engine *engine, const struct segment_info *info,
                                   const struct table *table, struct segment **segment_out,
                                   struct error *err);
struct partition_index *engine_index(const struct engine *engine, uint32_t table_id);
/* Whether the partition has anything in an exception run; and whether any of the table may. */
bool engine_has_exceptions(const struct engine *engine, const struct table *table, int64_t token,
                           struct bytes key);
bool engine_may_have_exceptions(const struct engine *engine, const struct table *table);

/* ---- engine_rebuild.c ---- */
/* While opening: put a segment made from the log in the place of a damaged one, in the manifest,
 * too.  The damaged file is the caller's to remove.  ERROR_CORRUPT, ERROR_CONFLICT: `err` says why
 * it cannot be made, and nothing was changed. */
must_check int engine_rebuild(struct engine *engine, const struct segment_info *damaged,
                              struct segment **segment_out, struct error *err);

enum { ENGINE_ADVICE_MAX = 512 };
/* What becomes of a damaged segment, for who asks and changes nothing; any thread.  "the log still
 * has its frames …", if it has and its footer is whole, without which none is made again; else what
 * is missing, and what is lost with the file.  `command` is what would make it again. */
void engine_rebuild_advise(struct world *world, const struct segment_info *damaged,
                           const struct table *table, const char *command,
                           char advice_out[ENGINE_ADVICE_MAX]);
/* The latter for who has tried: `why` is what was missing. */
void engine_rebuild_stake(const struct segment_info *damaged, const struct table *table,
                          const char *why, char advice_out[ENGINE_ADVICE_MAX]);

/* ---- engine_flush.c, engine_compact.c ---- */
void engine_start_flush(struct engine *engine);
/* Write what a frozen memtable has of one table and kind, as a flush does; the segments are not
 * live.  The caller's: the array, to free, and the references, also after an error. */
must_check int engine_flush_part(struct engine *engine, struct memtable *memtable,
                                 uint32_t table_id, enum segment_kind kind,
                                 struct segment ***segments_out, uint32_t *count_out,
                                 struct error *err);
/* While opening: write the frozen memtables on this thread. */
must_check int engine_flush_now(struct engine *engine, struct error *err);
/* What leaves bad cells of the log out, and notes that there were some. */
struct cell_salvage engine_cell_salvage(struct engine *engine);
void engine_start_compaction(struct engine *engine);
/* Whether runs of the table are being merged: only that merge's edit may name them. */
bool engine_is_merging(const struct engine *engine, uint32_t table_id);
int engine_flush_op(struct store *store, store_done done, void *context, struct error *err);
int engine_compact_op(struct store *store, store_done done, void *context, struct error *err);

/* ---- engine_read.c, engine_stats.c, engine_group.c, engine_scrub.c, engine_snapshot.c ---- */
int engine_read_op(struct store *store, const struct read_request *request, store_page page,
                   void *context, struct error *err);
int engine_stats_op(struct store *store, uint32_t table_id, uint32_t column_id, struct bytes key,
                    enum read_view view, store_figures figures, void *context, struct error *err);
int engine_stats_scan_op(struct store *store, uint32_t table_id, uint32_t column_id,
                         struct bytes position, uint32_t limit, enum read_view view,
                         store_figures figures, void *context, struct error *err);
/* How many fresh rows the partition has, durable or not, deleted or not. */
uint64_t engine_fresh_rows(const struct engine *engine, uint32_t table_id, int64_t token,
                           struct bytes key);
/* The column whose sums the stats keep, the first regular decimal one; 0: there is none. */
uint32_t engine_summed_column(const struct table *table);
/* Add a live row, with its value of column `summed`. */
must_check int engine_sum_row(const struct table *table, const struct page_row *row,
                              uint32_t summed, struct partition_stats *stats, struct error *err);
/* NULL with an error: the table is not there, or has counters, or not the column (0: none). */
const struct table *engine_table_of_rows(const struct engine *engine, uint32_t table_id,
                                         uint32_t column_id, struct error *err);
int engine_group_op(struct store *store, const struct group_request *request,
                    store_figures figures, void *context, struct error *err);
int engine_snapshot_op(struct store *store, uint64_t frame_kept,
                       struct store_snapshot **snapshot_out, struct error *err);
void engine_snapshot_let_go_op(struct store *store, struct store_snapshot *snapshot);
void engine_snapshot_release_op(struct store *store, struct store_snapshot *snapshot);
int engine_scrub_op(struct store *store, void (*found)(void *context, const char *text),
                    store_done done, void *context, struct error *err);

/* ---- partition_reader.c: one partition or all of a view, on a lane ---- */

struct partition_reader;
/* Readers of a view's segments with their decoded pages; one per job. */
struct partition_reader *partition_reader_new(const struct view *view, const struct table *table);
void partition_reader_free(struct partition_reader *reader);
/* The least (token, key) at or after the given one (after it when `after`).  False: no more.  The
 * key found is the reader's until the seek after the next one: a caller compares it with that. */
bool partition_reader_seek(struct partition_reader *reader, int64_t token, struct bytes key,
                           bool after, int64_t *token_out, struct bytes *key_out);
/* Merged stream of the partition.  `extra` streams (owned) and `extra_rows` (of the open memtable,
 * newest) join in; NULL in *stream_out when there is nothing. */
must_check int partition_reader_stream(struct partition_reader *reader, int64_t token,
                                       struct bytes key, const struct slice *slice,
                                       struct stream **extra, uint32_t extra_count,
                                       const struct wide_rows *extra_rows,
                                       struct stream **stream_out, struct error *err);
bool partition_reader_has_exceptions(struct partition_reader *reader, int64_t token,
                                     struct bytes key);
#endif
