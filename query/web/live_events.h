/* live_events: serves /api/live: the states of query/live/live.h, as a stream of events for
 * EventSource.
 *
 *     event: live
 *     data: {"at": "2026-11-29T06:30:00.123Z", "clicks": {"per_second": 1234.5, ...
 *
 * Each state is made once for all viewers (door/http_events.h). */
#ifndef DAYBOOK_QUERY_WEB_LIVE_EVENTS_H
#define DAYBOOK_QUERY_WEB_LIVE_EVENTS_H

#include "door/http_door.h"
#include "query/live/live.h"

struct live_events;

/* Add the address to the door.  `query` and `world` outlive the result. */
struct live_events *live_events_new(struct http_door *door, const struct query *query,
                                    struct world *world);
/* Returns the struct live, for pages that show one state. */
struct live *live_events_live(const struct live_events *events);
/* Call this after the door has closed.  Frees the struct when no turn of its struct live is under
 * way, and then calls `closed`. */
void live_events_close(struct live_events *events, void (*closed)(void *context), void *context);
#endif
