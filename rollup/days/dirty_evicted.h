/* dirty_evicted: open days that memory has no room for are in their table alone, until they are
 * due.
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
 * (store_write_lock) until there is room again: doors wait as they do for any memory.  Engine
 * thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_H
#define DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_H

#include "base/world/world.h"
#include "rollup/days/publication.h"
#include "storage/engine/store.h"

enum { DIRTY_EVICTED_BYTES_DEFAULT = 256 << 20, DIRTY_EVICTED_BYTES_MIN = 64 << 10 };

struct dirty_evicted {
    struct store *store;
    struct executor *executor;
    size_t bytes_max;                  /* what the set may take; waiting days half of it */
    uint32_t count;                    /* days that are away, or were: at most so many are */
    int64_t due_us;                    /* none of them is due before it */
    uint32_t returns;                  /* readings of the table under way */
    bool has_left;                     /* at opening: there is no room for those from */
    int64_t left_token;                /* this token on yet */
    bool holds;                        /* the store */
    struct store_write_lock write_lock;
    struct timer pressed;
};

/* `bytes_max` 0: DIRTY_EVICTED_BYTES_DEFAULT.  `pressed` is called from the executor when the set
 * is over its limit, to work it off. */
void dirty_evicted_init(struct dirty_evicted *evicted, struct store *store,
                        struct executor *executor, size_t bytes_max,
                        void (*pressed)(struct timer *timer), void *context);
void dirty_evicted_release(struct dirty_evicted *evicted);     /* no reading is under way */

/* Whether loaded days are to be worked off before more are loaded. */
bool dirty_evicted_is_full(const struct dirty_evicted *evicted, const struct dirty_set *dirty);
/* A mark of clicks alone, which days that go have. */
bool dirty_evicted_is_plain(const struct dirty_mark *mark);
/* Let waiting days go where they are too many, when so many batches are durable; not while a chunk
 * of days is worked on. */
void dirty_evicted_make_room(struct dirty_evicted *evicted, struct dirty_set *dirty,
                             const struct publication_rules *rules, uint64_t applies_durable,
                             int64_t now_us);
/* The set has grown: if it is over its limit, the store is held until the refresh has caught up,
 * where it `may_lock`. */
void dirty_evicted_press(struct dirty_evicted *evicted, const struct dirty_set *dirty,
                         bool may_lock);
/* The refresh has done what it could: others may write. */
void dirty_evicted_let_write(struct dirty_evicted *evicted);

/* A day is away, or days are, of which the first is due then. */
void dirty_evicted_note(struct dirty_evicted *evicted, uint32_t days, int64_t due_us);
#endif
