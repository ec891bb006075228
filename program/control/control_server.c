/* control_server: see the header.
 *
 * A connection has one request.  A command runs to its end even if its client closes the
 * connection, and further output is dropped.  A session is freed when the command has finished and
 * the connection is closed:
 *
 *     reading ── RUN ─▶ waiting for memory ─▶ running ── finish ─▶ flushing ── drained ─▶ closed
 *        │                  │
 *        │                  └── none in time ─▶ refused with an error; the rest of the request
 *        │                                      is read and dropped
 *        │
 *        └── INGEST ─▶ handed over: the session ends, the connection does not
 *
 * Memory is taken from the quota `commands` before a request over SMALL_MAX is read, and before a
 * smaller one is run, unless its command is brief.
 *
 * Output is sent when the command ends, when HELD_MAX bytes are held, or in the next loop turn.
 * Thus a short answer wakes the client once.
 *
 * A server that closes waits for running commands only.  It closes the connection of a client that
 * does not read its answer, because a client whose output is paused, as by a pager, could keep the
 * server from ending. */
#include "program/control/control_server.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/reader.h"
#include "door/door.h"
#include "program/control/control_message.h"
#include "base/cli/command_parse.h"
#include "base/memory.h"
#include "base/quota.h"

enum {
    HELD_MAX = 16 << 10,  /* bytes; fewer than CONTROL_QUEUED_MAX */
    SMALL_MAX = 64 << 10, /* bytes of a request that is read before memory is taken */
    TEXTS_CHUNK = 1 << 10,
    MEMORY_WAIT_MS = COMMAND_WAIT_MS_DEFAULT, /* the longest wait; then the command is refused */
    LONG_US = 10000000,
    LONG_LOG_PERIOD_US = 1000000
};

struct session {
    struct command_output output; /* must be first: session_of casts it to the session */
    struct quota_waiter waiter;
    size_t taken_bytes; /* taken from the quota `commands`; 0: none */
    size_t answer_bytes;
    size_t kept_bytes;
    struct timer memory_timer; /* while the session waits for memory, then for the next turn */
    bool is_asking;            /* within quota_wait, which may call memory_granted */
    struct control_server *server;
    struct door_slot slot; /* not taken if is_extra */
    struct session *next;
    struct connection *connection; /* NULL once it is closed */
    struct message_reader reader;
    struct buffer held;
    struct timer turn; /* calls held_send in the next turn */
    bool is_starting;  /* in the call that starts the command, in which it may finish */
    char **words;
    int word_count;
    struct arena *texts;
    void *options;
    struct command_request request;
    const struct command_entry *entry; /* NULL: the request is incomplete */
    int64_t began_us;                  /* when the command began to run; 0: not yet */
    bool is_extra;                     /* exceeds connections_max: only for a brief command */
    bool is_refused;
    bool is_running;
    bool is_closing;
};

struct control_server {
    struct control_server_options options;
    struct quota held; /* parent of the other quotas */
    struct quota commands;
    struct quota answers;
    struct quota kept; /* memory that commands charge by command_keep */
    struct door door;
    struct log_group long_log;
    bool is_closing;
    struct session *sessions;
    uint32_t extra_count;
    void (*closed)(void *context);
    void *closed_context;
};

static void server_free_if_idle(struct control_server *server)
{
    if (!server->is_closing || server->sessions != NULL)
        return;
    door_close(&server->door);
    void (*closed)(void *context) = server->closed;
    void *context = server->closed_context;
    memory_free(server);
    closed(context);
}

static void server_unlink(struct control_server *server, struct session *session)
{
    struct session **link = &server->sessions;
    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    server->extra_count -= session->is_extra;
}

static void server_report(struct control_server *server)
{
    int64_t change = quota_unreported(&server->held);
    if (change != 0 && server->options.held != NULL)
        server->options.held(server->options.context, change);
}

static void session_end_wait(struct session *session)
{
    struct control_server *server = session->server;
    quota_forget(&server->commands, &session->waiter);
    world_timer_stop(server->options.world, &session->memory_timer);
}

static void session_give_back(struct session *session)
{
    struct control_server *server = session->server;
    quota_charge(&server->kept, &session->kept_bytes, 0);
    quota_charge(&server->commands, &session->taken_bytes, 0);
    server_report(server);
}

static void session_free(struct session *session)
{
    struct control_server *server = session->server;
    door_leave(&session->slot);
    session_end_wait(session);
    session_give_back(session);
    quota_charge(&server->answers, &session->answer_bytes, 0);
    server_report(server);
    server_unlink(server, session);
    arena_free(session->texts);
    memory_free(session->options);
    control_message_release(&session->reader);
    world_timer_stop(server->options.world, &session->turn);
    buffer_release(&session->held);
    memory_free(session);
    server_free_if_idle(server);
}

static void session_close(struct session *session)
{
    if (!session->is_closing && session->connection != NULL) {
        session->is_closing = true;
        door_leave(&session->slot);
        network_close(session->connection);
    }
}

static void session_close_if_idle(struct session *session)
{
    if (session->server->is_closing && session->connection != NULL &&
        (!session->is_running || network_queued(session->connection) > 0)) {
        session_close(session);
    }
}

/* ---- the command's output ---- */

static struct session *session_of(struct command_output *output)
{
    return (struct session *)output;
}

static bool session_is_open(const struct session *session)
{
    return session->connection != NULL && !session->is_closing;
}

static void answer_count(struct session *session)
{
    struct control_server *server = session->server;
    size_t bytes =
        session_is_open(session) ? network_queued(session->connection) + session->held.size : 0;
    quota_charge(&server->answers, &session->answer_bytes, bytes);
    server_report(server);
}

static void held_send(struct session *session)
{
    if (session_is_open(session)) {
        network_write(session->connection, buffer_view(&session->held));
        session_close_if_idle(session);
    }
    buffer_clear(&session->held);
    answer_count(session);
}

static void held_turn(struct timer *timer)
{
    held_send(timer->context);
}

/* Have the next loop turn send the held output.  This function does nothing within the call that
 * starts the command, because session_run calls it again afterwards. */
static void held_want_turn(struct session *session)
{
    if (session->held.size == 0 || session->turn.handle != NULL || session->is_starting)
        return;
    world_timer_start(session->server->options.world, &session->turn, held_turn, session, 0);
}

static void output_write(struct command_output *output, enum command_stream stream,
                         struct bytes bytes)
{
    struct session *session = session_of(output);
    if (!session_is_open(session) || bytes.size == 0)
        return;
    control_message_put(&session->held, stream == COMMAND_OUT ? CONTROL_OUT : CONTROL_ERR, bytes);
    if (session->held.size >= HELD_MAX)
        held_send(session);
    held_want_turn(session);
}

/* A command whose client has read everything may always write, even if other clients leave the
 * quota full. */
static bool output_is_full(struct command_output *output)
{
    struct session *session = session_of(output);
    answer_count(session);
    size_t bytes = session->answer_bytes;
    return bytes > 0 &&
           (bytes >= CONTROL_QUEUED_MAX || !quota_is_fair(&session->server->answers, bytes));
}

static bool output_keep(struct command_output *output, int64_t change_bytes)
{
    struct session *session = session_of(output);
    struct quota *quota = &session->server->kept;
    if (change_bytes > 0 && !quota_take(quota, (size_t)change_bytes))
        return false;
    if (change_bytes < 0)
        quota_give(quota, (size_t)-change_bytes);
    session->kept_bytes += (size_t)change_bytes;
    server_report(session->server);
    return true;
}

/* The time includes pauses in which the client did not read. */
static void log_if_long(struct session *session, int exit_status)
{
    struct control_server *server = session->server;
    int64_t now_us = world_monotonic_us(server->options.world);
    uint64_t count;
    if (session->began_us == 0 || now_us - session->began_us < server->options.long_us ||
        !log_group_admit(&server->long_log, now_us, &count))
        return;
    log_event(LOG_NOTICE, "long_command", log_text("command", session->words[0]),
              log_text("words", session->request.text), log_text("actor", session->request.actor),
              log_number("took_ms", (now_us - session->began_us) / 1000),
              log_number("exit_status", exit_status), log_number("times_count", (int64_t)count));
}

static void output_finish(struct command_output *output, int exit_status)
{
    struct session *session = session_of(output);
    uint8_t status = (uint8_t)exit_status;
    log_if_long(session, exit_status);
    session->is_running = false;
    output->drained = NULL;
    door_claim(&session->slot, DOOR_NAMED);
    if (session->connection == NULL) {
        session_free(session);
        return;
    }
    control_message_release(&session->reader);
    session_give_back(session);
    if (session_is_open(session)) {
        control_message_put(&session->held, CONTROL_EXIT, bytes_of(&status, 1));
        network_write(session->connection, buffer_view(&session->held));
        buffer_clear(&session->held);
        answer_count(session);
        network_finish(session->connection);
        if (network_queued(session->connection) == 0 && !session->is_refused)
            session_close(session);
        session_close_if_idle(session);
    }
}

/* ---- a request ---- */

static char *copy_text(struct arena *arena, struct bytes bytes)
{
    char *text = arena_alloc(arena, bytes.size + 1, 1);
    if (bytes.size > 0)
        memcpy(text, bytes.data, bytes.size);
    text[bytes.size] = '\0';
    return text;
}

static int read_words(struct session *session, struct bytes body)
{
    struct reader reader = reader_of(body);
    struct arena *arena = session->texts = arena_new(TEXTS_CHUNK);
    session->request.is_terminal = reader_u8(&reader) != 0;
    session->request.actor = copy_text(arena, reader_sized(&reader));
    session->request.text = copy_text(arena, reader_sized(&reader));
    session->request.folder = copy_text(arena, reader_sized(&reader));
    uint64_t count = reader_count(&reader, 1);
    if (reader.failed || count == 0 || count > CONTROL_WORDS_MAX)
        return ERROR_CORRUPT;
    session->words =
        arena_alloc_zeroed(arena, ((size_t)count + 1) * sizeof(char *), sizeof(char *));
    for (uint64_t i = 0; i < count; i++)
        session->words[session->word_count++] = copy_text(arena, reader_sized(&reader));
    if (reader_u8(&reader) != 0)
        session->request.input = reader_sized(&reader);
    return reader.failed || reader_left(&reader) > 0 ? ERROR_CORRUPT : 0;
}

static void session_run(struct session *session)
{
    /* The connection is not closed yet, so the session is not freed even if the command finishes
     * within this call. */
    session->is_starting = true;
    session->began_us = world_monotonic_us(session->server->options.world);
    session->entry->command->run(session->entry->context, &session->request, &session->output);
    session->is_starting = false;
    held_want_turn(session);
}

/* False: the request was answered with an error. */
static bool session_prepare(struct session *session, struct bytes body)
{
    struct error err = {0};
    session->is_running = true;
    door_claim(&session->slot, DOOR_OWED);
    if (read_words(session, body) != 0) {
        command_fail(&session->output, EXIT_SYSTEM_FAILED,
                     "a request the server cannot read; are "
                     "server and command of one version?");
        return false;
    }
    const struct control_server_options *options = &session->server->options;
    session->entry = command_find(options->entries, options->entry_count, session->words[0]);
    if (session->entry == NULL) {
        command_fail(&session->output, EXIT_WRONG_USAGE,
                     "the server that holds this directory has no command '%s'", session->words[0]);
        return false;
    }
    int rc = command_parse(session->entry->command, session->word_count, session->words, false,
                           NULL, &session->options, &err);
    if (rc != 0) {
        command_fail(&session->output, EXIT_WRONG_USAGE, "%s", err.text);
        return false;
    }
    session->request.options = session->options;
    session->request.door = "socket";
    return true;
}

/* ---- memory to run with ---- */

/* The rest of an incomplete request is read and dropped, because a client reads the answer only
 * after it has sent everything. */
static void session_refuse(struct session *session, const char *why)
{
    session->is_refused = session->entry == NULL;
    command_fail(&session->output, EXIT_SYSTEM_FAILED, "%s", why);
    if (session->is_refused)
        network_resume(session->connection);
}

static void memory_wait_ended(struct timer *timer)
{
    struct session *session = timer->context;
    session_end_wait(session);
    session_refuse(session, "other commands have all of the server's memory that is for them "
                            "(--memory); try again when some have ended or were read");
}

static void session_resume(struct session *session)
{
    if (session->entry == NULL) {
        network_resume(session->connection);
        return;
    }
    session->is_running = true;
    session_run(session);
}

static void memory_turn(struct timer *timer)
{
    session_resume(timer->context);
}

static void session_wait(struct session *session, void (*fire)(struct timer *timer), int64_t ms)
{
    world_timer_start(session->server->options.world, &session->memory_timer, fire, session, ms);
}

/* Within quota_wait (is_asking), session_want_memory continues the session.  Otherwise it continues
 * in another loop turn, since the caller of quota_give has not finished. */
static void memory_granted(struct quota_waiter *waiter)
{
    struct session *session =
        (struct session *)(void *)((char *)waiter - offsetof(struct session, waiter));
    session_end_wait(session);
    session->taken_bytes = waiter->bytes;
    server_report(session->server);
    if (!session->is_asking)
        session_wait(session, memory_turn, 0);
}

static void session_want_memory(struct session *session, size_t input_bytes)
{
    struct quota *quota = &session->server->commands;
    session->waiter = (struct quota_waiter){.bytes = CONTROL_COMMAND_BYTES + input_bytes,
                                            .granted = memory_granted};
    if (session->waiter.bytes > quota->limit) {
        session_refuse(session, "what goes along with the command is more than the server has "
                                "memory for (--memory)");
        return;
    }
    network_pause(session->connection);
    session->is_asking = true;
    quota_wait(quota, &session->waiter);
    session->is_asking = false;
    if (session->waiter.is_waiting)
        session_wait(session, memory_wait_ended, MEMORY_WAIT_MS);
    else
        session_resume(session);
}

static void refuse_extra(struct session *session)
{
    session_refuse(session, "too many commands at a time; try again when some have ended");
}

static void session_take(struct session *session, struct bytes body)
{
    if (!session_prepare(session, body))
        return;
    if (session->is_extra && !session->entry->command->is_brief)
        refuse_extra(session);
    else if (session->taken_bytes > 0 || session->entry->command->is_brief) {
        session_run(session);
    } else {
        session->is_running = false;
        session_want_memory(session, 0);
    }
}

static void session_hand_over(struct session *session)
{
    struct connection *connection = session->connection;
    struct control_server *server = session->server;
    control_message_send(connection, CONTROL_OPEN, (struct bytes){0});
    door_leave(&session->slot);
    network_stop(connection);
    session->connection = NULL;
    session_free(session);
    server->options.ingest(server->options.context, connection);
}

/* ---- the connection ---- */

static void session_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct session *session = context;
    control_message_space(&session->reader, to_out, size_out);
}

static void session_data(void *context, size_t size)
{
    struct session *session = context;
    enum control_kind kind;
    struct bytes body;
    control_message_added(&session->reader, size);
    if (session->is_refused) {
        control_message_release(&session->reader);
        return;
    }
    int rc = control_message_next(&session->reader, &kind, &body);
    if (rc == 0) {
        size_t whole = control_message_whole(&session->reader);
        if (whole > SMALL_MAX && session->is_extra)
            refuse_extra(session);
        else if (whole > SMALL_MAX && session->taken_bytes == 0)
            session_want_memory(session, whole);
        return;
    }
    network_pause(session->connection);
    if (rc == 1 && kind == CONTROL_RUN)
        session_take(session, body);
    else if (rc == 1 && kind == CONTROL_INGEST && !session->is_extra &&
             session->server->options.ingest != NULL)
        session_hand_over(session);
    else
        session_close(session);
}

static void session_end(void *context, int status)
{
    struct session *session = context;
    if (status != 0 || !session->is_running)
        session_close(session);
}

static void session_drained(void *context)
{
    struct session *session = context;
    answer_count(session);
    if (session->output.drained != NULL)
        session->output.drained(session->output.drained_context);
    else if (!session->is_running && session->words != NULL && !session->is_refused &&
             !session->waiter.is_waiting)
        session_close(session);
}

static void session_closed(void *context)
{
    struct session *session = context;
    session->connection = NULL;
    door_leave(&session->slot);
    answer_count(session);
    if (session->is_running) {
        if (session->output.drained != NULL)
            session->output.drained(session->output.drained_context);
        return;
    }
    session_free(session);
}

static const struct connection_handler session_handler = {.space = session_space,
                                                          .data = session_data,
                                                          .end = session_end,
                                                          .drained = session_drained,
                                                          .closed = session_closed};

static struct session *session_of_slot(struct door_slot *slot)
{
    return (struct session *)(void *)((char *)slot - offsetof(struct session, slot));
}

static void session_evict(struct door_slot *slot)
{
    session_close(session_of_slot(slot));
}

static void server_came(void *context, struct connection *connection)
{
    struct control_server *server = context;
    struct session *session = memory_zeroed(1, sizeof(*session));
    session->output = (struct command_output){.write = output_write,
                                              .is_full = output_is_full,
                                              .keep = output_keep,
                                              .finish = output_finish};
    session->server = server;
    session->connection = connection;
    session->next = server->sessions;
    server->sessions = session;
    network_start(connection, &session_handler, session);
    session->is_extra = !door_enter(&server->door, &session->slot, connection);
    server->extra_count += session->is_extra;
    if (server->extra_count > CONTROL_BRIEF_MAX)
        refuse_extra(session);
}

int control_server_open(const struct control_server_options *options,
                        struct control_server **server_out, struct error *err)
{
    struct control_server *server = memory_zeroed(1, sizeof(*server));
    server->options = *options;
    server->options.long_us = options->long_us > 0 ? options->long_us : LONG_US;
    server->long_log.period_us = LONG_LOG_PERIOD_US;
    struct quota part = {.parent = &server->held,
                         .limit = options->bytes_max > 0 ? options->bytes_max : CONTROL_BYTES_MAX};
    server->held = (struct quota){.limit = SIZE_MAX};
    server->commands = server->answers = server->kept = part;
    struct door_options door = {.name = "control",
                                .network = options->network,
                                .world = options->world,
                                .slots_max = options->connections_max > 0 ? options->connections_max
                                                                          : CONTROL_CONNECTIONS_MAX,
                                .came = server_came,
                                .context = server,
                                .evict = session_evict};
    door_open(&server->door, &door);
    int rc = door_listen_unix(&server->door, options->path, err);
    if (rc != 0) {
        door_close(&server->door);
        memory_free(server);
        server = NULL;
    }
    *server_out = server;
    return rc;
}

void control_server_close(struct control_server *server, void (*closed)(void *context),
                          void *context)
{
    server->closed = closed;
    server->closed_context = context;
    door_stop(&server->door);
    server->is_closing = true;
    for (struct session *session = server->sessions; session != NULL; session = session->next)
        session_close_if_idle(session);
    server_free_if_idle(server);
}

void control_server_dump(const struct control_server *server, struct buffer *text)
{
    door_dump(&server->door, text);
}
