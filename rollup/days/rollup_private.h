/* rollup_private: the parts of a rollup, and the jobs that work on them.
 *
 *     rollup_open.c                         opens and closes a rollup
 *     rollup_load.c   rollup_schedule.c     work at opening, and work that begins by itself
 *     dirty_evicted_return.c   rollup_wait.c   days read back, and callers that wait
 *     rollup_unpriced.c                     counts days without a rate
 *     rollup_hook.c   rollup_refresh.c  seal_pass.c  rollup_figures.c  dirty_overlay.c   the jobs
 *     rollup.c                              what the jobs have in common, and the end
 *     day_marks  live_rates  refresh_list  look_timer  publication_queue  dirty_evicted  retention
 *     seal_gate  known_resellers  click_watch   the parts, none of which includes this header
 *
 * A file calls only files in lines below its own, and files to the right of it. */
#ifndef DAYBOOK_ROLLUP_DAYS_ROLLUP_PRIVATE_H
#define DAYBOOK_ROLLUP_DAYS_ROLLUP_PRIVATE_H

#include "base/world/world.h"
#include "rollup/days/change_lines.h"
#include "rollup/days/day_marks.h"
#include "rollup/days/dirty_evicted.h"
#include "rollup/days/known_resellers.h"
#include "rollup/days/live_rates.h"
#include "rollup/days/look_timer.h"
#include "rollup/days/publication_queue.h"
#include "rollup/days/refresh_list.h"
#include "rollup/days/retention.h"
#include "rollup/days/rollup.h"
#include "rollup/days/seal_gate.h"

struct seal_pass;
struct refresh;

struct refresh_progress {
    uint64_t order_wanted;             /* queued days whose `order` is below this are processed
                                        * now */
    uint64_t refreshes;
    uint64_t applies_sent;             /* batches that were applied */
    uint64_t applies_durable;          /* how many of these are durable */
    bool is_applying;                  /* true during store_apply */
    int64_t ledger_at_ms;              /* the time for new ledger entries; it never decreases */
    int64_t began_us;                  /* when the refresh under way began; monotonic */
    int64_t owed_us;                   /* arrival of the first batch that no refresh has processed;
                                        * 0: there is none; monotonic, as is works_us */
    int64_t works_us;                  /* what owed_us was when the refresh under way began */
    struct timer time_slice;
};

struct unpriced_count {
    bool is_counting;
    uint64_t counted;                  /* days counted by the reading under way */
    uint64_t changes;                  /* batches that changed the number */
    uint64_t changes_before;           /* `changes` when the reading under way began */
    uint64_t changed_in;               /* the number of the last of these batches, in the sequence
                                        * of applies_sent */
};

struct rollup_metrics {
    struct metric *dirty;
    struct metric *written;
    struct metric *restated;
    struct metric *published;
    struct metric *overlay;
    struct metric *sealed;
    struct metric *evicted;
    struct metric *unpriced;           /* METRIC_UNKNOWN until the days were counted */
    struct metric *lag;
    struct metric *verified;
    struct metric *differences;
};

struct rollup {
    struct store *store;
    struct world *world;
    const struct click_stream *stream; /* tables and columns by the present schema; owned by the
                                        * caller of rollup_open */
    bool is_defined;                   /* a stream over users' tables, which may have rows older
                                        * than the stream */
    struct zone *zone;
    bool is_automatic;
    bool is_read_only;
    bool is_loaded;
    bool is_closing;
    bool is_failed;                    /* the store failed: nothing more is written */
    struct error failure;
    uint32_t users;
    uint32_t pins;                     /* calls and jobs during which the rollup must not be
                                        * freed */

    struct day_marks marks;            /* the dirty and waiting days in memory */
    struct dirty_evicted evicted;      /* the waiting days that are not in memory */
    struct live_rates rates;
    struct refresh_list waiters;
    struct publication_queue due;
    struct look_timer look;            /* in a server: when the next look for dirty and due days
                                        * begins */
    struct retention retention;
    struct seal_gate gate;
    struct known_resellers resellers;
    struct click_watch watch;
    size_t memory_reported;
    struct quota *figures;             /* memory of the figures that readers keep (figure_window.h),
                                        * of all streams */
    struct rollup_metrics metrics;
    struct unpriced_count unpriced;

    struct refresh *refresh;           /* under way; NULL: none is */
    struct refresh_progress progress;
    struct seal_pass *sealing;         /* under way; NULL: none is */
    bool is_sealing;                   /* true during store_apply_if of a seal */
    struct timer seal_timer;           /* in a server: when the next look for expired days begins */

    store_done opened;
    void *opened_context;
    store_done closed;
    void *closed_context;
};

/* ---- rollup_open.c ---- */

must_check int rollup_open(const struct rollup_options *options, store_done opened, void *context,
                           struct rollup **rollup_out, struct error *err);
void rollup_close(struct rollup *rollup, store_done closed, void *context);

/* Start a timer of a job; 0 ms: it fires when the engine thread has done the other work that is
 * due. */
static inline void rollup_fire_in(const struct rollup *rollup, struct timer *timer,
                                  int64_t delay_ms)
{
    rollup->world->executor->timer_start(rollup->world->executor, timer, delay_ms);
}

/* ---- rollup.c ---- */

/* A job calls rollup_pin when it begins to use the rollup and rollup_unpin when it ends.  Closing
 * waits for all jobs, so rollup_unpin may free the rollup. */
void rollup_pin(struct rollup *rollup);
void rollup_unpin(struct rollup *rollup);
void rollup_close_if_idle(struct rollup *rollup);              /* may free the rollup */

/* Call the waiters whose figures are durable; after a failure of the rollup, call all waiters with
 * its error. */
void rollup_refreshed(struct rollup *rollup);

void rollup_report_memory(struct rollup *rollup);
void rollup_make_room(struct rollup *rollup);
/* Take or release the store's write lock, depending on the memory of the dirty days. */
void rollup_press(struct rollup *rollup);
/* Queue the waiting days that may be published, and those whose restatement is put off. */
void rollup_queue_ended(struct rollup *rollup);
void rollup_look_again(struct rollup *rollup);

/* Marks get the time of the wall clock, and days become due by it.  Write timestamps may be later,
 * if the wall clock was ahead once. */
int64_t rollup_now_us(const struct rollup *rollup);
/* False: days must not be published or sealed, because this cannot be undone. */
bool rollup_trusts_clock(const struct rollup *rollup);

const struct table *rollup_table(const struct rollup *rollup, uint32_t table_id);

/* For a command that writes several batches: rollup_begin_change gives the change its id and time,
 * and rollup_write_change adds its row to a batch.  Every batch gets the same row, so that all
 * marks name it. */
void rollup_begin_change(struct rollup *rollup, struct change_row *change);
void rollup_write_change(struct rollup *rollup, struct write_batch *batch,
                         const struct change_row *change);

/* ---- rollup_hook.c ---- */

/* The commit hook's work for one stream.  A line for each rate that the batch changes is added to
 * `lines`. */
void rollup_take_batch(struct rollup *rollup, struct write_batch *batch,
                       struct change_lines *lines);
/* To be called after the hook's work for all streams: add the lines to the batch's row of
 * `change`. */
void rollup_write_lines(struct rollup *rollup, struct write_batch *batch,
                        struct change_lines *lines);

/* ---- rollup_load.c ---- */

/* Read retention, rates and marks from their tables, then call `opened`. */
void rollup_load(struct rollup *rollup);

/* ---- rollup_refresh.c ---- */

/* Begin a refresh, unless one is under way.  rollup_refresh_wanted makes the refresh process
 * everything that is queued now, rollup_refresh_ranges only marked ranges and the days for which
 * waiters wait. */
void rollup_refresh_wanted(struct rollup *rollup);
void rollup_refresh_ranges(struct rollup *rollup);
void rollup_time_slice(struct timer *timer);

/* ---- rollup_wait.c; rollup.h declares its other functions ---- */

/* As rollup_refresh_now, but without evicted days. */
void rollup_refresh_queued_now(struct rollup *rollup, bool publishes, store_done done,
                               void *context);

/* ---- rollup_schedule.c ---- */

void rollup_look(struct timer *timer);
/* The callback of the timer that fires when the set of dirty days is over its limit: evict days,
 * and refresh. */
void rollup_pressed(struct timer *timer);
#endif
