/* live: makes a *state* every LIVE_MS: one JSON object with the present rates, figures and counts
 * of ingest.  A *turn* reads the data for one state; if it lasts longer than LIVE_MS, states with
 * the data of the turn before are made meanwhile.  States are made while there are viewers, and for
 * LIVE_KEEP_MS after each live_ask; at other times the module does no work and keeps no data.
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
 * Clicks and figures count durable clicks only.  docs/API.md says what the members mean.  All
 * functions are called on the engine thread. */
#ifndef DAYBOOK_QUERY_LIVE_LIVE_H
#define DAYBOOK_QUERY_LIVE_LIVE_H

#include <sys/queue.h>

#include "query/query.h"

enum {
    LIVE_MS = 500,
    LIVE_KEEP_MS = 30000,              /* states are made for this long after live_ask */
    LIVE_NAME_MAX = 256                /* bytes; longer names of resellers and ads are cut */
};

struct live;

struct live_options {
    const struct query *query;         /* `query` and `world` outlive the struct live */
    struct world *world;
    /* Returns whether there is a viewer. */
    bool (*is_watched)(void *context);
    /* Called with each state when it is made.  `json` is valid during the call. */
    void (*made)(void *context, struct bytes json);
    void *context;
};

struct live *live_new(const struct live_options *options);
/* Free the struct when no turn is under way, then call `closed`, perhaps before this function
 * returns.  Askers are not called any more. */
void live_close(struct live *live, void (*closed)(void *context), void *context);

/* Called when a viewer has come: begin to make states, unless that has begun already. */
void live_watch(struct live *live);

/* One call of live_ask. */
struct live_asker {
    void (*done)(void *context, struct bytes json);    /* called once; `json` is valid during the
                                                        * call */
    void *context;
    TAILQ_ENTRY(live_asker) link;      /* private */
};
/* Call `asker->done` with the newest state, perhaps before this function returns.  The struct keeps
 * its address until `done` is called or the caller calls live_forget. */
void live_ask(struct live *live, struct live_asker *asker);
void live_forget(struct live *live, struct live_asker *asker);
#endif
