/* live_events: the address /api/live: what happens now (query/live/live.h), as a stream of events
 * for EventSource.
 *
 *     event: live
 *     data: {"at": "2026-11-29T06:30:00.123Z", "clicks": {"per_second": 1234.5, ...
 *
 * One state is made for all viewers, however many there are (door/http_events.h). */
#ifndef DAYBOOK_QUERY_WEB_LIVE_EVENTS_H
#define DAYBOOK_QUERY_WEB_LIVE_EVENTS_H

#include "door/http_door.h"
#include "query/live/live.h"

struct live_events;

/* Add the address to the door.  `query` and `world` outlive the result. */
struct live_events *live_events_new(struct http_door *door, const struct query *query,
                                    struct world *world);
/* For pages that show one state. */
struct live *live_events_live(const struct live_events *events);
/* After the door has closed: free it when no reading is under way, and call `closed`. */
void live_events_close(struct live_events *events, void (*closed)(void *context), void *context);
#endif
