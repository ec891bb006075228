/* live: what happens now, as one JSON object, made LIVE_MS after LIVE_MS while somebody watches.
 * Nothing is done and nothing kept when nobody does.
 *
 *     {"at": "2026-11-29T06:30:00.123Z",
 *      "clicks": {"per_second": 1234.5,
 *                 "resellers": [{"reseller_id": "AA", "clicks": 120, "per_second": 12.0}, ...],
 *                 "ads": [{"ad_id": "ad42", "clicks": 17, "per_second": 3.0}, ...]},
 *      "today": {"day": "2026-11-29", "resellers": 12, "clicks": 70, "gross": "0.350",
 *                "amount": "0.08750", "unpriced_gross": "0", "currency": "EUR", "age_ms": 0,
 *                "rows": [{"reseller_id": "AA", "clicks": 70, "gross": "0.350", "rate": "0.25",
 *                          "amount": "0.08750"}, ...]},
 *      "freshness": {"newest_click_ms": 120, "figures_behind_ms": 0},
 *      "ingest": {"accepted": 120, "rejected": 3, "duplicates": 0, "connections": 1,
 *                 "codes": [{"code": "bad_amount", "lines": 3}], "waiting": null}}
 *
 * All clicks and figures are durable ones.  docs/API.md says what the members mean.  Engine
 * thread. */
#ifndef DAYBOOK_QUERY_LIVE_LIVE_H
#define DAYBOOK_QUERY_LIVE_LIVE_H

#include <sys/queue.h>

#include "query/query.h"

enum {
    LIVE_MS = 500,
    LIVE_KEEP_MS = 30000,              /* that states are still made after somebody asked */
    LIVE_NAME_MAX = 256                /* bytes; longer names of resellers and ads are cut */
};

struct live;

struct live_options {
    const struct query *query;         /* outlives the live, as does `world` */
    struct world *world;
    /* Whether somebody watches. */
    bool (*is_watched)(void *context);
    /* A state was made; the view is valid during the call. */
    void (*made)(void *context, struct bytes json);
    void *context;
};

struct live *live_new(const struct live_options *options);
/* Call `closed` when no reading is under way any more and the live is freed, perhaps before the
 * call returns.  Askers are not called any more. */
void live_close(struct live *live, void (*closed)(void *context), void *context);

/* Somebody watches from now on: begin to make states, unless they are made. */
void live_watch(struct live *live);

/* A caller that wants one state. */
struct live_asker {
    void (*done)(void *context, struct bytes json);    /* once; the view is valid during the call */
    void *context;
    TAILQ_ENTRY(live_asker) link;      /* private */
};
/* `asker` stays in its place until it is called, or forgotten. */
void live_ask(struct live *live, struct live_asker *asker);
void live_forget(struct live *live, struct live_asker *asker);
#endif
