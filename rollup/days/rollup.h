/* rollup: keeps a stream's figures right: dirty days, rates as of a day, publication, restatements.
 *
 *   a click, a rate or a deletion in a batch ──hook──▶ dirty (reseller, day), in the same frame
 *   dirty days ──work──▶ partition stats × rate in effect ──one frame──▶ amount_by_day row,
 *                        ledger entry if the day is published, dirty mark cleared
 *
 * Each stream has one, which rollup/streams/ opens and closes.
 *
 * The commit hook sees every batch before its frame is sealed, so no door can write a click or a
 * rate without its days becoming dirty in the same frame.  A mark is cleared in the frame that
 * holds the new figure, and only if no batch has marked the day again since the figure's stats were
 * read.
 *
 * Engine thread.  The rollup uses the store and the clock, no sockets and no CQL. */
#ifndef DAYBOOK_ROLLUP_DAYS_ROLLUP_H
#define DAYBOOK_ROLLUP_DAYS_ROLLUP_H

#include "base/calendar.h"
#include "base/metrics.h"
#include "base/quota.h"
#include "rollup/click_stream.h"
#include "rollup/days/retention.h"
#include "rollup/days/seal_gate.h"
#include "storage/engine/store.h"

struct rollup;

/* A stream's rollup is opened by rollup/streams/, which fills what is its own. */
struct rollup_options {
    struct store *store;               /* outlives the rollup, as do the next two */
    struct world *world;
    struct metrics *metrics;
    const char *zone;                  /* IANA name of the zone of its days; NULL: UTC */
    int64_t publish_after_ms;          /* after a day's end; 0: one hour */
    uint32_t keep_days;                /* of clicks, unless its table says other; 0: for ever */
    size_t open_days_bytes;            /* of memory, for days that are open or dirty; 0: 256 MiB */
    bool is_automatic;                 /* a server's: it works off dirty days, publishes, restates
                                        * and seals by itself */
    struct quota *figures;             /* for all readers of all streams; outlives the rollup */
    const struct click_stream *stream; /* may change while it is open: see rollup_forget_rates */
    const char *defined_name;          /* of a stream over users' tables; NULL: the built-in one */
};

/* Bring all dirty days up to date now: a command that changed clicks or rates calls this before it
 * answers.  `done` (may be NULL) is called when the figures are durable, or with ERROR_FAILED,
 * perhaps before the call returns.  `publishes`: also publish the days that are due (`daybook
 * rollup`, the end of a load). */
void rollup_refresh_now(struct rollup *rollup, bool publishes, store_done done, void *context);

/* A callback for the figures that follow from a change of rates. */
struct day_figure;
struct figure_watch {
    uint8_t change[16];                /* the change's id (rollup_add_change) */
    /* Called once for every day of the changed rates that has a figure, when that figure was
     * applied and before `done`.  The days of a reseller come in descending order, perhaps with
     * those of others in between.  It must not change the rollup. */
    void (*each)(void *context, const struct day_figure *figure);
    void *context;
};

/* As rollup_refresh_now, but only the days of changed rates, ahead of all days that clicks made
 * dirty: a command that changed rates calls this when they were applied.  `watch` is copied; NULL:
 * there is no callback. */
void rollup_refresh_rates_now(struct rollup *rollup, const struct figure_watch *watch,
                              store_done done, void *context);

/* Whether the rows of the reseller's days from `from` on are right in everything but the rate, as
 * far as is known.  Then every day that a changed rate concerns has a row. */
bool rollup_rows_are_current(const struct rollup *rollup, struct bytes reseller, int32_t from);

/* As rollup_refresh_now, but only the days of one reseller from `from` to `to`, ahead of all other
 * days: a command that changed their clicks calls this.  The reseller's bytes are borrowed until
 * `done`. */
void rollup_refresh_days_now(struct rollup *rollup, struct bytes reseller, int32_t from,
                             int32_t to, store_done done, void *context);

struct change_lines;

/* A row of the table `change`.  The texts belong to the caller; NULL: not known. */
struct change_row {
    uint8_t id[16];                    /* given by rollup_begin_change */
    int64_t at_ms;
    const char *door;
    const char *peer;                  /* a client's address; may be NULL */
    const char *actor;
    const char *command;
    const char *note;                  /* may be NULL */
    /* What is changed, with its old and new state (change_lines.h).  NULL: nothing is, or rates
     * are, for which the commit hook writes the lines. */
    const struct change_lines *lines;
};

/* Add a change's row to `batch`.  Restatements that follow from the batch will name its id. */
void rollup_add_change(struct rollup *rollup, struct write_batch *batch,
                       struct change_row *change);

/* ---- sealed days: seal.h ---- */

/* While a pin is granted, no day is sealed (seal_gate.h), and a day is its clicks and its seals in
 * every view.  For readers that read both, one after the other. */
void rollup_pin_seals(struct rollup *rollup, struct seal_pin *pin);
void rollup_unpin_seals(struct rollup *rollup, struct seal_pin *pin);

/* The last day that may have a seal; SEALED_NONE (retention.h): no day has one. */
int32_t rollup_sealed_to(const struct rollup *rollup);

/* ---- figures ---- */

uint32_t rollup_dirty_count(const struct rollup *rollup);

/* The number of days that are dirty or wait for their publication. */
struct rollup_open_days {
    uint32_t in_memory;
    uint32_t evicted;                  /* in their table alone, at most (dirty_evicted.h) */
};
struct rollup_open_days rollup_open_days(const struct rollup *rollup);
const struct zone *rollup_zone(const struct rollup *rollup);
const struct click_stream *rollup_stream(const struct rollup *rollup);

/* A command uses the rollup from rollup_enter to rollup_leave: meanwhile its stream is not
 * dropped. */
void rollup_enter(struct rollup *rollup);
void rollup_leave(struct rollup *rollup);
bool rollup_is_in_use(const struct rollup *rollup);

/* One day's figure, as its row in amount_by_day has it, or will have it when it is up to date. */
enum day_state { DAY_OPEN, DAY_PUBLISHED, DAY_SEALED };
struct day_figure {
    struct bytes reseller;
    int32_t day;
    uint64_t clicks;
    struct decimal gross;
    bool is_priced;
    struct decimal rate;               /* meaningless unless is_priced */
    struct decimal amount;
    enum day_state state;
};

/* Whether the day has clicks and no rate.  A published day keeps its row when its last click is
 * gone, and then lacks no rate. */
static inline bool day_figure_is_unpriced(const struct day_figure *figure)
{
    return !figure->is_priced && figure->clicks > 0;
}

/* A reading of every figure of the given resellers (none: all) and days (both ends included),
 * resellers ascending by bytes, the days of each descending.  `each` returns false to pause, or to
 * stop where `paused` is NULL; `done` is called last. */
struct figure_reading;
struct figure_query {
    const struct bytes *resellers;
    uint32_t reseller_count;
    int32_t day_from;
    int32_t day_to;
    /* Dirty days are computed in memory, those of these resellers and days only, so that the
     * figures include every click and rate that was acknowledged before the call, and nothing that
     * is not durable.  Else figures are the rows as they are.  Always set in a read-only store. */
    bool is_current;
    uint64_t *behind;                  /* counts the figures given that differ from their rows;
                                        * NULL: they are not counted */
    /* As of the time as_of_ms: the ledger's last entry at or before it.  A day without such an
     * entry is left out. */
    bool is_as_of;
    int64_t as_of_ms;
    /* Resellers come in any order, the days of each together and descending: cheaper, for sums.
     * `paused` is NULL then. */
    bool in_any_order;
    /* Called when `each` has returned false because the reader is slow: the reading keeps its
     * figures (figure_window.h) until rollup_figures_go_on or rollup_figures_stop, which may be
     * called within this call. */
    void (*paused)(void *context, struct figure_reading *reading);
};
void rollup_figures(struct rollup *rollup, const struct figure_query *query,
                    bool (*each)(void *context, const struct day_figure *figure), store_done done,
                    void *context);
/* After a pause: go on with the next figure, perhaps before the call returns; or end with
 * `done`. */
void rollup_figures_go_on(struct figure_reading *reading);
void rollup_figures_stop(struct figure_reading *reading);

/* Append the stream's name, the jobs that are under way, and the dirty and waiting days. */
void rollup_dump(const struct rollup *rollup, struct buffer *text);
#endif
