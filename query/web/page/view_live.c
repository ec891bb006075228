/* view_live: shows the present rates, today's figures, and the state of ingest.
 *
 * The server writes one state, as /api/live sends it (query/live/live.h).  assets/live.js then
 * reads the stream: it writes each state into the elements that name a member of the state
 * (data-live) and a format (data-form), makes the rows of the tables anew, and draws the chart.
 * live.js and this file format values in the same way. */
#include <inttypes.h>

#include "base/arena.h"
#include "base/calendar.h"
#include "query/live/live.h"
#include "query/web/page/money.h"
#include "query/web/page/view.h"

struct live_view {
    struct live_asker asker;
    struct bytes json; /* of the state */
    const struct view_run *newest;
};

/* ---- the state ---- */

static void state_made(void *context, struct bytes json)
{
    struct view_call *call = context;
    struct live_view *live = call->state;

    live->json = arena_copy(call->arena, json);
    view_resume(call);
}

static void abandon(struct view_call *call)
{
    struct live_view *live = call->state;

    live_forget(call->options->live, &live->asker);
}

static void live_begin(struct view_call *call)
{
    struct live_view *live =
        arena_alloc_zeroed(call->arena, sizeof *live, _Alignof(struct live_view));

    call->state = live;
    live->asker = (struct live_asker){.done = state_made, .context = call};
    struct view_run *newest = view_run(call, 1, "report", "--by=day", "--total", NULL);
    view_run_stops(newest);
    live->newest = newest;
    view_pause(call, abandon);
    live_ask(call->options->live, &live->asker);
}

/* ---- values ---- */

static struct bytes or_none(struct bytes text)
{
    return text.size > 0 ? text : bytes_text(HTML_NONE);
}

/* Returns a rate with one digit after the point if it is below ten and not 0, and otherwise without
 * digits after the point. */
static struct bytes rate_text(struct view_call *call, struct bytes digits)
{
    size_t point = 0;

    while (point < digits.size && digits.data[point] != '.')
        point++;
    bool is_short = point > 1 || bytes_equal(digits, bytes_text("0.0"));
    return or_none(html_number(call->arena, is_short ? bytes_of(digits.data, point) : digits));
}

static struct bytes age_text(struct view_call *call, struct bytes digits)
{
    static const struct {
        int64_t ms;
        const char *unit;
    } units[] = {{DAY_MS, "d"}, {HOUR_MS, "h"}, {MINUTE_MS, "min"}, {1000, "s"}};
    int64_t ms = (int64_t)money_length(money_of(digits));

    if (digits.size == 0)
        return bytes_text(HTML_NONE);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (ms >= units[i].ms)
            return html_format(call->arena, "%" PRId64 "\xC2\xA0%s", ms / units[i].ms,
                               units[i].unit);
    return bytes_text("now");
}

static struct bytes behind_text(struct view_call *call, struct bytes digits)
{
    if (bytes_equal(digits, bytes_text("0")))
        return bytes_text("up to date");
    if (digits.size <= 3)
        return bytes_text("under 1\xC2\xA0s behind");
    struct bytes age = age_text(call, digits);
    return html_format(call->arena, "%.*s behind", (int)age.size, (const char *)age.data);
}

static struct bytes money(struct view_call *call, const struct cql_json *object, const char *name)
{
    struct bytes digits = view_member(object, name);

    return digits.size > 0 ? money_text(call->arena, money_of(digits)) : bytes_text(HTML_NONE);
}

static void put_figure(struct view_call *call, const char *title, const char *member,
                       const char *form, struct bytes value)
{
    html_put(&call->html, "<div><dt>{}</dt><dd data-live=\"{}\" data-form=\"{}\">{}</dd></div>\n",
             bytes_text(title), bytes_text(member), bytes_text(form), value);
}

/* ---- parts ---- */

/* The link loads the whole page instead of replacing <main> (page.js), because live.js updates only
 * the elements of the page that started it. */
static void put_condition(struct view_call *call, const struct cql_json *state)
{
    struct bytes at = view_member(state, "at");

    html_put(&call->html,
             "<p class=\"live-state\" id=\"live-state\"><span class=\"dot\"></span>"
             "<span>As of <time datetime=\"{}\">{} UTC</time>.</span> "
             "<a href=\"{}/\" target=\"_self\">Refresh</a></p>\n",
             at, at.size >= 19 ? bytes_of(at.data + 11, 8) : at, call->base);
}

static void put_waiting(struct view_call *call, const struct cql_json *ingest)
{
    const struct cql_json *waiting = cql_json_member(ingest, "waiting");
    bool waits = waiting != NULL && waiting->kind == CQL_JSON_OBJECT;

    html_put(&call->html,
             waits ? "<p class=\"error\" id=\"live-waiting\">The store waits: {}.</p>\n"
                   : "<p class=\"error\" id=\"live-waiting\" hidden>{}</p>\n",
             waits ? view_member(waiting, "for") : (struct bytes){0});
}

static void put_headline(struct view_call *call, const struct cql_json *state,
                         const struct cql_json *today)
{
    struct arena *arena = call->arena;
    struct bytes per_second = view_member(cql_json_member(state, "clicks"), "per_second");
    struct bytes age = view_member(cql_json_member(state, "freshness"), "newest_click_ms");

    buffer_append_text(&call->html, "<dl class=\"headline\" aria-label=\"Now\">\n");
    put_figure(call, "Clicks a second", "clicks.per_second", "rate", rate_text(call, per_second));
    put_figure(call, "Clicks today", "today.clicks", "count",
               or_none(html_number(arena, view_member(today, "clicks"))));
    put_figure(call, "Gross today", "today.gross", "money", money(call, today, "gross"));
    put_figure(call, "Resellers' share today", "today.amount", "money",
               money(call, today, "amount"));
    put_figure(call, "Newest click", "freshness.newest_click_ms", "age", age_text(call, age));
    buffer_append_text(&call->html, "</dl>\n");
}

/* The section is hidden until live.js shows it and draws the chart. */
static void put_chart(struct view_call *call)
{
    static const char *const choices[][2] = {
        {"", "All"}, {"reseller", "By reseller"}, {"ad", "By ad"}};
    struct bytes by = view_parameter(call, "by");

    html_put(&call->html,
             "<section class=\"live-chart\" id=\"live-chart\" data-by=\"{}\" hidden>\n"
             "<h2>Clicks a second, last two minutes</h2>\n<p class=\"choices\">",
             by);
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        html_put(&call->html, "<a href=\"{}/?by={}\" data-by=\"{}\">{}</a> ", call->base,
                 bytes_text(choices[i][0]), bytes_text(choices[i][0]), bytes_text(choices[i][1]));
    buffer_append_text(
        &call->html,
        "</p>\n<div class=\"chart\"></div>\n<details>\n<summary>As a table</summary>\n");
    static const struct html_column columns[] = {{"Until", false}, {"Clicks a second", true}};
    html_table_begin(&call->html, bytes_text("Mean of ten seconds"), columns, 2);
    html_table_end(&call->html);
    buffer_append_text(&call->html,
                       "</details>\n<p class=\"unseen\" role=\"status\" id=\"live-said\"></p>\n"
                       "</section>\n");
}

static void put_no_row(struct view_call *call, const char *count, const char *text)
{
    html_put(&call->html, "<tr><td class=\"note\" colspan=\"{}\">{}</td></tr>\n", bytes_text(count),
             bytes_text(text));
}

static const char no_clicks[] = "none in the last seconds";

static void put_list(struct view_call *call, const struct cql_json *list, const char *id,
                     const char *caption, const char *title, const char *column)
{
    const struct html_column columns[] = {
        {title, false}, {"Clicks a second", true}, {"Clicks ever", true}};

    html_put(&call->html, "<div id=\"{}\" data-none=\"{}\">\n", bytes_text(id),
             bytes_text(no_clicks));
    html_table_begin(&call->html, bytes_text(caption), columns, 3);
    if (list == NULL || list->count == 0)
        put_no_row(call, "3", no_clicks);
    for (const struct cql_json *row = list != NULL ? list->items : NULL; row != NULL;
         row = row->next)
        html_put(
            &call->html,
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
            view_member(row, column), rate_text(call, view_member(row, "per_second")),
            html_number(call->arena, view_member(row, "clicks")));
    html_table_end(&call->html);
    buffer_append_text(&call->html, "</div>\n");
}

static void put_today(struct view_call *call, const struct cql_json *today)
{
    static const struct html_column columns[] = {
        {"Reseller", false}, {"Clicks", true}, {"Gross", true}, {"Rate", true}, {"Share", true}};
    static const char no_figures[] = "no clicks of today";
    const struct cql_json *rows = today != NULL ? cql_json_member(today, "rows") : NULL;
    struct bytes day = view_member(today, "day");

    html_put(&call->html,
             "<h2>Today, <span data-live=\"today.day\" data-form=\"text\">{}</span></h2>\n"
             "<p class=\"note\">Other days are in <a href=\"{}/revenue\">Revenue</a>.</p>\n"
             "<div id=\"live-today\" data-none=\"{}\" data-why=\"{}/why\">\n",
             day, call->base, bytes_text(no_figures), call->base);
    html_table_begin(&call->html, bytes_text("The resellers with the most clicks"), columns, 5);
    if (rows == NULL || rows->count == 0)
        put_no_row(call, "5", no_figures);
    for (const struct cql_json *row = rows != NULL ? rows->items : NULL; row != NULL;
         row = row->next) {
        struct bytes reseller = view_member(row, "reseller_id");
        struct bytes rate = view_member(row, "rate");

        html_put(&call->html,
                 "<tr><th scope=\"row\"><a href=\"{}/why?reseller={}&amp;day={}\">{}</a></th>"
                 "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
                 "<td class=\"n\">{}</td></tr>\n",
                 call->base, html_url(call->arena, reseller), html_url(call->arena, day), reseller,
                 html_number(call->arena, view_member(row, "clicks")), money(call, row, "gross"),
                 rate.size > 0 ? money_rate(call->arena, rate) : bytes_text(HTML_NONE),
                 money(call, row, "amount"));
    }
    html_table_end(&call->html);
    buffer_append_text(&call->html, "</div>\n");
}

static void put_ingest(struct view_call *call, const struct cql_json *ingest,
                       const struct cql_json *freshness)
{
    static const struct html_column columns[] = {{"Reason", false}, {"Lines", true}};
    static const char nothing[] = "nothing was refused";
    static const struct {
        const char *title, *member, *path;
    } figures[] = {{"Accepted", "accepted", "ingest.accepted"},
                   {"Refused", "rejected", "ingest.rejected"},
                   {"Batches sent twice", "duplicates", "ingest.duplicates"},
                   {"Senders", "connections", "ingest.connections"}};
    const struct cql_json *codes = cql_json_member(ingest, "codes");

    buffer_append_text(&call->html, "<h2>Since the server started</h2>\n"
                                    "<dl class=\"headline\" aria-label=\"Ingest\">\n");
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        put_figure(call, figures[i].title, figures[i].path, "count",
                   html_number(call->arena, view_member(ingest, figures[i].member)));
    put_figure(call, "Rows of figures", "freshness.figures_behind_ms", "behind",
               behind_text(call, view_member(freshness, "figures_behind_ms")));
    html_put(&call->html, "</dl>\n<div id=\"live-codes\" data-none=\"{}\">\n", bytes_text(nothing));
    html_table_begin(&call->html, bytes_text("Refused lines"), columns, 2);
    if (codes == NULL || codes->count == 0)
        put_no_row(call, "2", nothing);
    for (const struct cql_json *row = codes != NULL ? codes->items : NULL; row != NULL;
         row = row->next)
        html_put(&call->html, "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td></tr>\n",
                 view_member(row, "code"), html_number(call->arena, view_member(row, "lines")));
    html_table_end(&call->html);
    buffer_append_text(&call->html, "</div>\n");
}

/* ---- the view ---- */

static const struct cql_json *object_of(const struct cql_json *state, const char *name)
{
    static const struct cql_json empty = {.kind = CQL_JSON_OBJECT};
    const struct cql_json *member = cql_json_member(state, name);

    return member != NULL && member->kind == CQL_JSON_OBJECT ? member : &empty;
}

static void live_render(struct view_call *call)
{
    const struct live_view *live = call->state;
    const struct cql_json *state;
    struct error err = {0};

    if (cql_json_read(live->json, call->arena, &state, &err) != 0) {
        view_put_error(call, 500, bytes_text("the state of the server could not be read"),
                       "/api/live", "read /api/live to see it");
        return;
    }
    const struct cql_json *clicks = object_of(state, "clicks");
    const struct cql_json *today = object_of(state, "today");
    const struct cql_json *ingest = object_of(state, "ingest");
    html_put(&call->html, "<div id=\"live\" data-stream=\"{}/api/live\">\n", call->base);
    put_condition(call, state);
    put_waiting(call, ingest);
    if (view_has(call, live->newest) && live->newest->value->count == 0)
        view_put_first_click(call);
    put_headline(call, state, today);
    put_chart(call);
    buffer_append_text(&call->html, "<div class=\"columns\">\n");
    put_list(call, cql_json_member(clicks, "resellers"), "live-resellers", "Resellers now",
             "Reseller", "reseller_id");
    put_list(call, cql_json_member(clicks, "ads"), "live-ads", "Ads now", "Ad", "ad_id");
    buffer_append_text(&call->html, "</div>\n");
    put_today(call, today);
    put_ingest(call, ingest, object_of(state, "freshness"));
    buffer_append_text(&call->html, "</div>\n");
}

const struct view view_live = {
    .path = "/", .title = "Live", .script = "live.js", .begin = live_begin, .render = live_render};
