/* The CQL door, spoken to over real sockets, on a cql that answers when it is told to: versions and
 * their refusal, logging in, answers under their streams, events, limits, and what is left of a
 * connection that dies with requests under way. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <uv.h>

#include "codec/native_compress.h"
#include "query/native/native_connection.h"
#include "query/native/native_password.h"
#include "codec/native_segment.h"
#include "base/arena.h"
#include "base/memory.h"
#include "storage/schema/type.h"
#include "tests/lib/network_client.h"
#include "tests/lib/secret.h"

/* ---- a cql that the test answers for ---- */

enum { RUN_MAX = 5000 };

struct cql {
    void (*changed)(void *context, const struct cql_schema_change *change);
    void *context;
    uint32_t runs;
    struct {
        cql_answer answer;
        void *context;
        struct cql_request request;
    } held[RUN_MAX];
    uint32_t held_count;
    bool is_crowded, is_full, is_stopping;
    void (*has_room)(void *context);
    void *room_context;
    char user[128];
    uint32_t row_bytes; /* of the one cell of an answer of rows */
};

static struct cql fake;

void cql_session_init(struct cql_session *session, struct cql *cql)
{
    *session = (struct cql_session){.cql = cql};
}

void cql_on_schema_change(struct cql *cql,
                          void (*changed)(void *context, const struct cql_schema_change *change),
                          void *context)
{
    cql->changed = changed;
    cql->context = context;
}

bool cql_is_crowded(const struct cql *cql)
{
    return cql->is_crowded;
}

bool cql_is_full(const struct cql *cql)
{
    return cql->is_full;
}

void cql_session_leave(struct cql_session *session, int64_t grace_us)
{
    session->leaves = true;
    session->leaves_us = grace_us;
}

void cql_stop(struct cql *cql)
{
    cql->is_stopping = true;
}

void cql_on_room(struct cql *cql, void (*has_room)(void *context), void *context)
{
    cql->has_room = has_room;
    cql->room_context = context;
}

static void answer_rows(cql_answer answer, void *context, const struct cql_request *request)
{
    struct cql_column column = {"ks", "t", "v", type_builtin(TYPE_BLOB)};
    struct buffer cells = {0};
    struct cql_result result = {.kind = CQL_RESULT_ROWS};

    buffer_put_u32_be(&cells, fake.row_bytes);
    buffer_put_zeros(&cells, fake.row_bytes);
    result.rows = (struct cql_rows){.metadata = {&column, 1},
                                    .row_count = 1,
                                    .cells = buffer_view(&cells),
                                    .paging_state = request->paging_state};
    answer(context, &result);
    buffer_release(&cells);
}

/* Statements are words: void, rows, error; what begins with `hold` is answered by the test. */
void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context)
{
    static const char *const warnings[] = {"take care"};
    struct cql_result result = {.kind = CQL_RESULT_VOID};

    fake.runs++;
    memcpy(fake.user, session->user, sizeof fake.user);
    if (bytes_equal(request->text, bytes_text("rows"))) {
        answer_rows(answer, context, request);
        return;
    }
    if (bytes_equal(request->text, bytes_text("error"))) {
        result.kind = CQL_RESULT_ERROR;
        result.error = (struct cql_error){.code = CQL_WRITE_TIMEOUT,
                                          .message = "not known",
                                          .consistency = CQL_QUORUM,
                                          .write_type = "COUNTER"};
        result.extras.warnings = warnings;
        result.extras.warning_count = 1;
    }
    if (request->text.size >= 4 && memcmp(request->text.data, "hold", 4) == 0) {
        cr_assert(fake.held_count < RUN_MAX);
        fake.held[fake.held_count].answer = answer;
        fake.held[fake.held_count].context = context;
        fake.held[fake.held_count++].request = *request;
        return;
    }
    answer(context, &result);
}

/* Answer what is held, the last one first. */
static void fake_answer_all(void)
{
    struct cql_result result = {.kind = CQL_RESULT_VOID};

    while (fake.held_count > 0) {
        uint32_t i = --fake.held_count;

        fake.held[i].answer(fake.held[i].context, &result);
    }
}

static void fake_answer_rows(void)
{
    uint32_t i = --fake.held_count;
    struct cql_request request = fake.held[i].request;

    answer_rows(fake.held[i].answer, fake.held[i].context, &request);
}

/* ---- the door ---- */

static uv_loop_t loop;
static struct network *network;
static struct world *world;
static struct metrics *metrics;
static struct native_door *door;
static struct native_passwords *passwords;
static bool door_is_closed;
static char root[] = "/tmp/daybook-native-XXXXXX";

static void open_door(const struct native_limits *limits)
{
    struct native_options options = {.cql = &fake,
                                     .world = world,
                                     .network = network,
                                     .metrics = metrics,
                                     .passwords = passwords,
                                     .limits = *limits};

    door = native_door_new(&options);
}

static void setup(void)
{
    struct error err = {0};

    cr_assert(mkdtemp(root) != NULL);
    cr_assert(uv_loop_init(&loop) == 0);
    network = network_uv_new(&loop);
    metrics = metrics_new();
    cr_assert(world_uv_open(root, false, &loop, &world, &err) == 0, "%s", err.text);
    open_door(&(struct native_limits){.slow_reader_ms = 300, .linger_ms = 200});
}

static void closed(void *context)
{
    (void)context;
    door_is_closed = true;
}

static void close_door(void)
{
    door_is_closed = false;
    native_door_close(door, closed, NULL);
    while (!door_is_closed)
        uv_run(&loop, UV_RUN_ONCE);
}

static void teardown(void)
{
    close_door();
    native_password_free(passwords);
    metrics_free(metrics);
    network_uv_free(network);
    world_uv_close(world);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_expect(uv_loop_close(&loop) == 0, "every handle was given back");
    rmdir(root);
}

TestSuite(native_door, .init = setup, .fini = teardown, .timeout = 60);

/* The same door under other limits. */
static void reopen_door(const struct native_limits *limits)
{
    close_door();
    open_door(limits);
}

/* ---- clients ---- */

struct client {
    struct network_client network; /* its `got` is what the inbox has not taken */
    struct native_inbox inbox;
    struct native_outbox outbox;
    bool is_raw;
    struct arena *arena; /* of the last answer */
};

static void client_open(struct client *client, uint8_t version)
{
    memset(client, 0, sizeof *client);
    native_door_attach(door, network_client_open(&client->network, network));
    client->arena = arena_new(1 << 16);
    native_inbox_init(&client->inbox, true, NATIVE_BODY_MAX);
    native_outbox_init(&client->outbox, true);
    client->outbox.version = version;
}

static void client_close(struct client *client)
{
    network_client_close(&client->network, &loop);
    native_inbox_release(&client->inbox);
    native_outbox_release(&client->outbox);
    arena_free(client->arena);
}

static void turn(int turns)
{
    for (int i = 0; i < turns; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
}

static void send_request(struct client *client, int16_t stream,
                         const struct native_request *request)
{
    struct buffer wire = {0};

    native_request_encode(request, client->outbox.version,
                          native_outbox_begin(&client->outbox, native_request_flags(request),
                                              stream, (uint8_t)request->opcode));
    native_outbox_end(&client->outbox);
    native_outbox_take(&client->outbox, &wire);
    network_write(client->network.connection, buffer_view(&wire));
    buffer_release(&wire);
}

static void send_query(struct client *client, int16_t stream, const char *text)
{
    struct native_request request = {.opcode = NATIVE_QUERY, .cql = {.text = bytes_text(text)}};

    send_request(client, stream, &request);
}

/* The next answer there is, without waiting. */
static bool poll_answer(struct client *client, int16_t *stream_out,
                        struct native_response *response_out)
{
    struct native_envelope envelope;
    struct error err = {0};
    int rc = native_inbox_next(&client->inbox, &envelope, &err);

    if (rc == 0 && client->network.got.size > 0) {
        native_inbox_add(&client->inbox, buffer_view(&client->network.got));
        buffer_clear(&client->network.got);
        rc = native_inbox_next(&client->inbox, &envelope, &err);
    }
    cr_assert(rc >= 0, "%s", err.text);
    if (rc == 0)
        return false;
    envelope.body = arena_copy(client->arena, envelope.body);
    cr_assert(native_response_decode(&envelope, client->arena, response_out, &err) == 0, "%s",
              err.text);
    *stream_out = envelope.stream;
    return true;
}

static struct native_response wait_answer(struct client *client, int16_t stream)
{
    struct native_response response;
    int16_t got;

    while (!poll_answer(client, &got, &response))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(got == stream, "stream %d, not %d", got, stream);
    return response;
}

static void expect_error(struct client *client, int16_t stream, uint32_t code, const char *message)
{
    struct native_response response = wait_answer(client, stream);

    cr_assert(response.opcode == NATIVE_ERROR);
    cr_expect(response.error.code == code, "0x%04x", response.error.code);
    cr_expect_str_eq(response.error.message, message);
}

static struct native_response start(struct client *client, const char *compression)
{
    struct cql_payload options[] = {{bytes_text("cql_version"), bytes_text("3.0.0")},
                                    {bytes_text("COMPRESSION"), bytes_text(compression)}};
    struct native_request request = {
        .opcode = NATIVE_STARTUP, .options = options, .option_count = 2};
    struct native_response response;
    enum native_compression agreed = strcmp(compression, "lz4") == 0      ? NATIVE_LZ4
                                     : strcmp(compression, "snappy") == 0 ? NATIVE_SNAPPY
                                                                          : NATIVE_PLAIN;

    send_request(client, 1, &request);
    response = wait_answer(client, 1);
    if (response.opcode != NATIVE_ERROR) {
        native_inbox_start(&client->inbox, agreed);
        native_outbox_start(&client->outbox, agreed);
    }
    return response;
}

static void client_serve(struct client *client, uint8_t version)
{
    client_open(client, version);
    cr_assert(start(client, "").opcode == NATIVE_READY);
}

static void wait_end(struct client *client)
{
    while (!client->network.has_ended)
        uv_run(&loop, UV_RUN_ONCE);
}

static int64_t metric_of(const char *name, const char *labels)
{
    for (const struct metric *metric = metrics_first(metrics); metric != NULL;
         metric = metric->next) {
        if (strcmp(metric->name, name) == 0 && strcmp(metric->labels, labels) == 0)
            return metric->value;
    }
    cr_assert_fail("no metric %s{%s}", name, labels);
    return 0;
}

/* ---- versions ---- */

/* As every driver needs it: stream 0, the highest version, the words, and then the end. */
Test(native_door, an_unknown_version_is_refused_as_drivers_understand_it)
{
    static const struct {
        uint8_t request[9];
        size_t header_size;
        uint8_t version;
        const char *message;
    } cases[] = {
        {{66, 0, 0, 1, 5, 0, 0, 0, 0},
         9,
         0x85,
         "Invalid or unsupported protocol version (66); supported versions are (3/v3, 4/v4, "
         "5/v5)"},
        {{65, 0, 0, 1, 5, 0, 0, 0, 0},
         9,
         0x85,
         "Invalid or unsupported protocol version (65); supported versions are (3/v3, 4/v4, "
         "5/v5)"},
        {{2, 0, 1, 5, 0, 0, 0, 0},
         8,
         0x82,
         "Invalid or unsupported protocol version (2); supported versions are (3/v3, 4/v4, 5/v5)"},
        {{6, 0, 0, 1, 5, 0, 0, 0, 0},
         9,
         0x85,
         "Beta version of the protocol used (6/v6-beta), but USE_BETA flag is unset"},
        {{6, 0x10, 0, 1, 5, 0, 0, 0, 0},
         9,
         0x85,
         "Invalid or unsupported protocol version (6); supported versions are (3/v3, 4/v4, 5/v5)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t header_size = cases[i].header_size;
        struct client client;

        client_open(&client, 5);
        network_write(client.network.connection, bytes_of(cases[i].request, header_size));
        wait_end(&client);
        cr_expect(client.network.got.size == header_size + 6 + strlen(cases[i].message));
        cr_expect(client.network.got.data[0] == cases[i].version);
        cr_expect(client.network.got.data[1] == 0 && client.network.got.data[2] == 0, "stream 0");
        cr_expect(client.network.got.data[header_size - 5] == NATIVE_ERROR);
        cr_expect(load_u32_be(client.network.got.data + header_size) == 0x000A);
        cr_expect(bytes_equal(bytes_of(client.network.got.data + header_size + 6,
                                       client.network.got.size - header_size - 6),
                              bytes_text(cases[i].message)));
        client_close(&client);
    }
    cr_expect(metric_of("daybook_cql_refused_total", "") == 5);
}

Test(native_door, options_are_answered_before_and_after_startup)
{
    for (uint8_t version = 3; version <= 5; version++) {
        struct native_request options = {.opcode = NATIVE_OPTIONS};
        struct native_response response;
        struct client client;

        client_open(&client, version);
        for (int16_t stream = 0; stream < 2; stream++) {
            send_request(&client, stream, &options);
            response = wait_answer(&client, stream);
            cr_assert(response.opcode == NATIVE_SUPPORTED && response.supported_count == 3);
            cr_expect_str_eq(response.supported[0].name, "CQL_VERSION");
            cr_expect_str_eq(response.supported[0].values[0], "3.4.7");
            cr_expect_str_eq(response.supported[2].values[2], "5/v5");
            if (stream == 0)
                cr_assert(start(&client, "lz4").opcode == NATIVE_READY);
        }
        client_close(&client);
    }
}

Test(native_door, a_startup_that_asks_for_what_is_not_there_is_told_what)
{
    static const struct {
        const char *names[2];
        const char *values[2];
        uint8_t version;
        const char *message;
    } cases[] = {
        {{"DRIVER_NAME", "X"}, {"a", "b"}, 4, "Missing value CQL_VERSION in STARTUP message"},
        {{"CQL_VERSION", "X"},
         {"2.0.0", "b"},
         4,
         "CQL version 2.0.0 is not supported by the binary protocol (supported version are >= "
         "3.0.0)"},
        {{"CQL_VERSION", "X"},
         {"three", "b"},
         4,
         "CQL version three is not supported by the binary protocol (supported version are >= "
         "3.0.0)"},
        {{"CQL_VERSION", "COMPRESSION"}, {"3.0.0", "zip"}, 4, "Unknown compression algorithm: zip"},
        {{"CQL_VERSION", "Compression"},
         {"4.0.0", "snappy"},
         5,
         "Unknown compression algorithm: snappy"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cql_payload options[] = {
            {bytes_text(cases[i].names[0]), bytes_text(cases[i].values[0])},
            {bytes_text(cases[i].names[1]), bytes_text(cases[i].values[1])}};
        struct native_request request = {
            .opcode = NATIVE_STARTUP, .options = options, .option_count = 2};
        struct client client;

        client_open(&client, cases[i].version);
        send_request(&client, 3, &request);
        expect_error(&client, 3, 0x000A, cases[i].message);
        cr_expect(start(&client, "").opcode == NATIVE_READY, "and may try again");
        client_close(&client);
    }
}

Test(native_door, what_comes_out_of_turn_is_named_and_harms_nothing)
{
    struct native_request options = {.opcode = NATIVE_OPTIONS};
    struct client client;

    client_open(&client, 4);
    send_query(&client, 2, "void");
    expect_error(&client, 2, 0x000A, "Unexpected message QUERY, expecting STARTUP or OPTIONS");
    cr_assert(start(&client, "").opcode == NATIVE_READY);
    cr_assert(start(&client, "").opcode == NATIVE_ERROR);
    network_write(client.network.connection, bytes_of("\4\0\0\5\x08\0\0\0\0", 9));
    expect_error(&client, 5, 0x000A, "Unexpected message RESULT, it is no request");
    network_write(client.network.connection, bytes_of("\4\0\0\5\x77\0\0\0\0", 9));
    expect_error(&client, 5, 0x000A, "Unknown opcode 119");
    network_write(client.network.connection, bytes_of("\4\0\0\6\x07\0\0\0\3abc", 12));
    expect_error(&client, 6, 0x000A, "Invalid or truncated body of a QUERY message");
    network_write(client.network.connection, bytes_of("\4\0\xff\xfe\x05\0\0\0\0", 9));
    expect_error(&client, -2, 0x000A, "A negative stream id is the server's");
    send_request(&client, 7, &options);
    cr_expect(wait_answer(&client, 7).opcode == NATIVE_SUPPORTED);
    cr_expect(metric_of("daybook_cql_errors_total", "code=\"0x000A\"") == 6);
    client_close(&client);
}

Test(native_door, a_connection_may_not_change_its_version)
{
    struct client client;

    client_serve(&client, 4);
    network_write(client.network.connection, bytes_of("\3\0\0\1\5\0\0\0\0", 9));
    expect_error(&client, 0, 0x000A,
                 "Invalid message version. Got 3/v3 but previous messages on this connection had "
                 "version 4/v4");
    wait_end(&client);
    client_close(&client);
}

Test(native_door, damaged_segments_end_the_connection_with_an_error)
{
    struct client client;

    client_serve(&client, 5);
    network_write(client.network.connection, bytes_of("\1\0\2\0\0\0x\0\0\0\0", 11));
    expect_error(&client, 0, 0x000A, "a segment's header is damaged");
    wait_end(&client);
    client_close(&client);
}

/* ---- statements ---- */

Test(native_door, every_version_and_compression_carries_requests_and_answers)
{
    static const struct {
        uint8_t version;
        const char *compression;
    } cases[] = {{3, ""}, {3, "lz4"}, {4, "snappy"}, {4, "lz4"}, {5, ""}, {5, "lz4"}};

    fake.row_bytes = 300000;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct native_response response;
        struct client client;

        client_open(&client, cases[i].version);
        cr_assert(start(&client, cases[i].compression).opcode == NATIVE_READY);
        send_query(&client, 300, "rows");
        response = wait_answer(&client, 300);
        cr_assert(response.opcode == NATIVE_RESULT);
        cr_expect(response.result.rows.cells.size == 300004);
        send_query(&client, 7, "error");
        response = wait_answer(&client, 7);
        cr_expect(response.error.code == 0x1100 && response.error.consistency == CQL_QUORUM);
        cr_expect(response.error.received == 0 && response.error.required == 1);
        cr_expect_str_eq(response.error.write_type, "COUNTER");
        cr_expect(response.extras.warning_count == (cases[i].version >= 4 ? 1 : 0));
        client_close(&client);
    }
}

Test(native_door, answers_come_in_any_order_under_their_streams_and_options_pass_all)
{
    struct native_request options = {.opcode = NATIVE_OPTIONS};
    struct client client;

    client_serve(&client, 4);
    for (int16_t stream = 10; stream < 13; stream++)
        send_query(&client, stream, "hold");
    send_request(&client, 13, &options);
    cr_expect(wait_answer(&client, 13).opcode == NATIVE_SUPPORTED);
    cr_expect(fake.held_count == 3);
    fake_answer_all();
    for (int16_t stream = 12; stream >= 10; stream--)
        cr_expect(wait_answer(&client, stream).result.kind == CQL_RESULT_VOID);
    client_close(&client);
}

/* Send `segments` segments of as many OPTIONS as fit; compressed, each has some 600 bytes.  Returns
 * the number of OPTIONS. */
static int64_t send_many_options(struct client *client, int segments)
{
    int64_t count = NATIVE_SEGMENT_PAYLOAD_MAX / NATIVE_HEADER_SIZE;
    struct buffer plain = {0};
    struct buffer wire = {0};

    for (int64_t i = 0; i < count; i++)
        buffer_append(&plain, "\5\0\0\7\5\0\0\0\0", NATIVE_HEADER_SIZE);
    for (int i = 0; i < segments; i++)
        native_segment_put(&wire, buffer_view(&plain), true, true);
    network_write(client->network.connection, buffer_view(&wire));
    buffer_release(&plain);
    buffer_release(&wire);
    return segments * count;
}

/* Send them, and wait for their answers: no turn of the loop makes more answers than `most`. */
static void expect_options_in_turns(struct client *client, int segments, int64_t most)
{
    static const char name[] = "daybook_cql_requests_total";
    int64_t first = metric_of(name, "kind=\"OPTIONS\"");
    int64_t count = send_many_options(client, segments);
    int64_t answered = 0;

    while (answered < count) {
        struct native_response response;
        int64_t before = metric_of(name, "kind=\"OPTIONS\"");
        int16_t stream;

        turn(1);
        cr_assert(metric_of(name, "kind=\"OPTIONS\"") - before <= most, "%" PRId64,
                  metric_of(name, "kind=\"OPTIONS\"") - before);
        for (; poll_answer(client, &stream, &response); answered++)
            cr_assert(stream == 7 && response.opcode == NATIVE_SUPPORTED);
        arena_reset(client->arena);
    }
    cr_expect(answered == count && metric_of(name, "kind=\"OPTIONS\"") == first + count);
}

Test(native_door, requests_that_a_few_bytes_hold_are_taken_in_turns)
{
    struct client client;

    client_open(&client, 5);
    cr_assert(start(&client, "lz4").opcode == NATIVE_READY);
    expect_options_in_turns(&client, 2, 2048);
    send_query(&client, 9, "void");
    cr_expect(wait_answer(&client, 9).result.kind == CQL_RESULT_VOID);
    client_close(&client);
}

/* More than may run at a time wait their turn, and heartbeats pass them all. */
Test(native_door, statements_beyond_those_that_run_wait_their_turn)
{
    struct native_request options = {.opcode = NATIVE_OPTIONS};
    struct client client;
    uint32_t answers = 0;

    client_serve(&client, 4);
    for (int16_t stream = 0; stream < 3000; stream++)
        send_query(&client, stream, "hold");
    send_request(&client, 3001, &options);
    cr_expect(wait_answer(&client, 3001).opcode == NATIVE_SUPPORTED);
    cr_expect(fake.held_count == NATIVE_RUNNING_MAX);
    while (answers < 3000) {
        struct native_response response;
        int16_t stream;

        fake_answer_all();
        turn(1);
        while (poll_answer(&client, &stream, &response))
            answers++;
    }
    cr_expect(fake.runs == 3000);
    client_close(&client);
}

Test(native_door, what_there_is_no_room_for_is_refused_before_it_runs)
{
    struct native_request options = {.opcode = NATIVE_OPTIONS};
    struct native_request large = {.opcode = NATIVE_QUERY};
    struct buffer text = {0};
    struct client client;

    reopen_door(&(struct native_limits){.connection_bytes_max = 200000, .linger_ms = 200});
    client_serve(&client, 4);
    buffer_append_text(&text, "hold");
    buffer_put_zeros(&text, 150000);
    large.cql.text = buffer_view(&text);
    send_request(&client, 1, &large);
    send_request(&client, 2, &large);
    expect_error(&client, 2, 0x1001, "Too many requests are under way");
    send_request(&client, 3, &options);
    cr_expect(wait_answer(&client, 3).opcode == NATIVE_SUPPORTED);
    send_query(&client, 4, "hold");
    turn(5);
    cr_expect(fake.held_count == 2);
    fake_answer_all();
    turn(5);
    cr_expect(metric_of("daybook_cql_request_bytes", "") < 10000);
    buffer_release(&text);
    client_close(&client);
}

Test(native_door, a_body_over_the_limit_is_refused_and_passed_over)
{
    struct native_request options = {.opcode = NATIVE_OPTIONS};
    struct client client;
    struct buffer zeros = {0};

    client_serve(&client, 4);
    /* 17 MiB */
    network_write(client.network.connection, bytes_of("\4\0\0\7\7\1\x10\0\0", 9));
    expect_error(&client, 7, 0x2200,
                 "Request is too big: length 17825792 exceeds maximum allowed length 16777216.");
    buffer_put_zeros(&zeros, 17825792);
    network_write(client.network.connection, buffer_view(&zeros));
    send_request(&client, 8, &options);
    cr_expect(wait_answer(&client, 8).opcode == NATIVE_SUPPORTED);
    cr_expect(metric_of("daybook_cql_request_bytes", "") == 0);
    buffer_release(&zeros);
    client_close(&client);
}

/* Bodies that nobody finishes are memory, too. */
Test(native_door, bodies_half_sent_by_many_stay_within_the_limit)
{
    enum { CLIENTS = 20, SENT = 1 << 20 };
    static struct client clients[CLIENTS];
    struct buffer zeros = {0};
    uint32_t refused = 0;

    reopen_door(&(struct native_limits){.bytes_max = 8 << 20, .linger_ms = 200});
    buffer_put_zeros(&zeros, SENT);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        client_serve(&clients[i], 4);
        network_write(clients[i].network.connection, bytes_of("\4\0\0\7\7\0\x20\0\0", 9));
        network_write(clients[i].network.connection, buffer_view(&zeros));
    }
    for (int i = 0; i < 2000; i++)
        turn(1);
    cr_expect(metric_of("daybook_cql_request_bytes", "") <= 12 << 20);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        struct native_response response;
        int16_t stream;

        if (poll_answer(&clients[i], &stream, &response))
            refused += response.error.code == CQL_OVERLOADED;
    }
    cr_expect(refused >= 10, "%u", refused);
    for (uint32_t i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    turn(10);
    cr_expect(metric_of("daybook_cql_request_bytes", "") == 0);
    buffer_release(&zeros);
}

Test(native_door, no_request_starts_while_others_hold_too_much_memory)
{
    struct native_request options = {.opcode = NATIVE_OPTIONS};
    struct client client;

    client_serve(&client, 4);
    fake.is_crowded = true;
    send_query(&client, 3, "void");
    cr_expect(wait_answer(&client, 3).opcode == NATIVE_RESULT,
              "a connection that has nothing under way need not wait");
    fake.runs = 0;
    fake.is_full = true;
    send_query(&client, 1, "void");
    send_request(&client, 2, &options);
    cr_expect(wait_answer(&client, 2).opcode == NATIVE_SUPPORTED);
    cr_expect(fake.runs == 0);
    fake.is_crowded = fake.is_full = false;
    fake.has_room(fake.room_context);
    cr_expect(wait_answer(&client, 1).opcode == NATIVE_RESULT);
    client_close(&client);
}

enum { NON_READERS = 8 };

/* Connect clients that ask for more answers than answer_bytes_max allows, and read none. */
static void ask_and_do_not_read(struct client clients[NON_READERS])
{
    fake.row_bytes = 60 << 10;
    for (uint32_t i = 0; i < NON_READERS; i++) {
        client_serve(&clients[i], 4);
        network_pause(clients[i].network.connection);
        for (int16_t stream = 0; stream < 100; stream++)
            send_query(&clients[i], stream, "rows");
    }
}

/* Together they fill the limit, though each is within its own: those who read are served on. */
Test(native_door, while_answers_fill_the_limit_only_who_reads_is_served)
{
    static struct client clients[NON_READERS];
    struct client reader;

    reopen_door(&(struct native_limits){
        .answer_bytes_max = 4 << 20, .slow_reader_ms = 400, .linger_ms = 200});
    ask_and_do_not_read(clients);
    client_serve(&reader, 4);
    for (int i = 0; i < 100; i++)
        turn(1);
    cr_expect(metric_of("daybook_cql_answer_bytes", "") <= 6 << 20, "%lld",
              (long long)metric_of("daybook_cql_answer_bytes", ""));
    send_query(&reader, 1, "rows");
    cr_expect(wait_answer(&reader, 1).opcode == NATIVE_RESULT);
    while (metric_of("daybook_cql_connections", "") > 1)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(metric_of("daybook_cql_answer_bytes", "") == 0);
    for (uint32_t i = 0; i < NON_READERS; i++)
        client_close(&clients[i]);
    client_close(&reader);
}

/* Its page was made when there was room for it, and there is none when it is ready. */
Test(native_door, a_read_for_whose_answer_others_leave_no_room_is_run_again_for_a_short_page)
{
    static struct client clients[NON_READERS];
    struct client reader;

    reopen_door(&(struct native_limits){
        .answer_bytes_max = 4 << 20, .slow_reader_ms = 400, .linger_ms = 200});
    client_serve(&reader, 4);
    send_query(&reader, 1, "hold");
    turn(5);
    cr_assert(fake.held_count == 1 && !fake.held[0].request.is_short);
    ask_and_do_not_read(clients);
    turn(100);
    fake.row_bytes = 1 << 20;
    fake_answer_rows();
    cr_assert(fake.held_count == 1 && fake.held[0].request.is_short);
    fake.row_bytes = 30 << 10;
    fake_answer_rows();
    cr_expect(wait_answer(&reader, 1).opcode == NATIVE_RESULT);
    /* A row that is large by itself is refused the second time. */
    send_query(&reader, 2, "hold");
    turn(5);
    cr_assert(fake.held_count == 1 && fake.held[0].request.is_short);
    fake.row_bytes = 1 << 20;
    fake_answer_rows();
    expect_error(&reader, 2, CQL_READ_TIMEOUT, "Too many answers wait for their readers");
    for (uint32_t i = 0; i < NON_READERS; i++)
        client_close(&clients[i]);
    client_close(&reader);
}

/* It is neither read from without end nor written to, and hung up at last. */
Test(native_door, a_client_that_does_not_read_is_held_up_and_hung_up)
{
    struct client client;

    client_serve(&client, 4);
    fake.row_bytes = 1 << 20;
    network_pause(client.network.connection);
    for (int16_t i = 0; i < 200; i++)
        send_query(&client, i, "rows");
    for (int i = 0; i < 100; i++)
        turn(1);
    cr_expect(fake.runs < 20, "%u ran", fake.runs);
    while (metric_of("daybook_cql_connections", "") > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(metric_of("daybook_cql_answer_bytes", "") == 0);
    client_close(&client);
}

/* One that reads, however late, gets everything. */
Test(native_door, a_slow_client_gets_every_answer)
{
    struct client client;
    uint32_t answers = 0;

    client_serve(&client, 5);
    fake.row_bytes = 100000;
    network_pause(client.network.connection);
    for (int16_t i = 0; i < 200; i++)
        send_query(&client, i, "rows");
    turn(50);
    network_resume(client.network.connection);
    while (answers < 200) {
        struct native_response response;
        int16_t stream;

        turn(1);
        while (poll_answer(&client, &stream, &response)) {
            cr_assert(response.opcode == NATIVE_RESULT);
            answers++;
        }
        arena_reset(client.arena);
    }
    client_close(&client);
}

Test(native_door, a_half_closed_connection_is_answered_and_then_closed)
{
    struct client client;

    client_serve(&client, 4);
    send_query(&client, 1, "hold");
    network_finish(client.network.connection);
    turn(5);
    cr_expect(fake.held_count == 1 && !client.network.has_ended);
    fake_answer_all();
    cr_expect(wait_answer(&client, 1).opcode == NATIVE_RESULT);
    wait_end(&client);
    client_close(&client);
    cr_expect(metric_of("daybook_cql_connections", "") == 0);
}

Test(native_door, a_connection_that_dies_leaves_its_requests_to_be_answered_into_nothing)
{
    struct client client;

    client_serve(&client, 4);
    for (int16_t i = 0; i < 2000; i++)
        send_query(&client, i, "hold");
    while (fake.held_count < NATIVE_RUNNING_MAX)
        turn(1);
    client_close(&client);
    turn(10);
    cr_expect(metric_of("daybook_cql_connections", "") == 1, "its session is still needed");
    while (metric_of("daybook_cql_connections", "") > 0) {
        fake_answer_all();
        turn(1);
    }
    cr_expect(fake.held_count == 0);
    cr_expect(metric_of("daybook_cql_request_bytes", "") == 0);
}

Test(native_door, a_closing_door_answers_what_runs_and_refuses_what_comes)
{
    struct client client;

    client_serve(&client, 4);
    send_query(&client, 1, "hold");
    while (fake.held_count == 0)
        turn(1);
    door_is_closed = false;
    native_door_close(door, closed, NULL);
    send_query(&client, 2, "void");
    expect_error(&client, 2, 0x1001, "The server is shutting down");
    cr_expect(!door_is_closed);
    fake_answer_all();
    cr_expect(wait_answer(&client, 1).result.kind == CQL_RESULT_VOID);
    while (!door_is_closed)
        uv_run(&loop, UV_RUN_ONCE);
    client_close(&client);
    open_door(&(struct native_limits){0});
}

Test(native_door, a_connection_beyond_the_limit_has_the_place_of_an_idle_one)
{
    struct client first;
    struct client second;

    reopen_door(&(struct native_limits){.connections_max = 1, .linger_ms = 200});
    client_serve(&first, 4);
    client_serve(&second, 4);
    wait_end(&first);
    send_query(&second, 1, "void");
    cr_expect(wait_answer(&second, 1).opcode == NATIVE_RESULT);
    client_close(&second);
    client_close(&first);
}

Test(native_door, a_connection_beyond_the_limit_is_hung_up_where_all_wait_for_answers)
{
    struct client first;
    struct client second;

    reopen_door(&(struct native_limits){.connections_max = 1, .linger_ms = 200});
    client_serve(&first, 4);
    send_query(&first, 1, "hold");
    while (fake.held_count == 0)
        turn(1);
    client_open(&second, 4);
    wait_end(&second);
    fake_answer_all();
    cr_expect(wait_answer(&first, 1).opcode == NATIVE_RESULT);
    client_close(&second);
    client_close(&first);
}

/* ---- events ---- */

Test(native_door, a_change_of_the_schema_reaches_those_who_registered_before_the_answer)
{
    static const struct bytes names[] = {{(const uint8_t *)"SCHEMA_CHANGE", 13},
                                         {(const uint8_t *)"STATUS_CHANGE", 13}};
    static const struct bytes unknown[] = {{(const uint8_t *)"MOOD_CHANGE", 11}};
    struct cql_schema_change change = {CQL_CREATED, CQL_TARGET_TABLE, "ks", "t"};
    struct native_request request = {.opcode = NATIVE_REGISTER, .events = names, .event_count = 2};
    struct native_response response;
    struct client listening;
    struct client deaf;

    client_serve(&listening, 5);
    client_serve(&deaf, 4);
    send_request(&listening, 9, &request);
    cr_assert(wait_answer(&listening, 9).opcode == NATIVE_READY);
    send_query(&listening, 10, "hold");
    while (fake.held_count == 0)
        turn(1);
    fake.changed(fake.context, &change);
    fake_answer_all();
    response = wait_answer(&listening, -1);
    cr_assert(response.opcode == NATIVE_EVENT);
    cr_expect(response.event.schema.change == CQL_CREATED);
    cr_expect_str_eq(response.event.schema.name, "t");
    cr_expect(wait_answer(&listening, 10).opcode == NATIVE_RESULT);
    cr_expect(deaf.network.got.size == 0);
    request.events = unknown;
    request.event_count = 1;
    send_request(&listening, 11, &request);
    expect_error(&listening, 11, 0x000A, "Invalid value 'MOOD_CHANGE' for Type");
    client_close(&listening);
    client_close(&deaf);
}

/* ---- logging in ---- */

/* bcrypt at cost 10, of "secret". */
static const char password_file[] =
    "# who may\n"
    "alice:$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u\n";

static void lock_door(void)
{
    struct error err;

    cr_assert(native_password_parse(bytes_text(password_file), &passwords, &err) == 0, "%s",
              err.text);
    reopen_door(&(struct native_limits){.linger_ms = 200});
}

static void send_token(struct client *client, int16_t stream, const char *token, size_t size)
{
    struct native_request request = {.opcode = NATIVE_AUTH_RESPONSE,
                                     .token = bytes_of(token, size)};

    send_request(client, stream, &request);
}

Test(native_door, the_right_password_opens_the_door)
{
    for (uint8_t version = 3; version <= 5; version++) {
        struct native_request options = {.opcode = NATIVE_OPTIONS};
        struct native_response response;
        struct client client;

        if (version == 3)
            lock_door();
        client_open(&client, version);
        response = start(&client, "lz4");
        cr_assert(response.opcode == NATIVE_AUTHENTICATE);
        cr_expect_str_eq(response.authenticator, "org.apache.cassandra.auth.PasswordAuthenticator");
        send_query(&client, 2, "void");
        expect_error(&client, 2, 0x000A, "Unexpected message QUERY, expecting AUTH_RESPONSE");
        send_token(&client, 3, "\0alice\0secret", 13);
        send_request(&client, 4, &options);
        cr_expect(wait_answer(&client, 4).opcode == NATIVE_SUPPORTED, "while bcrypt works");
        response = wait_answer(&client, 3);
        cr_assert(response.opcode == NATIVE_AUTH_SUCCESS && response.token.data == NULL);
        send_query(&client, 5, "void");
        cr_expect(wait_answer(&client, 5).opcode == NATIVE_RESULT);
        cr_expect_str_eq(fake.user, "alice");
        client_close(&client);
    }
}

Test(native_door, a_wrong_password_name_or_token_ends_the_connection)
{
    static const struct {
        const char *token;
        size_t size;
        const char *message;
    } cases[] = {
        {"\0alice\0wrong", 12, "Provided username alice and/or password are incorrect"},
        {"\0bob\0secret", 11, "Provided username bob and/or password are incorrect"},
        {"\0alice\0", 7, "Provided username alice and/or password are incorrect"},
        {"alice", 5, "The token is not NUL, user, NUL, password"},
        {"\0alice\0secret\0more", 18, "The token is not NUL, user, NUL, password"},
        {"", 0, "The token is not NUL, user, NUL, password"},
    };

    lock_door();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct client client;

        client_open(&client, 4);
        cr_assert(start(&client, "").opcode == NATIVE_AUTHENTICATE);
        send_token(&client, 3, cases[i].token, cases[i].size);
        expect_error(&client, 3, 0x0100, cases[i].message);
        wait_end(&client);
        client_close(&client);
    }
    cr_expect(fake.runs == 0);
}

Test(native_door, a_connection_that_leaves_while_its_password_is_checked_is_forgotten)
{
    struct client client;

    lock_door();
    client_open(&client, 4);
    cr_assert(start(&client, "").opcode == NATIVE_AUTHENTICATE);
    send_token(&client, 3, "\0alice\0secret", 13);
    turn(2);
    client_close(&client);
    while (metric_of("daybook_cql_connections", "") > 0)
        uv_run(&loop, UV_RUN_ONCE);
}

/* ---- what is left of a password ---- */

/* bcrypt at cost 10, of the text of struct secret. */
static const char secret_file[] =
    "alice:$2b$10$abcdefghijklmnopqrstuuW/xOahoIVhVinecBN2Sr7jIPlNGdV9C\n";

/* An AUTH_RESPONSE whose token is `before` and the secret. */
static struct bytes secret_envelope(struct secret *secret, uint8_t version,
                                    enum native_compression compression, struct bytes before)
{
    struct buffer *body = &secret->body;
    struct buffer *sent = &secret->sent;

    buffer_clear(body);
    buffer_clear(sent);
    buffer_put_u32_be(body, (uint32_t)before.size + SECRET_SIZE);
    buffer_append_bytes(body, before);
    buffer_append(body, secret->text, SECRET_SIZE);
    buffer_put_zeros(sent, NATIVE_HEADER_SIZE);
    if (compression == NATIVE_PLAIN)
        buffer_append_bytes(sent, buffer_view(body));
    else
        native_compress_body(compression, buffer_view(body), sent);
    sent->data[0] = version;
    sent->data[1] = compression == NATIVE_PLAIN ? 0 : NATIVE_FLAG_COMPRESSED;
    store_u16_be(sent->data + 2, 3);
    sent->data[4] = NATIVE_AUTH_RESPONSE;
    store_u32_be(sent->data + 5, (uint32_t)(sent->size - NATIVE_HEADER_SIZE));
    return buffer_view(sent);
}

/* The same in two segments. */
static struct bytes secret_segments(struct secret *secret, struct bytes before)
{
    struct bytes envelope = secret_envelope(secret, 5, NATIVE_PLAIN, before);
    size_t half = envelope.size - SECRET_SIZE / 2;
    struct bytes rest = bytes_of(envelope.data + half, envelope.size - half);

    buffer_clear(&secret->body);
    native_segment_put(&secret->body, bytes_of(envelope.data, half), false, false);
    native_segment_put(&secret->body, rest, false, false);
    return buffer_view(&secret->body);
}

static void send_pieces(struct client *client, struct bytes bytes, size_t size)
{
    for (size_t at = 0; at < bytes.size; at += size) {
        size_t left = bytes.size - at;

        network_write(client->network.connection,
                      bytes_of(bytes.data + at, left < size ? left : size));
        turn(4);
    }
}

static struct secret *lock_door_by_secret(void)
{
    struct secret *secret = secret_new();
    char *copy = malloc(SECRET_SIZE);
    struct error err;

    cr_assert(native_password_parse(bytes_text(secret_file), &passwords, &err) == 0);
    reopen_door(&(struct native_limits){.linger_ms = 60000});
    cr_assert(secret_count(secret) == 0);
    memcpy(copy, secret->text, SECRET_SIZE);
    cr_assert(secret_count(secret) == 1, "what is there is found");
    explicit_bzero(copy, SECRET_SIZE);
    free(copy);
    return secret;
}

Test(native_door, no_password_stays_in_memory_after_a_login)
{
    static const struct {
        uint8_t version;
        enum native_compression compression;
        size_t piece; /* bytes that come at once */
    } cases[] = {{3, NATIVE_PLAIN, 4096},
                 {3, NATIVE_PLAIN, 41},
                 {4, NATIVE_LZ4, 4096},
                 {4, NATIVE_LZ4, 45},
                 {5, NATIVE_PLAIN, 61}};
    const struct bytes before = bytes_of("\0alice\0", 7);
    struct secret *secret = lock_door_by_secret();

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum native_compression compression = cases[i].compression;
        uint8_t version = cases[i].version;
        struct client client;

        client_open(&client, version);
        cr_assert(start(&client, compression == NATIVE_LZ4 ? "lz4" : "").opcode ==
                  NATIVE_AUTHENTICATE);
        send_pieces(&client,
                    version == 5 ? secret_segments(secret, before)
                                 : secret_envelope(secret, version, compression, before),
                    cases[i].piece);
        cr_assert(wait_answer(&client, 3).opcode == NATIVE_AUTH_SUCCESS);
        cr_expect(secret_count(secret) == 0, "case %zu", i);
        client_close(&client);
    }
    secret_free(secret);
}

Test(native_door, no_password_stays_in_memory_that_was_refused_or_never_came_whole)
{
    struct secret *secret = lock_door_by_secret();
    struct client wrong, half;
    struct bytes sent;

    client_open(&half, 4);
    cr_assert(start(&half, "").opcode == NATIVE_AUTHENTICATE);
    sent = secret_envelope(secret, 4, NATIVE_PLAIN, bytes_of("\0alice\0", 7));
    store_u32_be(secret->sent.data + 5, 2000);
    send_pieces(&half, sent, sent.size);
    buffer_clear(&secret->body);
    buffer_put_zeros(&secret->body, 1000);
    send_pieces(&half, buffer_view(&secret->body), 100);
    cr_expect(secret_count(secret) == 1, "it waits for the rest, in one place");
    client_open(&wrong, 4);
    cr_assert(start(&wrong, "").opcode == NATIVE_AUTHENTICATE);
    sent = secret_envelope(secret, 4, NATIVE_PLAIN, bytes_of("", 0));
    send_pieces(&wrong, sent, sent.size);
    expect_error(&wrong, 3, 0x0100, "The token is not NUL, user, NUL, password");
    send_pieces(&wrong, sent, sent.size);
    client_close(&half);
    client_close(&wrong);
    while (metric_of("daybook_cql_connections", "") > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(secret_count(secret) == 0);
    secret_free(secret);
}

/* ---- before a login ---- */

Test(native_door, one_that_does_not_log_in_is_hung_up_on_and_one_that_did_is_not)
{
    struct client silent;
    struct client served;

    reopen_door(&(struct native_limits){.login_ms = 100, .linger_ms = 200});
    client_serve(&served, 4);
    client_open(&silent, 4);
    network_write(silent.network.connection, bytes_of("\4\0\0\7\1\0\0\2\0", 9));
    wait_end(&silent);
    send_query(&served, 1, "void");
    cr_expect(wait_answer(&served, 1).opcode == NATIVE_RESULT);
    client_close(&silent);
    client_close(&served);
}

Test(native_door, many_half_requests_before_a_login_are_in_one_small_account)
{
    enum { CLIENTS = 100, SENT = 2000, GUEST_BYTES = 64 << 10 };
    static struct client clients[CLIENTS];
    struct buffer zeros = {0};
    struct client served;
    uint32_t gone = 0;

    reopen_door(&(struct native_limits){.login_bytes_max = GUEST_BYTES, .linger_ms = 200});
    client_serve(&served, 4);
    buffer_put_zeros(&zeros, SENT);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        client_open(&clients[i], 4);
        network_write(clients[i].network.connection, bytes_of("\4\0\0\7\1\0\0\x0f\0", 9));
        network_write(clients[i].network.connection, buffer_view(&zeros));
        turn(2);
    }
    turn(100);
    cr_expect_leq(metric_of("daybook_cql_request_bytes", ""), GUEST_BYTES);
    for (uint32_t i = 0; i < CLIENTS; i++)
        gone += clients[i].network.has_ended;
    cr_expect(gone >= CLIENTS - 32 && gone < CLIENTS, "%u", gone);
    cr_expect(clients[0].network.has_ended && !clients[CLIENTS - 1].network.has_ended);
    send_query(&served, 1, "void");
    cr_expect(wait_answer(&served, 1).opcode == NATIVE_RESULT);
    for (uint32_t i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    client_close(&served);
    buffer_release(&zeros);
}

Test(native_door, a_request_of_more_than_4_kib_before_a_login_is_refused)
{
    struct native_request options = {.opcode = NATIVE_OPTIONS};
    struct buffer zeros = {0};
    struct client client;

    client_open(&client, 4);
    buffer_put_zeros(&zeros, 8000);
    network_write(client.network.connection, bytes_of("\4\0\0\7\1\0\0\x1f\x40", 9));
    network_write(client.network.connection, buffer_view(&zeros));
    expect_error(&client, 7, 0x2200,
                 "Request is too big: length 8000 exceeds maximum allowed length 4087.");
    send_request(&client, 2, &options);
    cr_expect(wait_answer(&client, 2).opcode == NATIVE_SUPPORTED, "it was passed over");
    client_close(&client);
    buffer_release(&zeros);
}

/* A segment of the fifth version may be as large as its header says, whatever is in it. */
Test(native_door, a_segment_of_more_than_4_kib_before_a_login_ends_the_connection)
{
    struct buffer zeros = {0};
    struct buffer bytes = {0};
    struct client client;

    lock_door();
    client_open(&client, 5);
    cr_assert(start(&client, "").opcode == NATIVE_AUTHENTICATE);
    buffer_put_zeros(&zeros, 6000);
    native_segment_put(&bytes, buffer_view(&zeros), true, false);
    network_write(client.network.connection, bytes_of(bytes.data, 5000));
    expect_error(&client, 0, 0x2200, "Request is too big: more than 4096 bytes before a login.");
    wait_end(&client);
    client_close(&client);
    buffer_release(&zeros);
    buffer_release(&bytes);
}

Test(native_door, answers_that_are_not_read_before_a_login_end_the_connection)
{
    struct native_request options = {.opcode = NATIVE_OPTIONS};
    struct client client;

    client_open(&client, 4);
    network_pause(client.network.connection);
    while (metric_of("daybook_cql_connections", "") > 0) {
        for (int i = 0; i < 100; i++)
            send_request(&client, 2, &options);
        turn(1);
    }
    client_close(&client);
}

Test(native_door, requests_that_a_few_bytes_hold_before_a_login_are_taken_in_turns)
{
    struct client client;

    lock_door();
    client_open(&client, 5);
    cr_assert(start(&client, "lz4").opcode == NATIVE_AUTHENTICATE);
    expect_options_in_turns(&client, 1, 128);
    client_close(&client);
}

static int64_t checks(void)
{
    return metric_of("daybook_cql_logins_total", "result=\"wrong\"") +
           metric_of("daybook_cql_logins_total", "result=\"right\"");
}

static void client_try(struct client *client, const char *token, size_t size)
{
    client_open(client, 4);
    cr_assert(start(client, "").opcode == NATIVE_AUTHENTICATE);
    send_token(client, 3, token, size);
    turn(2);
}

Test(native_door, passwords_of_connections_that_are_gone_are_not_checked)
{
    enum { TRIES = 100 };
    struct client client;

    lock_door();
    for (int i = 0; i < TRIES; i++) {
        client_try(&client, "\0alice\0wrong", 12);
        client_close(&client);
    }
    client_try(&client, "\0alice\0secret", 13);
    cr_expect(wait_answer(&client, 3).opcode == NATIVE_AUTH_SUCCESS);
    cr_expect_leq(checks(), 20, "%d", (int)checks());
    client_close(&client);
}

Test(native_door, passwords_that_wait_are_few_and_one_too_many_is_told_to_try_again)
{
    enum { TRIES = LOGIN_WAITING_MAX + 10 };
    static struct client clients[TRIES];
    int64_t refused;

    lock_door();
    for (int i = 0; i < TRIES; i++)
        client_try(&clients[i], "\0alice\0wrong", 12);
    expect_error(&clients[TRIES - 1], 3, 0x1001,
                 "Too many logins wait for their turn; try again later");
    refused = metric_of("daybook_cql_logins_total", "result=\"refused\"");
    cr_expect(refused > 0 && refused < 10, "%d", (int)refused);
    for (int i = 0; i < TRIES; i++)
        client_close(&clients[i]);
}

Test(native_door, passwords_that_are_changed_hold_for_checks_that_begin_later)
{
    static const char text[] = "bob:$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u\n";
    struct native_passwords *former;
    struct client checked, waiting, later;
    struct error err;

    lock_door();
    client_try(&checked, "\0alice\0secret", 13);
    client_try(&waiting, "\0alice\0secret", 13);
    former = passwords;
    cr_assert(native_password_parse(bytes_text(text), &passwords, &err) == 0, "%s", err.text);
    cr_expect_eq(native_password_count(passwords), 1);
    native_door_set_passwords(door, passwords);
    native_password_free(former);
    client_try(&later, "\0bob\0secret", 11);
    cr_expect(wait_answer(&checked, 3).opcode == NATIVE_AUTH_SUCCESS);
    expect_error(&waiting, 3, 0x0100, "Provided username alice and/or password are incorrect");
    cr_expect(wait_answer(&later, 3).opcode == NATIVE_AUTH_SUCCESS);
    client_close(&checked);
    client_close(&waiting);
    client_close(&later);
}

Test(native_door, a_door_that_closes_does_not_wait_for_passwords_in_the_queue)
{
    static struct client clients[LOGIN_WAITING_MAX];
    int64_t before;

    lock_door();
    for (int i = 0; i < LOGIN_WAITING_MAX; i++)
        client_try(&clients[i], "\0alice\0wrong", 12);
    before = checks();
    close_door();
    cr_expect_leq(checks(), before + 1);
    for (int i = 0; i < LOGIN_WAITING_MAX; i++)
        client_close(&clients[i]);
    open_door(&(struct native_limits){0});
}

/* Microseconds of this thread. */
static int64_t match_us(const struct native_passwords *file, const char *user)
{
    struct timespec before;
    struct timespec after;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    cr_expect(!native_password_match(file, user, "wrong"));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (after.tv_sec - before.tv_sec) * 1000000 + (after.tv_nsec - before.tv_nsec) / 1000;
}

Test(native_door, a_name_is_not_told_by_the_time_that_its_password_takes)
{
    static const char text[] =
        "alice:$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u\n"
        "bob:$2b$11$abcdefghijklmnopqrstuuViuGI07N4McP9Kl.tD6XMEzyuvcY8LG\n";
    static const char *const users[] = {"alice", "bob", "nobody"};
    int64_t least = INT64_MAX;
    int64_t most = 0;
    struct error err;

    cr_assert(native_password_parse(bytes_text(text), &passwords, &err) == 0);
    for (int i = 0; i < 3; i++) {
        int64_t us = match_us(passwords, users[i]);
        int64_t again = match_us(passwords, users[i]);

        us = again < us ? again : us;
        least = us < least ? us : least;
        most = us > most ? us : most;
    }
    cr_expect_lt(most, least * 3 / 2, "%d to %d us", (int)least, (int)most);
    cr_expect(native_password_match(passwords, "alice", "secret"));
    cr_expect(native_password_match(passwords, "bob", "secret"));
    cr_expect(!native_password_match(passwords, "nobody", "secret"));
}

Test(native_door, a_password_file_that_is_none_is_named_by_its_line)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "nobody is named in it"},
        {"# only this\n\n", "nobody is named in it"},
        {"alice\n", "line 1 is not NAME:HASH"},
        {"\nalice:secret\n", "line 2: the hash is not bcrypt's ($2b$..., 60 characters)"},
        {":$2b$10$.....................................................\n",
         "line 1: a name has 1 to 127 bytes of UTF-8"},
        {"eve:$2b$09$.....................................................\n",
         "line 1: the hash has cost 9, and 10 to 14 are taken; htpasswd -nBC 12 NAME makes one"},
        {"eve:$2b$31$.....................................................\n",
         "line 1: the hash has cost 31, and 10 to 14 are taken; htpasswd -nBC 12 NAME makes one"},
        {"eve:$2b$x0$.....................................................\n",
         "line 1: the hash has cost 0, and 10 to 14 are taken; htpasswd -nBC 12 NAME makes one"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct error err = {0};

        cr_expect(native_password_parse(bytes_text(cases[i].text), &passwords, &err) ==
                  ERROR_INVALID);
        cr_expect_str_eq(err.text, cases[i].message);
    }
}
