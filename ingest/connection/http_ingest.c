/* http_ingest: see the header.
 *
 *     COLUMNS ── the names of the stream's columns ──▶ SENDING ── ok, or error ──▶ answered
 *
 * The names show whether the body begins with a header.  A header is sent before `#batch`, because
 * it is no line of the batch.  The body is sent in pieces, directly from the HTTP door's buffer.
 * The text door would execute a line that begins with '#', so a body with such a line is refused.
 *
 * When the HTTP client disconnects, the pair of sockets is closed.  A batch that was sent in part
 * is dropped then.  A batch that was sent whole is applied, so a copy of it that comes later counts
 * as a duplicate. */
#include "ingest/connection/http_ingest.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/uuid.h"

enum {
    READ_SIZE = 16 << 10,
    PIECE = 256 << 10,
    VALUE_MAX = 256, /* bytes of a header's value */
    STATUS_CONFLICT = 409
};

enum post_state { POST_COLUMNS, POST_SENDING };

struct post {
    struct http_ingest *http;
    struct http_exchange *exchange; /* NULL: answered, or the client has disconnected */
    struct connection *connection;  /* this end of the pair */
    enum post_state state;
    struct timer late;
    char producer[VALUE_MAX];
    char epoch[VALUE_MAX];
    char batch[VALUE_MAX];
    bool has_batch;
    bool has_header;   /* the body begins with the names of columns */
    struct bytes body; /* without a byte order mark, and without a header that was sent before */
    struct bytes left; /* the part of `body` that is not sent yet */
    uint64_t lines;    /* lines of the body, with its header */
    bool is_sent;
    struct buffer input;   /* an answer's line that is not complete yet */
    struct buffer rejects; /* items of a JSON array */
    struct buffer sums;    /* members of a JSON object: refused lines that have no item, by code */
};

struct http_ingest {
    struct http_ingest_options options;
    uint32_t posts;
    bool is_closing;
    void (*closed)(void *context);
    void *closed_context;
    uint8_t read[READ_SIZE];
};

/* ---- life ---- */

static void free_if_idle(struct http_ingest *http)
{
    if (!http->is_closing || http->posts > 0)
        return;
    void (*closed)(void *context) = http->closed;
    void *context = http->closed_context;
    memory_free(http);
    closed(context);
}

static void post_free(struct post *post)
{
    struct http_ingest *http = post->http;

    world_timer_stop(http->options.world, &post->late);
    buffer_release(&post->input);
    buffer_release(&post->rejects);
    buffer_release(&post->sums);
    memory_free(post);
    http->posts--;
    free_if_idle(http);
}

/* Close the connection, whose callback connection_closed frees the post. */
static void post_end(struct post *post)
{
    post->exchange = NULL;
    post->left = bytes_of(NULL, 0);
    world_timer_stop(post->http->options.world, &post->late);
    if (post->connection != NULL)
        network_close(post->connection);
    post->connection = NULL;
}

static void post_refuse(struct post *post, const struct http_refusal *refusal)
{
    http_door_refuse(post->exchange, refusal);
    post_end(post);
}

static void post_gone(void *context)
{
    post_end(context);
}

static void post_late(struct timer *timer)
{
    static const struct http_refusal late = {
        503, "late", "the clicks are not on disk yet", "server",
        "send the same batch again; /readyz says what the server waits for"};
    struct post *post = timer->context;

    post_refuse(post, &late);
}

/* ---- what the text door answers ---- */

/* Remove the first word from the line, with the space behind it, and return it. */
static struct bytes take_word(struct bytes *line)
{
    const uint8_t *end = line->size > 0 ? memchr(line->data, ' ', line->size) : NULL;
    size_t size = end != NULL ? (size_t)(end - line->data) : line->size;
    struct bytes word = bytes_of(line->data, size);

    size += end != NULL;
    *line = bytes_of(line->data + size, line->size - size);
    return word;
}

static bool is_word(struct bytes word, const char *text)
{
    return bytes_equal(word, bytes_text(text));
}

static uint64_t number_of(struct bytes word)
{
    uint64_t number = 0;

    for (size_t i = 0; i < word.size && word.data[i] >= '0' && word.data[i] <= '9'; i++)
        number = 10 * number + word.data[i] - '0';
    return number;
}

/* The number in the body, from 1, of a line that the text door numbered.  The text door numbers the
 * lines of a batch within the batch.  It numbers other lines within the connection, of which the
 * first two are "#stream" and "#columns". */
static uint64_t line_in_body(const struct post *post, uint64_t line)
{
    return post->has_batch ? line + post->has_header : line - 2;
}

/* reject BATCH LINE CODE TEXT; TEXT is a JSON string already. */
static void take_reject(struct post *post, struct bytes line)
{
    (void)take_word(&line);
    uint64_t number = number_of(take_word(&line));
    struct bytes code = take_word(&line);

    buffer_printf(&post->rejects,
                  "%s{\"line\": %" PRIu64 ", \"code\": ", post->rejects.size > 0 ? ",\n" : "",
                  line_in_body(post, number));
    buffer_append_json(&post->rejects, code);
    buffer_append_text(&post->rejects, ", \"text\": ");
    buffer_append_bytes(&post->rejects, line.size > 0 ? line : bytes_text("\"\""));
    buffer_put_u8(&post->rejects, '}');
}

/* rejects BATCH CODE COUNT */
static void take_sum(struct post *post, struct bytes line)
{
    (void)take_word(&line);
    struct bytes code = take_word(&line);

    buffer_append_text(&post->sums, post->sums.size > 0 ? ", " : "");
    buffer_append_json(&post->sums, code);
    buffer_printf(&post->sums, ": %" PRIu64, number_of(line));
}

/* ok BATCH [accepted N rejected M] [duplicate] [duplicates N] */
static void take_ok(struct post *post, struct bytes line)
{
    struct buffer json = {0};
    bool is_duplicate = false;
    uint64_t accepted = 0;
    uint64_t rejected = 0;
    uint64_t duplicates = 0;
    bool has_counts = false;

    (void)take_word(&line);
    while (line.size > 0) {
        struct bytes word = take_word(&line);
        if (is_word(word, "accepted")) {
            accepted = number_of(take_word(&line));
            has_counts = true;
        } else if (is_word(word, "rejected")) {
            rejected = number_of(take_word(&line));
        } else if (is_word(word, "duplicates")) {
            duplicates = number_of(take_word(&line));
        } else if (is_word(word, "duplicate")) {
            is_duplicate = true;
        }
    }
    buffer_append_text(&json, "{");
    if (has_counts)
        buffer_printf(&json, "\"accepted\": %" PRIu64 ", \"rejected\": %" PRIu64 ", ", accepted,
                      rejected);
    buffer_printf(&json, "\"duplicates\": %" PRIu64 ", \"duplicate\": %s, \"rejects\": [\n",
                  duplicates, is_duplicate ? "true" : "false");
    buffer_append_bytes(&json, buffer_view(&post->rejects));
    buffer_append_text(&json, "\n], \"more_rejects\": {");
    buffer_append_bytes(&json, buffer_view(&post->sums));
    buffer_append_text(&json, "}}\n");
    http_door_answer(post->exchange, &(struct http_answer){.status = 200,
                                                           .type = "application/json",
                                                           .body = buffer_view(&json)});
    buffer_release(&json);
    post_end(post);
}

static const struct {
    const char *word;
    uint16_t status;
    const char *where;
    const char *todo;
} errors[] = {
    {"unknown_producer", STATUS_CONFLICT, "header X-Daybook-Producer",
     "check that this is the right server; docs/PROTOCOL.md \"Errors\""},
    {"wrong_epoch", STATUS_CONFLICT, "header X-Daybook-Epoch",
     "stop: another process does this work now"},
    {"taken_over", STATUS_CONFLICT, "header X-Daybook-Producer",
     "send the batches of a producer one after the other"},
    {"sequence_gap", STATUS_CONFLICT, "header X-Daybook-Batch", "send the batch that is expected"},
    {"batch_differs", STATUS_CONFLICT, "body",
     "send the batch as it was, or another number; are there two clients with one producer?"},
    {"unknown_column", 400, "body, line 1", "correct the names of the columns"},
    {"missing_column", 400, "body, line 1", "correct the names of the columns"},
    {"duplicate_column", 400, "body, line 1", "correct the names of the columns"},
    {"bad_quote", 400, "body, line 1", "correct the names of the columns"},
    {"unknown_stream", 400, "header X-Daybook-Stream", "daybook stream list tells which there are"},
    {"bad_control", 400, "headers", "correct the producer, the epoch or the batch"},
    {"batch_too_large", 413, "body", "send smaller batches, from the same number on"},
};

/* error BATCH WORD ... */
static void take_error(struct post *post, struct bytes line)
{
    struct http_refusal refusal = {.status = 503, .where = "server", .todo = "send it again"};
    char code[VALUE_MAX];
    char what[VALUE_MAX];

    (void)take_word(&line);
    (void)snprintf(what, sizeof what, "the ingest door answers: %.*s", (int)line.size,
                   (const char *)line.data);
    struct bytes word = take_word(&line);
    (void)snprintf(code, sizeof code, "%.*s", (int)word.size, (const char *)word.data);
    refusal.code = code;
    refusal.what = what;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (strcmp(errors[i].word, code) != 0)
            continue;
        refusal.status = errors[i].status;
        refusal.where = errors[i].where;
        refusal.todo = errors[i].todo;
    }
    post_refuse(post, &refusal);
}

/* ---- sending ---- */

static void pump(struct post *post)
{
    while (post->connection != NULL && !post->is_sent && post->state == POST_SENDING &&
           network_queued(post->connection) == 0) {
        size_t size = post->left.size < PIECE ? post->left.size : PIECE;
        struct bytes piece = bytes_of(post->left.data, size);

        post->left = bytes_of(post->left.data + size, post->left.size - size);
        post->is_sent = post->left.size == 0;
        if (size > 0)
            network_write(post->connection, piece);
        if (!post->is_sent)
            continue;
        /* A last line without '\n' is complete, because the body has as many bytes as
         * Content-Length says. */
        if (post->body.size > 0 && post->body.data[post->body.size - 1] != '\n')
            network_write(post->connection, bytes_text("\n"));
        network_finish(post->connection);
    }
}

static size_t first_line_size(struct bytes text)
{
    const uint8_t *end = text.size > 0 ? memchr(text.data, '\n', text.size) : NULL;

    return end != NULL ? (size_t)(end - text.data) + 1 : text.size;
}

/* Whether the body's first field is one of `names`, which are separated by commas. */
static bool begins_with_name(struct bytes body, struct bytes names)
{
    size_t size = 0;
    size_t quote = body.size > 0 && body.data[0] == '"';

    while (quote + size < body.size && strchr(",\"\r\n", body.data[quote + size]) == NULL)
        size++;
    struct bytes field = bytes_of(body.data + quote, size);
    while (names.size > 0) {
        const uint8_t *end = memchr(names.data, ',', names.size);
        size_t name_size = end != NULL ? (size_t)(end - names.data) : names.size;
        if (bytes_equal(field, bytes_of(names.data, name_size)))
            return true;
        name_size += end != NULL;
        names = bytes_of(names.data + name_size, names.size - name_size);
    }
    return false;
}

/* columns NAME,NAME... */
static void take_columns(struct post *post, struct bytes names)
{
    struct buffer text = {0};
    struct bytes header = {0};

    post->has_header = begins_with_name(post->body, names);
    if (post->has_header && post->has_batch) {
        header = bytes_of(post->body.data, first_line_size(post->body));
        post->body = post->left =
            bytes_of(post->body.data + header.size, post->body.size - header.size);
        buffer_append_bytes(&text, header);
        if (text.data[text.size - 1] != '\n')
            buffer_put_u8(&text, '\n');
    }
    if (post->has_batch)
        buffer_printf(&text, "#producer %s %s%s\n#batch %s %" PRIu64 "\n", post->producer,
                      post->epoch, strcmp(post->batch, "1") == 0 ? " new" : "", post->batch,
                      post->lines - post->has_header);
    post->state = POST_SENDING;
    network_write(post->connection, buffer_view(&text));
    buffer_release(&text);
    pump(post);
}

/* ---- the connection ---- */

static void take_line(struct post *post, struct bytes line)
{
    struct bytes word = take_word(&line);

    if (is_word(word, "columns") && post->state == POST_COLUMNS)
        take_columns(post, line);
    else if (is_word(word, "reject"))
        take_reject(post, line);
    else if (is_word(word, "rejects"))
        take_sum(post, line);
    else if (is_word(word, "ok"))
        take_ok(post, line);
    else if (is_word(word, "error"))
        take_error(post, line);
}

static void connection_space(void *context, uint8_t **to_out, size_t *size_out)
{
    const struct post *post = context;

    *to_out = post->http->read;
    *size_out = READ_SIZE;
}

static void connection_data(void *context, size_t size)
{
    struct post *post = context;
    size_t begin = 0;

    buffer_append(&post->input, post->http->read, size);
    for (size_t at = post->input.size - size; at < post->input.size; at++) {
        if (post->input.data[at] != '\n' || post->exchange == NULL)
            continue;
        take_line(post, bytes_of(post->input.data + begin, at - begin));
        begin = at + 1;
    }
    memmove(post->input.data, post->input.data + begin, post->input.size - begin);
    post->input.size -= begin;
}

static void connection_end(void *context, int status)
{
    static const struct http_refusal ended = {503, "closed", "the ingest door has closed", "server",
                                              "send it again"};
    struct post *post = context;

    (void)status;
    if (post->exchange != NULL)
        post_refuse(post, &ended);
}

static void connection_drained(void *context)
{
    pump(context);
}

static void connection_closed(void *context)
{
    post_free(context);
}

static const struct connection_handler connection_handler = {
    .space = connection_space,
    .data = connection_data,
    .end = connection_end,
    .drained = connection_drained,
    .closed = connection_closed,
};

/* ---- requests ---- */

static const struct http_refusal bad_header = {
    400, "bad_header", "a header X-Daybook-... has a wrong value", "headers",
    "X-Daybook-Producer is a UUID; X-Daybook-Batch and X-Daybook-Epoch are numbers from 1 on; the "
    "producer and the batch go together"};

static bool take_number(const struct http_request *request, const char *name, char to[VALUE_MAX])
{
    struct bytes value = http_request_header(request, name);
    bool is_number = value.size > 0 && value.size <= 19 && value.data[0] != '0';

    for (size_t i = 0; i < value.size && is_number; i++)
        is_number = value.data[i] >= '0' && value.data[i] <= '9';
    if (is_number)
        (void)snprintf(to, VALUE_MAX, "%.*s", (int)value.size, (const char *)value.data);
    return is_number;
}

static bool take_producer(struct post *post, const struct http_request *request)
{
    struct bytes producer = http_request_header(request, "x-daybook-producer");
    struct bytes batch = http_request_header(request, "x-daybook-batch");
    uint8_t id[UUID_SIZE];

    post->has_batch = producer.size > 0;
    (void)snprintf(post->epoch, sizeof post->epoch, "1");
    if (http_request_header(request, "x-daybook-epoch").size > 0 &&
        !take_number(request, "x-daybook-epoch", post->epoch))
        return false;
    if (!post->has_batch)
        return batch.size == 0;
    if (!uuid_from_text(producer, id))
        return false;
    (void)snprintf(post->producer, sizeof post->producer, "%.*s", (int)producer.size,
                   (const char *)producer.data);
    return take_number(request, "x-daybook-batch", post->batch);
}

/* The name becomes a word of a control line, so it must have no spaces or control characters. */
static bool is_stream_name(struct bytes name)
{
    bool is_name = name.size < VALUE_MAX;

    for (size_t i = 0; i < name.size && is_name; i++)
        is_name = name.data[i] > ' ' && name.data[i] != 0x7F;
    return is_name;
}

/* False: a line begins with '#'. */
static bool count_lines(struct bytes body, uint64_t *lines_out)
{
    *lines_out = 0;
    while (body.size > 0) {
        size_t size = first_line_size(body);

        if (body.data[0] == '#')
            return false;
        ++*lines_out;
        body = bytes_of(body.data + size, body.size - size);
    }
    return true;
}

static const struct http_refusal *take_request(struct post *post, struct bytes *stream_out)
{
    static const struct http_refusal control_line = {
        400, "control_line", "a line begins with #", "body",
        "put the first field in quotes; control lines are headers here"};
    static const char mark[] = "\xef\xbb\xbf";
    const struct http_request *request = &post->exchange->request;
    struct bytes body = request->body;

    if (body.size >= 3 && memcmp(body.data, mark, 3) == 0)
        body = bytes_of(body.data + 3, body.size - 3);
    post->body = post->left = body;
    *stream_out = http_request_header(request, "x-daybook-stream");
    if (!take_producer(post, request) || !is_stream_name(*stream_out))
        return &bad_header;
    return count_lines(body, &post->lines) ? NULL : &control_line;
}

static void post_start(struct post *post, struct bytes stream, struct connection *other)
{
    struct http_ingest *http = post->http;
    struct buffer text = {0};

    post->exchange->gone = post_gone;
    post->exchange->gone_context = post;
    network_start(post->connection, &connection_handler, post);
    http->options.attach(http->options.context, other);
    world_timer_start(http->options.world, &post->late, post_late, post, http->options.late_ms);
    buffer_printf(&text, "#stream%s%.*s\n#columns\n", stream.size > 0 ? " " : "", (int)stream.size,
                  (const char *)stream.data);
    network_write(post->connection, buffer_view(&text));
    buffer_release(&text);
}

static void serve_post(void *context, struct http_exchange *exchange)
{
    static const struct http_refusal busy = {503, "busy", "too many clients send clicks over HTTP",
                                             "server", "try again in a second"};
    struct http_ingest *http = context;
    struct post *post = memory_zeroed(1, sizeof *post);
    struct connection *ends[2];
    struct error err = {0};
    struct bytes stream;

    post->http = http;
    post->exchange = exchange;
    const struct http_refusal *refusal = take_request(post, &stream);
    if (refusal == NULL && (http->posts == HTTP_INGEST_POSTS_MAX ||
                            network_pair(http->options.network, ends, &err) != 0))
        refusal = &busy;
    if (refusal != NULL) {
        http_door_refuse(exchange, refusal);
        memory_free(post);
        return;
    }
    http->posts++;
    post->connection = ends[0];
    post_start(post, stream, ends[1]);
}

/* ---- the address ---- */

struct http_ingest *http_ingest_new(struct http_door *door,
                                    const struct http_ingest_options *options)
{
    struct http_ingest *http = memory_zeroed(1, sizeof *http);

    http->options = *options;
    if (http->options.late_ms == 0)
        http->options.late_ms = HTTP_INGEST_MS;
    http_door_route(door, &(struct http_route){.path = "/ingest",
                                               .methods = HTTP_METHOD_POST,
                                               .body_max = HTTP_INGEST_BODY_MAX,
                                               .has_effects = true,
                                               .serve = serve_post,
                                               .context = http});
    return http;
}

void http_ingest_close(struct http_ingest *http, void (*closed)(void *context), void *context)
{
    http->is_closing = true;
    http->closed = closed;
    http->closed_context = context;
    free_if_idle(http);
}
