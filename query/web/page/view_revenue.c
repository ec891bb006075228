/* view_revenue: what resellers earned, and what is left for the network, by period.
 *
 *     /revenue?by=week&from=2013-11-01&to=2013-12-31&reseller=AA&with=B6&as-of=2014-01-15
 *
 * Without `from` and `to` it is the last days that have figures.  `with` is a second reseller, to
 * compare. */
#include "query/web/page/view.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/calendar.h"
#include "query/web/page/chart.h"
#include "query/web/page/money.h"

enum { RESELLERS_MAX = 200 };

struct grouping {
    const char *by;     /* as `report --by` takes it */
    const char *column; /* of the answer */
    const char *title;
    int32_t days; /* before the newest one, that are shown unless days are given; 0: all */
    int64_t unit_ms;
};

static const struct grouping groupings[] = {{"day", "day", "Day", 30, DAY_MS},
                                            {"week", "week", "Week", 182, DAY_MS},
                                            {"month", "month", "Month", 0, DAY_MS},
                                            {"hour", "at", "Hour", 3, HOUR_MS},
                                            {"minute", "at", "Minute", 1, MINUTE_MS}};
enum { GROUPINGS = sizeof groupings / sizeof groupings[0] };

struct revenue {
    const struct grouping *grouping;
    struct bytes from, to, reseller, with, as_of;
    struct view_run *newest;
    struct view_run *total, *rows; /* of `reseller`, or of all */
    struct view_run *with_total, *with_rows;
    struct view_run *resellers;
};

/* ---- what is asked ---- */

static void choose_days(struct view_run *run, const struct revenue *revenue)
{
    view_run_option(run, "--from=", revenue->from);
    view_run_option(run, "--to=", revenue->to);
    view_run_option(run, "--as-of=", revenue->as_of);
}

static struct view_run *run_total(struct view_call *call, const struct revenue *revenue,
                                  struct bytes reseller)
{
    struct view_run *run = view_run(call, 1, "report", "--by=total", NULL);

    view_run_option(run, "--reseller=", reseller);
    choose_days(run, revenue);
    return run;
}

static struct view_run *run_rows(struct view_call *call, const struct revenue *revenue,
                                 struct bytes reseller)
{
    struct view_run *run = view_run(call, VIEW_ROWS_MAX, "report", NULL);

    view_run_option(run, "--by=", bytes_text(revenue->grouping->by));
    view_run_option(run, "--reseller=", reseller);
    if (reseller.size == 0)
        view_run_flag(run, "--total");
    choose_days(run, revenue);
    return run;
}

static void ask_figures(struct view_call *call)
{
    struct revenue *revenue = call->state;

    revenue->total = run_total(call, revenue, revenue->reseller);
    revenue->rows = run_rows(call, revenue, revenue->reseller);
    if (revenue->with.size > 0) {
        revenue->with_total = run_total(call, revenue, revenue->with);
        revenue->with_rows = run_rows(call, revenue, revenue->with);
    }
    revenue->resellers = view_run(call, RESELLERS_MAX, "report", "--by=reseller", NULL);
    choose_days(revenue->resellers, revenue);
}

/* The days that are shown unless some are given. */
static void choose_last_days(struct view_call *call)
{
    struct revenue *revenue = call->state;
    const struct cql_json *rows = revenue->newest->value;
    char text[DAY_TEXT_SIZE + 1];
    int32_t day;

    if (rows != NULL && rows->count > 0 &&
        calendar_day_parse(view_member(rows->items, "day"), &day) &&
        day - revenue->grouping->days >= DAY_MIN) {
        calendar_day_format(day - revenue->grouping->days + 1, text);
        revenue->from = arena_copy(call->arena, bytes_of(text, DAY_TEXT_SIZE));
        revenue->to = view_member(rows->items, "day");
    }
    ask_figures(call);
}

static const struct grouping *find_grouping(const struct view_call *call)
{
    for (size_t i = 0; i < GROUPINGS; i++)
        if (view_parameter_is(call, "by", groupings[i].by))
            return &groupings[i];
    return &groupings[0];
}

static void revenue_begin(struct view_call *call)
{
    struct revenue *revenue =
        arena_alloc_zeroed(call->arena, sizeof *revenue, _Alignof(struct revenue));

    call->state = revenue;
    revenue->grouping = find_grouping(call);
    revenue->from = view_parameter(call, "from");
    revenue->to = view_parameter(call, "to");
    revenue->reseller = view_parameter(call, "reseller");
    revenue->with = view_parameter(call, "with");
    revenue->as_of = view_parameter(call, "as-of");
    if (revenue->from.size > 0 || revenue->to.size > 0 || revenue->grouping->days == 0) {
        ask_figures(call);
        return;
    }
    revenue->newest = view_run(call, 1, "report", "--by=day", "--total", NULL);
    view_run_option(revenue->newest, "--reseller=", revenue->reseller);
    view_run_stops(revenue->newest);
    view_then(call, choose_last_days);
}

/* ---- figures of a row ---- */

struct figures {
    bool is_priced; /* some of it is */
    struct decimal gross, unpriced, amount, rest;
};

/* The row of one reseller's day has a rate, and others a sum of what has none. */
static struct figures figures_of(const struct cql_json *row)
{
    struct figures figures = {.gross = money_of(view_member(row, "gross")),
                              .unpriced = money_of(view_member(row, "unpriced_gross")),
                              .amount = money_of(view_member(row, "amount"))};

    if (view_member(row, "amount").size == 0)
        figures.unpriced = figures.gross;
    figures.rest = money_minus(money_minus(figures.gross, figures.unpriced), figures.amount);
    figures.is_priced =
        decimal_is_zero(figures.gross) || decimal_compare(figures.unpriced, figures.gross) != 0;
    return figures;
}

static struct bytes priced_text(struct view_call *call, const struct figures *figures,
                                struct decimal value)
{
    return figures->is_priced ? money_text(call->arena, value) : bytes_text("\xE2\x80\x94");
}

static struct bytes share_text(struct view_call *call, const struct figures *figures)
{
    struct bytes share =
        money_share(call->arena, figures->amount, money_minus(figures->gross, figures->unpriced));

    return share.size > 0 ? share : bytes_text("\xE2\x80\x94");
}

/* ---- the form ---- */

static void put_choices(struct view_call *call, const struct revenue *revenue)
{
    buffer_append_text(&call->html, "<label>By <select name=\"by\">");
    for (size_t i = 0; i < GROUPINGS; i++)
        html_put(&call->html,
                 &groupings[i] == revenue->grouping ? "<option selected>{}</option>"
                                                    : "<option>{}</option>",
                 bytes_text(groupings[i].by));
    buffer_append_text(&call->html, "</select></label>\n");
}

static void put_field(struct view_call *call, const char *label, const char *type, const char *name,
                      struct bytes value, const char *more)
{
    html_put(&call->html, "<label>{} <input type=\"{}\" name=\"{}\" value=\"{}\"",
             bytes_text(label), bytes_text(type), bytes_text(name), value);
    buffer_append_text(&call->html, more);
    buffer_append_text(&call->html, "></label>\n");
}

static void put_form(struct view_call *call, const struct revenue *revenue)
{
    static const char list[] = " list=\"resellers\" placeholder=\"all\" autocomplete=\"off\"";
    static const char with[] = " list=\"resellers\" placeholder=\"nobody\" autocomplete=\"off\"";
    const struct cql_json *row;

    html_put(&call->html, "<form class=\"fields\" method=\"get\" action=\"{}/revenue\">\n",
             call->base);
    put_choices(call, revenue);
    put_field(call, "From", "date", "from", revenue->from, "");
    put_field(call, "To", "date", "to", revenue->to, "");
    put_field(call, "Reseller", "text", "reseller", revenue->reseller, list);
    put_field(call, "Compare with", "text", "with", revenue->with, with);
    put_field(call, "As of", "date", "as-of", revenue->as_of,
              " title=\"The figures as they were published then\"");
    buffer_append_text(&call->html, "<button>Show</button>\n<datalist id=\"resellers\">");
    row = revenue->resellers->value != NULL ? revenue->resellers->value->items : NULL;
    for (; row != NULL; row = row->next)
        html_put(&call->html, "<option>{}</option>", view_member(row, "reseller_id"));
    buffer_append_text(&call->html, "</datalist>\n</form>\n");
}

/* ---- headline ---- */

static struct bytes whose(const struct revenue *revenue)
{
    return revenue->reseller.size > 0 ? revenue->reseller : bytes_text("all resellers");
}

static void put_headline(struct view_call *call, struct bytes name, const struct view_run *total)
{
    const struct cql_json *row = total->value != NULL ? total->value->items : NULL;
    struct arena *arena = call->arena;

    if (row == NULL)
        return;
    const struct figures figures = figures_of(row);
    struct bytes unpriced_days = view_member(row, "unpriced_days");
    html_put(
        &call->html,
        "<dl class=\"headline\" aria-label=\"{}\">\n"
        "<div><dt>Clicks</dt><dd>{}</dd></div>\n<div><dt>Gross</dt><dd>{}</dd></div>\n"
        "<div><dt><span class=\"key share\"></span>Share of {}</dt><dd>{} "
        "<small>{}</small></dd></div>\n"
        "<div><dt><span class=\"key rest\"></span>Left for the network</dt><dd>{}</dd></div>\n",
        name, html_number(arena, view_member(row, "clicks")), money_text(arena, figures.gross),
        name, priced_text(call, &figures, figures.amount), share_text(call, &figures),
        priced_text(call, &figures, figures.rest));
    if (!decimal_is_zero(money_of(unpriced_days)))
        html_put(&call->html,
                 "<div><dt><span class=\"key unpriced\"></span>Without a rate</dt><dd>{} "
                 "<small>on {} reseller-days</small></dd></div>\n",
                 money_text(arena, figures.unpriced), html_number(arena, unpriced_days));
    buffer_append_text(&call->html, "</dl>\n");
}

/* ---- charts ---- */

/* Reports are in descending order of periods, charts in ascending one. */
static struct chart_point *take_points(struct view_call *call, const struct revenue *revenue,
                                       const struct cql_json *rows, uint32_t *count_out)
{
    struct chart_point *points = arena_array(call->arena, rows->count + 1, sizeof *points);
    uint32_t left = rows->count, taken = 0;

    for (const struct cql_json *row = rows->items; row != NULL; row = row->next) {
        struct bytes label = view_member(row, revenue->grouping->column);
        struct chart_point point = {.label = label};
        if (!chart_period(label, revenue->grouping->unit_ms, &point.at))
            continue;
        const struct figures figures = figures_of(row);
        point.parts[0] = money_length(figures.amount);
        point.parts[1] = money_length(figures.rest);
        point.parts[2] = money_length(figures.unpriced);
        points[--left] = point;
        taken++;
    }
    *count_out = taken;
    return points + left;
}

static void name_bars(struct view_call *call, const struct cql_json *rows,
                      struct chart_point *points, uint32_t count)
{
    for (const struct cql_json *row = rows->items; row != NULL && count > 0; row = row->next) {
        const struct figures figures = figures_of(row);
        struct chart_point *point = &points[--count];
        struct buffer tip = {.arena = call->arena};
        buffer_append_bytes(&tip, point->label);
        if (figures.is_priced) {
            buffer_append_text(&tip, ": share ");
            buffer_append_bytes(&tip, money_text(call->arena, figures.amount));
            buffer_append_text(&tip, ", network ");
            buffer_append_bytes(&tip, money_text(call->arena, figures.rest));
        }
        if (!decimal_is_zero(figures.unpriced)) {
            buffer_append_text(&tip, figures.is_priced ? ", without a rate " : ": without a rate ");
            buffer_append_bytes(&tip, money_text(call->arena, figures.unpriced));
        }
        point->tip = buffer_view(&tip);
    }
}

static void put_bars(struct view_call *call, const struct revenue *revenue)
{
    const struct cql_json *rows = revenue->rows->value;
    struct chart chart = {.form = CHART_BARS, .classes = {"share", "rest", "unpriced"}};
    struct chart_point *points = take_points(call, revenue, rows, &chart.point_count);
    struct buffer title = {.arena = call->arena};

    name_bars(call, rows, points, chart.point_count);
    buffer_append_text(&title, "Gross by ");
    buffer_append_text(&title, revenue->grouping->by);
    buffer_append_text(&title, ", of ");
    buffer_append_bytes(&title, whose(revenue));
    chart.title = buffer_view(&title);
    chart.points = points;
    chart_put(&call->html, call->arena, &chart);
}

/* Merge two ascending rows of points: the amounts of the first are part 0, of the second part 1. */
static void put_comparison(struct view_call *call, const struct revenue *revenue)
{
    uint32_t a_count, b_count, a = 0, b = 0;
    const struct chart_point *as = take_points(call, revenue, revenue->rows->value, &a_count);
    const struct chart_point *bs = take_points(call, revenue, revenue->with_rows->value, &b_count);
    struct chart_point *points = arena_array(call->arena, a_count + b_count + 1, sizeof *points);
    struct chart chart = {.form = CHART_LINES, .classes = {"first", "second"}, .points = points};

    while (a < a_count || b < b_count) {
        bool has_a = a < a_count && (b == b_count || as[a].at <= bs[b].at);
        bool has_b = b < b_count && (a == a_count || bs[b].at <= as[a].at);
        struct chart_point *point = &points[chart.point_count++];
        *point = has_a ? as[a] : bs[b];
        point->parts[0] = has_a ? as[a].parts[0] : 0;
        point->parts[1] = has_b ? bs[b].parts[0] : 0;
        point->tip = point->label;
        a += has_a;
        b += has_b;
    }
    chart.title = bytes_text("Shares of both resellers");
    chart_put(&call->html, call->arena, &chart);
}

/* ---- tables ---- */

static const struct html_column money_columns[] = {
    {NULL, false},   {"Clicks", true},  {"Gross", true},         {"Share", true},
    {"Share", true}, {"Network", true}, {"Without a rate", true}};
enum { MONEY_COLUMNS = sizeof money_columns / sizeof money_columns[0] };

static void begin_table(struct view_call *call, struct bytes caption, const char *first)
{
    struct html_column columns[MONEY_COLUMNS];

    memcpy(columns, money_columns, sizeof columns);
    columns[0].title = first;
    html_table_begin(&call->html, caption, columns, MONEY_COLUMNS);
}

/* The cells behind the first. */
static void put_money(struct view_call *call, const struct cql_json *row)
{
    const struct figures figures = figures_of(row);
    bool is_unpriced = !decimal_is_zero(figures.unpriced);

    html_put(&call->html,
             "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
             "<td class=\"n\">{}</td><td class=\"n\">{}</td>",
             html_number(call->arena, view_member(row, "clicks")),
             money_text(call->arena, figures.gross), priced_text(call, &figures, figures.amount),
             share_text(call, &figures), priced_text(call, &figures, figures.rest));
    html_put(&call->html,
             is_unpriced ? "<td class=\"n unpriced\">{}</td></tr>\n" : "<td>{}</td></tr>\n",
             is_unpriced ? money_text(call->arena, figures.unpriced) : (struct bytes){0});
}

static void put_periods(struct view_call *call, const struct revenue *revenue)
{
    const struct view_run *run = revenue->rows;
    const char *column = revenue->grouping->column;
    const struct cql_json *row;

    begin_table(call, html_format(call->arena, "By %s", revenue->grouping->by),
                revenue->grouping->title);
    for (row = run->value->items; row != NULL; row = row->next) {
        html_put(&call->html, "<tr><th scope=\"row\">{}</th>", view_member(row, column));
        put_money(call, row);
    }
    html_table_end(&call->html);
    if (run->total > run->value->count)
        html_put(&call->html,
                 "<p class=\"note\">These are the newest {} rows; export has all.</p>\n",
                 html_count(call->arena, run->value->count));
}

static void put_resellers(struct view_call *call, const struct revenue *revenue)
{
    const struct view_run *run = revenue->resellers;
    const struct cql_json *row;

    if (!view_has(call, run) || run->value->count == 0)
        return;
    begin_table(call, bytes_text("By reseller"), "Reseller");
    for (row = run->value->items; row != NULL; row = row->next) {
        struct bytes reseller = view_member(row, "reseller_id");
        html_put(&call->html,
                 "<tr><th scope=\"row\"><a href=\"{}/revenue?by={}&amp;from={}&amp;to={}&amp;"
                 "reseller={}\">{}</a></th>",
                 call->base, bytes_text(revenue->grouping->by),
                 html_url(call->arena, revenue->from), html_url(call->arena, revenue->to),
                 html_url(call->arena, reseller), reseller);
        put_money(call, row);
    }
    html_table_end(&call->html);
}

/* ---- the view ---- */

static void put_export(struct view_call *call, const struct revenue *revenue)
{
    struct buffer query = {.arena = call->arena};

    html_put(&query, "by={}", bytes_text(revenue->grouping->by));
    if (revenue->from.size > 0)
        html_put(&query, "&amp;from={}", html_url(call->arena, revenue->from));
    if (revenue->to.size > 0)
        html_put(&query, "&amp;to={}", html_url(call->arena, revenue->to));
    if (revenue->reseller.size > 0)
        html_put(&query, "&amp;reseller={}", html_url(call->arena, revenue->reseller));
    if (revenue->with.size > 0)
        html_put(&query, "&amp;reseller={}", html_url(call->arena, revenue->with));
    if (revenue->as_of.size > 0)
        html_put(&query, "&amp;as-of={}", html_url(call->arena, revenue->as_of));
    static const char *const forms[][2] = {{"report.csv", "CSV"}, {"report", "JSON"}};
    buffer_append_text(&call->html, "<p class=\"export\">Export, by reseller:");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        html_put(&call->html, " <a href=\"{}/api/{}?", call->base, bytes_text(forms[i][0]));
        buffer_append_bytes(&call->html, buffer_view(&query));
        html_put(&call->html, "\">{}</a>", bytes_text(forms[i][1]));
    }
    buffer_append_text(&call->html, "</p>\n");
}

static bool has_figures(struct view_call *call, const struct revenue *revenue)
{
    return view_has(call, revenue->total) && view_has(call, revenue->rows) &&
           (revenue->with.size == 0 ||
            (view_has(call, revenue->with_total) && view_has(call, revenue->with_rows)));
}

static void revenue_render(struct view_call *call)
{
    const struct revenue *revenue = call->state;

    put_form(call, revenue);
    if (!has_figures(call, revenue))
        return;
    if (revenue->newest != NULL && view_has(call, revenue->newest) &&
        revenue->newest->value->count == 0 && revenue->reseller.size == 0) {
        view_put_first_click(call);
        return;
    }
    put_headline(call, whose(revenue), revenue->total);
    if (revenue->with.size > 0) {
        put_headline(call, revenue->with, revenue->with_total);
        put_comparison(call, revenue);
    } else {
        put_bars(call, revenue);
    }
    put_periods(call, revenue);
    put_resellers(call, revenue);
    put_export(call, revenue);
}

const struct view view_revenue = {
    .path = "/revenue", .title = "Revenue", .begin = revenue_begin, .render = revenue_render};
