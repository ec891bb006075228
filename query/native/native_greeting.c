/* native_greeting: refuses unknown versions, and answers STARTUP, logins and REGISTER.
 *
 * A driver tries its newest version first, and an older one after a refusal.  Drivers recognize the
 * refusal by its words, its stream or its version byte, so none of the three may change
 * (docs/PROTOCOL.md "CQL door"). */
#include <stddef.h>
#include <stdio.h>

#include "codec/notation.h"
#include "codec/native_compress.h"
#include "query/native/native_connection.h"
#include "query/native/native_password.h"
#include "base/memory.h"

enum {
    OLD_VERSION_MAX = 2, /* up to this version, a header's stream number has one byte */
    LANGUAGE_MAJOR_MIN = 3
};

#define AUTHENTICATOR "org.apache.cassandra.auth.PasswordAuthenticator"

/* ---- versions ---- */

void native_greeting_refuse_version(struct native_connection *connection, uint8_t version,
                                    uint8_t flags)
{
    bool is_old = version <= OLD_VERSION_MAX && version > 0;
    bool is_beta = version == NATIVE_VERSION_BETA && (flags & NATIVE_FLAG_BETA) == 0;
    struct buffer wire = {0};
    struct buffer body = {0};
    char text[160];
    const struct cql_error error = {.code = CQL_PROTOCOL_ERROR, .message = text};
    (void)snprintf(text, sizeof(text),
                   is_beta ? "Beta version of the protocol used (%1$u/v%1$u-beta), but USE_BETA "
                             "flag is unset"
                           : "Invalid or unsupported protocol version (%1$u); supported versions "
                             "are (" NATIVE_VERSIONS_TEXT ")",
                   version);
    native_response_put_error(&error, NATIVE_VERSION_MAX, &body);
    buffer_put_u8(&wire, (is_old ? version : NATIVE_VERSION_MAX) | NATIVE_RESPONSE_BIT);
    buffer_put_u8(&wire, 0);
    /* Stream 0, not the request's, because some drivers recognize the refusal by it. */
    buffer_put_zeros(&wire, is_old ? 1 : 2);
    buffer_put_u8(&wire, NATIVE_ERROR);
    buffer_put_u32_be(&wire, (uint32_t)body.size);
    buffer_append_bytes(&wire, buffer_view(&body));
    network_write(connection->connection, buffer_view(&wire));
    native_door_error_metric(connection->door, error.code)->value++;
    buffer_release(&wire);
    buffer_release(&body);
    native_connection_refuse(connection, "no version of the protocol that is spoken here");
}

/* ---- STARTUP ---- */

static bool find_option(const struct native_request *request, const char *name,
                        struct bytes *value_out)
{
    for (uint32_t i = 0; i < request->option_count; i++) {
        if (bytes_are_word(request->options[i].name, name)) {
            *value_out = request->options[i].value;
            return true;
        }
    }
    return false;
}

/* Whether the version begins with "2.99", or with a number of at least 3 and a dot. */
static bool is_language_known(struct bytes version)
{
    unsigned major = 0;
    size_t at = 0;

    while (at < version.size && at < 4 && version.data[at] >= '0' && version.data[at] <= '9')
        major = major * 10 + version.data[at++] - '0';
    if (at == 0 || at == version.size || version.data[at] != '.')
        return false;
    return major >= LANGUAGE_MAJOR_MIN ||
           (major == LANGUAGE_MAJOR_MIN - 1 && version.size - at >= 3 &&
            memcmp(version.data + at, ".99", 3) == 0);
}

/* False: the request was refused. */
static bool choose_compression(struct native_connection *connection, int16_t stream,
                               const struct native_request *request,
                               enum native_compression *compression_out)
{
    struct bytes name;
    *compression_out = NATIVE_PLAIN;
    if (!find_option(request, "COMPRESSION", &name) || name.size == 0)
        return true;
    if (bytes_are_word(name, "lz4")) {
        *compression_out = NATIVE_LZ4;
        return true;
    }
    if (bytes_are_word(name, "snappy") && connection->inbox.version < 5 &&
        native_compress_has_snappy()) {
        *compression_out = NATIVE_SNAPPY;
        return true;
    }
    native_connection_error(connection, stream, CQL_PROTOCOL_ERROR,
                            "Unknown compression algorithm: %.*s",
                            name.size > 64 ? 64 : (int)name.size, (const char *)name.data);
    return false;
}

static bool check_language(struct native_connection *connection, int16_t stream,
                           const struct native_request *request)
{
    struct bytes version;
    if (!find_option(request, "CQL_VERSION", &version)) {
        native_connection_error(connection, stream, CQL_PROTOCOL_ERROR,
                                "Missing value CQL_VERSION in STARTUP message");
        return false;
    }
    if (is_language_known(version))
        return true;
    native_connection_error(connection, stream, CQL_PROTOCOL_ERROR,
                            "CQL version %.*s is not supported by the binary protocol (supported "
                            "version are >= 3.0.0)",
                            version.size > 32 ? 32 : (int)version.size, (const char *)version.data);
    return false;
}

void native_greeting_startup(struct native_connection *connection, int16_t stream,
                             const struct native_request *request)
{
    bool is_open = connection->door->options.passwords == NULL;
    enum native_compression compression;
    if (!check_language(connection, stream, request) ||
        !choose_compression(connection, stream, request, &compression))
        return;
    struct buffer *body = native_outbox_begin(&connection->outbox, 0, stream,
                                              is_open ? NATIVE_READY : NATIVE_AUTHENTICATE);
    if (!is_open)
        notation_put_text(body, AUTHENTICATOR);
    native_outbox_end(&connection->outbox);
    native_connection_flush(connection);
    native_inbox_start(&connection->inbox, compression);
    native_outbox_start(&connection->outbox, compression);
    connection->state = is_open ? NATIVE_SERVING : NATIVE_LOGGING_IN;
}

/* ---- logging in: SASL PLAIN ---- */

struct native_login {
    struct job job;
    struct login_waiter waiter;
    struct native_connection *connection;
    int16_t stream;
    struct native_passwords *passwords; /* a reference, taken when the check begins */
    char user[NATIVE_USER_MAX + 1];
    char password[NATIVE_PASSWORD_MAX + 1];
    bool is_right;
};

/* Copy the token's bytes up to the next NUL, or up to its end, as text, and remove them from
 * `token`.  False: they are more than `size_max`. */
static bool take_part(struct bytes *token, char *to, size_t size_max)
{
    const uint8_t *end = token->size == 0 ? NULL : memchr(token->data, '\0', token->size);
    size_t size = end == NULL ? token->size : (size_t)(end - token->data);
    if (size > size_max)
        return false;
    if (size > 0)
        memcpy(to, token->data, size);
    to[size] = '\0';
    *token = end == NULL ? bytes_of(NULL, 0) : bytes_of(end + 1, token->size - size - 1);
    return true;
}

/* Read a SASL PLAIN token: authorization id (ignored), user and password, separated by NULs.  Any
 * part of an invalid token may be a password, so parts are copied only to `login`, which login_free
 * wipes. */
static bool read_token(struct bytes token, struct native_login *login)
{
    return take_part(&token, login->user, NATIVE_USER_MAX) &&
           take_part(&token, login->user, NATIVE_USER_MAX) &&
           take_part(&token, login->password, NATIVE_PASSWORD_MAX) && token.size == 0 &&
           login->user[0] != '\0';
}

static void login_run(struct job *job)
{
    struct native_login *login = (struct native_login *)job;

    login->is_right = native_password_match(login->passwords, login->user, login->password);
}

/* Log at most one event per period, with one login's name and the number of failures, so that
 * failures cannot fill the log. */
static void log_failed(struct native_connection *connection, const struct native_login *login)
{
    struct native_door *door = connection->door;
    char address[DOOR_PEER_TEXT];
    uint64_t count;

    if (!log_group_admit(&door->failed_logins, world_monotonic_us(door->options.world), &count))
        return;
    door_peer_text(&connection->slot, address);
    log_event(LOG_WARNING, "login_failed", log_text("door", "cql"), log_text("user", login->user),
              log_text("address", address), log_number("failures_count", (int64_t)count));
}

static void login_answer(struct native_connection *connection, const struct native_login *login)
{
    if (login->is_right) {
        memcpy(connection->session.user, login->user, sizeof login->user);
        connection->state = NATIVE_SERVING;
        connection->inbox.is_secret = false;
        notation_put_bytes(
            native_outbox_begin(&connection->outbox, 0, login->stream, NATIVE_AUTH_SUCCESS),
            bytes_of(NULL, 0));
        native_outbox_end(&connection->outbox);
        return;
    }
    native_connection_error(connection, login->stream, CQL_BAD_CREDENTIALS,
                            "Provided username %s and/or password are incorrect", login->user);
    native_connection_refuse(connection, NULL);
}

static void login_free(struct native_login *login)
{
    native_password_free(login->passwords);
    /* The password must not stay in freed memory. */
    explicit_bzero(login, sizeof *login);
    memory_free(login);
}

static void check_next_login(struct native_door *door);

static void login_done(struct job *job)
{
    struct native_login *login = (struct native_login *)job;
    struct native_connection *connection = login->connection;
    struct native_door *door = connection->door;

    (login->is_right ? door->metrics.logins_right : door->metrics.logins_wrong)->value++;
    if (!login->is_right)
        log_failed(connection, login);
    door->checking = NULL;
    connection->login = NULL;
    if (!connection->is_closing) {
        login_answer(connection, login);
        native_connection_update(connection);
    }
    login_free(login);
    check_next_login(door);
    native_connection_release(connection);
}

static struct native_login *login_of(struct login_waiter *waiter)
{
    return (struct native_login *)(void *)((char *)waiter - offsetof(struct native_login, waiter));
}

static void check_next_login(struct native_door *door)
{
    struct login_waiter *next = door->checking == NULL ? login_queue_next(&door->logins) : NULL;

    if (next == NULL)
        return;
    door->checking = login_of(next);
    door->checking->passwords = native_password_keep(door->options.passwords);
    world_submit(door->options.world, LANE_LOGIN, &door->checking->job, login_run, login_done);
}

void native_greeting_drop_login(struct native_connection *connection)
{
    struct native_login *login = connection->login;

    if (login == NULL || !login->waiter.is_waiting)
        return;
    login_queue_remove(&connection->door->logins, &login->waiter);
    connection->login = NULL;
    login_free(login);
}

static void login_turn_away(struct native_login *login, const char *why)
{
    struct native_connection *connection = login->connection;

    connection->door->metrics.logins_refused->value++;
    native_connection_error(connection, login->stream, CQL_OVERLOADED, "%s", why);
    native_connection_refuse(connection, why);
    connection->login = NULL;
    login_free(login);
    native_connection_update(connection);
}

void native_greeting_drop_logins(struct native_door *door)
{
    struct login_waiter *waiter;

    while ((waiter = login_queue_next(&door->logins)) != NULL)
        login_turn_away(login_of(waiter), "The server is shutting down");
}

_Static_assert(sizeof((struct cql_session *)0)->user == NATIVE_USER_MAX + 1, "names fit");

void native_greeting_authenticate(struct native_connection *connection, int16_t stream,
                                  const struct native_request *request)
{
    struct native_door *door = connection->door;
    struct native_login *login = memory_zeroed(1, sizeof *login);
    login->connection = connection;
    login->stream = stream;
    if (!read_token(request->token, login)) {
        login_free(login);
        native_connection_error(connection, stream, CQL_BAD_CREDENTIALS,
                                "The token is not NUL, user, NUL, password");
        native_connection_refuse(connection, "a login that is not NUL, user, NUL, password");
        return;
    }
    connection->login = login;
    connection->state = NATIVE_CHECKING;
    login->waiter.address = door_slot_address(&connection->slot);
    struct login_waiter *loser = login_queue_add(&door->logins, &login->waiter);
    if (loser != NULL)
        login_turn_away(login_of(loser), "Too many logins wait for their turn; try again later");
    check_next_login(door);
}

/* ---- REGISTER ---- */

void native_greeting_register(struct native_connection *connection, int16_t stream,
                              const struct native_request *request)
{
    unsigned events = 0;

    for (uint32_t i = 0; i < request->event_count; i++) {
        struct bytes name = request->events[i];
        enum native_event_kind kind;
        if (!native_response_event_kind(name, &kind)) {
            native_connection_error(connection, stream, CQL_PROTOCOL_ERROR,
                                    "Invalid value '%.*s' for Type",
                                    name.size > 64 ? 64 : (int)name.size, (const char *)name.data);
            return;
        }
        events |= kind;
    }
    connection->events |= events;
    (void)native_outbox_begin(&connection->outbox, 0, stream, NATIVE_READY);
    native_outbox_end(&connection->outbox);
}
