/* view: see the header. */
#include "query/web/page/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/calendar.h"
#include "base/memory.h"
#include "query/web/api_call.h"

enum { ARENA_CHUNK = 64 << 10 };

/* ---- memory ---- */

/* The tree of a command's answer takes at most TREE_FACTOR times the memory of its text. */
enum { TREE_FACTOR = 8 };

static void charge(struct view_call *call, size_t bytes)
{
    struct view_room *room = call->room;

    quota_charge(&room->quota, &call->held_bytes, bytes);
    int64_t change = quota_unreported(&room->quota);
    if (change != 0 && room->options.held != NULL)
        room->options.held(room->options.held_context, change);
}

static void charge_present(struct view_call *call)
{
    charge(call, arena_held(call->arena) + call->html.capacity + TREE_FACTOR * call->unread_bytes);
}

/* ---- the end ---- */

static void call_free(struct view_call *call)
{
    charge(call, 0);
    call->room->call_count--;
    buffer_release(&call->html);
    http_parameters_release(&call->parameters);
    arena_free(call->arena);
    memory_free(call);
}

static void call_gone(void *context)
{
    struct view_call *call = context;

    call->exchange = NULL;
    if (call->is_stepping) /* step_done frees it */
        return;
    if (call->running != NULL)
        web_command_forget(call->running);
    if (call->pauses > 0 && call->abandon != NULL)
        call->abandon(call);
    call_free(call);
}

static void call_answer(struct view_call *call)
{
    call->answer(call);
    call_free(call);
}

/* ---- errors ---- */

void view_put_error(struct view_call *call, uint16_t status, struct bytes what, const char *where,
                    const char *todo)
{
    call->status = status;
    html_put(&call->html,
             "<section class=\"error\" role=\"alert\">\n<h2>{}</h2>\n"
             "<dl><dt>Where</dt><dd>{}</dd><dt>What to do</dt><dd>{}</dd></dl>\n</section>\n",
             what, bytes_text(where), bytes_text(todo));
}

static const char *todo_of(uint16_t status)
{
    switch (status) {
    case 400:
        return "Change the fields above, or go back.";
    case 409:
        return "Load the page again, and see what is there now.";
    case 413:
        return "Ask for fewer days.";
    case 503:
        return "Try again in a second, or ask for less at a time.";
    default:
        return "`daybook status` and the server's log say more.";
    }
}

bool view_has(struct view_call *call, const struct view_run *run)
{
    if (run->value != NULL)
        return true;
    struct bytes what = run->notes.size > 0 ? run->notes : bytes_text("the command has failed");
    view_put_error(call, run->status, what, run->words[0], todo_of(run->status));
    return false;
}

/* ---- runs ---- */

static const char *text_of(struct arena *arena, const char *first, struct bytes second)
{
    size_t size = strlen(first);
    char *text = arena_alloc(arena, size + second.size + 1, 1);

    memcpy(text, first, size);
    if (second.size > 0)
        memcpy(text + size, second.data, second.size);
    text[size + second.size] = '\0';
    return text;
}

static void put_word(struct view_run *run, const char *word)
{
    check(run->word_count < VIEW_WORDS_MAX);
    run->words[run->word_count++] = word;
}

static bool takes_stream(const char *command)
{
    return strcmp(command, "report") == 0 || strcmp(command, "rate") == 0 ||
           strcmp(command, "restatements") == 0;
}

struct view_run *view_run(struct view_call *call, uint64_t rows_max, ...)
{
    struct view_run *run = arena_alloc_zeroed(call->arena, sizeof *run, _Alignof(struct view_run));
    va_list words;
    const char *word;

    check(call->run_count < VIEW_RUNS_MAX);
    run->call = call;
    run->window = (struct row_window){.rows_max = rows_max, .bytes_max = VIEW_RUN_BYTES};
    va_start(words, rows_max);
    while ((word = va_arg(words, const char *)) != NULL)
        put_word(run, word);
    va_end(words);
    put_word(run, "--format=json");
    if (takes_stream(run->words[0]))
        view_run_option(run, "--stream=", view_stream(call));
    call->runs[call->run_count++] = run;
    return run;
}

void view_run_stops(struct view_run *run)
{
    run->window.is_open = true;
}

/* Returns the option followed by the value.  A NUL would end the word, so a value with a NUL is
 * replaced by a value that no command takes. */
static const char *word_of(struct view_run *run, const char *option, struct bytes value)
{
    bool has_nul = value.size > 0 && memchr(value.data, 0, value.size) != NULL;

    return text_of(run->call->arena, option, has_nul ? bytes_text("\xEF\xBF\xBD") : value);
}

void view_run_option(struct view_run *run, const char *option, struct bytes value)
{
    check(!run->has_values);
    if (value.size > 0)
        put_word(run, word_of(run, option, value));
}

void view_run_flag(struct view_run *run, const char *flag)
{
    check(!run->has_values);
    put_word(run, flag);
}

void view_run_value(struct view_run *run, struct bytes value)
{
    if (!run->has_values)
        put_word(run, "--");
    run->has_values = true;
    put_word(run, word_of(run, "", value));
}

/* ---- what a run has printed ---- */

static struct bytes without_prefix(struct bytes text, const char *prefix)
{
    size_t size = strlen(prefix);

    return text.size >= size && memcmp(text.data, prefix, size) == 0
               ? bytes_of(text.data + size, text.size - size)
               : text;
}

/* Copy the lines without "daybook: " and "note: ", and without the LF of the last line. */
static struct bytes copy_notes(struct arena *arena, struct bytes notes)
{
    struct buffer text = {.arena = arena};

    while (notes.size > 0) {
        const uint8_t *end = memchr(notes.data, '\n', notes.size);
        size_t size = end != NULL ? (size_t)(end - notes.data) : notes.size;
        struct bytes line = without_prefix(bytes_of(notes.data, size), "daybook: ");
        if (text.size > 0)
            buffer_put_u8(&text, '\n');
        buffer_append_bytes(&text, without_prefix(line, "note: "));
        size += end != NULL;
        notes = bytes_of(notes.data + size, notes.size - size);
    }
    return buffer_view(&text);
}

static uint16_t status_of(const struct view_call *call, const struct web_printed *printed)
{
    if (TREE_FACTOR * printed->out.size > quota_left(&call->room->quota))
        return 503;
    switch (printed->outcome) {
    case WEB_REFUSED:
        return 400;
    case WEB_BUSY:
    case WEB_LATE:
        return 503;
    case WEB_LARGE:
        return 413;
    case WEB_ENDED:
        break;
    }
    switch (printed->exit_status) {
    case EXIT_DONE:
        return 200;
    case EXIT_WRONG_USAGE:
        return 400;
    case EXIT_DATA_SAYS_NO:
        return 409;
    default:
        return 500;
    }
}

static const char *text_of_outcome(enum web_outcome outcome)
{
    switch (outcome) {
    case WEB_LATE:
        return "The answer takes too long.";
    case WEB_LARGE:
        return "The answer is too large.";
    case WEB_ENDED:
    case WEB_REFUSED:
    case WEB_BUSY:
        break;
    }
    return "There is no room for the answer in the server's memory for commands.";
}

/* Keep what the command printed, to be read by the next step.  Rows come without the brackets of
 * their array, so these are added. */
static void keep_printed(struct view_run *run, struct bytes out)
{
    struct buffer json = {.arena = run->call->arena};
    bool is_table = run->window.rows_max > 0;

    buffer_reserve(&json, out.size + 2);
    buffer_append_text(&json, is_table ? "[" : "");
    buffer_append_bytes(&json, out);
    buffer_append_text(&json, is_table ? "]" : "");
    run->printed = buffer_view(&json);
    run->call->unread_bytes += json.size;
}

static void read_printed(struct view_run *run)
{
    struct arena *arena = run->call->arena;
    struct error err = {0};

    if (cql_json_read(run->printed, arena, &run->value, &err) == 0)
        return;
    run->value = NULL;
    run->status = 500;
    run->notes = html_format(arena, "The command's answer cannot be read: %s", err.text);
}

static void proceed(struct view_call *call);

static void run_done(void *context, const struct web_printed *printed)
{
    struct view_call *call = context;
    struct view_run *run = call->runs[call->run_at++];

    call->running = NULL;
    run->status = status_of(call, printed);
    run->notes = copy_notes(call->arena, printed->notes);
    if (run->status != 200 && run->notes.size == 0)
        run->notes = bytes_text(text_of_outcome(printed->outcome));
    if (run->window.rows_max > 0)
        run->total = row_window_total(printed->window);
    if (run->status == 200)
        keep_printed(run, printed->out);
    charge_present(call);
    proceed(call);
}

/* ---- steps ---- */

/* This function may free the call. */
static void start_run(struct view_call *call)
{
    struct view_run *run = call->runs[call->run_at];
    const struct web_command command = {.words = run->words,
                                        .word_count = run->word_count,
                                        .actor = call->exchange->client,
                                        .window = run->window.rows_max > 0 ? &run->window : NULL};
    struct web_run *running = web_command_run(call->options->commands, &command, run_done, call);

    if (running != NULL)
        call->running = running;
}

static struct view_call *call_of(struct job *job)
{
    return (struct view_call *)(void *)((char *)job - offsetof(struct view_call, job));
}

/* While this runs, the engine thread only sets `exchange`, which steps do not look at. */
static void step_run(struct job *job)
{
    struct view_call *call = call_of(job);
    void (*step)(struct view_call *call) = call->next;

    for (; call->read_count < call->run_count; call->read_count++)
        if (call->runs[call->read_count]->status == 200)
            read_printed(call->runs[call->read_count]);
    call->next = step == call->view->render ? NULL : call->view->render;
    step(call);
}

static void step_done(struct job *job)
{
    struct view_call *call = call_of(job);

    call->is_stepping = false;
    call->unread_bytes = 0;
    charge_present(call);
    if (call->exchange == NULL)
        call_free(call);
    else
        proceed(call);
}

/* This function may free the call. */
static void proceed(struct view_call *call)
{
    if (call->run_at < call->run_count) {
        start_run(call);
    } else if (call->pauses == 0 && call->next != NULL) {
        call->is_stepping = true;
        charge_present(call);
        world_submit(call->options->world, LANE_VIEW, &call->job, step_run, step_done);
    } else if (call->pauses == 0) {
        call_answer(call);
    }
}

void view_then(struct view_call *call, void (*next)(struct view_call *call))
{
    call->next = next;
}

void view_pause(struct view_call *call, void (*abandon)(struct view_call *call))
{
    call->pauses++;
    call->abandon = abandon;
}

void view_resume(struct view_call *call)
{
    check(call->pauses > 0);
    if (--call->pauses == 0 && call->running == NULL && !call->is_stepping)
        proceed(call);
}

void view_redirect(struct view_call *call, struct bytes location)
{
    struct buffer text = {.arena = call->arena};

    buffer_append_bytes(&text, call->base);
    buffer_append_bytes(&text, location);
    call->location = text_of(call->arena, "", buffer_view(&text));
    call->status = 303;
    call->next = NULL;
}

/* ---- functions for views ---- */

struct bytes view_parameter(const struct view_call *call, const char *name)
{
    return http_parameters_find(&call->parameters, name);
}

bool view_parameter_is(const struct view_call *call, const char *name, const char *value)
{
    return bytes_equal(view_parameter(call, name), bytes_text(value));
}

struct bytes view_member(const struct cql_json *object, const char *name)
{
    const struct cql_json *member = cql_json_member(object, name);

    return member == NULL || member->kind == CQL_JSON_NULL ? (struct bytes){0} : member->text;
}

/* ---- streams ---- */

static const char clicks[] = "clicks";

struct bytes view_stream(const struct view_call *call)
{
    return view_parameter(call, "stream");
}

bool view_is_of_clicks(const struct view_call *call)
{
    struct bytes stream = view_stream(call);

    return stream.size == 0 || bytes_equal(stream, bytes_text(clicks));
}

static bool is_shown(const struct view_call *call, const char *name)
{
    return strcmp(name, clicks) == 0 ? view_is_of_clicks(call)
                                     : bytes_equal(view_stream(call), bytes_text(name));
}

void view_put_stream_choice(struct view_call *call)
{
    if (call->stream_count < 2)
        return;
    buffer_append_text(&call->html, "<label>Stream <select name=\"stream\">");
    for (uint32_t i = 0; i < call->stream_count; i++)
        html_put_option(&call->html, call->streams[i].name, is_shown(call, call->streams[i].name));
    buffer_append_text(&call->html, "</select></label>\n");
}

void view_put_stream_field(struct view_call *call)
{
    if (view_stream(call).size > 0)
        html_put(&call->html, "<input type=\"hidden\" name=\"stream\" value=\"{}\">\n",
                 view_stream(call));
}

static const char *currency_of(const struct view_call *call)
{
    for (uint32_t i = 0; i < call->stream_count; i++)
        if (is_shown(call, call->streams[i].name) && call->streams[i].currency[0] != '\0')
            return call->streams[i].currency;
    return call->options->currency;
}

struct bytes view_amount(struct view_call *call, struct bytes digits)
{
    struct buffer text = {.arena = call->arena};
    const char *currency = currency_of(call);

    buffer_append_bytes(&text, html_number(call->arena, digits));
    if (currency[0] != '\0') {
        buffer_append_text(&text, "\xC2\xA0"); /* a no-break space */
        buffer_append_text(&text, currency);
    }
    return buffer_view(&text);
}

bool view_is_cut(const struct view_run *run)
{
    return run->value != NULL && run->total > run->value->count;
}

void view_put_cut(struct view_call *call, const struct view_run *run, const char *which,
                  const char *what)
{
    if (view_is_cut(run))
        html_put(&call->html, "<p class=\"note\">These are the {} {} of {} {}.</p>\n",
                 bytes_text(which), html_count(call->arena, run->value->count),
                 html_count(call->arena, run->total), bytes_text(what));
}

void view_put_export(struct view_call *call, const char *label, const char *address,
                     struct bytes query, bool has_picture)
{
    static const char *const forms[][2] = {{".csv", "CSV"}, {"", "JSON"}, {".svg", "SVG"}};

    html_put(&call->html, "<p class=\"export\">{}", bytes_text(label));
    for (size_t i = 0; i < (has_picture ? 3 : 2); i++)
        html_put(&call->html, " <a href=\"{}/api/{}{}{}\">{}</a>", call->base, bytes_text(address),
                 bytes_text(forms[i][0]), query, bytes_text(forms[i][1]));
    buffer_append_text(&call->html, "</p>\n");
}

const struct cql_json *view_find_row(const struct view_run *run, const char *name,
                                     const char *value)
{
    const struct cql_json *row = run->value != NULL ? run->value->items : NULL;

    while (row != NULL && !bytes_equal(view_member(row, name), bytes_text(value)))
        row = row->next;
    return row;
}

struct bytes view_day(struct view_call *call, int32_t day)
{
    char text[DAY_TEXT_SIZE + 1];

    calendar_day_format(day < DAY_MIN ? DAY_MIN : day > DAY_MAX ? DAY_MAX : day, text);
    return arena_copy(call->arena, bytes_of(text, DAY_TEXT_SIZE));
}

/* Returns the host as nc takes it: without the brackets that an IPv6 address has before a port. */
static struct bytes host_without_brackets(const char *address, const char *colon)
{
    size_t brackets = address[0] == '[' ? 1 : 0;

    return bytes_of(address + brackets, (size_t)(colon - address) - 2 * brackets);
}

void view_put_first_click(struct view_call *call)
{
    const char *colon = strrchr(call->options->ingest, ':');

    if (!view_is_of_clicks(call)) {
        html_put(
            &call->html,
            "<section class=\"empty\">\n<h2>No clicks yet</h2>\n<p>The stream {} has no rows.  "
            "It gets them from its own table, by CQL.</p>\n</section>\n",
            view_stream(call));
        return;
    }
    buffer_append_text(&call->html,
                       "<section class=\"empty\">\n<h2>No clicks yet</h2>\n<p>Send the first one: "
                       "reseller, day, time in milliseconds, ad and amount.</p>\n");
    if (colon != NULL)
        html_put(
            &call->html,
            "<pre><code>echo 'supaboobs,,1385654400123,ad42,0.005' | nc -N {} {}</code></pre>\n",
            host_without_brackets(call->options->ingest, colon), bytes_text(colon + 1));
    if (call->may_change)
        html_put(&call->html,
                 "<p>Or over HTTP:</p>\n<pre><code>curl --data-binary "
                 "'supaboobs,,1385654400123,ad42,0.005' {}{}/ingest</code></pre>\n",
                 call->origin, call->base);
    buffer_append_text(&call->html, "<p>This page has its figures as soon as a click is "
                                    "acknowledged.</p>\n</section>\n");
}

/* ---- the beginning ---- */

static const struct http_refusal *take_parameters(struct view_call *call)
{
    const struct http_exchange *exchange = call->exchange;
    const struct http_request *request = &exchange->request;

    if (request->method != HTTP_METHOD_POST)
        return http_parameters_parse(request->query, &call->parameters);
    const struct http_refusal *refusal = api_call_take_form(request, &call->parameters);
    return refusal != NULL ? refusal
                           : web_token_check(call->options->token, exchange, &call->parameters);
}

static struct bytes origin_of(struct arena *arena, const struct http_exchange *exchange)
{
    struct buffer origin = {.arena = arena};

    buffer_append_text(&origin, exchange->is_https ? "https://" : "http://");
    buffer_append_bytes(&origin, http_request_header(&exchange->request, "host"));
    return buffer_view(&origin);
}

static const char *copy_text(struct arena *arena, const char *text)
{
    return (const char *)arena_copy(arena, bytes_of(text, strlen(text) + 1)).data;
}

/* Copy what steps need of the streams, which belong to the engine thread. */
static void copy_streams(struct view_call *call)
{
    const struct page_options *options = call->options;
    struct view_stream_name stream = {0};
    uint32_t capacity = 0;

    while (options->stream_at != NULL &&
           (stream.name = options->stream_at(options->stream_context, call->stream_count,
                                             &stream.currency)) != NULL) {
        call->streams = arena_make_room(call->arena, call->streams, call->stream_count, &capacity,
                                        sizeof *call->streams);
        call->streams[call->stream_count++] = (struct view_stream_name){
            copy_text(call->arena, stream.name), copy_text(call->arena, stream.currency)};
    }
}

static struct view_call *call_new(struct view_room *room, const struct view *view,
                                  struct http_exchange *exchange)
{
    struct view_call *call = memory_zeroed(1, sizeof *call);

    room->call_count++;
    call->room = room;
    call->view = view;
    call->exchange = exchange;
    call->options = &room->options;
    call->arena = arena_new(ARENA_CHUNK);
    call->title = bytes_text(view->title);
    call->base = bytes_text(exchange->base);
    call->origin = origin_of(call->arena, exchange);
    copy_streams(call);
    call->wall_ms = world_wall_us(call->options->world) / 1000;
    call->may_change = !exchange->is_read_only;
    call->status = 200;
    exchange->gone = call_gone;
    exchange->gone_context = call;
    return call;
}

void view_begin(struct view_room *room, const struct view *view, struct http_exchange *exchange,
                void (*answer)(struct view_call *call))
{
    static const struct http_refusal busy = {503, "busy", "too many pages are being made at once",
                                             "server", "try again in a second"};
    bool is_post = exchange->request.method == HTTP_METHOD_POST;

    if (room->call_count == VIEW_CALLS_MAX) {
        http_door_refuse(exchange, &busy);
        return;
    }
    struct view_call *call = call_new(room, view, exchange);
    call->answer = answer;
    const struct http_refusal *refusal = take_parameters(call);
    if (refusal != NULL) {
        view_put_error(call, refusal->status, bytes_text(refusal->what), refusal->where,
                       refusal->todo);
        call_answer(call);
        return;
    }
    call->next = view->render;
    call->is_stepping = true;
    (is_post ? view->post : view->begin)(call);
    call->is_stepping = false;
    proceed(call);
}
