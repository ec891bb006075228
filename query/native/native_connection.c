/* native_connection: decodes the input of a connection, hands requests to the files that answer
 * them, and sends the answers.
 *
 * The door reads even while the server is busy, because drivers take a server for dead if it
 * answers OPTIONS late.  So it bounds the memory of requests by refusing requests, and stops
 * reading only while the client does not read its answers, or until the loop's next turn.
 * Compressed input may hold very many requests; so after TAKEN_MAX of them take_input continues in
 * the next turn. */
#include "query/native/native_connection.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "codec/native.h"
#include "query/cql/common/cql_session.h"
#include "base/arena.h"
#include "base/memory.h"

enum {
    STACK_WIPED = 16 << 10,
    ERROR_TEXT_MAX = 512,
    TAKEN_MAX = 1024 /* requests that one call of take_input takes */
};

/* ---- answers ---- */

void native_connection_put_error(struct native_connection *connection, int16_t stream,
                                 const struct cql_extras *extras, const struct cql_error *error)
{
    uint8_t version = connection->outbox.version;
    struct buffer *body = native_outbox_begin(
        &connection->outbox, native_response_extras_flags(extras, version), stream, NATIVE_ERROR);

    native_response_put_extras(extras, version, body);
    native_response_put_error(error, version, body);
    native_outbox_end(&connection->outbox);
    native_door_error_metric(connection->door, error->code)->value++;
}

void native_connection_error(struct native_connection *connection, int16_t stream, uint32_t code,
                             const char *format, ...)
{
    const struct cql_extras extras = {0};
    char text[ERROR_TEXT_MAX];
    const struct cql_error error = {.code = code, .message = text};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    native_connection_put_error(connection, stream, &extras, &error);
}

/* ---- sums ---- */

void native_connection_count(struct native_connection *connection)
{
    struct native_door *door = connection->door;
    size_t input = connection->is_closing ? 0 : native_inbox_held(&connection->inbox);
    size_t output = connection->is_closing ? 0
                                           : native_outbox_size(&connection->outbox) +
                                                 network_queued(connection->connection);

    quota_charge(&door->requests, &connection->input_bytes, input);
    quota_charge(&door->answers, &connection->output_bytes, output);
    native_door_account(door);
}

static uint32_t body_max(const struct native_connection *connection)
{
    const struct quota *quota = &connection->door->requests;
    size_t used = quota->taken - connection->input_bytes;
    size_t room = used < quota->limit ? quota->limit - used : 0;

    if (connection->state != NATIVE_SERVING)
        return NATIVE_GREETING_BODY_MAX;
    if (room < NATIVE_ROOM_MIN)
        return NATIVE_ROOM_MIN;
    return room < NATIVE_BODY_MAX ? (uint32_t)room : NATIVE_BODY_MAX;
}

/* ---- requests ---- */

static void refuse_large(struct native_connection *connection,
                         const struct native_envelope *envelope)
{
    bool is_served = connection->state == NATIVE_SERVING;
    uint32_t most = is_served ? NATIVE_BODY_MAX : NATIVE_GREETING_BODY_MAX;
    if (envelope->size <= most && is_served)
        native_connection_error(connection, envelope->stream, CQL_OVERLOADED,
                                "Too many requests are under way");
    else
        native_connection_error(connection, envelope->stream, CQL_INVALID,
                                "Request is too big: length %u exceeds maximum allowed length %u.",
                                envelope->size, most);
}

static void refuse_unexpected(struct native_connection *connection,
                              const struct native_envelope *envelope)
{
    const char *name = native_opcode_name(envelope->opcode);
    const char *why = "expecting AUTH_RESPONSE";
    if (name == NULL) {
        native_connection_error(connection, envelope->stream, CQL_PROTOCOL_ERROR,
                                "Unknown opcode %u", envelope->opcode);
        return;
    }
    if (!native_opcode_is_request(envelope->opcode))
        why = "it is no request";
    else if (connection->state == NATIVE_GREETING)
        why = "expecting STARTUP or OPTIONS";
    else if (connection->state == NATIVE_SERVING)
        why = "the connection is already initialized";
    native_connection_error(connection, envelope->stream, CQL_PROTOCOL_ERROR,
                            "Unexpected message %s, %s", name, why);
}

static bool is_expected(const struct native_connection *connection, uint8_t opcode)
{
    switch (connection->state) {
    case NATIVE_GREETING:
        return opcode == NATIVE_STARTUP || opcode == NATIVE_OPTIONS;
    case NATIVE_LOGGING_IN:
        return opcode == NATIVE_AUTH_RESPONSE || opcode == NATIVE_OPTIONS;
    case NATIVE_CHECKING:
        return opcode == NATIVE_OPTIONS;
    case NATIVE_SERVING:
        return native_opcode_is_request(opcode) && opcode != NATIVE_STARTUP &&
               opcode != NATIVE_AUTH_RESPONSE;
    case NATIVE_REFUSED:
        break;
    }
    return false;
}

static void take_greeting(struct native_connection *connection,
                          const struct native_envelope *envelope)
{
    struct arena *arena = arena_new(0);
    struct native_request request;
    struct error err;

    if (native_request_decode(envelope, arena, &request, &err) != 0)
        native_connection_error(connection, envelope->stream, CQL_PROTOCOL_ERROR, "%s", err.text);
    else if (envelope->opcode == NATIVE_STARTUP)
        native_greeting_startup(connection, envelope->stream, &request);
    else if (envelope->opcode == NATIVE_REGISTER)
        native_greeting_register(connection, envelope->stream, &request);
    else
        native_greeting_authenticate(connection, envelope->stream, &request);
    arena_free(arena);
}

/* The body is made once, because making it loads snappy's library. */
static void put_supported(struct native_connection *connection, int16_t stream)
{
    struct buffer *supported = &connection->door->supported;

    if (supported->size == 0)
        native_response_put_supported(supported);
    buffer_append_bytes(native_outbox_begin(&connection->outbox, 0, stream, NATIVE_SUPPORTED),
                        buffer_view(supported));
    native_outbox_end(&connection->outbox);
}

static void take_envelope(struct native_connection *connection,
                          const struct native_envelope *envelope)
{
    connection->outbox.version = envelope->version;
    if (envelope->stream < 0) {
        native_connection_error(connection, envelope->stream, CQL_PROTOCOL_ERROR,
                                "A negative stream id is the server's");
        return;
    }
    if (native_opcode_is_request(envelope->opcode))
        connection->door->metrics.requests[envelope->opcode]->value++;
    if (envelope->is_too_large) {
        refuse_large(connection, envelope);
    } else if (!is_expected(connection, envelope->opcode)) {
        refuse_unexpected(connection, envelope);
    } else if (envelope->opcode == NATIVE_OPTIONS) {
        put_supported(connection, envelope->stream);
    } else if (envelope->opcode == NATIVE_STARTUP || envelope->opcode == NATIVE_REGISTER ||
               envelope->opcode == NATIVE_AUTH_RESPONSE) {
        take_greeting(connection, envelope);
    } else {
        native_call_take(connection, envelope);
    }
}

/* Refuse a connection whose further input cannot be decoded. */
static void refuse_bytes(struct native_connection *connection, int rc,
                         const struct native_envelope *envelope, const struct error *err)
{
    if (rc == ERROR_UNSUPPORTED && connection->inbox.version == 0) {
        native_greeting_refuse_version(connection, envelope->version, envelope->flags);
        return;
    }
    /* An unset version means that the peer's first byte was an answer's; no error is sent. */
    if (connection->inbox.version != 0) {
        connection->outbox.version = connection->inbox.version;
        native_connection_error(connection, 0, CQL_PROTOCOL_ERROR, "%s", err->text);
    }
    native_connection_refuse(connection, err->text);
}

static bool is_before_login(const struct native_connection *connection)
{
    return connection->state < NATIVE_SERVING;
}

/* True: some requests may be left; the loop's next turn takes them. */
static bool take_input(struct native_connection *connection)
{
    struct native_envelope envelope;
    struct error err = {0};
    size_t answers_max = is_before_login(connection) ? NATIVE_GREETING_MAX : NATIVE_QUEUE_MAX;
    for (int taken = 0; connection->state != NATIVE_REFUSED; taken++) {
        if (taken == TAKEN_MAX || native_outbox_size(&connection->outbox) > answers_max)
            return true;
        connection->inbox.body_max = body_max(connection);
        int rc = native_inbox_next(&connection->inbox, &envelope, &err);
        if (rc < 0) {
            refuse_bytes(connection, rc, &envelope, &err);
        } else if (rc == 0 && is_before_login(connection) &&
                   native_inbox_unread(&connection->inbox) >= NATIVE_GREETING_MAX) {
            native_connection_error(connection, 0, CQL_INVALID,
                                    "Request is too big: more than %d bytes before a login.",
                                    NATIVE_GREETING_MAX);
            native_connection_refuse(connection, "too many bytes before a login");
        }
        if (rc <= 0)
            break;
        take_envelope(connection, &envelope);
    }
    return false;
}

/* ---- sending ---- */

void native_connection_flush(struct native_connection *connection)
{
    struct native_door *door = connection->door;

    if (connection->is_closing || connection->has_finished ||
        native_outbox_size(&connection->outbox) == 0)
        return;
    native_outbox_take(&connection->outbox, &door->wire);
    door->metrics.bytes_out->value += (int64_t)door->wire.size;
    connection->written += door->wire.size;
    network_write(connection->connection, buffer_view(&door->wire));
    buffer_clear(&door->wire);
    if (door->wire.capacity > NATIVE_QUEUE_MAX)
        buffer_release(&door->wire);
}

void native_connection_flush_soon(struct native_connection *connection)
{
    if (!connection->is_taking)
        wake_queue_add(&connection->door->woken, &connection->wake);
}

/* ---- life ---- */

void native_connection_refuse(struct native_connection *connection, const char *why)
{
    if (connection->state == NATIVE_REFUSED)
        return;
    connection->state = NATIVE_REFUSED;
    if (why != NULL)
        door_log_refused(&connection->slot, why, NULL);
    connection->door->metrics.refused->value++;
}

static void connection_finish(struct native_connection *connection)
{
    native_connection_flush(connection);
    if (connection->has_finished)
        return;
    connection->has_finished = true;
    network_finish(connection->connection);
}

static uint64_t bytes_left(const struct native_connection *connection)
{
    return connection->written - network_queued(connection->connection);
}

static void connection_time(struct native_connection *connection, bool is_slow, bool is_lingering)
{
    const struct native_limits *limits = &connection->door->options.limits;
    bool is_greeting =
        connection->state == NATIVE_GREETING || connection->state == NATIVE_LOGGING_IN;
    int64_t wanted_ms = is_lingering  ? limits->linger_ms
                        : is_greeting ? limits->login_ms
                        : is_slow     ? limits->slow_reader_ms
                                      : 0;

    if (wanted_ms != connection->slot.clock_ms)
        connection->left = bytes_left(connection);
    door_clock(&connection->slot, wanted_ms);
}

static void connection_close(struct native_connection *connection)
{
    if (connection->is_closing)
        return;
    connection->is_closing = true;
    connection->events = 0;
    door_leave(&connection->slot);
    native_greeting_drop_login(connection);
    native_call_drop(connection);
    cql_session_leave(&connection->session, 0);
    native_inbox_release(&connection->inbox);
    native_outbox_release(&connection->outbox);
    connection->inbox = (struct native_inbox){0};
    connection->outbox = (struct native_outbox){0};
    native_connection_count(connection);
    network_close(connection->connection);
}

static struct native_connection *connection_of(struct door_slot *slot)
{
    return (struct native_connection *)(void *)((char *)slot -
                                                offsetof(struct native_connection, slot));
}

void native_connection_evict(struct door_slot *slot)
{
    connection_close(connection_of(slot));
}

/* A slow reader stays connected if it has read anything since the clock was set. */
void native_connection_late(struct door_slot *slot)
{
    struct native_connection *connection = connection_of(slot);

    if (connection->has_finished || is_before_login(connection) ||
        bytes_left(connection) == connection->left)
        connection_close(connection);
    else
        native_connection_update(connection);
}

/* Sending and starting alternate, because a call may have to wait until answers are sent. */
static void connection_pump(struct native_connection *connection)
{
    do {
        native_connection_flush(connection);
        native_connection_count(connection);
        native_call_start(connection);
    } while (native_outbox_size(&connection->outbox) > 0 && !connection->has_finished);
    native_connection_count(connection);
}

static bool is_owed_answers(const struct native_connection *connection)
{
    return connection->running > 0 || !STAILQ_EMPTY(&connection->waiting) ||
           connection->login != NULL;
}

/* Tells the door what this client would lose if a new connection took its slot. */
static enum door_claim claim_of(const struct native_connection *connection)
{
    if (is_owed_answers(connection))
        return DOOR_OWED;
    return connection->state == NATIVE_SERVING ? DOOR_NAMED : DOOR_IDLE;
}

/* Charge the door's quota for clients that have not logged in or were refused.  A client whose
 * password waits for its check is not charged.  The charge may close the connection, so callers
 * must not use the connection afterwards. */
static void count_login_memory(struct native_connection *connection)
{
    size_t most = 2 * NATIVE_GREETING_MAX; /* only a refused connection has more, for at most
                                            * linger_ms */
    size_t held = native_inbox_held(&connection->inbox);

    if (connection->state == NATIVE_SERVING || connection->login != NULL) {
        door_login_done(&connection->slot);
        return;
    }
    door_login_pending(&connection->slot);
    door_login_charge(&connection->slot,
                      sizeof *connection + NETWORK_CONNECTION_BYTES + (held < most ? held : most));
}

static bool may_read(const struct native_connection *connection)
{
    return connection->state == NATIVE_REFUSED ||
           network_queued(connection->connection) <=
               (connection->door->is_over ? 0 : NATIVE_QUEUE_FULL);
}

static bool may_take(const struct native_connection *connection)
{
    return connection->has_input && !connection->has_finished && may_read(connection);
}

void native_connection_update(struct native_connection *connection)
{
    const struct native_door *door = connection->door;
    if (connection->is_closing || connection->is_taking)
        return;
    connection_pump(connection);
    bool is_ending =
        connection->state == NATIVE_REFUSED || connection->has_ended || door->is_closing;
    bool is_quiet = !is_owed_answers(connection) && !connection->has_input;
    if (is_ending && is_quiet) {
        connection_finish(connection);
        if ((connection->has_ended || door->is_closing) &&
            network_queued(connection->connection) == 0) {
            connection_close(connection);
            return;
        }
    }
    size_t queued = network_queued(connection->connection);
    if (is_before_login(connection) && queued > NATIVE_GREETING_MAX) {
        connection_close(connection);
        return;
    }
    if (connection->has_input || !may_read(connection))
        network_pause(connection->connection);
    else
        network_resume(connection->connection);
    if (may_take(connection))
        native_connection_flush_soon(connection);
    door_claim(&connection->slot, claim_of(connection));
    connection_time(connection, queued > (door->is_over ? 0 : NATIVE_QUEUE_MAX),
                    is_ending && is_quiet && connection->has_finished);
    count_login_memory(connection);
}

void native_connection_release(struct native_connection *connection)
{
    struct native_door *door = connection->door;

    if (!connection->is_closed || connection->running > 0 || connection->login != NULL ||
        connection->wake.is_woken)
        return;
    LIST_REMOVE(connection, link);
    memory_free(connection);
    native_door_release(door);
}

/* ---- the network's calls ---- */

static void connection_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct native_connection *connection = context;

    *to_out = connection->door->read;
    *size_out = is_before_login(connection)
                    ? NATIVE_GREETING_MAX - native_inbox_unread(&connection->inbox)
                    : sizeof connection->door->read;
}

/* Overwrite the stack of functions that have returned, because it may hold parts of a password.
 * (The dynamic loader, too, saves all registers there when it binds a function.) */
static __attribute__((noinline)) void stack_wipe(void)
{
    uint8_t below[STACK_WIPED];

    explicit_bzero(below, sizeof below);
}

static void connection_take(struct native_connection *connection)
{
    bool is_secret = connection->inbox.is_secret;

    connection->is_taking = true;
    connection->has_input = take_input(connection);
    connection->is_taking = false;
    if (is_secret)
        stack_wipe();
}

void native_connection_turn(struct native_connection *connection)
{
    if (!connection->is_closing && may_take(connection))
        connection_take(connection);
    native_connection_update(connection);
}

static void connection_data(void *context, size_t size)
{
    struct native_connection *connection = context;
    struct native_door *door = connection->door;
    bool is_secret = connection->inbox.is_secret;
    bool is_over = connection->state == NATIVE_REFUSED || connection->has_finished;

    door->metrics.bytes_in->value += (int64_t)size;
    door_use(&connection->slot, connection->slot.claim);
    if (!is_over)
        native_inbox_add(&connection->inbox, bytes_of(door->read, size));
    if (is_secret)
        explicit_bzero(door->read, size);
    if (is_over)
        return;
    connection_take(connection);
    native_connection_update(connection);
}

static void connection_end(void *context, int status)
{
    struct native_connection *connection = context;

    connection->has_ended = true;
    /* The server cannot distinguish a peer that is gone from a peer that has closed only its
     * sending side and still reads answers.  Therefore its requests run on for NATIVE_LEAVE_US. */
    cql_session_leave(&connection->session, NATIVE_LEAVE_US);
    /* A client that has hung up gets no check of its password, because other logins wait for
     * theirs. */
    if (status < 0 || connection->login != NULL)
        connection_close(connection);
    else
        native_connection_update(connection);
}

static void connection_drained(void *context)
{
    native_connection_update(context);
}

static void connection_closed(void *context)
{
    struct native_connection *connection = context;

    connection->is_closed = true;
    native_connection_release(connection);
}

static const struct connection_handler connection_handler = {
    .space = connection_space,
    .data = connection_data,
    .end = connection_end,
    .drained = connection_drained,
    .closed = connection_closed,
};

static struct cql_address address_of(const struct network_address *address)
{
    struct cql_address copy = {.size = address->size, .port = address->port};

    memcpy(copy.bytes, address->bytes, sizeof copy.bytes);
    return copy;
}

void native_door_attach(struct native_door *door, struct connection *network)
{
    struct native_connection *connection = memory_zeroed(1, sizeof *connection);
    struct network_address local;
    struct network_address peer;
    if (door->is_closing || !door_enter(&door->door, &connection->slot, network)) {
        memory_free(connection);
        door->metrics.refused->value++;
        network_close(network);
        return;
    }
    connection->door = door;
    connection->connection = network;
    connection->calls = (struct quota){.parent = &door->requests,
                                       .limit = door->options.limits.connection_bytes_max};
    STAILQ_INIT(&connection->waiting);
    native_inbox_init(&connection->inbox, false, NATIVE_GREETING_BODY_MAX);
    connection->inbox.is_secret = door->options.passwords != NULL;
    native_outbox_init(&connection->outbox, false);
    cql_session_init(&connection->session, door->options.cql);
    connection->session.read_only = door->options.read_only;
    network_addresses(network, &local, &peer);
    connection->session.local = address_of(&local);
    connection->session.client = address_of(&peer);
    LIST_INSERT_HEAD(&door->connections, connection, link);
    door->metrics.accepted->value++;
    network_start(network, &connection_handler, connection);
    network_expect_questions(network);
    native_connection_update(connection);
}
