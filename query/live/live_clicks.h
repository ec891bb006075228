/* live_clicks: durable clicks a second: all, and of the resellers and ads that have most of them.
 *
 *     commit hook ─▶ click_watch.h: all clicks, and which resellers and ads come most often
 *                      │                │
 *                      ▼                ▼ LIVE_CLICKS_KEYS of each
 *     an empty batch is durable ─▶ their counters, durable ─▶ rates
 *
 * What that costs is the same however many resellers and ads there are: a look at some clicks, and
 * two reads of a few counters a turn.  Engine thread. */
#ifndef DAYBOOK_QUERY_LIVE_LIVE_CLICKS_H
#define DAYBOOK_QUERY_LIVE_LIVE_CLICKS_H

#include "base/buffer.h"
#include "query/live/live_rate.h"
#include "base/world/world.h"
#include "rollup/days/rollup.h"

enum {
    LIVE_CLICKS_KEYS = 24,             /* whose counters are read */
    LIVE_CLICKS_TOP = 10               /* that are given */
};

struct live_clicks_key {
    struct buffer key;
    uint64_t clicks;                   /* ever, by its counter */
    bool has_first;                    /* of a new key: it is known what its counter was before */
    uint64_t first;                    /* the clicks that it has had since then */
    struct live_rate rate;
};

struct live_clicks_list {
    struct live_clicks_key keys[LIVE_CLICKS_KEYS];     /* those that come most often first */
    uint32_t count;
    struct click_stream_counter counter;
};

struct live_clicks {
    struct store *store;
    struct world *world;
    struct click_watch *watch;
    int64_t turn_us, before_us;        /* monotonic: when the turn, and the one before, began */
    uint64_t applied;                  /* clicks that are being made durable */
    uint64_t durable;                  /* clicks since the watch began */
    int64_t newest_ms;                 /* wall time: when clicks became durable last; 0: not since
                                        * then */
    struct live_rate rate;
    struct live_clicks_list resellers, ads;
    struct live_clicks_list *reading;  /* NULL: neither is read */
    bool is_syncing;                   /* a call waits for the disk */
    store_done done;
    void *context;
};

/* Begin to watch; `rollup` outlives it. */
void live_clicks_begin(struct live_clicks *clicks, struct store *store, struct world *world,
                       struct rollup *rollup);
/* Stop.  No turn may be under way. */
void live_clicks_end(struct live_clicks *clicks);
/* Read how many clicks are durable now.  `done` is called once, perhaps before the call returns.
 * Keys whose counters could not be read have no rate then. */
void live_clicks_turn(struct live_clicks *clicks, store_done done, void *context);
/* While the turn under way waits for the disk, nothing becomes durable: note that. */
void live_clicks_note_waiting(struct live_clicks *clicks);
#endif
