/* api_call: see the header.
 *
 *     parameters ─▶ words of part 0 ─▶ run ─▶ body ─▶ words of part 1 ─▶ ... ─▶ answer
 *          └─────────────┴───────────────┴─▶ refusal
 *
 * A call is freed when it has been answered, or when its client has left.  If a run is under way
 * then, it is forgotten (web_command_forget). */
#include "query/web/api_call.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/memory.h"
#include "query/web/api.h"
#include "query/web/api_words.h"

enum { TEXTS_CHUNK = 4 << 10, STREAM_QUEUED_MAX = 64 << 10 };

struct api_call {
    struct http_exchange *exchange; /* NULL: the exchange has ended before the run */
    const struct api_options *options;
    const struct api_endpoint *endpoint;
    struct http_parameters parameters;
    struct arena *texts;
    bool is_csv;
    bool is_begun; /* the answer is streamed, and has begun */
    struct api_page page;
    uint32_t part; /* index of the endpoint's part that runs */
    struct row_window window;
    struct web_run *run; /* NULL: none is under way */
    struct buffer body;
    struct buffer notes; /* items of a JSON array */
};

/* ---- the end ---- */

static void call_free(struct api_call *call)
{
    http_parameters_release(&call->parameters);
    arena_free(call->texts);
    buffer_release(&call->body);
    buffer_release(&call->notes);
    memory_free(call);
}

static void call_gone(void *context)
{
    struct api_call *call = context;

    if (call->run != NULL)
        web_command_forget(call->run);
    call_free(call);
}

static void call_refuse(struct api_call *call, const struct http_refusal *refusal)
{
    http_door_refuse(call->exchange, refusal);
    call_free(call);
}

static const char *type_of(const struct api_call *call)
{
    if (call->endpoint->form == API_PICTURE)
        return "image/svg+xml";
    return call->is_csv ? "text/csv; charset=utf-8; header=present" : "application/json";
}

static struct http_answer answer_of(const struct api_call *call)
{
    /* The policy must allow the style sheet that a picture has. */
    static const char policy[] =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

    return (struct http_answer){.status = 200,
                                .type = type_of(call),
                                .body = buffer_view(&call->body),
                                .policy = call->endpoint->form == API_PICTURE ? policy : NULL,
                                .is_variant = call->endpoint->form == API_TABLE};
}

static void call_answer(struct api_call *call)
{
    const struct http_answer answer = answer_of(call);

    http_door_answer(call->exchange, &answer);
    call_free(call);
}

/* ---- CSV, as it is printed ---- */

static void stream_more(void *context)
{
    const struct api_call *call = context;

    if (call->run != NULL)
        web_command_drained(call->run);
}

static void stream_write(void *context, struct bytes bytes)
{
    struct api_call *call = context;
    const struct http_answer answer = answer_of(call);

    if (!call->is_begun) {
        call->is_begun = true;
        if (!http_door_begin(call->exchange, &answer, stream_more))
            call->exchange = NULL;
    }
    if (call->exchange != NULL)
        http_door_send(call->exchange, bytes);
}

static bool stream_is_full(void *context)
{
    const struct api_call *call = context;

    return call->exchange != NULL && call->is_begun &&
           http_door_queued(call->exchange) >= STREAM_QUEUED_MAX;
}

static const struct web_sink stream = {stream_write, stream_is_full};

static void stream_end(struct api_call *call, bool is_whole)
{
    if (call->exchange != NULL && is_whole)
        http_door_end(call->exchange);
    else if (call->exchange != NULL)
        http_door_break(call->exchange);
    call_free(call);
}

/* ---- words ---- */

const struct http_refusal *api_call_take_form(const struct http_request *request,
                                              struct http_parameters *form)
{
    static const struct http_refusal not_a_form = {
        415, "not_a_form", "the body is no form", "header Content-Type",
        "send application/x-www-form-urlencoded, as curl --data-urlencode does"};
    static const struct http_refusal has_query = {400, "bad_parameter",
                                                  "parameters of a POST are not in its address",
                                                  "query", "send them in the body"};
    struct bytes type = http_request_header(request, "content-type");
    const struct bytes wanted = bytes_text("application/x-www-form-urlencoded");

    *form = (struct http_parameters){0};
    if (type.size < wanted.size ||
        !bytes_are_word(bytes_of(type.data, wanted.size), "application/x-www-form-urlencoded"))
        return &not_a_form;
    if (request->query.size > 0)
        return &has_query;
    return http_parameters_parse(request->body, form);
}

static const struct http_refusal *take_parameters(struct api_call *call)
{
    const struct http_exchange *exchange = call->exchange;
    const struct http_refusal *refusal =
        call->endpoint->has_effects
            ? api_call_take_form(&exchange->request, &call->parameters)
            : http_parameters_parse(exchange->request.query, &call->parameters);

    if (refusal == NULL && call->endpoint->has_effects)
        refusal = web_token_check(call->options->token, exchange, &call->parameters);
    if (refusal == NULL)
        refusal = api_words_check(call->endpoint, &call->parameters, call->texts);
    if (refusal == NULL)
        refusal = api_words_page(&call->parameters, call->is_csv, call->texts, &call->page);
    return refusal;
}

static void make_words(struct api_call *call, const struct http_parameter *only,
                       struct api_words *words)
{
    const char *format = call->endpoint->form == API_PICTURE ? "--format=svg"
                         : call->is_csv                      ? "--format=csv"
                                                             : "--format=json";

    api_words_make(&call->endpoint->parts[call->part], &call->parameters, only, format, call->texts,
                   words);
}

/* ---- refusals of commands ---- */

static const char read_description[] = "/api/openapi.json describes the parameters";

/* Name options as parameters: "--from takes a day" becomes "from takes a day". */
static const char *without_dashes(struct api_call *call, struct bytes text)
{
    char *to = arena_alloc(call->texts, text.size + 1, 1);
    size_t size = 0;

    for (size_t i = 0; i < text.size; i++) {
        bool is_first = i == 0 || text.data[i - 1] == ' ' || text.data[i - 1] == '(';
        bool is_option = is_first && i + 2 < text.size && text.data[i] == '-' &&
                         text.data[i + 1] == '-' && text.data[i + 2] > ' ';
        if (is_option)
            i++;
        else
            to[size++] = (char)text.data[i];
    }
    to[size] = '\0';
    return to;
}

/* Returns the parameter that by itself makes the command report the error `said`; NULL: there is
 * none. */
static const struct http_parameter *blamed_parameter(struct api_call *call, struct bytes said)
{
    for (uint32_t i = 0; i < call->parameters.count; i++) {
        const struct http_parameter *given = &call->parameters.items[i];
        struct api_words words;
        struct error err = {0};
        make_words(call, given, &words);
        const struct web_command command = {.words = words.items, .word_count = words.count};
        if (web_command_check(call->options->commands, &command, &err) != 0 &&
            bytes_equal(bytes_text(err.text), said))
            return given;
    }
    return NULL;
}

static void refuse_usage(struct api_call *call, struct bytes said)
{
    const struct http_parameter *blamed = blamed_parameter(call, said);
    const char *what = without_dashes(call, said);
    struct http_refusal refusal = {400, "bad_parameter", what, "parameters", read_description};

    call_refuse(call, blamed != NULL
                          ? api_words_refuse(call->texts, api_words_text(call->texts, blamed->name),
                                             what, read_description)
                          : &refusal);
}

/* ---- notes ---- */

static struct bytes without_prefix(struct bytes line, const char *prefix)
{
    size_t size = strlen(prefix);
    bool has_prefix = line.size >= size && memcmp(line.data, prefix, size) == 0;

    return has_prefix ? bytes_of(line.data + size, line.size - size) : line;
}

static struct bytes take_line(struct bytes *left)
{
    const uint8_t *end = memchr(left->data, '\n', left->size);
    size_t size = end != NULL ? (size_t)(end - left->data) : left->size;
    struct bytes line = bytes_of(left->data, size);

    size += end != NULL;
    *left = bytes_of(left->data + size, left->size - size);
    return without_prefix(without_prefix(line, "daybook: "), "note: ");
}

static void add_notes(struct api_call *call, struct bytes notes)
{
    while (notes.size > 0) {
        struct bytes line = take_line(&notes);
        if (line.size == 0)
            continue;
        if (call->notes.size > 0)
            buffer_append_text(&call->notes, ", ");
        buffer_append_json(&call->notes, line);
    }
}

/* ---- bodies ---- */

/* Append the request's query with another offset.  The items of the query that are not empty are
 * the call's parameters, in the same order. */
static void put_next(struct api_call *call, uint64_t offset)
{
    struct bytes left = call->exchange->request.query;
    struct buffer query = {0};
    uint32_t number = 0;

    buffer_put_u8(&query, '?');
    while (left.size > 0) {
        const uint8_t *end = memchr(left.data, '&', left.size);
        size_t size = end != NULL ? (size_t)(end - left.data) : left.size;
        struct bytes item = bytes_of(left.data, size);

        size += end != NULL;
        left = bytes_of(left.data + size, left.size - size);
        if (item.size == 0)
            continue;
        if (bytes_equal(call->parameters.items[number++].name, bytes_text("offset")))
            continue;
        buffer_append_bytes(&query, item);
        buffer_put_u8(&query, '&');
    }
    buffer_printf(&query, "offset=%" PRIu64, offset);
    buffer_append_json(&call->body, buffer_view(&query));
    buffer_release(&query);
}

static void put_table(struct api_call *call, const struct web_printed *printed)
{
    if (call->is_csv) {
        buffer_append_bytes(&call->body, printed->out);
        return;
    }
    uint64_t total = row_window_total(printed->window);
    uint64_t end = call->page.offset + printed->window->taken;
    buffer_append_text(&call->body, "{\"rows\": [\n");
    buffer_append_bytes(&call->body, printed->out);
    buffer_printf(&call->body, "\n], \"offset\": %" PRIu64 ", \"total\": %" PRIu64 ", \"next\": ",
                  call->page.offset, total);
    if (end < total && printed->window->taken > 0)
        put_next(call, end);
    else
        buffer_append_text(&call->body, "null");
    buffer_append_text(&call->body, ", \"notes\": [");
    buffer_append_bytes(&call->body, buffer_view(&call->notes));
    buffer_append_text(&call->body, "]}\n");
}

static void put_member(struct api_call *call, const struct api_part *part,
                       const struct web_printed *printed)
{
    buffer_append_text(&call->body, call->part == 0 ? "{" : ",\n");
    buffer_append_json(&call->body, bytes_text(part->member));
    if (part->rows_max == 0) {
        buffer_append_text(&call->body, ": ");
        buffer_append_bytes(&call->body, printed->out.size > 0 ? printed->out : bytes_text("null"));
        return;
    }
    buffer_append_text(&call->body, ": [\n");
    buffer_append_bytes(&call->body, printed->out);
    buffer_append_text(&call->body, "\n]");
}

static void put_end(struct api_call *call)
{
    buffer_append_text(&call->body, ",\n\"notes\": [");
    buffer_append_bytes(&call->body, buffer_view(&call->notes));
    buffer_append_text(&call->body, "]}\n");
}

static void put_printed(struct api_call *call, const struct web_printed *printed)
{
    add_notes(call, printed->notes);
    switch (call->endpoint->form) {
    case API_TABLE:
        put_table(call, printed);
        break;
    case API_OBJECT:
    case API_PICTURE:
        buffer_append_bytes(&call->body, printed->out);
        break;
    case API_PARTS:
        put_member(call, &call->endpoint->parts[call->part], printed);
        if (call->part + 1 == call->endpoint->part_count)
            put_end(call);
        break;
    }
}

/* ---- runs ---- */

static void run_part(struct api_call *call);

static void refuse_ended(struct api_call *call, const struct web_printed *printed)
{
    struct bytes notes = printed->notes;
    const char *what = without_dashes(call, take_line(&notes));

    if (printed->exit_status == EXIT_WRONG_USAGE)
        call_refuse(call, &(struct http_refusal){400, "bad_parameter", what, "parameters",
                                                 read_description});
    else if (printed->exit_status == EXIT_DATA_SAYS_NO)
        call_refuse(call, &(struct http_refusal){409, "conflict", what, "parameters",
                                                 "ask again for what is there now"});
    else
        call_refuse(call, &(struct http_refusal){500, "failed", what, "server",
                                                 "daybook status and the server's log say more"});
}

static const struct http_refusal too_large = {
    413, "answer_too_large", "the answer is over 16 MiB", "answer",
    "ask for fewer days or rows; CSV without a limit and an offset may be of any size"};

/* Whether an answer in CSV lacks rows that were requested.  JSON says so by its member `next`. */
static bool is_cut(const struct api_call *call, const struct web_printed *printed)
{
    const struct row_window *window = printed->window;

    return call->is_csv && window != NULL && window->taken < window->rows_max &&
           window->skipped + window->taken < row_window_total(window);
}

/* Whether the command of a WEB_BUSY answer ran: one that did not run has neither succeeded nor
 * printed notes. */
static bool has_run(const struct web_printed *printed)
{
    return printed->exit_status == EXIT_DONE || printed->notes.size > 0;
}

static void part_done(void *context, const struct web_printed *printed)
{
    static const struct http_refusal busy = {
        503, "busy", "there is no room for the request in the server's memory for commands",
        "server", "try again in a second, or ask for less at a time"};
    static const struct http_refusal busy_change = {
        503, "busy", "there was no room for all that the command says", "server",
        "ask /api/rates whether the change was made"};
    static const struct http_refusal late = {503, "late", "the answer took too long", "server",
                                             "ask for less at a time"};
    static const struct http_refusal late_change = {
        503, "late", "the change is still under way, and will be made", "server",
        "ask /api/rates whether it was made"};
    struct api_call *call = context;

    call->run = NULL;
    if (call->is_begun) {
        stream_end(call, printed->outcome == WEB_ENDED && printed->exit_status == EXIT_DONE);
        return;
    }
    switch (printed->outcome) {
    case WEB_REFUSED:
        refuse_usage(call, printed->notes);
        return;
    case WEB_BUSY:
        call_refuse(call, call->endpoint->has_effects && has_run(printed) ? &busy_change : &busy);
        return;
    case WEB_LARGE:
        call_refuse(call, &too_large);
        return;
    case WEB_LATE:
        call_refuse(call, call->endpoint->has_effects ? &late_change : &late);
        return;
    case WEB_ENDED:
        break;
    }
    if (printed->exit_status != EXIT_DONE) {
        refuse_ended(call, printed);
        return;
    }
    if (is_cut(call, printed)) {
        call_refuse(call, &too_large);
        return;
    }
    put_printed(call, printed);
    if (++call->part == call->endpoint->part_count)
        call_answer(call);
    else
        run_part(call);
}

static bool is_streamed(const struct api_call *call)
{
    return call->is_csv && call->page.limit == UINT64_MAX && call->page.offset == 0;
}

static const struct row_window *part_window(struct api_call *call, const struct api_part *part)
{
    bool is_table = call->endpoint->form == API_TABLE;

    if (call->endpoint->form == API_OBJECT || call->endpoint->form == API_PICTURE ||
        is_streamed(call))
        return NULL;
    call->window = (struct row_window){.is_csv = call->is_csv,
                                       .skipped = call->page.offset,
                                       .rows_max = is_table             ? call->page.limit
                                                   : part->rows_max > 0 ? part->rows_max
                                                                        : 1,
                                       .bytes_max = call->is_csv ? WEB_OUT_MAX : API_PAGE_BYTES};
    return &call->window;
}

/* This function may free the call. */
static void run_part(struct api_call *call)
{
    const struct api_part *part = &call->endpoint->parts[call->part];
    struct api_words words;

    make_words(call, NULL, &words);
    const struct web_command command = {.words = words.items,
                                        .word_count = words.count,
                                        .actor = call->exchange->client,
                                        .window = part_window(call, part),
                                        .sink = is_streamed(call) ? &stream : NULL};
    struct web_run *run = web_command_run(call->options->commands, &command, part_done, call);
    if (run != NULL)
        call->run = run;
}

void api_call_begin(const struct api_options *options, const struct api_endpoint *endpoint,
                    bool is_csv, struct http_exchange *exchange)
{
    struct api_call *call = memory_zeroed(1, sizeof *call);

    call->exchange = exchange;
    call->options = options;
    call->endpoint = endpoint;
    call->is_csv = is_csv;
    call->texts = arena_new(TEXTS_CHUNK);
    exchange->gone = call_gone;
    exchange->gone_context = call;
    const struct http_refusal *refusal = take_parameters(call);
    if (refusal != NULL)
        call_refuse(call, refusal);
    else
        run_part(call);
}
