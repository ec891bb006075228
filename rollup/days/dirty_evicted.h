/* dirty_evicted: waiting days for which memory is too small; only their table has them, until they
 * are due.
 *
 *      queued ──worked off──▶ waiting ──too many──▶ evicted
 *         ▲                      ▲                    │
 *         ├──── a click or a change marks it anew ────┤
 *         └──── due: read back, a page at a time ─────┘
 *
 * The set of dirty days (dirty.h) has all days that are out of date, and of those that only wait
 * for their publication as many as its limit allows.  The others cost no memory, however many
 * they are; a click on one of them costs a second row in the table, and a read of its figure.
 *
 * Where days become dirty faster than they are worked off, the rollup takes the store's write lock
 * (store_write_lock) until the set is small enough: other writers wait as they do for any memory.
 * Engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_H
#define DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_H

#include "base/world/world.h"
#include "rollup/days/publication.h"
#include "storage/engine/store.h"

enum { DIRTY_EVICTED_BYTES_DEFAULT = 256 << 20, DIRTY_EVICTED_BYTES_MIN = 64 << 10 };

struct dirty_evicted {
    struct store *store;
    struct executor *executor;
    size_t bytes_max;                  /* of memory for the set; waiting days may take half of it */
    uint32_t count;                    /* evicted days, at most: some may be in memory again */
    int64_t due_us;                    /* none of them is due before this time */
    uint32_t returns;                  /* readings of the table under way */
    bool has_left;                     /* at opening: marks from left_token on are not loaded yet */
    int64_t left_token;
    bool holds;                        /* the write lock is asked for, or granted */
    struct store_write_lock write_lock;
    struct timer pressed;
};

/* `bytes_max` 0: DIRTY_EVICTED_BYTES_DEFAULT.  `pressed` is called from the executor when the set
 * is over its limit, to work it off. */
void dirty_evicted_init(struct dirty_evicted *evicted, struct store *store,
                        struct executor *executor, size_t bytes_max,
                        void (*pressed)(struct timer *timer), void *context);
void dirty_evicted_release(struct dirty_evicted *evicted);     /* no reading is under way */

/* Whether the set takes so much that waiting days are to be evicted, and no more days loaded. */
bool dirty_evicted_is_full(const struct dirty_evicted *evicted, const struct dirty_set *dirty);
/* Whether the mark is one of late clicks without a change: evicted days have no others. */
bool dirty_evicted_is_plain(const struct dirty_mark *mark);
/* Evict waiting days while the set is full.  Their rows are in the first `applies_durable` batches.
 * Not to be called while a chunk of days is worked on. */
void dirty_evicted_make_room(struct dirty_evicted *evicted, struct dirty_set *dirty,
                             const struct publication_rules *rules, uint64_t applies_durable,
                             int64_t now_us);
/* The set has grown: where it is over its limit and the rollup `may_lock`, take the store's write
 * lock until the refresh has caught up. */
void dirty_evicted_press(struct dirty_evicted *evicted, const struct dirty_set *dirty,
                         bool may_lock);
/* The refresh has done what it could: give the write lock back, if it was taken. */
void dirty_evicted_let_write(struct dirty_evicted *evicted);

/* Count so many days as evicted, the first of which is due at `due_us`. */
void dirty_evicted_note(struct dirty_evicted *evicted, uint32_t days, int64_t due_us);
#endif
