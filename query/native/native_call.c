/* native_call: admits, runs and answers the statements of a connection.
 *
 * A call is answered exactly once, under the stream id of its request, unless its connection
 * closes.  A call that is not admitted is answered 0x1001 (overloaded) and never carried out, so a
 * driver may safely send it to another server.
 *
 * cql_run may call call_answered before it returns; then the loop in native_call_start starts the
 * further calls. */

#include "query/native/native_connection.h"
#include "base/arena.h"
#include "base/memory.h"

enum {
    CALL_CHUNK_SIZE = 4096, /* enough for most statements with their values */
    CALL_KEEP_MAX = 2 * CALL_CHUNK_SIZE
};

/* ---- life ---- */

static struct native_call *call_new(struct native_connection *connection)
{
    struct native_door *door = connection->door;
    struct native_call *call = STAILQ_FIRST(&door->spare);

    if (call != NULL) {
        STAILQ_REMOVE_HEAD(&door->spare, next);
        door->spare_count--;
    } else {
        call = memory_zeroed(1, sizeof *call);
        call->arena = arena_new(CALL_CHUNK_SIZE);
    }
    call->connection = connection;
    call->size = 0;
    call->began_us = world_monotonic_us(door->options.world);
    return call;
}

static void call_free(struct native_call *call)
{
    struct native_connection *connection = call->connection;
    struct native_door *door = connection->door;

    quota_give(&connection->calls, call->size);
    native_door_account(door);
    if (door->spare_count < NATIVE_CALLS_SPARE_MAX && arena_held(call->arena) <= CALL_KEEP_MAX) {
        arena_reset(call->arena);
        STAILQ_INSERT_HEAD(&door->spare, call, next);
        door->spare_count++;
    } else {
        arena_free(call->arena);
        memory_free(call);
    }
}

void native_call_free_spare(struct native_door *door)
{
    while (!STAILQ_EMPTY(&door->spare)) {
        struct native_call *call = STAILQ_FIRST(&door->spare);

        STAILQ_REMOVE_HEAD(&door->spare, next);
        arena_free(call->arena);
        memory_free(call);
    }
}

/* ---- answers ---- */

/* Whether the answer is large while too many bytes of answers are unread. */
static bool is_over(const struct native_connection *connection, const struct cql_result *result)
{
    const struct native_door *door = connection->door;

    return result->kind == CQL_RESULT_ROWS && result->rows.cells.size > NATIVE_ANSWER_LARGE &&
           (connection->output_bytes > NATIVE_QUEUE_OVER || door->is_over);
}

static void put_result(struct native_call *call, const struct cql_result *result)
{
    const struct cql_extras *extras = &result->extras;
    struct native_connection *connection = call->connection;
    struct buffer *body = native_outbox_begin(&connection->outbox,
                                              native_response_extras_flags(extras, call->version),
                                              call->stream, NATIVE_RESULT);

    native_response_put_extras(extras, call->version, body);
    native_response_put_result(result, call->request.skips_metadata, call->request.metadata_id,
                               call->version, body);
    native_outbox_end(&connection->outbox);
}

static void put_answer(struct native_call *call, const struct cql_result *result)
{
    struct native_connection *connection = call->connection;
    if (result->kind != CQL_RESULT_ERROR && !is_over(connection, result)) {
        put_result(call, result);
        return;
    }
    struct cql_error error = result->error;
    if (result->kind != CQL_RESULT_ERROR)
        error = (struct cql_error){.code = CQL_READ_TIMEOUT,
                                   .message = "Too many answers wait for their readers",
                                   .consistency = call->request.cql.consistency};
    error.required = 1; /* timeouts encode it: 0 of 1 answers; no other error with counts occurs */
    native_connection_put_error(connection, call->stream, &result->extras, &error);
}

/* Whether to carry the call out again, for a short page.  A call with a large answer has changed
 * nothing: a conditional statement that was applied has a small answer. */
static bool must_run_again(const struct native_call *call, const struct cql_result *result)
{
    return is_over(call->connection, result) && !call->request.cql.is_short;
}

static void call_answered(void *context, const struct cql_result *result)
{
    struct native_call *call = context;
    struct native_connection *connection = call->connection;

    connection->running--;
    if (connection->is_closing) {
        call_free(call);
        native_connection_release(connection);
        return;
    }
    if (must_run_again(call, result)) {
        call->request.cql.is_short = true;
        STAILQ_INSERT_HEAD(&connection->waiting, call, next);
    } else {
        put_answer(call, result);
        metrics_observe_us(connection->door->metrics.request_times,
                           world_monotonic_us(connection->door->options.world) - call->began_us);
        native_connection_count(connection);
        call_free(call);
    }
    if (connection->is_starting)
        return;
    native_call_start(connection);
    native_connection_flush_soon(connection);
}

/* ---- starting ---- */

static bool may_start(const struct native_connection *connection)
{
    const struct native_door *door = connection->door;
    size_t most = door->is_over ? 0 : NATIVE_QUEUE_MAX;
    /* While cql is crowded but not full, only a connection without a running call starts one. */
    bool has_room = connection->running == 0 ? !cql_is_full(door->options.cql)
                                             : !cql_is_crowded(door->options.cql);

    return !STAILQ_EMPTY(&connection->waiting) && connection->running < NATIVE_RUNNING_MAX &&
           connection->output_bytes <= most && !connection->is_closing && has_room;
}

void native_call_start(struct native_connection *connection)
{
    if (connection->is_starting)
        return;
    connection->is_starting = true;
    while (may_start(connection)) {
        struct native_call *call = STAILQ_FIRST(&connection->waiting);

        STAILQ_REMOVE_HEAD(&connection->waiting, next);
        connection->running++;
        if (connection->door->is_over)
            call->request.cql.is_short = true;
        cql_run(&connection->session, &call->request.cql, call_answered, call);
    }
    connection->is_starting = false;
}

void native_call_drop(struct native_connection *connection)
{
    while (!STAILQ_EMPTY(&connection->waiting)) {
        struct native_call *call = STAILQ_FIRST(&connection->waiting);

        STAILQ_REMOVE_HEAD(&connection->waiting, next);
        call_free(call);
    }
}

/* ---- arrival ---- */

/* False: the call exceeds a quota, or the door is closing. */
static bool call_admit(struct native_call *call)
{
    struct native_connection *connection = call->connection;
    size_t size = sizeof *call + arena_held(call->arena);

    if (connection->door->is_closing || !quota_take(&connection->calls, size))
        return false;
    call->size = size;
    native_door_account(connection->door);
    return true;
}

void native_call_take(struct native_connection *connection, const struct native_envelope *envelope)
{
    struct native_call *call = call_new(connection);
    struct native_envelope kept = *envelope;
    struct error err;
    kept.body = arena_copy(call->arena, envelope->body);
    call->stream = envelope->stream;
    call->version = envelope->version;
    int rc = native_request_decode(&kept, call->arena, &call->request, &err);
    if (rc != 0) {
        native_connection_error(connection, envelope->stream,
                                rc == ERROR_LIMIT ? CQL_INVALID : CQL_PROTOCOL_ERROR, "%s",
                                err.text);
        call_free(call);
        return;
    }
    if (!call_admit(call)) {
        native_connection_error(connection, envelope->stream, CQL_OVERLOADED, "%s",
                                connection->door->is_closing ? "The server is shutting down"
                                                             : "Too many requests are under way");
        call_free(call);
        return;
    }
    STAILQ_INSERT_TAIL(&connection->waiting, call, next);
    native_call_start(connection);
}
