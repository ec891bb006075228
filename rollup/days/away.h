/* away: open days that memory has no room for are in their table alone, until they are due.
 *
 *      queued ──worked off──▶ waiting ──no room──▶ away
 *         ▲                      ▲                   │
 *         ├──── a click or a change marks it anew ───┤
 *         └──── due: read back, a page at a time ────┘
 *
 * The set of dirty days (dirty.h) has all days that are out of date, and of those that only wait
 * for their publication as many as there is room for.  The others cost no memory, however many
 * they are; a click on one of them costs a second row in the table, and a read of its figure.
 *
 * Where days become dirty faster than they are worked off, the store is held for the rollup
 * (store_hold) until there is room again: doors wait as they do for any memory.  Engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_AWAY_H
#define DAYBOOK_ROLLUP_DAYS_AWAY_H

#include "base/world/world.h"
#include "storage/engine/store.h"

struct rollup;

enum { AWAY_BYTES_DEFAULT = 256 << 20, AWAY_BYTES_MIN = 64 << 10 };

struct away {
    size_t bytes_max;                  /* what the set may take; waiting days half of it */
    uint32_t count;                    /* days that are away, or were: at most so many are */
    int64_t due_us;                    /* none of them is due before it */
    uint32_t returns;                  /* readings of the table under way */
    bool holds;                        /* the store */
    struct store_hold hold;
    struct timer pressed;
};

void away_init(struct rollup *rollup, size_t bytes_max);       /* 0: AWAY_BYTES_DEFAULT */
void away_release(struct rollup *rollup);                      /* no reading is under way */

/* Whether loaded days are to be worked off before more are loaded. */
bool away_is_full(const struct rollup *rollup);
/* Let waiting days go where they are too many; not while a chunk of days is worked on. */
void away_make_room(struct rollup *rollup);
/* The set has grown: if it is over its limit, the store is held until the work has caught up. */
void away_press(struct rollup *rollup);
/* The work has done what it could: others may write. */
void away_let_write(struct rollup *rollup);

/* Which days come back. */
enum away_which {
    AWAY_DUE,                          /* whose publication is due by itself */
    AWAY_ENDED,                        /* that may be published, and are: for a command */
    AWAY_ALL                           /* at opening: what is known of none of them is right */
};
/* Read the table of marks from the token on and work off the days; `done` when that is durable.
 * Others may come or go away meanwhile. */
must_check int away_return(struct rollup *rollup, enum away_which which, int64_t token_first,
                           store_done done, void *context, struct error *err);
/* The same of those that are due, if any may be; it looks after itself. */
void away_return_due(struct rollup *rollup, int64_t now_us);
#endif
