/* http_events: see the header.
 *
 * A walk sends new states to all viewers, to some of them in each turn of the loop.  A viewer that
 * has unsent bytes is skipped.  When these bytes are sent, the door calls viewer_more, which sends
 * the states that are then the last ones. */
#include "door/http_events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

enum {
    VISITS = 64, /* viewers per turn; one takes some microseconds, mostly in system calls */
    RETRY_MS = 2000,
    RUN_SIZE = 8,
    ID_MAX = RUN_SIZE + 22
};

struct viewer {
    struct http_events *events;
    struct http_exchange *exchange;
    TAILQ_ENTRY(viewer) link;
    uint64_t seen; /* the number of the last state sent */
    int64_t sent_us;
};

struct state {
    const char *name;
    uint64_t number;
    struct buffer event;
};

struct http_events {
    const struct world *world;
    int64_t heartbeat_ms;
    char run[RUN_SIZE + 1];
    uint64_t number; /* of the last state */
    struct state states[HTTP_EVENT_NAMES_MAX];
    uint32_t state_count;
    TAILQ_HEAD(, viewer) viewers; /* the next to visit first */
    uint32_t viewer_count;
    uint32_t unvisited;
    struct timer walk;
    struct timer heartbeat;
    struct buffer text;
};

/* ---- viewers ---- */

static void viewer_free(void *context)
{
    struct viewer *viewer = context;

    TAILQ_REMOVE(&viewer->events->viewers, viewer, link);
    viewer->events->viewer_count--;
    memory_free(viewer);
}

/* The oldest state that was not sent to the viewer; NULL: all were sent. */
static const struct state *next_state(const struct viewer *viewer)
{
    const struct http_events *events = viewer->events;
    const struct state *next = NULL;

    for (uint32_t i = 0; i < events->state_count; i++) {
        const struct state *state = &events->states[i];

        if (state->number > viewer->seen && (next == NULL || state->number < next->number))
            next = state;
    }
    return next;
}

static void viewer_send(struct viewer *viewer)
{
    struct http_events *events = viewer->events;
    int64_t now_us = world_monotonic_us(events->world);
    const struct state *state;

    if (http_door_queued(viewer->exchange) > 0)
        return;
    while ((state = next_state(viewer)) != NULL) {
        buffer_append_bytes(&events->text, buffer_view(&state->event));
        viewer->seen = state->number;
    }
    if (events->text.size == 0) {
        if (now_us - viewer->sent_us < events->heartbeat_ms * 1000)
            return;
        buffer_append_text(&events->text, ":\n\n");
    }
    viewer->sent_us = now_us;
    http_door_send(viewer->exchange, buffer_view(&events->text));
    buffer_clear(&events->text);
}

static void viewer_more(void *context)
{
    viewer_send(context);
}

/* ---- walks ---- */

static void walk_on(struct timer *timer);

static void walk_begin(struct http_events *events)
{
    events->unvisited = events->viewer_count;
    if (events->unvisited > 0 && events->walk.handle == NULL)
        world_timer_start(events->world, &events->walk, walk_on, events, 0);
}

static void walk_on(struct timer *timer)
{
    struct http_events *events = timer->context;

    for (uint32_t visits = 0; visits < VISITS && events->unvisited > 0; visits++) {
        struct viewer *viewer = TAILQ_FIRST(&events->viewers);

        if (viewer == NULL)
            return;
        TAILQ_REMOVE(&events->viewers, viewer, link);
        TAILQ_INSERT_TAIL(&events->viewers, viewer, link);
        events->unvisited--;
        viewer_send(viewer);
    }
    if (events->unvisited > 0)
        world_timer_start(events->world, &events->walk, walk_on, events, 0);
}

static void beat(struct timer *timer)
{
    struct http_events *events = timer->context;

    if (events->viewer_count == 0)
        return;
    walk_begin(events);
    world_timer_start(events->world, &events->heartbeat, beat, events, events->heartbeat_ms);
}

/* ---- coming back ---- */

/* The number in Last-Event-ID; 0 if there is none, or if the id is of another run of the server. */
static uint64_t last_seen(const struct http_events *events, const struct http_request *request)
{
    struct bytes id = http_request_header(request, "last-event-id");
    char text[ID_MAX + 1];
    char *end;

    if (id.size <= RUN_SIZE + 1 || id.size > ID_MAX ||
        memcmp(id.data, events->run, RUN_SIZE) != 0 || id.data[RUN_SIZE] != '-')
        return 0;
    memcpy(text, id.data, id.size);
    text[id.size] = '\0';
    uint64_t number = strtoull(text + RUN_SIZE + 1, &end, 10);
    return *end == '\0' && number <= events->number ? number : 0;
}

void http_events_join(struct http_events *events, struct http_exchange *exchange)
{
    static const struct http_field fields[] = {{"X-Accel-Buffering", "no"}};
    struct viewer *viewer = memory_zeroed(1, sizeof *viewer);

    *viewer = (struct viewer){.events = events,
                              .exchange = exchange,
                              .seen = last_seen(events, &exchange->request),
                              .sent_us = world_monotonic_us(events->world)};
    TAILQ_INSERT_TAIL(&events->viewers, viewer, link);
    events->viewer_count++;
    exchange->gone = viewer_free;
    exchange->gone_context = viewer;
    if (!http_door_begin_endless(
            exchange,
            &(struct http_answer){.status = 200,
                                  .type = "text/event-stream",
                                  .fields = fields,
                                  .field_count = sizeof fields / sizeof fields[0]},
            viewer_more)) {
        viewer_free(viewer);
        return;
    }
    buffer_printf(&events->text, "retry: %d\n\n", RETRY_MS);
    http_door_send(exchange, buffer_view(&events->text));
    buffer_clear(&events->text);
    if (events->heartbeat.handle == NULL)
        world_timer_start(events->world, &events->heartbeat, beat, events, events->heartbeat_ms);
}

/* ---- states ---- */

static struct state *state_of(struct http_events *events, const char *name)
{
    for (uint32_t i = 0; i < events->state_count; i++)
        if (strcmp(events->states[i].name, name) == 0)
            return &events->states[i];
    check(events->state_count < HTTP_EVENT_NAMES_MAX);
    events->states[events->state_count].name = name;
    return &events->states[events->state_count++];
}

/* In a stream each of CR, LF and CR LF ends a line.  So an LF in the data begins another data line,
 * and a CR is left out. */
static void put_data(struct bytes data, struct buffer *event)
{
    buffer_append_text(event, "data: ");
    for (size_t i = 0; i < data.size; i++)
        if (data.data[i] == '\n')
            buffer_append_text(event, "\ndata: ");
        else if (data.data[i] != '\r')
            buffer_put_u8(event, data.data[i]);
    buffer_append_text(event, "\n\n");
}

void http_events_set(struct http_events *events, const char *name, struct bytes data)
{
    struct state *state = state_of(events, name);

    state->number = ++events->number;
    buffer_clear(&state->event);
    buffer_printf(&state->event, "id: %s-%" PRIu64 "\nevent: %s\n", events->run, state->number,
                  name);
    put_data(data, &state->event);
    walk_begin(events);
}

void http_events_forget(struct http_events *events)
{
    for (uint32_t i = 0; i < events->state_count; i++) {
        events->states[i].number = 0;
        buffer_release(&events->states[i].event);
    }
}

uint32_t http_events_viewers(const struct http_events *events)
{
    return events->viewer_count;
}

/* ---- life ---- */

struct http_events *http_events_new(const struct world *world, int64_t heartbeat_ms)
{
    struct http_events *events = memory_zeroed(1, sizeof *events);
    uint8_t run[RUN_SIZE / 2];

    world->random->fill(world->random, run, sizeof run);
    (void)snprintf(events->run, sizeof events->run, "%02X%02X%02X%02X", run[0], run[1], run[2],
                   run[3]);
    events->world = world;
    events->heartbeat_ms = heartbeat_ms > 0 ? heartbeat_ms : HTTP_HEARTBEAT_MS;
    TAILQ_INIT(&events->viewers);
    return events;
}

void http_events_free(struct http_events *events)
{
    while (!TAILQ_EMPTY(&events->viewers)) {
        struct viewer *viewer = TAILQ_FIRST(&events->viewers);

        http_door_end(viewer->exchange);
        viewer_free(viewer);
    }
    world_timer_stop(events->world, &events->walk);
    world_timer_stop(events->world, &events->heartbeat);
    for (uint32_t i = 0; i < events->state_count; i++)
        buffer_release(&events->states[i].event);
    buffer_release(&events->text);
    memory_free(events);
}
