/* native_door: see the header; native_connection.h has the states.
 *
 * The door is freed after its last connection.  A connection is freed when the network has closed
 * it, and no call, login or flush needs it. */
#include "query/native/native_door.h"

#include <stddef.h>
#include <stdio.h>

#include "codec/native.h"
#include "query/native/native_connection.h"
#include "storage/engine/store.h"
#include "base/memory.h"

enum { CONNECTION_BYTES_MAX = 32 << 20, FAILED_LOGINS_LOG_US = 10000000 };

/* ---- metrics ---- */

static const uint32_t error_codes[NATIVE_ERROR_CODES] = {
    CQL_SERVER_ERROR,   CQL_PROTOCOL_ERROR, CQL_BAD_CREDENTIALS,  CQL_UNAVAILABLE,
    CQL_OVERLOADED,     CQL_BOOTSTRAPPING,  CQL_TRUNCATE_ERROR,   CQL_WRITE_TIMEOUT,
    CQL_READ_TIMEOUT,   CQL_READ_FAILURE,   CQL_FUNCTION_FAILURE, CQL_WRITE_FAILURE,
    CQL_SYNTAX_ERROR,   CQL_UNAUTHORIZED,   CQL_INVALID,          CQL_CONFIG_ERROR,
    CQL_ALREADY_EXISTS, CQL_UNPREPARED};

struct metric *native_door_error_metric(struct native_door *door, uint32_t code)
{
    size_t i = NATIVE_ERROR_CODES - 1;
    while (i > 0 && error_codes[i] != code)
        i--;
    return door->metrics.errors[i];
}

static void add_metrics(struct native_door *door)
{
    struct metrics *metrics = door->options.metrics;
    struct native_metrics *own = &door->metrics;
    char labels[64];
    own->connections = metrics_add(metrics, METRIC_GAUGE, "daybook_cql_connections", "",
                                   "Open connections of the CQL door.");
    own->connections_max = metrics_add(metrics, METRIC_GAUGE, "daybook_cql_connections_max", "",
                                       "How many there may be.");
    own->evicted = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_evicted_total", "",
                               "Idle connections that were closed for others to have their place.");
    own->accepted = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_connections_total", "",
                                "Connections that were opened.");
    own->refused = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_refused_total", "",
                               "Connections refused for lack of room, or closed after an error.");
    own->logins_right = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_logins_total",
                                    "result=\"right\"", "Logins at the CQL door, by result.");
    own->logins_wrong = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_logins_total",
                                    "result=\"wrong\"", "Logins at the CQL door, by result.");
    own->logins_refused = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_logins_total",
                                      "result=\"refused\"", "Logins at the CQL door, by result.");
    own->bytes_in = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_received_bytes_total", "",
                                "Bytes that came in at the CQL door.");
    own->bytes_out = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_sent_bytes_total", "",
                                 "Bytes that left by the CQL door.");
    own->request_times =
        metrics_add_histogram(metrics, "daybook_cql_request_seconds", "",
                              "From a statement's arrival until its answer is on its way.");
    own->request_bytes = metrics_add(metrics, METRIC_GAUGE, "daybook_cql_request_bytes", "",
                                     "Memory of CQL requests that are under way.");
    own->answer_bytes = metrics_add(metrics, METRIC_GAUGE, "daybook_cql_answer_bytes", "",
                                    "Memory of CQL answers that wait for their readers.");
    for (uint8_t opcode = 0; opcode <= NATIVE_AUTH_SUCCESS; opcode++) {
        if (!native_opcode_is_request(opcode))
            continue;
        (void)snprintf(labels, sizeof(labels), "kind=\"%s\"", native_opcode_name(opcode));
        own->requests[opcode] = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_requests_total",
                                            labels, "Requests of the native protocol, by kind.");
    }
    for (size_t i = 0; i < NATIVE_ERROR_CODES; i++) {
        (void)snprintf(labels, sizeof(labels), "code=\"0x%04X\"", error_codes[i]);
        own->errors[i] = metrics_add(metrics, METRIC_COUNTER, "daybook_cql_errors_total", labels,
                                     "Errors answered at the CQL door, by code.");
    }
}

/* ---- answers that leave together ---- */

static struct native_connection *connection_woken(struct wake_entry *entry)
{
    return (struct native_connection *)(void *)((char *)entry -
                                                offsetof(struct native_connection, wake));
}

static void door_flush(struct timer *timer)
{
    struct native_door *door = timer->context;
    struct wake_entry *last = TAILQ_LAST(&door->woken.woken, wake_entries);
    bool is_last = last == NULL;

    door->is_flushing = true;
    /* Connections that are woken during this loop are handled in the next turn. */
    while (!is_last) {
        struct wake_entry *entry = wake_queue_take(&door->woken);
        struct native_connection *connection = connection_woken(entry);

        is_last = entry == last;
        if (connection->is_closing)
            native_connection_release(connection);
        else
            native_connection_turn(connection);
    }
    wake_queue_start(&door->woken);
    door->is_flushing = false;
    native_door_release(door);
}

/* ---- memory ---- */

static void update_all(void *context)
{
    struct native_door *door = context;
    struct native_connection *connection;
    LIST_FOREACH (connection, &door->connections, link)
        native_connection_flush_soon(connection);
}

void native_door_account(struct native_door *door)
{
    struct store *store = door->options.store;
    int64_t request_change = quota_unreported(&door->requests);
    int64_t answer_change = quota_unreported(&door->answers);
    bool was_over = door->is_over;

    if (store != NULL && request_change != 0)
        memory_held_change(store->held, MEMORY_HELD_REQUESTS, request_change);
    if (store != NULL && answer_change != 0)
        memory_held_change(store->held, MEMORY_HELD_ANSWERS, answer_change);
    door->metrics.request_bytes->value = (int64_t)door->requests.taken;
    door->metrics.answer_bytes->value = (int64_t)door->answers.taken;
    door->is_over = quota_is_past(&door->answers, door->answers.limit, was_over);
    if (door->is_over != was_over)
        update_all(door);
}

/* ---- events ---- */

static void door_schema_changed(void *context, const struct cql_schema_change *change)
{
    struct native_door *door = context;
    struct native_event event = {.kind = NATIVE_SCHEMA_CHANGE, .schema = *change};
    struct native_connection *connection;

    LIST_FOREACH (connection, &door->connections, link) {
        if ((connection->events & NATIVE_SCHEMA_CHANGE) == 0 ||
            connection->state == NATIVE_REFUSED || connection->has_finished)
            continue;
        native_response_put_event(&event,
                                  native_outbox_begin(&connection->outbox, 0, -1, NATIVE_EVENT));
        native_outbox_end(&connection->outbox);
        native_connection_flush_soon(connection);
    }
}

/* ---- life ---- */

static void set_default(size_t *limit, size_t otherwise)
{
    *limit = *limit != 0 ? *limit : otherwise;
}

static void set_default_ms(int64_t *limit_ms, int64_t otherwise_ms)
{
    *limit_ms = *limit_ms != 0 ? *limit_ms : otherwise_ms;
}

static void default_limits(struct native_limits *limits)
{
    if (limits->connections_max == 0)
        limits->connections_max = NATIVE_CONNECTIONS_MAX;
    set_default(&limits->bytes_max, NATIVE_BYTES_MAX);
    set_default(&limits->connection_bytes_max, limits->bytes_max < CONNECTION_BYTES_MAX
                                                   ? limits->bytes_max
                                                   : CONNECTION_BYTES_MAX);
    set_default(&limits->answer_bytes_max, NATIVE_BYTES_MAX);
    set_default(&limits->login_bytes_max, NATIVE_GUEST_BYTES);
    set_default_ms(&limits->slow_reader_ms, DOOR_SLOW_READER_MS);
    set_default_ms(&limits->linger_ms, DOOR_LINGER_MS);
    set_default_ms(&limits->login_ms, NATIVE_LOGIN_MS);
}

static void door_came(void *context, struct connection *connection)
{
    native_door_attach(context, connection);
}

static void open_slots(struct native_door *door)
{
    struct door_options options = {.name = "cql",
                                   .network = door->options.network,
                                   .world = door->options.world,
                                   .slots_max = door->options.limits.connections_max,
                                   .came = door_came,
                                   .context = door,
                                   .evict = native_connection_evict,
                                   .late = native_connection_late,
                                   .login_bytes_max = door->options.limits.login_bytes_max,
                                   .connections = door->metrics.connections,
                                   .connections_max = door->metrics.connections_max,
                                   .evicted = door->metrics.evicted};

    door_open(&door->door, &options);
}

struct native_door *native_door_new(const struct native_options *options)
{
    struct native_door *door = memory_zeroed(1, sizeof *door);

    door->options = *options;
    default_limits(&door->options.limits);
    door->requests.limit = door->options.limits.bytes_max;
    door->answers.limit = door->options.limits.answer_bytes_max;
    STAILQ_INIT(&door->spare);
    wake_queue_open(&door->woken, options->world->executor, door_flush, door);
    add_metrics(door);
    open_slots(door);
    login_queue_init(&door->logins);
    door->failed_logins.period_us = FAILED_LOGINS_LOG_US;
    cql_on_schema_change(options->cql, door_schema_changed, door);
    cql_on_room(options->cql, update_all, door);
    return door;
}

int native_door_listen(struct native_door *door, const struct door_place *place,
                       const char **address_out, struct error *err)
{
    struct door_place own = *place;

    own.is_open_to_all |= door->options.passwords != NULL;
    int rc = door_listen(&door->door, &own, address_out, err);
    if (rc != 0 || door->options.passwords != NULL || door_is_local(&door->door))
        return rc;
    door->options.read_only = true;
    log_event(LOG_NOTICE, "cql_door_is_read_only", log_text("address", *address_out));
    return 0;
}

void native_door_set_passwords(struct native_door *door, struct native_passwords *passwords)
{
    check(door->options.passwords != NULL && passwords != NULL);
    door->options.passwords = passwords;
}

void native_door_release(struct native_door *door)
{
    void (*closed)(void *context) = door->closed;
    void *context = door->closed_context;

    if (!door->is_closing || !LIST_EMPTY(&door->connections) || door->is_flushing)
        return;
    door_close(&door->door);
    wake_queue_close(&door->woken);
    native_call_free_spare(door);
    buffer_release(&door->wire);
    buffer_release(&door->supported);
    memory_free(door);
    closed(context);
}

void native_door_close(struct native_door *door, void (*closed)(void *context), void *context)
{
    check(!door->is_closing);
    door_stop(&door->door);
    cql_on_schema_change(door->options.cql, NULL, NULL);
    cql_on_room(door->options.cql, NULL, NULL);
    door->closed = closed;
    door->closed_context = context;
    door->is_closing = true;
    native_greeting_drop_logins(door);
    cql_stop(door->options.cql);
    update_all(door);
    native_door_release(door);
}

void native_door_dump(const struct native_door *door, struct buffer *text)
{
    door_dump(&door->door, text);
    buffer_printf(text, "  %zu bytes of requests, %zu of answers\n", door->requests.taken,
                  door->answers.taken);
}
