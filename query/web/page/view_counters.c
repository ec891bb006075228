/* view_counters: shows the ads and resellers with most clicks, and one ad's clicks over time.
 *
 *     /counters?top=20
 *     /counters?ad=ad42&by=week&from=2013-11-01&to=2013-12-31
 *
 * Counters have the clicks of all days.  An ad's clicks in each period are counted from the stored
 * clicks, which takes longer.  If no days are given, the last days that have figures are shown. */
#include "query/web/page/view.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/calendar.h"
#include "query/web/page/chart.h"
#include "query/web/page/money.h"
#include "query/web/page/newest_day.h"

enum { RESELLERS_TOP = 50 };

static const char *const tops[] = {"20", "100", "500"};
enum { TOPS = sizeof tops / sizeof tops[0] };

static const struct period {
    const char *by; /* as `report --by` takes it, and a column of the answer */
    const char *title;
    int32_t days; /* shown if no days are given; 0: all days */
} periods[] = {{"day", "Day", 31}, {"week", "Week", 182}, {"month", "Month", 0}};
enum { PERIODS = sizeof periods / sizeof periods[0] };

struct counters {
    struct bytes ad, from, to, top;
    const struct period *period;
    struct view_run *sums;            /* the sums of each table of counters */
    struct view_run *ads, *resellers; /* if no ad is given */
    struct view_run *count;           /* the ad's counter */
    struct newest_day newest;
    struct view_run *history, *sellers;
    struct view_run *total; /* NULL: `history` has all periods */
};

/* ---- runs of commands ---- */

static struct view_run *run_of_ad(struct view_call *call, const struct counters *counters)
{
    struct view_run *run = view_run(call, VIEW_ROWS_MAX, "report", NULL);

    view_run_option(run, "--ad=", counters->ad);
    view_run_option(run, "--from=", counters->from);
    view_run_option(run, "--to=", counters->to);
    return run;
}

static void ask_total(struct view_call *call)
{
    struct counters *counters = call->state;

    if (!view_is_cut(counters->history))
        return;
    counters->total = run_of_ad(call, counters);
    view_run_flag(counters->total, "--by=total");
}

static void ask_history(struct view_call *call)
{
    struct counters *counters = call->state;

    counters->history = run_of_ad(call, counters);
    view_run_option(counters->history, "--by=", bytes_text(counters->period->by));
    view_run_flag(counters->history, "--total");
    counters->sellers = run_of_ad(call, counters);
    view_run_flag(counters->sellers, "--by=reseller");
    view_then(call, ask_total);
}

static void choose_last_days(struct view_call *call)
{
    struct counters *counters = call->state;

    newest_day_last(call, &counters->newest, counters->period->days,
                    strcmp(counters->period->by, "week") == 0, &counters->from, &counters->to);
    ask_history(call);
}

static void ask_ad(struct view_call *call)
{
    struct counters *counters = call->state;
    bool has_days = counters->from.size > 0 || counters->to.size > 0;

    counters->count = view_run(call, 1, "counters", NULL);
    view_run_option(counters->count, "--key=", counters->ad);
    view_run_value(counters->count, bytes_text("clicks_per_ad"));
    if (has_days || counters->period->days == 0) {
        ask_history(call);
        return;
    }
    newest_day_ask(call, &counters->newest, choose_last_days);
}

static struct view_run *run_top(struct view_call *call, struct bytes top, const char *table)
{
    struct view_run *run = view_run(call, VIEW_ROWS_MAX, "counters", NULL);

    view_run_option(run, "--top=", top);
    view_run_value(run, bytes_text(table));
    return run;
}

static void counters_begin(struct view_call *call)
{
    struct counters *counters =
        arena_alloc_zeroed(call->arena, sizeof *counters, _Alignof(struct counters));

    call->state = counters;
    counters->ad = view_parameter(call, "ad");
    counters->from = view_parameter(call, "from");
    counters->to = view_parameter(call, "to");
    counters->top = view_parameter(call, "top");
    counters->period = &periods[0];
    for (size_t i = 0; i < PERIODS; i++)
        if (view_parameter_is(call, "by", periods[i].by))
            counters->period = &periods[i];
    if (counters->top.size == 0)
        counters->top = bytes_text(tops[0]);
    counters->sums = view_run(call, VIEW_ROWS_MAX, "counters", NULL);
    if (counters->ad.size > 0) {
        ask_ad(call);
        return;
    }
    counters->ads = run_top(call, counters->top, "clicks_per_ad");
    counters->resellers =
        run_top(call, html_count(call->arena, RESELLERS_TOP), "clicks_per_reseller");
}

/* ---- forms ---- */

static void put_form(struct view_call *call, const struct counters *counters)
{
    html_put(&call->html,
             "<form class=\"fields\" method=\"get\" action=\"{}/counters\">\n"
             "<label>Ad <input type=\"text\" name=\"ad\" value=\"{}\" placeholder=\"all\" "
             "autocomplete=\"off\"></label>\n",
             call->base, counters->ad);
    if (counters->ad.size > 0) {
        buffer_append_text(&call->html, "<label>By <select name=\"by\">");
        for (size_t i = 0; i < PERIODS; i++)
            html_put_option(&call->html, periods[i].by, &periods[i] == counters->period);
        html_put(&call->html,
                 "</select></label>\n"
                 "<label>From <input type=\"date\" name=\"from\" value=\"{}\"></label>\n"
                 "<label>To <input type=\"date\" name=\"to\" value=\"{}\"></label>\n",
                 counters->from, counters->to);
    } else {
        buffer_append_text(&call->html, "<label>Most clicked <select name=\"top\">");
        html_put_options(&call->html, tops, TOPS, counters->top);
        buffer_append_text(&call->html, "</select></label>\n");
    }
    buffer_append_text(&call->html, "<button>Show</button>\n</form>\n");
}

/* ---- all ads ---- */

static struct bytes count_text(struct view_call *call, const struct cql_json *row, const char *name)
{
    return row != NULL ? html_number(call->arena, view_member(row, name)) : bytes_text("0");
}

static void put_headline(struct view_call *call, const struct counters *counters)
{
    const struct cql_json *ads = view_find_row(counters->sums, "table", "clicks_per_ad");
    const struct cql_json *resellers =
        view_find_row(counters->sums, "table", "clicks_per_reseller");

    html_put(
        &call->html,
        "<dl class=\"headline\">\n<div><dt>Clicks</dt><dd>{}</dd></div>\n"
        "<div><dt>Ads</dt><dd>{}</dd></div>\n<div><dt>Resellers</dt><dd>{}</dd></div>\n</dl>\n",
        count_text(call, ads, "clicks"), count_text(call, ads, "keys"),
        count_text(call, resellers, "keys"));
}

/* Write a bar whose length is the ratio of `clicks` to `most`. */
static void put_bar(struct view_call *call, struct bytes clicks, struct bytes most)
{
    double whole = money_length(money_of(most));
    double part = whole > 0 ? money_length(money_of(clicks)) / whole : 0;

    html_put(&call->html,
             "<td class=\"bar\" aria-hidden=\"true\"><svg viewBox=\"0 0 100 10\" "
             "preserveAspectRatio=\"none\" focusable=\"false\"><rect width=\"{}\" "
             "height=\"10\"/></svg></td>",
             html_format(call->arena, "%.1f", 100 * part));
}

/* `link`: the address of a row's page, up to the key. */
static void put_top(struct view_call *call, const struct view_run *run, const char *caption,
                    const char *key, const char *link, struct decimal all)
{
    const struct html_column columns[] = {{key[0] == 'a' ? "Ad" : "Reseller", false},
                                          {"Clicks", true},
                                          {"Of all", true},
                                          {"", false}};
    struct bytes most = {0};

    if (!view_has(call, run))
        return;
    html_table_begin(&call->html, bytes_text(caption), columns, sizeof columns / sizeof columns[0]);
    for (const struct cql_json *row = run->value->items; row != NULL; row = row->next) {
        struct bytes clicks = view_member(row, "clicks");
        struct bytes name = view_member(row, key);
        most = most.size > 0 ? most : clicks;
        html_put(&call->html,
                 "<tr><th scope=\"row\"><a href=\"{}{}{}\">{}</a></th><td class=\"n\">{}</td>"
                 "<td class=\"n\">{}</td>",
                 call->base, bytes_text(link), html_url(call->arena, name), name,
                 html_number(call->arena, clicks), money_share(call->arena, money_of(clicks), all));
        put_bar(call, clicks, most);
        buffer_append_text(&call->html, "</tr>\n");
    }
    html_table_end(&call->html);
}

static void put_all(struct view_call *call, const struct counters *counters)
{
    const struct cql_json *sum = view_find_row(counters->sums, "table", "clicks_per_ad");
    struct decimal all = money_of(sum != NULL ? view_member(sum, "clicks") : (struct bytes){0});

    if (decimal_is_zero(all)) {
        view_put_first_click(call);
        return;
    }
    put_headline(call, counters);
    buffer_append_text(&call->html, "<div class=\"columns\">\n");
    put_top(call, counters->ads, "Ads with the most clicks", "ad_id", "/counters?ad=", all);
    put_top(call, counters->resellers, "Resellers with the most clicks", "reseller_id",
            "/revenue?reseller=", all);
    html_put(&call->html,
             "</div>\n<p class=\"export\">Export: ads "
             "<a href=\"{}/api/counters.csv?table=clicks_per_ad\">CSV</a> "
             "<a href=\"{}/api/counters?table=clicks_per_ad\">JSON</a>, resellers and days "
             "<a href=\"{}/api/counters.csv?table=clicks_per_reseller_per_day\">CSV</a></p>\n",
             call->base, call->base, call->base);
}

/* ---- one ad ---- */

static struct decimal sum_of(const struct cql_json *rows, const char *name)
{
    struct decimal sum = decimal_from(0, 0);

    for (const struct cql_json *row = rows->items; row != NULL; row = row->next)
        sum = money_plus(sum, money_of(view_member(row, name)));
    return sum;
}

static struct bytes amount_text(struct view_call *call, const struct cql_json *rows,
                                const char *name)
{
    return view_amount(call, money_digits(call->arena, sum_of(rows, name)));
}

static void put_ad_headline(struct view_call *call, const struct counters *counters)
{
    const struct cql_json *count = counters->count->value->items;
    const struct view_run *whole = counters->total != NULL ? counters->total : counters->history;
    const struct cql_json *rows = whole->value;

    html_put(&call->html,
             "<dl class=\"headline\">\n<div><dt>Clicks of all days</dt><dd>{}</dd></div>\n"
             "<div><dt>Clicks in these days</dt><dd>{}</dd></div>\n"
             "<div><dt>Gross</dt><dd>{}</dd></div>\n<div><dt>Share of resellers</dt><dd>{}</dd>"
             "</div>\n</dl>\n",
             count_text(call, count, "clicks"), money_text(call->arena, sum_of(rows, "clicks")),
             amount_text(call, rows, "gross"), amount_text(call, rows, "amount"));
}

/* A report has its periods in descending order, a chart in ascending order. */
static void put_chart(struct view_call *call, const struct counters *counters)
{
    const struct cql_json *rows = counters->history->value;
    struct chart_point *points = arena_array(call->arena, rows->count + 1, sizeof *points);
    uint32_t at = rows->count;

    for (const struct cql_json *row = rows->items; row != NULL; row = row->next) {
        struct bytes label = view_member(row, counters->period->by);
        struct bytes clicks = view_member(row, "clicks");
        struct buffer tip = {.arena = call->arena};
        points[--at] = (struct chart_point){.label = label};
        (void)chart_period(label, DAY_MS, &points[at].at);
        points[at].parts[0] = money_length(money_of(clicks));
        buffer_append_bytes(&tip, label);
        buffer_append_text(&tip, ": ");
        buffer_append_bytes(&tip, html_number(call->arena, clicks));
        points[at].tip = buffer_view(&tip);
    }
    chart_put(
        &call->html, call->arena,
        &(struct chart){.form = CHART_BARS,
                        .title = html_format(call->arena, "Clicks by %s", counters->period->by),
                        .classes = {"share"},
                        .points = points,
                        .point_count = rows->count});
}

static void put_rows(struct view_call *call, const struct view_run *run, const char *caption,
                     const char *title, const char *key)
{
    const struct html_column columns[] = {{title, false},
                                          {"Clicks", true},
                                          {"Gross", true},
                                          {"Share", true},
                                          {"Without a rate", true}};
    bool has_unpriced = !decimal_is_zero(sum_of(run->value, "unpriced_gross"));

    html_table_begin(&call->html, bytes_text(caption), columns,
                     sizeof columns / sizeof columns[0] - !has_unpriced);
    for (const struct cql_json *row = run->value->items; row != NULL; row = row->next) {
        struct decimal unpriced = money_of(view_member(row, "unpriced_gross"));
        html_put(&call->html,
                 "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>"
                 "<td class=\"n\">{}</td>",
                 view_member(row, key), html_number(call->arena, view_member(row, "clicks")),
                 html_number(call->arena, view_member(row, "gross")),
                 html_number(call->arena, view_member(row, "amount")));
        if (has_unpriced)
            html_put(&call->html, "<td class=\"n unpriced\">{}</td>",
                     decimal_is_zero(unpriced) ? (struct bytes){0}
                                               : money_text(call->arena, unpriced));
        buffer_append_text(&call->html, "</tr>\n");
    }
    html_table_end(&call->html);
    view_put_cut(call, run, "first", "rows");
}

static void put_ad_export(struct view_call *call, const struct counters *counters)
{
    struct buffer query = {.arena = call->arena};

    html_put_parameter(&query, "ad", counters->ad);
    html_put_parameter(&query, "by", bytes_text(counters->period->by));
    html_put_parameter(&query, "from", counters->from);
    html_put_parameter(&query, "to", counters->to);
    view_put_export(call, "Export, by reseller:", "report", buffer_view(&query), false);
}

static void put_no_clicks(struct view_call *call, const struct counters *counters)
{
    if (counters->count->value->count == 0)
        html_put(&call->html,
                 "<section class=\"empty\">\n<h2>No click of an ad with this id was counted</h2>\n"
                 "<p>An id is compared as it is, with its capitals and blanks.  "
                 "<a href=\"{}/counters\">The ads with the most clicks</a></p>\n</section>\n",
                 call->base);
    else
        html_put(&call->html,
                 "<section class=\"empty\">\n<h2>The ad has no clicks in these days</h2>\n<p>"
                 "<a href=\"{}/counters?ad={}&amp;by=month\">Count all of its clicks, by month</a>"
                 "</p>\n</section>\n",
                 call->base, html_url(call->arena, counters->ad));
}

static void put_ad(struct view_call *call, const struct counters *counters)
{
    if (!view_has(call, counters->count) || !view_has(call, counters->history) ||
        !view_has(call, counters->sellers) ||
        (counters->total != NULL && !view_has(call, counters->total)))
        return;
    put_ad_headline(call, counters);
    if (counters->history->value->count == 0) {
        put_no_clicks(call, counters);
        return;
    }
    put_chart(call, counters);
    put_rows(call, counters->history, "Over time", counters->period->title, counters->period->by);
    put_rows(call, counters->sellers, "By reseller", "Reseller", "reseller_id");
    put_ad_export(call, counters);
}

static void counters_render(struct view_call *call)
{
    const struct counters *counters = call->state;

    if (counters->ad.size > 0) {
        struct buffer title = {.arena = call->arena};
        buffer_append_text(&title, "Ad ");
        buffer_append_bytes(&title, counters->ad);
        call->title = buffer_view(&title);
    }
    put_form(call, counters);
    if (!view_has(call, counters->sums))
        return;
    if (counters->ad.size > 0)
        put_ad(call, counters);
    else
        put_all(call, counters);
}

const struct view view_counters = {
    .path = "/counters", .title = "Counters", .begin = counters_begin, .render = counters_render};
