/* live_clicks: counts durable clicks a second, in all and of the resellers and ads with most
 * clicks.
 *
 *     commit hook ─▶ click_watch.h: all clicks, and which resellers and ads have the most
 *                      │                │
 *                      ▼                ▼ LIVE_CLICKS_KEYS of each
 *     an empty batch is durable ─▶ their counters, durable ─▶ rates
 *
 * The cost does not depend on the number of resellers and ads: the watch samples clicks, and each
 * turn (live.h) reads at most LIVE_CLICKS_KEYS counters of resellers, and as many of ads.  All
 * functions are called on the engine thread. */
#ifndef DAYBOOK_QUERY_LIVE_LIVE_CLICKS_H
#define DAYBOOK_QUERY_LIVE_LIVE_CLICKS_H

#include "base/buffer.h"
#include "query/live/live_rate.h"
#include "base/world/world.h"
#include "rollup/days/rollup.h"

enum {
    LIVE_CLICKS_KEYS = 24,             /* resellers, and ads, whose counters are read */
    LIVE_CLICKS_TOP = 10               /* resellers, and ads, in a state */
};

struct live_clicks_key {
    struct buffer key;
    uint64_t clicks;                   /* value of the key's counter */
    bool has_first;                    /* the key is new, and `first` counts all its clicks since
                                        * the turn before */
    uint64_t first;                    /* clicks of the key since the turn before */
    struct live_rate rate;
};

struct live_clicks_list {
    struct live_clicks_key keys[LIVE_CLICKS_KEYS];     /* most frequent first */
    uint32_t count;
    struct click_stream_counter counter;
};

struct live_clicks {
    struct store *store;
    struct world *world;
    struct click_watch *watch;
    int64_t turn_us, before_us;        /* monotonic: when the turn, and the one before, began */
    uint64_t applied;                  /* clicks from the start of the watch to the start of the
                                        * turn */
    uint64_t durable;                  /* how many of `applied` are known to be durable */
    int64_t newest_ms;                 /* wall time when a turn last found new durable clicks; 0:
                                        * none since the watch began */
    struct live_rate rate;
    struct live_clicks_list resellers, ads;
    struct live_clicks_list *reading;  /* `resellers` or `ads`; NULL: no read is under way */
    bool is_syncing;                   /* the turn waits until the log is synced */
    store_done done;
    void *context;
};

/* Begin to watch.  `store`, `world` and `rollup` must outlive the watch. */
void live_clicks_begin(struct live_clicks *clicks, struct store *store, struct world *world,
                       struct rollup *rollup);
/* Stop watching.  No turn may be under way. */
void live_clicks_end(struct live_clicks *clicks);
/* Count the durable clicks.  `done` is called once, perhaps before this function returns.  Keys
 * whose counters could not be read then have no rate. */
void live_clicks_turn(struct live_clicks *clicks, store_done done, void *context);
/* If the turn under way waits for the disk, no click becomes durable: record unchanged counts, so
 * that the rates fall. */
void live_clicks_note_waiting(struct live_clicks *clicks);
#endif
