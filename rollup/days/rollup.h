/* rollup: keeps a stream's figures right: dirty days, rates as of a day, publication, restatements.
 *
 *   a click, a rate or a deletion in a batch ──hook──▶ dirty (reseller, day), in the same frame
 *   dirty days ──work──▶ partition stats × rate in effect ──one frame──▶ amount_by_day row,
 *                        ledger entry if the day is published, dirty mark cleared
 *
 * There is one for each stream (rollup/streams/), which opens and closes it.
 *
 * The commit hook sees every batch before it is sealed, so no door can write a click or a rate
 * without its days becoming dirty in the same frame.  A mark is cleared in the frame that holds the
 * new figure, and only if no batch has marked the day again since the figure's stats were read.
 *
 * Engine thread.  No sockets, no CQL: it knows the store and the clock. */
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

/* Work off all dirty days now; `done` (NULL: nothing waits) when the figures are durable, or with
 * ERROR_FAILED, perhaps before the call returns.  What a command that changed clicks or rates calls
 * before it answers.  `publishes`: also publish days that are due (`daybook rollup`, the end of a
 * load). */
void rollup_refresh_now(struct rollup *rollup, bool publishes, store_done done, void *context);

/* Who changed rates is told of the figures that follow from it. */
struct day_figure;
struct figure_watch {
    uint8_t change[16];                /* the change's id (rollup_add_change) */
    /* Once for every day of the changed rates that has a figure, when it was applied, before
     * `done`; of a reseller day descending, in pieces.  Must change nothing. */
    void (*each)(void *context, const struct day_figure *figure);
    void *context;
};

/* The same of the days of changed rates only, ahead of all that clicks made dirty: what a command
 * that changed rates calls when they were applied.  `watch` is copied; NULL: nobody is told. */
void rollup_refresh_rates_now(struct rollup *rollup, const struct figure_watch *watch,
                              store_done done, void *context);

/* Whether the rows of the reseller's days from `from` on say all of them but their rate, as far as
 * is known: then all of them that a changed rate touches have a row. */
bool rollup_rows_are_current(const struct rollup *rollup, struct bytes reseller, int32_t from);

/* The same of one reseller's days from `from` to `to`, ahead of everybody's others: what a command
 * that changed their clicks calls.  The reseller's bytes are borrowed until `done`. */
void rollup_refresh_days_now(struct rollup *rollup, struct bytes reseller, int32_t from,
                             int32_t to, store_done done, void *context);

struct change_lines;

/* A row of the table `change`.  Texts are the caller's; those that may be NULL are not known. */
struct change_row {
    uint8_t id[16];                    /* given by rollup_begin_change */
    int64_t at_ms;
    const char *door;
    const char *peer;                  /* a client's address; may be NULL */
    const char *actor;
    const char *command;
    const char *note;                  /* may be NULL */
    /* What it changes, as it was, and is (change_lines.h); NULL: nothing, or rates, whose lines the
     * commit hook writes, as it knows them. */
    const struct change_lines *lines;
};

/* A change's row, added to `batch`; its id is what restatements caused by the batch will name. */
void rollup_add_change(struct rollup *rollup, struct write_batch *batch,
                       struct change_row *change);

/* ---- sealed days: seal.h ---- */

/* While it is held, no day is sealed (seal_gate.h): for a reader of a day's clicks and its seals,
 * which are two reads.  From when it is granted until it is given back, days are clicks + seals in
 * every view. */
void rollup_pin_seals(struct rollup *rollup, struct seal_pin *pin);
void rollup_unpin_seals(struct rollup *rollup, struct seal_pin *pin);

/* No later day has a seal; SEALED_NONE (retention.h): none has. */
int32_t rollup_sealed_to(const struct rollup *rollup);

/* ---- figures ---- */

uint32_t rollup_dirty_count(const struct rollup *rollup);

/* Days that are dirty or wait for their publication: in memory, and at most so many others for
 * which there is no room. */
struct rollup_open_days {
    uint32_t in_memory;
    uint32_t evicted;
};
struct rollup_open_days rollup_open_days(const struct rollup *rollup);
const struct zone *rollup_zone(const struct rollup *rollup);
const struct click_stream *rollup_stream(const struct rollup *rollup);

/* A command is at work with it until it leaves: meanwhile its stream is not dropped. */
void rollup_enter(struct rollup *rollup);
void rollup_leave(struct rollup *rollup);
bool rollup_is_in_use(const struct rollup *rollup);

/* One day's figure, as amount_by_day has it, or as it would have it if nothing were dirty. */
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

/* A day with clicks and without a rate.  One that was published stays when its last click is gone;
 * it earns nothing, but lacks nothing either. */
static inline bool day_figure_is_unpriced(const struct day_figure *figure)
{
    return !figure->is_priced && figure->clicks > 0;
}

/* Every figure of the given resellers (none: all) and days (inclusive), reseller ascending by
 * bytes, day descending.  `each` returns false to pause, or where nobody is to be told of pauses,
 * to stop; `done` is last. */
struct figure_reading;
struct figure_query {
    const struct bytes *resellers;
    uint32_t reseller_count;
    int32_t day_from;
    int32_t day_to;
    /* What is dirty is worked out in memory, for these resellers and days only, so that the answer
     * holds all that was acknowledged before it was asked for, and nothing that is not durable.
     * Else the rows as they are; in a read-only store it is always so. */
    bool is_current;
    uint64_t *behind;                  /* counts the figures given that rows do not say, or NULL */
    /* As the ledger said at this time (its last entry at or before it); a day without such an entry
     * is left out. */
    bool is_as_of;
    int64_t as_of_ms;
    /* Resellers in any order, the days of one together and descending: for sums, which are the
     * cheaper for it.  Not to be paused. */
    bool in_any_order;
    /* Called when `each` has returned false, for a slow reader's sake: the reading keeps what it
     * holds (figure_window.h) until it goes on or is stopped, perhaps before this returns.  NULL:
     * false stops. */
    void (*paused)(void *context, struct figure_reading *reading);
};
void rollup_figures(struct rollup *rollup, const struct figure_query *query,
                    bool (*each)(void *context, const struct day_figure *figure), store_done done,
                    void *context);
/* After a pause: the next figure, perhaps before it returns; or `done` without any more. */
void rollup_figures_go_on(struct figure_reading *reading);
void rollup_figures_stop(struct figure_reading *reading);

/* Append its stream's name, what it is at, and its days that are owed something. */
void rollup_dump(const struct rollup *rollup, struct buffer *text);
#endif
