/* rollup: keeps a stream's figures right: dirty days, rates as of a day, publication, restatements.
 *
 *   a click, a rate or a deletion in a batch ──hook──▶ dirty (reseller, day), in the same frame
 *   dirty days ──work──▶ partition stats × rate in effect ──one frame──▶ amount_by_day row,
 *                        ledger entry and deletion of the mark if the day is published
 *
 * The commit hook sees every batch before its frame is closed, so each write of a click or a rate
 * marks its days dirty in the same frame.  A published day's marks are deleted in the frame that
 * brings figure and ledger up to date, but only if no batch has marked the day since its stats were
 * read.
 *
 * All functions run on the engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_ROLLUP_H
#define DAYBOOK_ROLLUP_DAYS_ROLLUP_H

#include "base/calendar.h"
#include "base/metrics.h"
#include "base/quota.h"
#include "rollup/click_stream.h"
#include "rollup/days/click_watch.h"
#include "rollup/days/retention.h"
#include "rollup/days/seal_gate.h"
#include "storage/engine/store.h"

struct rollup;

/* The caller of streams_open sets the members from `store` to `is_automatic`; rollup/streams/ sets
 * the others for each stream. */
struct rollup_options {
    struct store *store;               /* outlives the rollup, as do `world` and `metrics` */
    struct world *world;
    struct metrics *metrics;
    const char *zone;                  /* IANA name of the stream's time zone; NULL: UTC */
    int64_t publish_after_ms;          /* from a day's end to its publication; 0: one hour */
    uint32_t keep_days;                /* how long clicks are kept, unless the table `retention` has
                                        * another number; 0: for ever */
    size_t open_days_bytes;            /* limit of the dirty set's memory (dirty.h); 0: 256 MiB */
    bool is_automatic;                 /* true in a server: the rollup processes dirty days,
                                        * publishes, restates and seals by itself */
    struct quota *figures;             /* memory of figure windows, of all readers of all streams;
                                        * outlives the rollup */
    const struct click_stream *stream; /* its members may change while the rollup is open: see
                                        * live_rates_forget */
    const char *defined_name;          /* the name of a stream over users' tables; NULL: the
                                        * built-in stream */
};

/* Bring all dirty days up to date now.  `done` (may be NULL) is called when the figures are
 * durable, or with an error, perhaps before the call returns.  `publishes`: also publish the days
 * that may be published. */
void rollup_refresh_now(struct rollup *rollup, bool publishes, store_done done, void *context);

struct day_figure;
struct figure_watch {
    uint8_t change[16];                /* the change's id (rollup_add_change) */
    /* Called once for every day of the changed rates that has a figure, when the figure was applied
     * and before `done` of rollup_refresh_rates_now.  The days of a reseller are in descending
     * order, perhaps with days of other resellers in between.  `each` must not change the
     * rollup. */
    void (*each)(void *context, const struct day_figure *figure);
    void *context;
};

/* As rollup_refresh_now, but only for the days of changed rates, which are processed before all
 * days that clicks made dirty.  A command that changed rates calls this when the change was
 * applied.  `watch` is copied; NULL: no callback. */
void rollup_refresh_rates_now(struct rollup *rollup, const struct figure_watch *watch,
                              store_done done, void *context);

/* Whether the rows of the reseller's days from `from` on are known to be right in all but the rate.
 * True also means that every day with clicks has a row. */
bool rollup_rows_are_current(const struct rollup *rollup, struct bytes reseller, int32_t from);

/* As rollup_refresh_now, but only for one reseller's days from `from` to `to`, and for all changed
 * rates.  These days are processed before all other days.  The reseller's bytes are borrowed until
 * `done`. */
void rollup_refresh_days_now(struct rollup *rollup, struct bytes reseller, int32_t from,
                             int32_t to, store_done done, void *context);

struct change_lines;

/* A row of the table `change`.  The texts belong to the caller; NULL: the text is not known. */
struct change_row {
    uint8_t id[16];                    /* set by rollup_add_change, as is `at_ms` */
    int64_t at_ms;
    const char *door;
    const char *peer;                  /* a client's address; may be NULL */
    const char *actor;
    const char *command;
    const char *note;
    /* The things that are changed, with their old and new states (change_lines.h).  NULL: the row
     * has no lines but those that the commit hook adds for changed rates. */
    const struct change_lines *lines;
};

/* Add the row of `change` to the batch; restatements that follow from the batch name its id. */
void rollup_add_change(struct rollup *rollup, struct write_batch *batch,
                       struct change_row *change);

/* ---- sealed days: seal.h ---- */

/* A reader that reads a day's clicks and then its seals holds a pin.  While a pin is granted, no
 * day is sealed (seal_gate.h), so each click is read once: either as a click or as part of a
 * seal. */
void rollup_pin_seals(struct rollup *rollup, struct seal_pin *pin);
void rollup_unpin_seals(struct rollup *rollup, struct seal_pin *pin);

/* The last day that may have a seal; SEALED_NONE (retention.h): no day has one. */
int32_t rollup_sealed_to(const struct rollup *rollup);

/* ---- figures ---- */

uint32_t rollup_dirty_count(const struct rollup *rollup);

struct rollup_open_days {
    uint32_t in_memory;
    uint32_t evicted;                  /* in the table of marks only (dirty_evicted.h); may be too
                                        * high, and is too low until all marks are loaded */
};
struct rollup_open_days rollup_open_days(const struct rollup *rollup);
const struct zone *rollup_zone(const struct rollup *rollup);
const struct click_stream *rollup_stream(const struct rollup *rollup);

/* A command calls these around its use of the rollup: the stream is not dropped in between. */
void rollup_enter(struct rollup *rollup);
void rollup_leave(struct rollup *rollup);
/* Start the timer; it fires when the engine thread has done the other work that is due. */
void rollup_yield(const struct rollup *rollup, struct timer *timer);

/* One day's figure, as the day's row in amount_by_day has it, or will have it after the next
 * refresh. */
enum day_state { DAY_OPEN, DAY_PUBLISHED, DAY_SEALED };
struct day_figure {
    struct bytes reseller;
    int32_t day;
    uint64_t clicks;
    struct decimal gross;
    bool is_priced;
    struct decimal rate;               /* not set unless is_priced, like `amount` */
    struct decimal amount;
    enum day_state state;
};

/* A day without clicks is not unpriced; a published day keeps its row when its last click is
 * deleted. */
static inline bool day_figure_is_unpriced(const struct day_figure *figure)
{
    return !figure->is_priced && figure->clicks > 0;
}

/* A reading of every figure of the given resellers (reseller_count 0: all) and days (both ends
 * included).  Resellers ascend by bytes, and the days of each descend.  `each` gets one figure
 * after the other; it returns false to pause, or if `paused` is NULL to stop.  `done` is called
 * last. */
struct figure_reading;
struct figure_query {
    const struct bytes *resellers;
    uint32_t reseller_count;
    int32_t day_from;
    int32_t day_to;
    /* true: dirty days are computed in memory, so that figures include all clicks and rates
     * acknowledged before the call, and nothing that is not durable.  false: figures are those of
     * the rows.  In a read-only store true is assumed. */
    bool is_current;
    uint64_t *behind;                  /* raised by the number of days whose row is missing or
                                        * differs from the figure; may be NULL */
    /* true: a figure is that of the ledger's last entry at or before the time as_of_ms.  A day
     * without such an entry is left out. */
    bool is_as_of;
    int64_t as_of_ms;
    /* true: the resellers are in any order; the days of each reseller are together and descend.
     * This is cheaper, and enough for sums.  `paused` must then be NULL. */
    bool in_any_order;
    /* Called when `each` has returned false because the reader is slow.  The reading keeps the
     * other figures (figure_window.h) until rollup_figures_go_on or rollup_figures_stop is called,
     * perhaps within this call. */
    void (*paused)(void *context, struct figure_reading *reading);
};
void rollup_figures(struct rollup *rollup, const struct figure_query *query,
                    bool (*each)(void *context, const struct day_figure *figure), store_done done,
                    void *context);
/* After a pause: rollup_figures_go_on gives the next figure, perhaps before the call returns;
 * rollup_figures_stop ends the reading and calls `done`. */
void rollup_figures_go_on(struct figure_reading *reading);
void rollup_figures_stop(struct figure_reading *reading);

/* The number of resellers known so far. */
uint32_t rollup_known_resellers(const struct rollup *rollup);

/* Have the metric daybook_rollup_unpriced_figures count the days with clicks and without a rate.
 * A call reads all figures beside other work, and sets the metric if their number did not change
 * meanwhile; from then on the metric follows every change, and a call does nothing.  Nor does it do
 * anything where no server runs. */
void rollup_count_unpriced(struct rollup *rollup);

/* The owner of the watch must end it before the rollup is closed. */
struct click_watch *rollup_watch(struct rollup *rollup);
/* The age in microseconds of the oldest change that is in no row of a figure yet; 0: there is
 * none. */
int64_t rollup_behind_us(const struct rollup *rollup);

void rollup_dump(const struct rollup *rollup, struct buffer *text);
#endif
