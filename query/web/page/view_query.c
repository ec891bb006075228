/* view_query: shows a form for a CQL statement, and the rows of its answer.
 *
 *     /query?query=SELECT+*+FROM+clicks_per_ad&keyspace=daybook&limit=100&page=00a7...
 *
 * A GET may only read.  A statement that changes something needs a POST, which is sent by the
 * button that has the token (web_token.h).  An error is marked in the statement. */
#include "query/web/page/view.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/reader.h"
#include "query/cql/common/cql_session.h"
#include "query/web/web_cql.h"
#include "storage/schema/type.h"

enum {
    CELL_SHOWN = 2000,   /* most bytes of a cell that are shown */
    CELL_SHORT = 40,     /* a cell of at most this many bytes has one line */
    VALUE_MAX = 4 << 10, /* of a larger value that is no text, only the size is shown */
    HTML_MAX = 256 << 10 /* bytes of HTML of the rows */
};

static const char default_keyspace[] = "daybook";
static const struct row_choice {
    const char *text;
    uint32_t rows;
} row_choices[] = {{"20", 20}, {"100", 100}, {"500", 500}};
enum { ROW_CHOICES = sizeof row_choices / sizeof row_choices[0] };

/* A statement under way.  It outlives the call if the client leaves. */
struct query_run {
    struct view_call *call; /* NULL: the client has left */
    struct buffer text, keyspace, page;
    struct web_cql_run *run;
};

/* ---- the form ---- */

static struct bytes keyspace_of(const struct view_call *call)
{
    struct bytes keyspace = view_parameter(call, "keyspace");

    return keyspace.size > 0 ? keyspace : bytes_text(default_keyspace);
}

static const struct row_choice *rows_of(const struct view_call *call)
{
    for (size_t i = 0; i < ROW_CHOICES; i++)
        if (view_parameter_is(call, "limit", row_choices[i].text))
            return &row_choices[i];
    return &row_choices[1];
}

static void put_buttons(struct view_call *call)
{
    buffer_append_text(&call->html, "<button>Run</button>\n");
    if (call->may_change)
        html_put(&call->html,
                 "<button class=\"second\" name=\"token\" value=\"{}\" formmethod=\"post\" "
                 "title=\"Runs statements that change something, too\">Run and change</button>\n",
                 bytes_text(call->options->token->text));
    html_put(&call->html,
             "<button class=\"second\" formmethod=\"post\" formaction=\"{}/api/cql\">As JSON"
             "</button>\n",
             call->base);
}

static void put_form(struct view_call *call)
{
    html_put(&call->html,
             "<form class=\"statement\" method=\"get\" action=\"{}/query\">\n"
             "<label for=\"query\">Statement</label>\n"
             "<textarea id=\"query\" name=\"query\" rows=\"4\" spellcheck=\"false\" "
             "autocapitalize=\"off\" autocomplete=\"off\" required>\n{}</textarea>\n"
             "<div class=\"fields\">\n"
             "<label>Keyspace <input type=\"text\" name=\"keyspace\" value=\"{}\"></label>\n"
             "<label>Rows of a page <select name=\"limit\">",
             call->base, view_parameter(call, "query"), keyspace_of(call));
    for (size_t i = 0; i < ROW_CHOICES; i++)
        html_put_option(&call->html, row_choices[i].text, &row_choices[i] == rows_of(call));
    buffer_append_text(&call->html, "</select></label>\n");
    put_buttons(call);
    buffer_append_text(&call->html, "</div>\n</form>\n");
}

static void put_examples(struct view_call *call)
{
    static const char *const examples[][2] = {
        {"The newest figures of a reseller", "SELECT day, clicks, gross, rate, amount FROM "
                                             "amount_by_day WHERE reseller_id = 'AA' LIMIT 31"},
        {"What an hour had", "SELECT at, clicks, gross FROM clicks_by_hour WHERE reseller_id = "
                             "'AA' AND day = '2013-12-31'"},
        {"The clicks of an ad", "SELECT * FROM clicks_per_ad WHERE ad_id = 'ad42'"},
        {"Who changed what", "SELECT at, actor, command, old, new, note FROM change LIMIT 20"},
        {"The columns of a table", "DESCRIBE TABLE ad_click"}};

    buffer_append_text(&call->html, "<h2>Examples</h2>\n<ul class=\"examples\">\n");
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        html_put(&call->html, "<li><a href=\"{}/query?query={}\">{}</a><br><code>{}</code></li>\n",
                 call->base, html_url(call->arena, bytes_text(examples[i][1])),
                 bytes_text(examples[i][0]), bytes_text(examples[i][1]));
    buffer_append_text(&call->html,
                       "</ul>\n<p class=\"note\"><code>docs/CQL.md</code> describes the language; "
                       "<code>DESCRIBE TABLES</code> lists the tables.</p>\n");
}

/* ---- rows ---- */

static bool is_number(const struct type *type)
{
    static const enum type_kind numbers[] = {TYPE_BIGINT,   TYPE_COUNTER, TYPE_DECIMAL,
                                             TYPE_DOUBLE,   TYPE_FLOAT,   TYPE_INT,
                                             TYPE_SMALLINT, TYPE_TINYINT, TYPE_VARINT};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (type->kind == numbers[i])
            return true;
    return false;
}

static bool is_text(const struct type *type)
{
    return type->kind == TYPE_TEXT || type->kind == TYPE_ASCII;
}

static struct bytes without_quotes(struct bytes json)
{
    return json.size >= 2 && json.data[0] == '"' ? bytes_of(json.data + 1, json.size - 2) : json;
}

static void put_value(struct buffer *html, struct bytes text)
{
    struct bytes cut = bytes_utf8_cut(text, CELL_SHOWN);

    html_put_text(html, cut);
    if (cut.size < text.size)
        buffer_append_text(html, "\xE2\x80\xA6");
}

static void put_cell(struct view_call *call, const struct type *type, struct bytes value)
{
    struct buffer *html = &call->html;
    struct buffer json = {0};

    buffer_append_text(html, is_number(type)           ? "<td class=\"n\">"
                             : value.size > CELL_SHORT ? "<td class=\"value\">"
                                                       : "<td>");
    if (value.data == NULL) {
        buffer_append_text(html, "<span class=\"null\">null</span>");
    } else if (is_text(type)) {
        put_value(html, value);
    } else if (value.size > VALUE_MAX) {
        html_put(html, "<span class=\"null\">{} bytes</span>", html_count(call->arena, value.size));
    } else {
        cql_json_format(type, value, &json);
        put_value(html, without_quotes(buffer_view(&json)));
    }
    buffer_append_text(html, "</td>");
    buffer_release(&json);
}

/* Returns the number of rows that were written. */
static uint32_t put_cells(struct view_call *call, const struct cql_rows *rows)
{
    struct reader cells = reader_of(rows->cells);
    size_t begin = call->html.size;
    uint32_t row = 0;

    for (; row < rows->row_count && call->html.size - begin < HTML_MAX; row++) {
        buffer_append_text(&call->html, "<tr>");
        for (uint32_t i = 0; i < rows->metadata.count; i++) {
            uint32_t size = reader_u32_be(&cells);
            struct bytes value =
                size == UINT32_MAX ? bytes_of(NULL, 0) : reader_bytes(&cells, size);
            put_cell(call, rows->metadata.columns[i].type, value);
        }
        buffer_append_text(&call->html, "</tr>\n");
    }
    check(!cells.failed);
    return row;
}

static void put_columns(struct view_call *call, const struct cql_metadata *metadata)
{
    struct buffer type = {0};

    buffer_append_text(&call->html, "<thead><tr>");
    for (uint32_t i = 0; i < metadata->count; i++) {
        buffer_clear(&type);
        type_print(metadata->columns[i].type, &type);
        html_put(&call->html,
                 is_number(metadata->columns[i].type)
                     ? "<th scope=\"col\" class=\"n\">{} <small>{}</small></th>"
                     : "<th scope=\"col\">{} <small>{}</small></th>",
                 bytes_text(metadata->columns[i].name), buffer_view(&type));
    }
    buffer_append_text(&call->html, "</tr></thead>\n");
    buffer_release(&type);
}

static void put_next(struct view_call *call, const struct cql_result *result, uint32_t shown)
{
    struct buffer page = {.arena = call->arena};

    if (shown < result->rows.row_count)
        html_put(&call->html,
                 "<p class=\"note\">{} rows of this page are not shown, as they are long; choose "
                 "fewer rows or columns.</p>\n",
                 html_count(call->arena, result->rows.row_count - shown));
    if (web_cql_put_page(result, &page))
        html_put(&call->html,
                 "<p><a href=\"{}/query?query={}&amp;keyspace={}&amp;limit={}&amp;page={}\">"
                 "The next rows</a></p>\n",
                 call->base, html_url(call->arena, view_parameter(call, "query")),
                 html_url(call->arena, keyspace_of(call)), bytes_text(rows_of(call)->text),
                 buffer_view(&page));
}

static void put_rows(struct view_call *call, const struct cql_result *result)
{
    uint32_t count = result->rows.row_count;
    struct bytes caption =
        html_format(call->arena, "%" PRIu32 " row%s", count, count == 1 ? "" : "s");

    html_put(&call->html,
             "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n"
             "<table class=\"grid\">\n<caption>{}</caption>\n",
             caption, caption);
    put_columns(call, &result->rows.metadata);
    buffer_append_text(&call->html, "<tbody>\n");
    uint32_t shown = put_cells(call, &result->rows);
    html_table_end(&call->html);
    put_next(call, result, shown);
}

static void put_result(struct view_call *call, const struct cql_result *result)
{
    if (result->kind == CQL_RESULT_ROWS)
        put_rows(call, result);
    else if (result->kind == CQL_RESULT_SET_KEYSPACE)
        buffer_append_text(&call->html, "<p role=\"status\">Each statement stands by itself here: "
                                        "choose the keyspace in the form.</p>\n");
    else
        buffer_append_text(&call->html, "<p class=\"well\" role=\"status\">Done.</p>\n");
    for (uint32_t i = 0; i < result->extras.warning_count; i++)
        html_put(&call->html, "<p class=\"note\">{}</p>\n", bytes_text(result->extras.warnings[i]));
}

/* ---- errors ---- */

static bool is_word(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c >= 0x80;
}

static size_t token_size(struct bytes text)
{
    size_t size = 0;

    while (size < text.size && is_word(text.data[size]))
        size++;
    return size > 0 || text.size == 0 ? size : 1;
}

/* Returns the offset of a character.  As in syntax errors, lines count from 1 and columns from
 * 0. */
static size_t offset_of(struct bytes text, uint32_t line, uint32_t column)
{
    size_t at = 0;

    for (; line > 1 && at < text.size; at++)
        line -= text.data[at] == '\n';
    while (column > 0 && at < text.size) {
        at++;
        while (at < text.size && (text.data[at] & 0xC0) == 0x80)
            at++;
        column--;
    }
    return at;
}

/* Returns the name that a message calls unknown, without its keyspace; empty: the message is
 * another one. */
static struct bytes unknown_name(const char *message)
{
    static const char *const beginnings[] = {"Undefined column name ",
                                             "table ",
                                             "keyspace ",
                                             "Keyspace '",
                                             "Unknown property '",
                                             "Unknown function '",
                                             "Unknown function ",
                                             "Unknown column '",
                                             "Unknown field '"};

    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        size_t size = strlen(beginnings[i]);
        if (strncmp(message, beginnings[i], size) != 0)
            continue;
        const char *name = message + size;
        size_t name_size = strcspn(name, " '");
        for (size_t dot = name_size; dot > 0; dot--)
            if (name[dot - 1] == '.')
                return bytes_of(name + dot, name_size - dot);
        return bytes_of(name, name_size);
    }
    return (struct bytes){0};
}

static bool is_same_name(struct bytes a, struct bytes b)
{
    bool is_same = a.size == b.size;

    for (size_t i = 0; is_same && i < a.size; i++)
        is_same = (a.data[i] | 0x20) == (b.data[i] | 0x20);
    return is_same;
}

/* Returns the offset of the first token of the statement that is the name; if there is none, the
 * size of the statement. */
static size_t find_name(struct bytes text, struct bytes name)
{
    size_t at = 0;

    while (name.size > 0 && at < text.size) {
        size_t size = token_size(bytes_of(text.data + at, text.size - at));
        if (is_same_name(bytes_of(text.data + at, size), name))
            return at;
        at += size;
    }
    return text.size;
}

static void put_place(struct view_call *call, const struct web_cql_answer *answer)
{
    struct bytes text = view_parameter(call, "query");
    struct bytes name = unknown_name(answer->refusal->what);
    bool is_known = answer->line > 0;
    size_t at = is_known ? offset_of(text, answer->line, answer->column) : find_name(text, name);

    if (!is_known && at == text.size)
        return;
    struct bytes rest = bytes_of(text.data + at, text.size - at);
    size_t size = token_size(rest);
    html_put(&call->html,
             "<pre class=\"place\" tabindex=\"0\" aria-label=\"The place in the statement\"><code>"
             "{}<mark>{}</mark>{}</code></pre>\n",
             bytes_of(text.data, at),
             size > 0 ? bytes_of(rest.data, size) : bytes_text("\xE2\x80\xB8"),
             bytes_of(rest.data + size, rest.size - size));
}

static void put_refusal(struct view_call *call, const struct web_cql_answer *answer)
{
    const struct http_refusal *refusal = answer->refusal;
    bool needs_token = refusal->status == 403 && call->may_change;

    view_put_error(call, refusal->status, bytes_text(refusal->what), refusal->where,
                   needs_token ? "If it is to change something, press Run and change."
                               : refusal->todo);
    put_place(call, answer);
}

/* ---- running ---- */

static void query_done(void *context, const struct web_cql_answer *answer)
{
    struct query_run *query = context;
    struct view_call *call = query->call;

    if (call != NULL && answer->result != NULL)
        put_result(call, answer->result);
    else if (call != NULL)
        put_refusal(call, answer);
    buffer_release(&query->text);
    buffer_release(&query->keyspace);
    buffer_release(&query->page);
    memory_free(query);
    if (call != NULL)
        view_resume(call);
}

static void query_abandon(struct view_call *call)
{
    struct query_run *query = call->state;

    query->call = NULL;
    web_cql_leave(query->run);
}

static void query_run(struct view_call *call, bool may_change)
{
    struct query_run *query = memory_zeroed(1, sizeof *query);

    query->call = call;
    buffer_append_bytes(&query->text, view_parameter(call, "query"));
    buffer_append_bytes(&query->keyspace, keyspace_of(call));
    buffer_append_bytes(&query->page, view_parameter(call, "page"));
    call->state = query;
    view_pause(call, query_abandon);
    const struct web_cql_statement statement = {.text = buffer_view(&query->text),
                                                .keyspace = buffer_view(&query->keyspace),
                                                .page = buffer_view(&query->page),
                                                .rows_max = rows_of(call)->rows,
                                                .may_change = may_change};
    struct web_cql_run *run = web_cql_run(call->options->cql, &statement, query_done, query);
    if (run != NULL)
        query->run = run;
}

static void ask(struct view_call *call, bool may_change)
{
    put_form(call);
    if (view_parameter(call, "query").size > 0)
        query_run(call, may_change);
    else
        put_examples(call);
}

static void query_begin(struct view_call *call)
{
    ask(call, false);
}

static void query_post(struct view_call *call)
{
    ask(call, true);
}

/* Writes nothing: earlier steps have written the whole HTML. */
static void query_render(struct view_call *call)
{
    (void)call;
}

const struct view view_query = {.path = "/query",
                                .title = "Query",
                                .script = "query.js",
                                .begin = query_begin,
                                .render = query_render,
                                .post = query_post};
