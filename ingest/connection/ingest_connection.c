/* ingest_connection: see the header; states in ingest_connection_private.h.
 *
 * Back-pressure: the server stops reading while the store has no room, while memory for input is
 * short, while too many answers wait for the disk, and while the client does not read its
 * answers. */
#include "ingest/connection/ingest_connection.h"

#include <stddef.h>

#include "base/memory.h"
#include "ingest/connection/answer.h"
#include "ingest/connection/connection_memory.h"
#include "ingest/connection/frame_decoder.h"
#include "ingest/connection/ingest_commit.h"
#include "ingest/connection/ingest_control.h"
#include "ingest/connection/ingest_decoder.h"
#include "ingest/connection/ingest_rows.h"
#include "ingest/connection/loaded_file.h"
#include "ingest/connection/parse_ahead.h"

enum { LOOK_MS = 250 };

/* ---- effects of the state on the network, the door and memory ---- */

static void look_soon(struct ingest *ingest)
{
    struct executor *executor = ingest->options.world->executor;

    if (ingest->look.handle == NULL)
        executor->timer_start(executor, &ingest->look, LOOK_MS);
}

/* A client is owed an answer to applied clicks, but not to an incomplete batch, which it will send
 * again. */
static enum door_claim claim_of(const struct ingest_connection *connection)
{
    if (connection->replies.first != NULL || connection->state == INGEST_BLOCKED ||
        connection->unnumbered.in_flight > 0)
        return DOOR_OWED;
    /* Every client can name a producer, so only a producer with an applied batch counts. */
    return connection->producer != NULL && connection->producer->last > 0 ? DOOR_NAMED : DOOR_IDLE;
}

/* Drop what a REFUSED connection no longer needs.  This releases the write lock of click_dedup,
 * too. */
static void connection_drop(struct ingest_connection *connection)
{
    struct click_dedup *dedup = connection->rows.dedup;

    parse_ahead_abandon(connection);
    if (dedup != NULL && click_dedup_state(dedup) == CLICK_DEDUP_READING)
        return;
    if (dedup != NULL)
        click_dedup_clear(dedup);
    stream_rows_clear(&connection->rows);
}

static void connection_update(struct ingest_connection *connection)
{
    const struct ingest_limits *limits = &connection->ingest->options.limits;

    if (connection->is_closing || connection->is_running)
        return;
    if (connection->state == INGEST_REFUSED)
        connection_drop(connection);
    size_t queued = network_queued(connection->network);
    bool is_quiet = connection->replies.first == NULL && queued == 0;
    if (connection->has_ended && is_quiet &&
        (connection->state == INGEST_ENDING || connection->state == INGEST_REFUSED)) {
        ingest_connection_close(connection);
        return;
    }
    if (connection_memory_update(connection, connection->decoder->has_space(connection)))
        look_soon(connection->ingest);
    size_t answers_max = ingest_account_answers_max(&connection->account);
    if (connection->state == INGEST_REFUSED ||
        (connection->state == INGEST_RECORDS &&
         connection_memory_answers(connection) <= answers_max &&
         connection->replies.count < INGEST_REPLIES_MAX &&
         connection_memory_may_read(connection, connection->decoder->has_space(connection))))
        network_resume(connection->network);
    else
        network_pause(connection->network);
    bool is_lingering = connection->state == INGEST_REFUSED && connection->replies.first == NULL;
    bool is_slow = queued > answers_max || (connection->state == INGEST_ENDING && queued > 0);
    door_claim(&connection->slot, claim_of(connection));
    door_clock(&connection->slot, is_lingering ? limits->linger_ms
                                  : is_slow    ? limits->slow_reader_ms
                                               : 0);
}

void ingest_connection_close(struct ingest_connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    door_leave(&connection->slot);
    ingest_control_leave(connection);
    reply_queue_abandon(&connection->replies);
    network_close(connection->network);
}

/* Free the connection's memory when the network has closed it and no job of it is running. */
static void connection_release(struct ingest_connection *connection)
{
    struct ingest *ingest = connection->ingest;

    if (!connection->has_closed || connection->jobs > 0)
        return;
    ingest_account_close(&connection->account);
    parse_ahead_abandon(connection);
    input_queue_release(&connection->input);
    stream_rows_release(&connection->rows);
    frame_decoder_close(connection);
    numbered_batch_close(&connection->batch);
    buffer_release(&connection->text.skipped);
    if (connection->file.in_flight > 0)
        return;
    LIST_REMOVE(connection, link);
    wake_queue_remove(&ingest->woken, &connection->wake);
    loaded_file_leave(connection);
    memory_free(connection);
    ingest->left(ingest);
}

/* ---- taking input ---- */

/* At most one chunk is taken, so that other connections are served in the same turn. */
static void connection_run(struct ingest_connection *connection)
{
    struct ingest *ingest = connection->ingest;
    const struct ingest_decoder *decoder = connection->decoder;
    bool is_through = false;
    bool may_take = true;
    uint64_t lines_max;

    if (connection->is_running || connection->is_closing)
        return;
    connection->is_running = true;
    ingest_budget_resume(&ingest->budget);
    parse_ahead_submit(connection);
    const struct input_chunk *chunk = connection->input.front;
    while (connection->state == INGEST_RECORDS && connection->replies.count < INGEST_REPLIES_MAX &&
           !is_through && connection->input.front == chunk &&
           !ingest_budget_is_over(&ingest->budget) &&
           (may_take = connection_memory_may_take(connection, &lines_max)))
        is_through = !decoder->step(connection, lines_max);
    if (connection->state == INGEST_RECORDS && (is_through || !may_take)) {
        if (is_through && connection->has_ended && !parse_ahead_is_under_way(connection))
            decoder->finish(connection);
        else if (connection->unnumbered.in_flight < UNNUMBERED_ROWS_IN_FLIGHT)
            (void)ingest_commit_unnumbered(connection);
    }
    if (connection->input.front != chunk || ingest_budget_is_over(&ingest->budget))
        ingest_connection_wake(connection);
    connection->is_running = false;
    connection_update(connection);
}

void ingest_connection_retry(struct ingest_connection *connection)
{
    const struct click_dedup *dedup = connection->rows.dedup;

    if (connection->state != INGEST_BLOCKED || connection->is_closing ||
        (dedup != NULL && click_dedup_state(dedup) == CLICK_DEDUP_READING))
        return;
    connection->state = INGEST_RECORDS;
    /* The store may call back before it returns, while the connection still has the applied rows.
     * The callback must not serve the connection. */
    connection->is_running = true;
    if (connection->wanted.is_waiting || connection->file.is_waiting)
        ingest_control_retry(connection);
    else
        ingest_commit_retry(connection);
    connection->is_running = false;
    connection_run(connection);
}

static void connection_job_done(struct ingest_connection *connection)
{
    if (connection->is_closing)
        connection_release(connection);
    else
        connection_run(connection);
}

/* ---- turns of the loop ---- */

static struct ingest_connection *connection_woken(struct wake_entry *entry)
{
    return (struct ingest_connection *)(void *)((char *)entry -
                                                offsetof(struct ingest_connection, wake));
}

static void connection_serve(struct ingest_connection *connection)
{
    if (connection->is_closing)
        connection_release(connection);
    else if (connection->state == INGEST_BLOCKED)
        ingest_connection_retry(connection);
    else
        connection_run(connection);
}

/* Connections that this turn's budget does not reach are served first in the next turn. */
static void connections_serve(struct timer *timer)
{
    struct ingest *ingest = timer->context;
    struct wake_queue *woken = &ingest->woken;
    struct wake_entry *entry;
    uint32_t count = 0;

    /* The instance is not freed before the end of this function. */
    ingest->calls++;
    ingest_budget_begin(&ingest->budget);
    TAILQ_FOREACH (entry, &woken->woken, link) {
        answer_flush(connection_woken(entry));
        connection_update(connection_woken(entry));
        count++;
    }
    while (count-- > 0 && !ingest_budget_is_over(&ingest->budget))
        connection_serve(connection_woken(wake_queue_take(woken)));
    wake_queue_start(woken);
    ingest_called_back(ingest);
}

/* The callback of the timer `look`, which fires while memory is scarce. */
static void connections_look(struct timer *timer)
{
    struct ingest *ingest = timer->context;
    struct ingest_connection *connection;

    LIST_FOREACH (connection, &ingest->connections, link) {
        if (connection->is_closing)
            continue;
        connection_memory_look(connection);
        connection_update(connection);
    }
}

void ingest_connection_resume(void *context, struct input_waiter *waiter)
{
    struct ingest_connection *connection =
        (struct ingest_connection *)(void *)((char *)waiter -
                                             offsetof(struct ingest_connection, account.waiter));

    (void)context;
    ingest_account_excuse(&connection->account);
    ingest_connection_wake(connection);
}

/* ---- callbacks of the door and the network ---- */

static struct ingest_connection *connection_of(struct door_slot *slot)
{
    return (struct ingest_connection *)(void *)((char *)slot -
                                                offsetof(struct ingest_connection, slot));
}

static void door_late(struct door_slot *slot)
{
    ingest_connection_close(connection_of(slot));
}

static void door_evict(struct door_slot *slot)
{
    struct ingest_connection *connection = connection_of(slot);

    answer_refuse(connection, 0, "too_many_connections", NULL);
    answer_flush(connection);
    ingest_connection_close(connection);
}

static void network_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct ingest_connection *connection = context;

    if (connection->state == INGEST_REFUSED)
        input_queue_clear(&connection->input);
    connection->decoder->space(connection, to_out, size_out);
}

static void network_data(void *context, size_t size)
{
    struct ingest_connection *connection = context;

    door_use(&connection->slot, connection->slot.claim);
    input_queue_filled(&connection->input, size);
    ingest_account_came(&connection->account, size);
    if (connection->is_decoder_known || frame_decoder_choose(connection))
        connection_run(connection);
}

static void network_end(void *context, int status)
{
    struct ingest_connection *connection = context;

    if (status < 0) {
        ingest_connection_close(connection);
        return;
    }
    connection->has_ended = true;
    connection_run(connection);
}

static void network_drained(void *context)
{
    connection_update(context);
    ingest_connection_wake(context);
}

static void network_closed(void *context)
{
    struct ingest_connection *connection = context;

    connection->has_closed = true;
    connection_release(connection);
}

static const struct connection_handler handler = {
    .space = network_space,
    .data = network_data,
    .end = network_end,
    .drained = network_drained,
    .closed = network_closed,
};

/* ---- new connections ---- */

static void reply_is_ready(void *context)
{
    ingest_connection_wake(context);
}

void ingest_connection_attach(struct ingest *ingest, struct door *door, struct connection *network)
{
    struct ingest_connection *connection = memory_zeroed(1, sizeof *connection);

    if (!door_enter(door, &connection->slot, network)) {
        memory_free(connection);
        ingest->metrics.refused->value++;
        network_write(network, bytes_text("error - too_many_connections\n"));
        network_close(network);
        return;
    }
    connection->ingest = ingest;
    connection->network = network;
    connection->is_load = door == &ingest->loads;
    connection->decoder = &text_decoder;
    connection->input.spare = &ingest->spare;
    ingest_account_open(&connection->account, &ingest->memory, ++ingest->connections_ever);
    reply_queue_open(&connection->replies, reply_is_ready, connection);
    stream_rows_open(&connection->rows, &ingest->parts);
    LIST_INSERT_HEAD(&ingest->connections, connection, link);
    network_start(network, &handler, connection);
    ingest_rows_choose(connection, &ingest->options.streams[0]);
}

static void door_came(void *context, struct connection *connection)
{
    struct ingest *ingest = context;

    ingest_connection_attach(ingest, &ingest->door, connection);
}

void ingest_connection_open(struct ingest *ingest)
{
    struct executor *executor = ingest->options.world->executor;
    uint32_t given = ingest->options.limits.connections_max;
    struct door_options options = {.name = "ingest",
                                   .network = ingest->options.network,
                                   .world = ingest->options.world,
                                   .slots_max = given > 0 ? given : INGEST_CONNECTIONS_MAX,
                                   .came = door_came,
                                   .context = ingest,
                                   .evict = door_evict,
                                   .late = door_late,
                                   .connections = ingest->metrics.connections,
                                   .connections_max = ingest->metrics.connections_max,
                                   .evicted = ingest->metrics.evicted};

    door_open(&ingest->door, &options);
    options.name = "load";
    options.connections_max = NULL;
    options.slots_max = given > 0 ? given : INGEST_LOADS_MAX;
    door_open(&ingest->loads, &options);
    ingest->aheads.done = connection_job_done;
    ingest->look = (struct timer){.fire = connections_look, .context = ingest};
    wake_queue_open(&ingest->woken, executor, connections_serve, ingest);
}
