/* dirty_evicted: waiting days (dirty.h) that are in the table of marks only, for want of memory.
 *
 *      queued ──processed───▶ waiting ──too many──▶ evicted
 *         ▲                      ▲                    │
 *         ├──── a click or a change marks it again ───┤
 *         └──── due: read back, a page at a time ─────┘
 *
 * The set of dirty days (dirty.h) has as many waiting days as its limit allows.  The other waiting
 * days are evicted: they take no memory.
 *
 * If days become dirty faster than they are processed, the rollup takes the store's write lock
 * (store_write_lock) until the set is small enough.  All functions run on the engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_H
#define DAYBOOK_ROLLUP_DAYS_DIRTY_EVICTED_H

#include "base/world/world.h"
#include "rollup/days/publication.h"
#include "storage/engine/store.h"

enum { DIRTY_EVICTED_BYTES_DEFAULT = 256 << 20, DIRTY_EVICTED_BYTES_MIN = 64 << 10 };

struct dirty_evicted {
    struct store *store;
    struct executor *executor;
    size_t bytes_max;                  /* bytes of memory for the set; waiting days are evicted
                                        * while the set takes more than half of it */
    uint32_t count;                    /* evicted days; an upper limit, because some may be in
                                        * memory again */
    uint32_t recounted;                /* of these: days that readings under way count again */
    int64_t due_us;                    /* no evicted day is due before this time */
    uint32_t returns;                  /* readings of the table under way */
    bool has_left;                     /* while the rollup is opened: marks from left_token on are
                                        * not loaded yet */
    int64_t left_token;
    bool holds;                        /* the write lock is requested or granted */
    struct store_write_lock write_lock;
    struct timer pressed;
};

/* `bytes_max` 0: DIRTY_EVICTED_BYTES_DEFAULT; a limit below DIRTY_EVICTED_BYTES_MIN is raised.
 * When the set is over its limit, the executor calls `pressed`, which processes days. */
void dirty_evicted_init(struct dirty_evicted *evicted, struct store *store,
                        struct executor *executor, size_t bytes_max,
                        void (*pressed)(struct timer *timer), void *context);
void dirty_evicted_release(struct dirty_evicted *evicted);     /* no reading is under way */

/* Whether waiting days must be evicted and no more days loaded. */
bool dirty_evicted_is_full(const struct dirty_evicted *evicted, const struct dirty_set *dirty);
/* Whether the mark has the cause `late_clicks` and names no change, as marks of evicted days do. */
bool dirty_evicted_is_plain(const struct dirty_mark *mark);
/* Evict waiting days while the set is full.  Only days whose rows are in the first
 * `applies_durable` batches are evicted.  To be called only while no chunk of days is processed. */
void dirty_evicted_make_room(struct dirty_evicted *evicted, struct dirty_set *dirty,
                             const struct publication_rules *rules, uint64_t applies_durable,
                             int64_t now_us);
/* If the set is over its limit and `may_lock`, take the store's write lock; if the set is small
 * enough again, release the lock. */
void dirty_evicted_press(struct dirty_evicted *evicted, const struct dirty_set *dirty,
                         bool may_lock);
/* Release the write lock, if it was taken. */
void dirty_evicted_let_write(struct dirty_evicted *evicted);

/* Add `days` to the number of evicted days.  The first of these days is due at `due_us`. */
void dirty_evicted_note(struct dirty_evicted *evicted, uint32_t days, int64_t due_us);
#endif
