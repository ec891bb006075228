/* rollup_private: the parts of a rollup, and the jobs that work on them.
 *
 *     rollup_open.c                         opens and closes it
 *     rollup_load.c   rollup_schedule.c     what begins by itself, and at opening
 *     dirty_evicted_return.c   rollup_wait.c
 *     rollup_hook.c   rollup_refresh.c  seal_pass.c  dirty_overlay.c  rollup_figures.c   the jobs
 *     rollup.c                              what they have in common, and the end
 *     day_marks  live_rates  refresh_list  look_timer  publication_queue  dirty_evicted  retention
 *     seal_gate  known_resellers            the parts, none of which knows the rollup
 *
 * A file calls those below it only. */
#ifndef DAYBOOK_ROLLUP_DAYS_ROLLUP_PRIVATE_H
#define DAYBOOK_ROLLUP_DAYS_ROLLUP_PRIVATE_H

#include "base/key_map.h"
#include "base/world/world.h"
#include "rollup/days/change_lines.h"
#include "rollup/days/day_marks.h"
#include "rollup/days/dirty.h"
#include "rollup/days/dirty_evicted.h"
#include "rollup/days/figure.h"
#include "rollup/days/known_resellers.h"
#include "rollup/days/live_rates.h"
#include "rollup/days/look_timer.h"
#include "rollup/days/publication_queue.h"
#include "rollup/days/rate.h"
#include "rollup/days/refresh_list.h"
#include "rollup/days/retention.h"
#include "rollup/days/rollup.h"
#include "rollup/days/seal_gate.h"

struct seal_pass;
struct refresh;

/* How far the refresh is. */
struct refresh_progress {
    uint64_t order_wanted;             /* what is queued before it is worked off now */
    uint64_t applies_sent;             /* batches, */
    uint64_t applies_durable;
    bool is_applying;                  /* within store_apply */
    int64_t ledger_at_ms;              /* of the last entry: times never decrease */
    int64_t began_us;                  /* monotonic */
    struct timer time_slice;           /* the next chunk of work under way */
};

struct rollup_metrics {
    struct metric *dirty;
    struct metric *written;
    struct metric *restated;
    struct metric *published;
    struct metric *overlay;
    struct metric *sealed;
    struct metric *evicted;
};

struct rollup {
    struct store *store;
    struct world *world;
    const struct click_stream *stream; /* what is rolled up, as the schema is now: the opener's */
    bool is_defined;                   /* by users, over tables of theirs: rows were there before */
    struct zone *zone;
    bool is_automatic;
    bool is_read_only;
    bool is_loaded;
    bool is_closing;
    bool is_failed;                    /* the store has: nothing more is written */
    struct error failure;
    uint32_t users;                    /* commands at work with it */
    uint32_t pins;                     /* calls and jobs that use it: not the time to free */

    struct day_marks marks;            /* the days that are out of date, */
    struct dirty_evicted evicted;      /* and those of them that are not in memory */
    struct live_rates rates;
    struct refresh_list settles;
    struct publication_queue due;
    struct look_timer look;            /* automatic: the next look at what is dirty or due */
    struct retention retention;
    struct seal_gate gate;
    struct known_resellers resellers;
    size_t memory_reported;            /* what the store was told that is held here */
    struct quota *figures;             /* for all readers of all streams */
    struct rollup_metrics metrics;

    struct refresh *refresh;           /* under way; NULL: none */
    struct refresh_progress progress;
    struct seal_pass *sealing;         /* under way; NULL: none */
    bool is_sealing;                   /* within store_apply_if, of a seal */
    struct timer seal_timer;           /* automatic: the next look at what has expired */

    store_done opened;
    void *opened_context;
    store_done closed;
    void *closed_context;
};

/* ---- rollup_open.c ---- */

must_check int rollup_open(const struct rollup_options *options, store_done opened, void *context,
                           struct rollup **rollup_out, struct error *err);
void rollup_close(struct rollup *rollup, store_done closed, void *context);

/* Have a timer of a job fire; 0 ms: once the engine thread has done what else is due. */
static inline void rollup_fire_in(const struct rollup *rollup, struct timer *timer,
                                  int64_t delay_ms)
{
    rollup->world->executor->timer_start(rollup->world->executor, timer, delay_ms);
}

/* ---- rollup.c ---- */

/* A job that uses the rollup begins, ends: closing waits for it.  The end may free the rollup. */
void rollup_pin(struct rollup *rollup);
void rollup_unpin(struct rollup *rollup);
void rollup_close_if_idle(struct rollup *rollup);              /* may free the rollup */

/* The store failed: nothing more is written, and waiters get this error. */
void rollup_fail(struct rollup *rollup, int status, const struct error *err);
void rollup_refreshed(struct rollup *rollup);          /* call waiters that need wait no longer */

/* Tell the store what is held here by the day and reseller. */
void rollup_tell_memory(struct rollup *rollup);
/* Of `away`: let days go where there are too many; hold the store where there are far too many. */
void rollup_make_room(struct rollup *rollup);
void rollup_press(struct rollup *rollup);
/* Queue what a command publishes or restates at once, though it would have waited. */
void rollup_queue_ended(struct rollup *rollup);
void rollup_look_again(struct rollup *rollup);         /* after work: when is the next look */

/* The table of rates is another one, and empty. */
void rollup_forget_rates(struct rollup *rollup);

/* The wall clock's time, which marks and what is due go by: write timestamps stay ahead of it once
 * it was ahead. */
int64_t rollup_now_us(const struct rollup *rollup);
/* Whether days may be published and sealed, which cannot be undone. */
bool rollup_trusts_clock(const struct rollup *rollup);

/* The table with its current definition. */
const struct table *rollup_table(const struct rollup *rollup, uint32_t table_id);

/* For a command of several batches: each has its row in `change`, so that what each of them does
 * is named by it. */
void rollup_begin_change(struct rollup *rollup, struct change_row *change);   /* id and time */
void rollup_write_change(struct rollup *rollup, struct write_batch *batch,
                         const struct change_row *change);

/* ---- rollup_hook.c ---- */

/* A stream's part in the commit hook; rates that it changes are added to `lines`. */
void rollup_take_batch(struct rollup *rollup, struct write_batch *batch,
                       struct change_lines *lines);
/* Its end, if there are any: into the row of `change` that the batch has. */
void rollup_write_lines(struct rollup *rollup, struct write_batch *batch,
                        struct change_lines *lines);

/* ---- rollup_load.c ---- */

/* Retention, rates and marks from their tables, `opened` at the end. */
void rollup_load(struct rollup *rollup);

/* ---- rollup_refresh.c ---- */

/* Begin, unless it is under way, and work off what is queued now; or the ranges alone, besides what
 * was wanted before. */
void rollup_refresh_wanted(struct rollup *rollup);
void rollup_refresh_ranges(struct rollup *rollup);
void rollup_time_slice(struct timer *timer);

/* ---- rollup_wait.c, and rollup_refresh_rates_now, rollup_refresh_days_now ---- */

/* rollup_refresh_now, of what is queued. */
void rollup_refresh_queued_now(struct rollup *rollup, bool publishes, store_done done,
                               void *context);

/* ---- rollup_schedule.c ---- */

/* Of timers: look at what is dirty or due; the set of days is over its limit. */
void rollup_look(struct timer *timer);
void rollup_pressed(struct timer *timer);
#endif
