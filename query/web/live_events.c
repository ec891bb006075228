/* live_events: see the header. */
#include "query/web/live_events.h"

#include "base/memory.h"
#include "door/http_events.h"

struct live_events {
    struct http_events *events;
    struct live *live;
    void (*closed)(void *context);
    void *closed_context;
};

static bool is_watched(void *context)
{
    const struct live_events *own = context;

    return http_events_viewers(own->events) > 0;
}

static void state_made(void *context, struct bytes json)
{
    const struct live_events *own = context;

    http_events_set(own->events, "live", json);
}

static void serve(void *context, struct http_exchange *exchange)
{
    struct live_events *own = context;

    if (!is_watched(own))
        http_events_forget(own->events); /* the last states may be old by now */
    http_events_join(own->events, exchange);
    if (is_watched(own))
        live_watch(own->live);
}

struct live_events *live_events_new(struct http_door *door, const struct query *query,
                                    struct world *world)
{
    struct live_events *own = memory_zeroed(1, sizeof *own);

    own->events = http_events_new(world, 0);
    own->live = live_new(&(struct live_options){.query = query,
                                                .world = world,
                                                .is_watched = is_watched,
                                                .made = state_made,
                                                .context = own});
    http_door_route(
        door, &(struct http_route){
                  .path = "/api/live", .methods = HTTP_METHOD_GET, .serve = serve, .context = own});
    return own;
}

struct live *live_events_live(const struct live_events *events)
{
    return events->live;
}

static void live_closed(void *context)
{
    struct live_events *own = context;
    void (*closed)(void *context) = own->closed;
    void *closed_context = own->closed_context;

    http_events_free(own->events);
    memory_free(own);
    closed(closed_context);
}

void live_events_close(struct live_events *events, void (*closed)(void *context), void *context)
{
    events->closed = closed;
    events->closed_context = context;
    live_close(events->live, live_closed, events);
}
