/* test_http_ingest: what a request says to the text door, which the test plays, and what is
 * answered of its answers; late doors, and clients that leave.  tests/e2e/test_http_ingest.py has
 * the real door. */
#include <stdio.h>

#include "tests/unit/http_fixture.h"

#include "base/memory.h"
#include "ingest/connection/http_ingest.h"

enum { LATE_MS = 60, ENDS_MAX = HTTP_INGEST_POSTS_MAX };

/* ---- the text door ---- */

static struct network_client ends[ENDS_MAX]; /* of the pairs: what the door got */
static uint32_t end_count;
static struct http_ingest *http;
static bool is_closed;

static void end_space(void *context, uint8_t **to_out, size_t *size_out)
{
    struct network_client *end = context;

    *to_out = end->space;
    *size_out = sizeof end->space;
}

static void end_data(void *context, size_t size)
{
    struct network_client *end = context;

    buffer_append(&end->got, end->space, size);
}

static void end_end(void *context, int status)
{
    struct network_client *end = context;

    (void)status;
    end->has_ended = true;
}

static void end_drained(void *context)
{
    (void)context;
}

static void end_closed(void *context)
{
    struct network_client *end = context;

    end->is_closed = true;
}

static const struct connection_handler end_handler = {.space = end_space,
                                                      .data = end_data,
                                                      .end = end_end,
                                                      .drained = end_drained,
                                                      .closed = end_closed};

static void attach(void *context, struct connection *connection)
{
    struct network_client *end = &ends[end_count++];

    (void)context;
    end->connection = connection;
    network_start(connection, &end_handler, end);
}

static void add_routes(void)
{
    http = http_ingest_new(
        door, &(struct http_ingest_options){
                  .network = network, .world = world, .attach = attach, .late_ms = LATE_MS});
}

static void http_closed(void *context)
{
    (void)context;
    is_closed = true;
}

static void teardown_http(void)
{
    door_is_closed = false;
    http_door_close(door, closed, NULL);
    while (!door_is_closed)
        uv_run(&loop, UV_RUN_ONCE);
    http_ingest_close(http, http_closed, NULL);
    while (!is_closed)
        uv_run(&loop, UV_RUN_ONCE);
    for (uint32_t i = 0; i < end_count; i++)
        network_client_close(&ends[i], &loop);
    open_door(&(struct http_limits){0});
    http_ingest_close(http, http_closed, NULL);
    teardown();
}

TestSuite(http_ingest, .init = setup, .fini = teardown_http, .timeout = 60);

/* ---- exchanges ---- */

#define ID      "5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11"
#define COLUMNS "columns reseller_id,day,time,ad_id,amount\n"

static void post(struct network_client *client, const char *headers, const char *body)
{
    struct buffer request = {0};
    uint32_t before = end_count;

    client_open(client);
    buffer_printf(&request, "POST /ingest HTTP/1.1\r\n" HOST "%sContent-Length: %zu\r\n\r\n%s",
                  headers, strlen(body), body);
    network_write(client->connection, buffer_view(&request));
    while (end_count == before && client->got.size == 0)
        uv_run(&loop, UV_RUN_ONCE);
    buffer_release(&request);
}

static void say(const char *text)
{
    network_write(ends[end_count - 1].connection, bytes_text(text));
}

static void wait_door(const char *text)
{
    struct network_client *end = &ends[end_count - 1];

    while (end->got.size < strlen(text))
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(bytes_equal(buffer_view(&end->got), bytes_text(text)), "%.*s", (int)end->got.size,
              (const char *)end->got.data);
}

static void expect(const char *headers, const char *body, const char *sent, const char *said,
                   const char *status, const char *answer)
{
    struct network_client client;

    post(&client, headers, body);
    say(COLUMNS);
    wait_door(sent);
    say(said);
    wait_for(&client, answer);
    cr_expect(has_got(&client, status), "%.*s", (int)client.got.size,
              (const char *)client.got.data);
    network_client_close(&client, &loop);
}

#define BATCH "X-Daybook-Producer: " ID "\r\nX-Daybook-Batch: 7\r\n"

Test(http_ingest, lines_of_a_request)
{
    expect("", "a,b\nc,d", "#stream\n#columns\na,b\nc,d\n",
           "reject - 4 bad_day \"x\\ny\"\nok - accepted 1 rejected 1\n", "HTTP/1.1 200 ",
           "{\"accepted\": 1, \"rejected\": 1, \"duplicates\": 0, \"duplicate\": false, "
           "\"rejects\": [\n{\"line\": 2, \"code\": \"bad_day\", \"text\": \"x\\ny\"}\n], "
           "\"more_rejects\": {}}\n");
    expect("X-Daybook-Stream: nights\r\n", "day,x\n", "#stream nights\n#columns\nday,x\n",
           "error - unknown_stream \"nights\"\n", "HTTP/1.1 400 ", "\"unknown_stream\"");
}

Test(http_ingest, a_batch)
{
    expect(BATCH, "\"day\",x\r\na\nb\n",
           "#stream\n#columns\n\"day\",x\r\n#producer " ID " 1\n#batch 7 2\na\nb\n",
           "reject 7 2 bad_day \"x\"\nrejects 7 bad_day 12\nrejects 7 bad_time 3\n"
           "ok 7 accepted 1 rejected 16 duplicates 4\n",
           "HTTP/1.1 200 ",
           "\"duplicates\": 4, \"duplicate\": false, \"rejects\": [\n{\"line\": 3, \"code\": "
           "\"bad_day\", \"text\": \"x\"}\n], \"more_rejects\": {\"bad_day\": 12, "
           "\"bad_time\": 3}}");
    expect("X-Daybook-Producer: " ID "\r\nX-Daybook-Batch: 1\r\nX-Daybook-Epoch: 3\r\n", "a",
           "#stream\n#columns\n#producer " ID " 3 new\n#batch 1 1\na\n", "ok 1 duplicate\n",
           "HTTP/1.1 200 ", "{\"duplicates\": 0, \"duplicate\": true, \"rejects\": [\n\n]");
    expect(BATCH, "", "#stream\n#columns\n#producer " ID " 1\n#batch 7 0\n",
           "error 7 sequence_gap expected 2\n", "HTTP/1.1 409 ",
           "\"what\":\"the ingest door answers: sequence_gap expected 2\"");
    expect(BATCH, "day,x", "#stream\n#columns\nday,x\n#producer " ID " 1\n#batch 7 0\n",
           "ok 7 accepted 0 rejected 0\n", "HTTP/1.1 200 ", "{\"accepted\": 0, \"rejected\": 0,");
    expect(BATCH, "a\n", "#stream\n#columns\n#producer " ID " 1\n#batch 7 1\na\n",
           "error 7 store_failed no space\n", "HTTP/1.1 503 ", "\"store_failed\"");
}

/* The door answers nothing, or closes. */
Test(http_ingest, a_late_door)
{
    struct network_client client;

    post(&client, BATCH, "a\n");
    wait_for(&client, "HTTP/1.1 503 ");
    cr_expect(has_got(&client, "\"late\""));
    while (!ends[0].has_ended)
        uv_run(&loop, UV_RUN_ONCE);
    network_client_close(&client, &loop);
    post(&client, BATCH, "a\n");
    network_finish(ends[1].connection);
    wait_for(&client, "\"closed\"");
    network_client_close(&client, &loop);
}

/* The pair is closed with the client, so that a batch that is not whole is dropped. */
Test(http_ingest, a_client_leaves)
{
    struct network_client client;

    post(&client, BATCH, "a\n");
    network_client_close(&client, &loop);
    while (!ends[0].has_ended)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(count_of(&ends[0], "#batch") == 0);
}

Test(http_ingest, posts_are_bounded)
{
    struct network_client *clients = memory_zeroed(HTTP_INGEST_POSTS_MAX + 1, sizeof *clients);

    for (int i = 0; i <= HTTP_INGEST_POSTS_MAX; i++)
        post(&clients[i], "", "a\n");
    cr_expect(end_count == HTTP_INGEST_POSTS_MAX);
    wait_for(&clients[HTTP_INGEST_POSTS_MAX], "\"busy\"");
    for (int i = 0; i <= HTTP_INGEST_POSTS_MAX; i++)
        network_client_close(&clients[i], &loop);
    memory_free(clients);
}
