/* fuzz_page: addresses of the page's views, forms sent to them, and what their commands print:
 * every view answers, and its answer is whole HTML, in which no value can be taken for markup.
 *
 * Input: the address from its '/' on; a form where it begins with '+' instead; a newline; what
 * commands and CQL answer.  Words of commands are parsed as always; commands, CQL and the state of
 * the view Live are this file's. */
#include "query/web/page/page.h"

#include <stdio.h>

#include "base/arena.h"
#include "ingest/connection/rejects.h"
#include "query/commands/query_commands.h"
#include "query/cql/session/cql.h"
#include "rollup/commands/rollup_commands.h"
#include "storage/schema/type.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/played_door.h"
#include "tests/sim/sim_world.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

enum { ENTRIES_MAX = 64, ROWS_MAX = 4, TEXT_MAX = 64, DEPTH_MAX = 64 };

static struct bytes told; /* what is to be answered */

static struct bytes take_text(size_t size_max)
{
    size_t size = fuzz_take_byte(&told);

    size = size < size_max ? size : size_max;
    struct bytes text = bytes_of(told.data, size < told.size ? size : told.size);
    told = bytes_of(told.data + text.size, told.size - text.size);
    return text;
}

/* ---- what is whole ---- */

static bool is_lower(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_name(uint8_t c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

static bool skip(struct bytes *html, const char *text)
{
    size_t size = strlen(text);

    if (html->size < size || memcmp(html->data, text, size) != 0)
        return false;
    *html = bytes_of(html->data + size, html->size - size);
    return true;
}

static struct bytes take_name(struct bytes *html)
{
    struct bytes name = bytes_of(html->data, 0);

    while (name.size < html->size && is_name(html->data[name.size]))
        name.size++;
    *html = bytes_of(html->data + name.size, html->size - name.size);
    check(name.size > 0 && is_lower(name.data[0]));
    return name;
}

static bool is_one_of(struct bytes name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (bytes_equal(name, bytes_text(*names)))
            return true;
    return false;
}

/* Text up to `end`: it has no markup, and every & begins an entity. */
static void skip_text(struct bytes *html, char end)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", NULL};
    size_t at = 0;

    for (; at < html->size && html->data[at] != end; at++) {
        uint8_t c = html->data[at];
        check(c != '<' && (c >= ' ' || c == '\n' || c == '\t' || c == '\r') && c != 0x7F);
        if (c != '&')
            continue;
        struct bytes rest = bytes_of(html->data + at, html->size - at);
        bool is_entity = false;
        for (const char *const *entity = entities; *entity != NULL; entity++)
            is_entity |= skip(&rest, *entity);
        check(is_entity);
    }
    *html = bytes_of(html->data + at, html->size - at);
}

/* Nothing that the policy of the page forbids. */
static void check_attribute(struct bytes name)
{
    check(!(name.data[0] == 'o' && name.size > 1 && name.data[1] == 'n') &&
          !bytes_equal(name, bytes_text("style")));
}

/* Returns the element, which stays open; or one of no bytes. */
static struct bytes take_tag(struct bytes *html)
{
    static const char *const voids[] = {"br", "meta", "link", "input", NULL};
    struct bytes element = take_name(html);

    while (skip(html, " ")) {
        check_attribute(take_name(html));
        if (!skip(html, "=\""))
            continue;
        skip_text(html, '"');
        check(skip(html, "\""));
    }
    bool is_empty = skip(html, "/");
    check(skip(html, ">"));
    if (bytes_equal(element, bytes_text("script")))
        check(html->size > 0 && html->data[0] == '<');
    return is_empty || is_one_of(element, voids) ? (struct bytes){0} : element;
}

static void check_html(struct bytes html)
{
    struct bytes open[DEPTH_MAX];
    uint32_t depth = 0;

    check(bytes_valid_utf8(html) && skip(&html, "<!doctype html>"));
    while (html.size > 0) {
        skip_text(&html, '<');
        if (skip(&html, "</")) {
            check(depth > 0 && bytes_equal(take_name(&html), open[--depth]) && skip(&html, ">"));
        } else if (skip(&html, "<")) {
            struct bytes element = take_tag(&html);
            check(depth < DEPTH_MAX);
            depth += element.size > 0 ? (open[depth] = element, 1) : 0;
        }
    }
    check(depth == 0);
}

/* ---- what commands print ---- */

/* Members of rows that views read, with a value that they mostly have. */
static const char *const members[][2] = {
    {"reseller_id", "AA"},
    {"ad_id", "ad42"},
    {"day", "2013-11-28"},
    {"week", "2013-W48"},
    {"month", "2013-11"},
    {"at", "2013-11-28T02:16:52.000Z"},
    {"clicks", "3"},
    {"gross", "1000.025"},
    {"rate", "0.25"},
    {"amount", "250.00625"},
    {"unpriced_gross", "0"},
    {"unpriced_days", "0"},
    {"new", "25%"},
    {"new_rate", "0.25"},
    {"old_rate", "0.3"},
    {"new_amount", "12"},
    {"old_amount", "9.5"},
    {"effective_since", "2013-11-01"},
    {"reward_percent", "0.1"},
    {"actor", "me"},
    {"command", "daybook rate set"},
    {"note", "why"},
    {"by", "me"},
    {"time", "2013-11-28T02:16:52.123Z"},
    {"click_id", "0"},
    {"code", "bad_amount"},
    {"reason", "no number"},
    {"content", "a,b,c"},
    {"door", "ingest"},
    {"batch", "1"},
    {"line", "2"},
    {"table", "clicks_per_ad"},
    {"keys", "7"},
    {"bytes", "123456"},
    {"state", "live"},
    {"memory_memtable_bytes", "1"},
    {"per_second", "1.5"},
    {"newest_click_ms", "1234"},
};
enum { MEMBERS = sizeof members / sizeof members[0] };

/* What a command prints is UTF-8. */
static void put_text(struct buffer *json, struct bytes text)
{
    buffer_append_json(json, bytes_valid_utf8(text) ? text : bytes_text("\xEF\xBF\xBD"));
}

static void put_members(struct buffer *json)
{
    buffer_append_text(json, "{\"causes\": [\"clicks\", \"rate\"]");
    for (size_t i = 0; i < MEMBERS; i++) {
        unsigned form = fuzz_take_byte(&told);
        if (form == 1)
            continue;
        buffer_printf(json, ", \"%s\": ", members[i][0]);
        if (form == 0)
            put_text(json, bytes_text(members[i][1]));
        else if (form == 2)
            buffer_append_text(json, "null");
        else
            put_text(json, take_text(TEXT_MAX));
    }
}

static void put_rows(struct buffer *json)
{
    unsigned rows = fuzz_take_byte(&told) % ROWS_MAX;

    buffer_append_text(json, "[\n");
    for (unsigned i = 0; i < rows; i++) {
        put_members(json);
        buffer_append_text(json, i + 1 < rows ? "},\n" : "}\n");
    }
    buffer_append_text(json, "]\n");
}

/* An object, with members and lists of rows. */
static void put_object(struct buffer *json, const char *const *lists)
{
    put_members(json);
    for (; *lists != NULL; lists++) {
        buffer_printf(json, ", \"%s\": ", *lists);
        put_rows(json);
    }
    buffer_append_text(json, "}\n");
}

static bool prints_object(const struct command_request *request)
{
    return strncmp(request->text, "daybook status", 14) == 0 ||
           strncmp(request->text, "daybook rate set", 16) == 0 ||
           strncmp(request->text, "daybook rate delete", 19) == 0;
}

static void run(void *room, const struct command_request *request, struct command_output *output)
{
    unsigned status = fuzz_take_byte(&told) % 8;
    struct buffer json = {0};

    (void)room;
    if (status > EXIT_SYSTEM_FAILED)
        status = EXIT_DONE;
    else if (status != EXIT_DONE)
        command_printf(output, COMMAND_ERR, "daybook: note: %s\n", "<b>\"failed\"</b>\n");
    if (prints_object(request))
        put_object(&json, (const char *const[]){"rows", "findings", NULL});
    else
        put_rows(&json);
    output->write(output, COMMAND_OUT, buffer_view(&json));
    buffer_release(&json);
    output->finish(output, (int)status);
}

static struct command commands[ENTRIES_MAX];
static struct command_entry entries[ENTRIES_MAX];
static uint32_t entry_count;

static void add_command(const struct command *command)
{
    check(entry_count < ENTRIES_MAX);
    commands[entry_count] = *command;
    commands[entry_count].run = run;
    entries[entry_count] = (struct command_entry){&commands[entry_count], NULL};
    entry_count++;
}

static void add_commands(const struct command *(*command_at)(uint32_t index))
{
    for (uint32_t i = 0; command_at(i) != NULL; i++)
        add_command(command_at(i));
}

/* ---- CQL, and the state of Live ---- */

void cql_session_init(struct cql_session *session, struct cql *server)
{
    *session = (struct cql_session){.cql = server};
}

void cql_session_leave(struct cql_session *session, int64_t grace_us)
{
    (void)session;
    (void)grace_us;
}

static void answer_row(cql_answer answer, void *context)
{
    struct cql_column column = {.keyspace = "k", .table = "t", .name = "a<b>"};
    struct cql_result result = {.kind = CQL_RESULT_ROWS};
    struct buffer cells = {0};

    column.type = type_builtin(TYPE_TEXT);
    struct bytes text = take_text(TEXT_MAX);
    struct bytes value = bytes_valid_utf8(text) ? text : bytes_text("<&>");
    buffer_put_u32_be(&cells, (uint32_t)value.size);
    buffer_append_bytes(&cells, value);
    result.rows = (struct cql_rows){.metadata = {&column, 1},
                                    .row_count = 1,
                                    .paging_state = take_text(TEXT_MAX),
                                    .cells = buffer_view(&cells)};
    answer(context, &result);
    buffer_release(&cells);
}

/* A message of this form names the place of an error; another one may name what is not known. */
static void answer_error(cql_answer answer, void *context)
{
    static const char *const beginnings[] = {"line ", "Undefined column name ", "table k."};
    struct cql_result result = {.kind = CQL_RESULT_ERROR, .error = {.code = CQL_SYNTAX_ERROR}};
    char message[TEXT_MAX];
    unsigned choice = fuzz_take_byte(&told) % (sizeof beginnings / sizeof beginnings[0]);
    unsigned line = fuzz_take_byte(&told), column = fuzz_take_byte(&told);

    (void)snprintf(message, sizeof message, "%s%u:%u x", beginnings[choice], line, column);
    result.error.message = message;
    answer(context, &result);
}

void cql_run(struct cql_session *session, const struct cql_request *request, cql_answer answer,
             void *context)
{
    (void)session;
    check(request->text.size > 0 && request->page_size > 0);
    if (fuzz_take_byte(&told) % 2 == 0)
        answer_row(answer, context);
    else
        answer_error(answer, context);
}

void live_ask(struct live *live, struct live_asker *asker)
{
    static const char *const parts[] = {"clicks", "today", "freshness", "ingest"};
    static const char *const lists[] = {"resellers", "ads", "rows", "codes", NULL};
    struct buffer json = {0};

    (void)live;
    buffer_append_text(&json, "{\"at\": \"2013-11-28T02:16:52.000Z\"");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        buffer_printf(&json, ", \"%s\": ", parts[i]);
        put_object(&json, lists);
    }
    buffer_append_text(&json, "}\n");
    asker->done(asker->context, buffer_view(&json));
    buffer_release(&json);
}

void live_forget(struct live *live, struct live_asker *asker)
{
    (void)live;
    (void)asker;
}

/* ---- requests ---- */

static struct world *world;

static void open_page(void)
{
    static const struct web_token token = {TOKEN};

    world = sim_world_interface(sim_world_new(1));
    add_commands(query_commands_at);
    add_commands(rollup_commands_at);
    add_command(&rejects_command);
    (void)page_new(
        NULL, &(struct page_options){.world = world,
                                     .commands = web_command_open(
                                         &(struct web_commands_options){.world = world,
                                                                        .entries = entries,
                                                                        .entry_count = entry_count,
                                                                        .bytes_max = 64 << 20}),
                                     .cql = web_cql_open(NULL),
                                     .token = &token,
                                     .ingest = "127.0.0.1:7600",
                                     .version = "1",
                                     .currency = "EUR",
                                     .bytes_max = 32 << 20});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool is_open;
    const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
    struct bytes address = bytes_of(data, end != NULL ? (size_t)(end - data) : size);
    struct bytes form = bytes_of("", 0);
    struct played_exchange played;
    struct buffer head = {0};

    if (!is_open)
        open_page();
    is_open = true;
    told = end != NULL ? bytes_of(end + 1, size - address.size - 1) : bytes_of("", 0);
    if (skip(&address, "+")) {
        const uint8_t *query = memchr(address.data, '?', address.size);
        size_t path = query != NULL ? (size_t)(query - address.data) : address.size;
        form =
            bytes_of(address.data + path + (query != NULL), address.size - path - (query != NULL));
        buffer_append_text(&head, "POST ");
        buffer_append(&head, address.data, path);
    } else {
        buffer_append_text(&head, "GET ");
        buffer_append_bytes(&head, address);
    }
    buffer_append_text(&head, " HTTP/1.1\r\nHost: a\r\n"
                              "Content-Type: application/x-www-form-urlencoded\r\n");
    if (played_door_ask(&played, buffer_view(&head), form)) {
        while (played.status == 0)
            check(world->executor->step(world->executor));
        bool is_view = played.status != 303 && !skip(&address, "/assets/");
        if (is_view)
            check_html(buffer_view(&played.answer));
        played_door_end(&played);
    }
    buffer_release(&head);
    return 0;
}
