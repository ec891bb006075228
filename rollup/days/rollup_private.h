/* rollup_private: what the files of the rollup share. */
#ifndef DAYBOOK_ROLLUP_DAYS_ROLLUP_PRIVATE_H
#define DAYBOOK_ROLLUP_DAYS_ROLLUP_PRIVATE_H

#include "base/key_map.h"
#include "base/timeuuid.h"
#include "base/world/world.h"
#include "rollup/days/away.h"
#include "rollup/days/change_lines.h"
#include "rollup/days/dirty.h"
#include "rollup/days/figure.h"
#include "rollup/days/publication.h"
#include "rollup/days/rate.h"
#include "rollup/days/rollup.h"

struct quota;
struct seal_pass;
struct work;

/* Somebody who waits until everything queued before `order` is worked off and durable. */
struct settle_waiter {
    struct settle_waiter *next;
    uint64_t order;
    bool publishes;
    bool is_of_rates;                  /* waits for ranges alone */
    struct figure_watch watch;         /* of rates; `each` NULL: nobody is told */
    struct bytes reseller;             /* data NULL: waits for everybody's days; else for these */
    int32_t from;                      /* alone, inclusive; the bytes are whose settle it is */
    int32_t to;
    bool is_worked;                    /* only the syncs up to `applies` are still out */
    uint64_t applies;
    store_done done;
    void *context;
};

struct rollup {
    struct store *store;
    const struct click_stream *stream; /* what is rolled up, as the schema is now: the opener's */
    bool is_defined;                   /* by users, over tables of theirs: rows were there before */
    uint32_t users;                    /* commands at work with it */
    struct world *world;
    struct zone *zone;
    struct publication_rules rules;
    bool is_automatic;
    bool is_read_only;
    bool is_loaded;
    bool is_closing;
    bool is_failed;                    /* the store has: nothing more is written */
    bool is_applying;                  /* within store_apply */
    bool is_sealing;                   /* within store_apply_if, of a seal */
    uint32_t pins;                     /* calls and jobs that use it: not the time to free */
    struct error failure;
    struct rate_table *rates;
    uint64_t rates_changed;            /* batches that changed any, */
    uint64_t rates_durable;            /* and how many of them are known to be durable: */
    uint64_t rates_sent;               /* so many with the batch of the rollup's that was */
    uint64_t rates_sent_apply;         /* this one; 0: none is waited for */
    struct dirty_set *dirty;
    struct away away;                  /* and the days that are not in it */
    bool marks_left;                   /* at opening: there is no room for those from */
    int64_t marks_left_token;          /* this token on yet */
    uint8_t mark_maker[TIMEUUID_MAKER_SIZE];   /* of marks' ids: there are millions of them, */
    int64_t mark_us;                   /* and this is the time of the last one */

    struct work *work;                 /* under way; NULL: none */
    uint64_t order_wanted;             /* what is queued before it is worked off now */
    struct settle_waiter *waiters;     /* oldest first */
    uint64_t applies_sent;
    uint64_t applies_durable;
    int64_t ledger_at_ms;              /* of the last entry: times never decrease */
    struct timer turn;                 /* the next chunk of work under way */
    struct timer tick;                 /* automatic: the next look at what is dirty or due */
    int64_t tick_at_us;                /* monotonic; INT64_MAX: not started */
    int64_t looked_us;                 /* at the last one */
    int64_t work_began_us;             /* monotonic */
    int64_t work_took_us;              /* the last one, from beginning to end */
    int64_t due_next_us;               /* no waiting day is due before it */

    uint32_t keep_days;                /* of clicks; 0: for ever */
    int32_t sealed_to;                 /* no later day has a seal */
    int32_t seal_from;                 /* no earlier day may have become due for one */
    struct seal_pass *sealing;         /* under way; NULL: none */
    bool is_seal_under_way;            /* one was applied and is not yet durable */
    struct seal_hold *holds_waiting;   /* for the seal that is not yet durable */
    uint32_t holds;                    /* granted */
    struct timer seal_timer;           /* automatic: the next look at what is due */

    struct key_map *resellers;         /* that have figures */
    bool knows_resellers;              /* all of them: amount_by_day was scanned once */
    size_t memory_told;                /* what the store was told that is held here */
    struct quota *figures;       /* for all readers of all streams */

    store_done opened;
    void *opened_context;
    store_done closed;
    void *closed_context;

    struct metric *metric_dirty;
    struct metric *metric_written;
    struct metric *metric_restated;
    struct metric *metric_published;
    struct metric *metric_fresh;
    struct metric *metric_sealed;
    struct metric *metric_away;
};

/* For a command of several batches: each has its row in `change`, so that what each of them does
 * is named by it. */
void rollup_begin_change(struct rollup *rollup, struct change_row *change);   /* id and time */
void rollup_write_change(struct rollup *rollup, struct write_batch *batch,
                         const struct change_row *change);

struct rollup_options {
    struct store *store;               /* outlives the rollup, as do the next three */
    struct world *world;
    struct quota *figures;
    const struct click_stream *stream; /* may change while it is open: see rollup_forget_rates */
    const char *defined_name;          /* of a stream over users' tables; NULL: the built-in one */
    const char *zone;                  /* of its days: an IANA name */
    int64_t publish_after_ms;          /* after a day's end; 0: one hour */
    uint32_t keep_days;                /* unless its table says other; 0: for ever */
    size_t open_days_bytes;            /* of memory, for days that are open or dirty; 0: 256 MiB */
    bool is_automatic;                 /* it works by itself */
    struct metrics *metrics;
};

/* rollup.c */
must_check int rollup_open(const struct rollup_options *options, store_done opened, void *context,
                           struct rollup **rollup_out, struct error *err);
void rollup_close(struct rollup *rollup, store_done closed, void *context);
/* A job that uses the rollup begins, ends: closing waits for it.  The end may free the rollup. */
void rollup_pin(struct rollup *rollup);
void rollup_unpin(struct rollup *rollup);

/* rollup_load.c: the table of rates is another one, and empty. */
void rollup_forget_rates(struct rollup *rollup);

/* rollup_hook.c */
/* Tell the store what is held here by the day and reseller. */
void rollup_tell_memory(struct rollup *rollup);
/* A stream's part in the commit hook; rates that it changes are added to `lines`. */
void rollup_take_batch(struct rollup *rollup, struct write_batch *batch,
                       struct change_lines *lines);
/* Its end, if there are any: into the row of `change` that the batch has. */
void rollup_write_lines(struct rollup *rollup, struct write_batch *batch,
                        struct change_lines *lines);
/* Mark the day of a click's partition key, in memory and in `batch`; `change` may be NULL. */
void rollup_mark_day(struct rollup *rollup, struct write_batch *batch, struct bytes key,
                     enum dirty_cause cause, const uint8_t *change, int64_t now_us);
/* Mark all days from `from` up to before `until`. */
void rollup_mark_range(struct rollup *rollup, struct write_batch *batch, struct bytes reseller,
                       int32_t from, int32_t until, enum dirty_cause cause, const uint8_t *change,
                       int64_t now_us);
/* The row of a mark for the days from `day` up to before `until`; gives the mark its id. */
void rollup_write_mark(struct rollup *rollup, struct write_batch *batch, struct bytes reseller,
                       int32_t day, int32_t until, struct dirty_mark *mark, int64_t now_us);

/* rollup_load.c: rates and marks from their tables, `opened` at the end. */
must_check int rollup_load(struct rollup *rollup, struct error *err);

/* A row of the table of marks: of one day, or of a range of days (dirty.h). */
struct mark_row {
    int32_t day;
    int32_t until;                     /* the day after it; RATE_DAY_END: without end */
    struct dirty_mark mark;
};
must_check int rollup_read_mark(const struct table *table, const struct page_row *row,
                                struct mark_row *mark_out, struct error *err);

/* rollup_work.c: begin, unless it is under way, and work off what is queued now; or the ranges
 * alone, besides what was wanted before. */
void rollup_work_wanted(struct rollup *rollup);
void rollup_work_ranges(struct rollup *rollup);
void rollup_turn(struct timer *timer);

/* rollup_schedule.c: who waits for the work, and when a server begins by itself. */
void rollup_tick(struct timer *timer);
void rollup_tick_soon(struct rollup *rollup);
void rollup_tick_at(struct rollup *rollup, int64_t at_us);
void rollup_tick_again(struct rollup *rollup);                 /* after work: when is the next */
/* Queue what a command publishes or restates at once, though it would have waited: a look at every
 * waiting day. */
void rollup_queue_waiting(struct rollup *rollup);
/* rollup_settle, of what is queued. */
must_check int rollup_settle_queued(struct rollup *rollup, bool publishes, store_done done,
                                    void *context, struct error *err);
/* The reseller's first queued day that the waiter waits for; NULL: none any more. */
struct dirty_day *rollup_waiter_day(const struct rollup *rollup,
                                    const struct settle_waiter *waiter);
void rollup_settled(struct rollup *rollup);            /* tell whoever need wait no longer */
void rollup_chunk_written(struct rollup *rollup);              /* no day is off the queue */
/* Days went back to the end of the queue: whoever waits for them waits for all before it. */
void rollup_wait_longer(struct rollup *rollup);
void rollup_fail(struct rollup *rollup, int status, const struct error *err);
void rollup_fail_waiters(struct rollup *rollup, int status, const struct error *err);
void rollup_close_if_idle(struct rollup *rollup);              /* may free the rollup */

/* rollup_figures.c: `resellers` has all that have figures when `done` is called. */
must_check int rollup_know_resellers(struct rollup *rollup, store_done done, void *context,
                                     struct error *err);

/* The wall clock's time, which marks and what is due go by: write timestamps stay ahead of it once
 * it was ahead. */
int64_t rollup_now_us(const struct rollup *rollup);
/* Whether days may be published and sealed, which cannot be undone. */
bool rollup_trusts_clock(const struct rollup *rollup);

/* The table with its current definition. */
const struct table *rollup_table(const struct rollup *rollup, uint32_t table_id);

/* All that changed rates up to this one is durable. */
static inline void rollup_rates_durable(struct rollup *rollup, uint64_t changed)
{
    if (changed > rollup->rates_durable)
        rollup->rates_durable = changed;
}

static inline int64_t rollup_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
#endif
