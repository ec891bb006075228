/* http_events: streams of events (text/event-stream) for browsers' EventSource.  An event is made
 * once for any number of viewers.
 *
 *     id: 5F0C6D1E-17 LF                  run of the server, number of the state
 *     event: live LF
 *     data: {"clicks":17} LF
 *     LF
 *
 * An event is a state, and replaces the state of the same name.  A viewer gets the last state of
 * each name when it joins, then each new state.  A slow viewer misses states: at most one unsent
 * event of each name is kept for it.  A viewer that connects again sends the last id that it got
 * (Last-Event-ID), and gets the states after that one.
 *
 * At each heartbeat, a viewer that got nothing since the previous heartbeat gets an empty comment,
 * so that proxies keep the connection, and dead connections are found. */
#ifndef DAYBOOK_DOOR_HTTP_EVENTS_H
#define DAYBOOK_DOOR_HTTP_EVENTS_H

#include "door/http_door.h"

enum {
    HTTP_EVENT_NAMES_MAX = 8,
    HTTP_HEARTBEAT_MS = 15000
};

struct http_events;

/* `world` outlives the result.  A `heartbeat_ms` of 0 means HTTP_HEARTBEAT_MS. */
struct http_events *http_events_new(const struct world *world, int64_t heartbeat_ms);
/* Ends all streams.  The door may be closed before or after this. */
void http_events_free(struct http_events *events);

/* Answer the request by the stream.  The handler must not use the exchange afterwards. */
void http_events_join(struct http_events *events, struct http_exchange *exchange);
/* Set the state of that name and send it, from the next turn of the loop on, to some viewers in
 * each turn.  `name` is static; at most HTTP_EVENT_NAMES_MAX names may be used.  `data` is
 * copied. */
void http_events_set(struct http_events *events, const char *name, struct bytes data);
/* Forget all states, so that viewers that join afterwards get only newer ones. */
void http_events_forget(struct http_events *events);
/* The number of viewers; if it is 0, no state need be made. */
uint32_t http_events_viewers(const struct http_events *events);
#endif
