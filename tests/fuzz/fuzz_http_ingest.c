/* fuzz_http_ingest: headers and bodies sent to /ingest: refused, or the text door gets the control
 * lines that belong to them, and the body's lines, and nothing else; what it says is answered as
 * JSON.
 *
 * Input: lines with the values of the headers and a digit that chooses what the text door says,
 * then the body.  The text door and the pair of sockets are this file's. */
#include "ingest/connection/http_ingest.h"

#include <stdlib.h>

#include "base/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/played_door.h"
#include "tests/sim/sim_world.h"

#define COLUMNS "reseller_id,day,time,ad_id,amount"

struct connection {
    const struct connection_handler *handler;
    void *context;
    struct buffer sent;
    bool has_finished;
    bool is_closing;
};

static struct connection *post_end, *door_end;

/* ---- the pair ---- */

int network_pair(struct network *network, struct connection *ends_out[2], struct error *err)
{
    (void)network;
    (void)err;
    ends_out[0] = post_end = memory_zeroed(1, sizeof *post_end);
    ends_out[1] = door_end = memory_zeroed(1, sizeof *door_end);
    return 0;
}

void network_start(struct connection *connection, const struct connection_handler *handler,
                   void *context)
{
    connection->handler = handler;
    connection->context = context;
}

void network_write(struct connection *connection, struct bytes bytes)
{
    check(!connection->has_finished && !connection->is_closing);
    buffer_append_bytes(&connection->sent, bytes);
}

size_t network_queued(const struct connection *connection)
{
    (void)connection;
    return 0;
}

void network_finish(struct connection *connection)
{
    check(!connection->has_finished);
    connection->has_finished = true;
}

void network_close(struct connection *connection)
{
    check(!connection->is_closing);
    connection->is_closing = true;
}

static void attach(void *context, struct connection *connection)
{
    (void)context;
    check(connection == door_end);
}

/* The text door sends this, a byte at a time. */
static void say(const char *text)
{
    for (; *text != '\0' && !post_end->is_closing; text++) {
        uint8_t *space;
        size_t size;

        post_end->handler->space(post_end->context, &space, &size);
        check(size >= 1);
        *space = (uint8_t)*text;
        post_end->handler->data(post_end->context, 1);
    }
}

static void free_pair(void)
{
    check(post_end->is_closing);
    post_end->handler->closed(post_end->context);
    buffer_release(&post_end->sent);
    memory_free(post_end);
    memory_free(door_end);
    post_end = door_end = NULL;
}

/* ---- what must have been sent ---- */

static struct bytes take_line(struct bytes *text)
{
    const uint8_t *end = text->size > 0 ? memchr(text->data, '\n', text->size) : NULL;
    size_t size = end != NULL ? (size_t)(end - text->data) : text->size;
    struct bytes line = bytes_of(text->data, size);

    size += end != NULL;
    *text = bytes_of(text->data + size, text->size - size);
    return line;
}

static bool begins_with(struct bytes text, const char *with)
{
    return text.size >= strlen(with) && memcmp(text.data, with, strlen(with)) == 0;
}

/* Every control line is one of these, in this order; the second last ones only for a batch. */
static uint32_t check_controls(struct bytes sent, bool has_batch)
{
    static const char *const wanted[] = {"#stream", "#columns", "#producer ", "#batch "};
    uint32_t found = 0;

    while (sent.size > 0) {
        struct bytes line = take_line(&sent);

        if (line.size == 0 || line.data[0] != '#')
            continue;
        check(found < (has_batch ? 4 : 2) && begins_with(line, wanted[found]));
        found++;
    }
    return found;
}

/* The body's lines are there in their order; of a batch, the header goes before its control lines.
 */
static void check_lines(struct bytes sent, struct bytes body)
{
    if (begins_with(body, "\xef\xbb\xbf"))
        body = bytes_of(body.data + 3, body.size - 3);
    while (sent.size > 0) {
        struct bytes line = take_line(&sent);

        if (line.size == 0 || line.data[0] != '#')
            check(body.size > 0 && bytes_equal(line, take_line(&body)));
    }
    check(body.size == 0);
}

/* ---- requests ---- */

static const char *const answers[] = {
    "ok 1 accepted 3 rejected 0\n",
    "reject 1 2 bad_day \"2013-13-01\"\nrejects 1 bad_day 12\nok 1 accepted 3 rejected 2\n",
    "reject - 7 cut_line\nok - accepted 0 rejected 1 duplicates 2\n",
    "ok 1 accepted 3 rejected 0 duplicate\n",
    "error 1 sequence_gap expected 2\n",
    "error - bad_control\n",
    "error 1 no_such_word \x01\"\n",
    "",
};

static void serve(struct played_exchange *played, struct bytes body, unsigned choice)
{
    enum { ANSWERS = sizeof answers / sizeof answers[0] };

    say("note disk_full 3\ncolumns " COLUMNS "\n");
    bool has_batch = http_request_header(&played->exchange.request, "x-daybook-batch").size > 0;
    check(post_end->has_finished);
    check(check_controls(buffer_view(&post_end->sent), has_batch) == (has_batch ? 4 : 2));
    check_lines(buffer_view(&post_end->sent), body);
    say(answers[choice % ANSWERS]);
    if (!post_end->is_closing)
        post_end->handler->end(post_end->context, 0);
    free_pair();
}

/* Its body goes to `*input`. */
static void put_head(struct bytes *input, struct buffer *head)
{
    static const char *const names[] = {"Producer", "Epoch", "Batch", "Stream"};

    buffer_append_text(head, "POST /ingest HTTP/1.1\r\nHost: a\r\n");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct bytes value = take_line(input);

        if (value.size > 0)
            buffer_printf(head, "X-Daybook-%s: %.*s\r\n", names[i], (int)value.size,
                          (const char *)value.data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct http_ingest *http;
    struct bytes body = bytes_of(data, size);
    struct buffer head = {0};
    struct played_exchange played;

    if (http == NULL)
        http = http_ingest_new(
            NULL, &(struct http_ingest_options){.world = sim_world_interface(sim_world_new(1)),
                                                .attach = attach});
    put_head(&body, &head);
    struct bytes choice = take_line(&body);
    if (played_door_ask(&played, buffer_view(&head), body)) {
        if (post_end != NULL)
            serve(&played, body, choice.size > 0 ? choice.data[0] : 0);
        else
            check(played.status >= 400);
        played_door_end(&played);
    }
    buffer_release(&head);
    return 0;
}
