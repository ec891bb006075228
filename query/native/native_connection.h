/* native_connection: the state of the CQL door and of one of its connections.
 *
 *     GREETING ──STARTUP──▶ SERVING
 *        │  └──passwords──▶ LOGGING_IN ──AUTH_RESPONSE──▶ CHECKING ──right──▶ SERVING
 *        └──────any state: an error that ends it─────▶ REFUSED ──peer hangs up, or linger──▶ closed
 *
 * A *call* is a statement from its arrival to its answer.  It waits in its connection's queue until
 * it may start.  If a read's answer is too large for the queue of answers, the read runs again, for
 * a short page.  Answers may be sent in another order than their requests.
 *
 *     envelope ─▶ admitted ─▶ waiting ─▶ running ─▶ answer ─▶ outbox ─▶ flush ─▶ network
 *                    └ no room: error 0x1001
 *
 * tests/unit/test_native_door.c specifies the behaviour. */
#ifndef DAYBOOK_QUERY_NATIVE_NATIVE_CONNECTION_H
#define DAYBOOK_QUERY_NATIVE_NATIVE_CONNECTION_H

#include <sys/queue.h>

#include "base/quota.h"
#include "codec/native_inbox.h"
#include "codec/native_outbox.h"
#include "codec/native_request.h"
#include "codec/native_response.h"
#include "door/login_queue.h"
#include "door/wake_queue.h"
#include "query/native/native_door.h"

enum {
    NATIVE_READ_SIZE = 64 << 10,           /* bytes of the buffer that all connections share for
                                            * reading */
    NATIVE_GREETING_MAX = 4096,            /* before a login: bytes of a request, and of answers
                                            * that the client has not read */
    NATIVE_GREETING_BODY_MAX = NATIVE_GREETING_MAX - NATIVE_HEADER_SIZE,
    NATIVE_ROOM_MIN = 64 << 10,            /* bytes that a body may have after a login even if the
                                            * door's quota for requests is used up */
    NATIVE_LOGIN_MS = 10000,
    NATIVE_GUEST_BYTES = 2 << 20,          /* bytes of memory of all clients before their login */
    NATIVE_RUNNING_MAX = 1024,             /* calls of a connection that run at a time */
    NATIVE_QUEUE_MAX = 1 << 20,            /* bytes of a connection's unread answers above which
                                            * none of its calls starts */
    NATIVE_QUEUE_FULL = 4 << 20,           /* bytes of a connection's unread answers above which
                                            * nothing is read from it */
    NATIVE_QUEUE_OVER = 32 << 20,          /* bytes of a connection's unread answers above which no
                                            * large answer is queued for it */
    NATIVE_ANSWER_LARGE = 64 << 10,        /* an answer with more bytes of rows is large */
    NATIVE_LEAVE_US = 1000 * 1000,         /* requests run on for this long after their peer hung
                                            * up */
    NATIVE_CALLS_SPARE_MAX = 256,          /* calls kept for reuse, with their memory */
    NATIVE_ERROR_CODES = 18
};

enum native_state {
    NATIVE_GREETING,
    NATIVE_LOGGING_IN,
    NATIVE_CHECKING,
    NATIVE_SERVING,                        /* the only state that takes statements */
    NATIVE_REFUSED
};

struct native_login;

struct native_call {
    struct native_connection *connection;
    STAILQ_ENTRY(native_call) next;
    struct arena *arena;                   /* has the body and the decoded request */
    int16_t stream;
    uint8_t version;
    size_t size;
    int64_t began_us;                      /* monotonic: when the request had arrived */
    struct native_request request;
};

struct native_connection {
    struct native_door *door;
    struct connection *connection;
    LIST_ENTRY(native_connection) link;
    enum native_state state;
    bool has_ended;                        /* the peer has sent its last byte */
    bool has_finished;                     /* the server has ended its side */
    bool is_closing;
    bool is_closed;                        /* the network has closed it; calls may still run */
    bool is_taking;                        /* take_input is running; answers are sent afterwards */
    bool has_input;                        /* requests are left for the loop's next turn; until then
                                            * nothing is read from the network */
    bool is_starting;                      /* native_call_start is running */
    unsigned events;                       /* those that the client registered for: bits of
                                            * native_event_kind */
    struct native_inbox inbox;
    struct native_outbox outbox;
    struct cql_session session;
    struct native_login *login;            /* a login that waits or is being checked; NULL: none */
    STAILQ_HEAD(, native_call) waiting;
    uint32_t running;
    struct quota calls;                    /* bytes of calls; the parent is the door's `requests` */
    size_t input_bytes, output_bytes;      /* charged to the door's quotas */
    struct wake_entry wake;
    struct door_slot slot;                 /* the slot's clock closes a connection that reads
                                            * slowly, was refused or does not log in */
    uint64_t written;                      /* bytes given to the network */
    uint64_t left;                         /* how many of `written` had been sent when the slot's
                                            * clock was set */
};

struct native_metrics {
    struct metric *connections;
    struct metric *connections_max;
    struct metric *evicted;
    struct metric *accepted;
    struct metric *refused;
    struct metric *request_times;
    struct metric *requests[NATIVE_AUTH_SUCCESS + 1];      /* by opcode; NULL for answers */
    struct metric *errors[NATIVE_ERROR_CODES];
    struct metric *logins_right, *logins_wrong, *logins_refused;
    struct metric *bytes_in, *bytes_out;
    struct metric *request_bytes, *answer_bytes;
};

struct native_door {
    struct native_options options;
    struct native_metrics metrics;
    struct door door;
    struct login_queue logins;
    struct native_login *checking;         /* NULL: none */
    struct log_group failed_logins;
    LIST_HEAD(, native_connection) connections;
    struct quota requests;                 /* bytes held by inboxes and calls */
    struct quota answers;                  /* bytes held by outboxes and the network */
    bool is_over;                          /* `answers` is past its limit: clients with unread
                                            * answers are not served */
    STAILQ_HEAD(, native_call) spare;
    uint32_t spare_count;
    struct wake_queue woken;               /* connections to be updated in the loop's next turn */
    bool is_flushing;                      /* door_flush is running, so the door must not be
                                            * freed */
    struct buffer wire;
    struct buffer supported;               /* the body of every SUPPORTED; empty: not made yet */
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
    uint8_t read[NATIVE_READ_SIZE];
};

/* ---- native_connection.c ---- */

/* Answer with an error of `code` without further fields.  The text is cut off after 511 bytes. */
void native_connection_error(struct native_connection *connection, int16_t stream, uint32_t code,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
void native_connection_put_error(struct native_connection *connection, int16_t stream,
                                 const struct cql_extras *extras,
                                 const struct cql_error *error);
/* Ignore all further input.  Once the answers have been sent, the server ends its side.  The
 * connection closes when its peer hangs up, or after `linger_ms`.  `why` goes to the log; NULL
 * means that the log has a line already. */
void native_connection_refuse(struct native_connection *connection, const char *why);
void native_connection_flush(struct native_connection *connection);
/* Update the connection in the loop's next turn, so that answers of one turn leave together.  While
 * take_input runs, this does nothing. */
void native_connection_flush_soon(struct native_connection *connection);
/* Send answers and start calls; then read, stop reading or hang up, as the state requires. */
void native_connection_update(struct native_connection *connection);
void native_connection_turn(struct native_connection *connection);
/* Free the connection unless the network, a call, a login or a flush still needs it. */
void native_connection_release(struct native_connection *connection);
/* The door calls native_connection_evict when it needs the slot, and native_connection_late when
 * the slot's clock has run out. */
void native_connection_evict(struct door_slot *slot);
void native_connection_late(struct door_slot *slot);
/* Charge the bytes that the connection now holds to the door's quotas. */
void native_connection_count(struct native_connection *connection);

/* ---- native_greeting.c: what comes before statements ---- */

void native_greeting_startup(struct native_connection *connection, int16_t stream,
                             const struct native_request *request);
void native_greeting_authenticate(struct native_connection *connection, int16_t stream,
                                  const struct native_request *request);
/* Remove the connection's waiting login.  A login that is being checked keeps the connection's
 * memory until the check ends. */
void native_greeting_drop_login(struct native_connection *connection);
/* Refuse the logins that wait. */
void native_greeting_drop_logins(struct native_door *door);
void native_greeting_register(struct native_connection *connection, int16_t stream,
                              const struct native_request *request);
/* Refuse an unsupported version in the form that every driver understands. */
void native_greeting_refuse_version(struct native_connection *connection, uint8_t version,
                                    uint8_t flags);

/* ---- native_call.c: statements ---- */

/* Queue the statement in `envelope`, or refuse it with an error. */
void native_call_take(struct native_connection *connection,
                      const struct native_envelope *envelope);
void native_call_start(struct native_connection *connection);
/* Free the calls that have not started. */
void native_call_drop(struct native_connection *connection);
void native_call_free_spare(struct native_door *door);

/* ---- native_door.c ---- */

/* Report the door's memory to the store.  When the bytes of answers pass their limit, or are back
 * at half of it, all connections are updated in the loop's next turn. */
void native_door_account(struct native_door *door);
/* Free the door if it is closing, has no connections, and door_flush does not run. */
void native_door_release(struct native_door *door);
/* Returns the counter of errors of this code; an unknown code counts as CQL_SERVER_ERROR. */
struct metric *native_door_error_metric(struct native_door *door, uint32_t code);
#endif
