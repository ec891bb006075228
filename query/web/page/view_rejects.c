/* view_rejects: shows the lines that were refused last, with their reasons.
 *
 *     /rejects?from=2013-11-01&to=2013-11-30&last=200
 *
 * The days are days of arrival.  Without them, lines of the last 31 days are shown. */
#include "query/web/page/view.h"

#include "base/arena.h"

enum { LAST_DEFAULT = 100, CONTENT_SHOWN = 300, CODES_MAX = 32 };

static const char *const choices[] = {"20", "100", "500"};
enum { CHOICES = sizeof choices / sizeof choices[0] };

struct rejects {
    struct bytes from, to, last;
    struct view_run *lines;
};

static void rejects_begin(struct view_call *call)
{
    struct rejects *rejects =
        arena_alloc_zeroed(call->arena, sizeof *rejects, _Alignof(struct rejects));

    call->state = rejects;
    rejects->from = view_parameter(call, "from");
    rejects->to = view_parameter(call, "to");
    rejects->last = view_parameter(call, "last");
    if (rejects->last.size == 0)
        rejects->last = html_count(call->arena, LAST_DEFAULT);
    rejects->lines = view_run(call, VIEW_ROWS_MAX, "rejects", "list", NULL);
    view_run_option(rejects->lines, "--from=", rejects->from);
    view_run_option(rejects->lines, "--to=", rejects->to);
    view_run_option(rejects->lines, "--last=", rejects->last);
}

static void put_form(struct view_call *call, const struct rejects *rejects)
{
    html_put(&call->html,
             "<form class=\"fields\" method=\"get\" action=\"{}/rejects\">\n"
             "<label>Came from <input type=\"date\" name=\"from\" value=\"{}\"></label>\n"
             "<label>To <input type=\"date\" name=\"to\" value=\"{}\"></label>\n"
             "<label>Newest <select name=\"last\">",
             call->base, rejects->from, rejects->to);
    html_put_options(&call->html, choices, CHOICES, rejects->last);
    buffer_append_text(&call->html, "</select></label>\n<button>Show</button>\n</form>\n");
}

/* ---- reasons ---- */

struct reason {
    struct bytes code, text;
    uint64_t lines;
};

static uint32_t count_reasons(const struct cql_json *rows, struct reason reasons[CODES_MAX])
{
    uint32_t count = 0;

    for (const struct cql_json *row = rows->items; row != NULL; row = row->next) {
        struct bytes code = view_member(row, "code");
        uint32_t at = 0;
        while (at < count && !bytes_equal(reasons[at].code, code))
            at++;
        if (at == CODES_MAX)
            continue;
        if (at == count)
            reasons[count++] = (struct reason){.code = code, .text = view_member(row, "reason")};
        reasons[at].lines++;
    }
    return count;
}

static void put_reasons(struct view_call *call, const struct cql_json *rows)
{
    static const struct html_column columns[] = {
        {"Code", false}, {"Lines", true}, {"Reason", false}};
    struct reason reasons[CODES_MAX];
    uint32_t count = count_reasons(rows, reasons);

    html_table_begin(&call->html, bytes_text("Reasons of these lines"), columns, 3);
    for (uint32_t i = 0; i < count; i++)
        html_put(&call->html,
                 "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td>{}</td></tr>\n",
                 reasons[i].code, html_count(call->arena, reasons[i].lines), reasons[i].text);
    html_table_end(&call->html);
}

/* ---- lines ---- */

static void put_line(struct view_call *call, const struct cql_json *row)
{
    struct bytes content = view_member(row, "content");
    struct bytes shown = bytes_utf8_cut(content, CONTENT_SHOWN); /* a line may be long */
    struct bytes producer = view_member(row, "producer");

    buffer_append_text(&call->html, "<tr><th scope=\"row\">");
    html_put_time(&call->html, view_member(row, "time"), true);
    html_put(&call->html,
             "</th><td class=\"short\">{}</td><td class=\"line\"><code>{}{}</code></td><td "
             "class=\"short\">{}",
             view_member(row, "reason"), shown,
             bytes_text(shown.size < content.size ? "\xE2\x80\xA6" : ""), view_member(row, "door"));
    if (producer.size > 0)
        html_put(&call->html, ", batch {} of <span class=\"id\" title=\"{}\">{}</span>",
                 html_number(call->arena, view_member(row, "batch")), producer,
                 bytes_of(producer.data, producer.size < 8 ? producer.size : 8));
    html_put(&call->html, "</td><td class=\"n\">{}</td></tr>\n",
             html_number(call->arena, view_member(row, "line")));
}

static void put_lines(struct view_call *call, const struct cql_json *rows)
{
    static const struct html_column columns[] = {
        {"Came", false}, {"Reason", false}, {"Line", false}, {"From", false}, {"Number", true}};

    html_table_begin(&call->html, bytes_text("Refused lines, the newest first"), columns,
                     sizeof columns / sizeof columns[0]);
    for (const struct cql_json *row = rows->items; row != NULL; row = row->next)
        put_line(call, row);
    html_table_end(&call->html);
}

/* If not all lines are shown, say where the others are: on earlier days, and in the export. */
static void put_cut(struct view_call *call, const struct view_run *lines)
{
    view_put_cut(call, lines, "newest", "lines");
    if (view_is_cut(lines))
        buffer_append_text(&call->html,
                           "<p class=\"note\">Older ones are shown for earlier days, and the "
                           "export below has all of them.</p>\n");
}

static void put_export(struct view_call *call, const struct rejects *rejects)
{
    struct buffer query = {.arena = call->arena};

    html_put_parameter(&query, "from", rejects->from);
    html_put_parameter(&query, "to", rejects->to);
    view_put_export(call, "Export all of these days:", "rejects", buffer_view(&query), false);
    buffer_append_text(&call->html,
                       "<p class=\"note\"><code>daybook rejects export</code> prints the "
                       "lines as they came, to be corrected and sent again.</p>\n");
}

static void rejects_render(struct view_call *call)
{
    const struct rejects *rejects = call->state;

    put_form(call, rejects);
    if (!view_has(call, rejects->lines))
        return;
    if (rejects->lines->value->count == 0) {
        buffer_append_text(&call->html,
                           "<section class=\"empty\">\n<h2>No line was refused in these days</h2>\n"
                           "<p>A line that is no click is kept here with the reason, and the lines "
                           "beside it count.</p>\n</section>\n");
        return;
    }
    put_reasons(call, rejects->lines->value);
    put_lines(call, rejects->lines->value);
    put_cut(call, rejects->lines);
    put_export(call, rejects);
}

const struct view view_rejects = {
    .path = "/rejects", .title = "Rejects", .begin = rejects_begin, .render = rejects_render};
