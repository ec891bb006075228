/* view_revenue: shows the shares of resellers, and the network's part, by period.
 *
 *     /revenue?by=week&from=2013-11-01&to=2013-12-31&reseller=AA&with=B6&as-of=2014-01-15
 *
 * Without `from` and `to`, the last days that have figures are shown.  `with` is a second reseller,
 * for a comparison. */
#include "query/web/page/view.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/calendar.h"
#include "query/web/page/chart.h"
#include "query/web/page/money.h"
#include "query/web/page/newest_day.h"
#include "query/web/api_words.h"

enum { RESELLERS_MAX = 200 };

struct grouping {
    const char *by;     /* as `report --by` takes it */
    const char *column; /* the period's column in the answer */
    const char *title;
    int32_t days; /* shown if no days are given, the newest included; 0: all */
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
    struct bytes from, to; /* the days shown */
    bool has_days;         /* days were given */
    struct bytes reseller, with, as_of;
    struct newest_day newest;
    struct view_run *total, *rows; /* of `reseller`, or of all */
    struct view_run *with_total, *with_rows;
    struct view_run *resellers;
};

static bool is_comparison(const struct revenue *revenue)
{
    return revenue->with.size > 0;
}

/* ---- runs of commands ---- */

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
    if (is_comparison(revenue)) {
        revenue->with_total = run_total(call, revenue, revenue->with);
        revenue->with_rows = run_rows(call, revenue, revenue->with);
    }
    revenue->resellers = view_run(call, RESELLERS_MAX, "report", "--by=reseller", NULL);
    choose_days(revenue->resellers, revenue);
}

/* Returns the Monday of a week.  Week 0 has 1970-01-01, a Thursday. */
static int32_t monday_of(int32_t week)
{
    return 7 * week - 3;
}

/* Choose the days that are shown if no days are given. */
static void choose_last_days(struct view_call *call)
{
    struct revenue *revenue = call->state;

    newest_day_last(call, &revenue->newest, revenue->grouping->days,
                    strcmp(revenue->grouping->by, "week") == 0, &revenue->from, &revenue->to);
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
    if (revenue->reseller.size == 0) {
        revenue->reseller = revenue->with;
        revenue->with = (struct bytes){0};
    }
    revenue->has_days = revenue->from.size > 0 || revenue->to.size > 0;
    if (revenue->has_days || revenue->grouping->days == 0) {
        ask_figures(call);
        return;
    }
    revenue->newest = (struct newest_day){.reseller = revenue->reseller, .as_of = revenue->as_of};
    newest_day_ask(call, &revenue->newest, choose_last_days);
}

/* ---- figures of a row ---- */

struct figures {
    bool is_priced; /* a part of the gross has a rate, or the gross is 0 */
    struct decimal gross, unpriced, amount, rest;
};

/* The row of one reseller's day has a rate or none.  Other rows have the sum of the gross that has
 * no rate. */
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
    return figures->is_priced ? money_text(call->arena, value) : bytes_text(HTML_NONE);
}

static struct bytes stands_alone(struct view_call *call, const struct figures *figures,
                                 struct decimal value)
{
    return figures->is_priced ? view_amount(call, money_digits(call->arena, value))
                              : bytes_text(HTML_NONE);
}

static struct bytes share_text(struct view_call *call, const struct figures *figures)
{
    struct bytes share =
        money_share(call->arena, figures->amount, money_minus(figures->gross, figures->unpriced));

    return share.size > 0 ? share : bytes_text(HTML_NONE);
}

/* Whether a shown day of a reseller has no rate. */
static bool has_unpriced(const struct revenue *revenue)
{
    const struct cql_json *row = revenue->total->value->items;

    return row != NULL && !decimal_is_zero(money_of(view_member(row, "unpriced_days")));
}

/* ---- the form ---- */

static void put_choices(struct view_call *call, const struct revenue *revenue)
{
    buffer_append_text(&call->html, "<label>By <select name=\"by\">");
    for (size_t i = 0; i < GROUPINGS; i++)
        html_put_option(&call->html, groupings[i].by, &groupings[i] == revenue->grouping);
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

/* Returns the day for forms and links; empty if no days were given, because default days are not a
 * choice. */
static struct bytes given_day(const struct revenue *revenue, struct bytes day)
{
    return revenue->has_days ? day : (struct bytes){0};
}

static void put_form(struct view_call *call, const struct revenue *revenue)
{
    static const char list[] = " list=\"resellers\" placeholder=\"all\" autocomplete=\"off\"";
    static const char with[] = " list=\"resellers\" placeholder=\"nobody\" autocomplete=\"off\"";
    const struct cql_json *row;

    html_put(&call->html, "<form class=\"fields\" method=\"get\" action=\"{}/revenue\">\n",
             call->base);
    view_put_stream_choice(call);
    put_choices(call, revenue);
    put_field(call, "From", "date", "from", given_day(revenue, revenue->from), "");
    put_field(call, "To", "date", "to", given_day(revenue, revenue->to), "");
    put_field(call, "Reseller", "text", "reseller", revenue->reseller, list);
    put_field(call, "Compare with", "text", "with", revenue->with, with);
    /* A field of type "date" would drop a time of day. */
    put_field(call, "As of", revenue->as_of.size > DAY_TEXT_SIZE ? "text" : "date", "as-of",
              revenue->as_of, " title=\"The figures as they were published then\"");
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

/* Write an entry of a list of terms.  `key` is the class of its colour in the chart, or NULL. */
static void put_term(struct view_call *call, const char *key, const char *term, struct bytes name,
                     struct bytes value, struct bytes more)
{
    buffer_append_text(&call->html, "<div><dt>");
    if (key != NULL)
        html_put(&call->html, "<span class=\"key {}\"></span>", bytes_text(key));
    html_put(&call->html, "{}{}</dt><dd>{} <small>{}</small></dd></div>\n", bytes_text(term), name,
             value, more);
}

static void put_headline(struct view_call *call, const struct revenue *revenue, struct bytes name,
                         const struct view_run *total)
{
    const struct cql_json *row = total->value->items;
    const struct bytes none = {0};
    bool has_keys = !is_comparison(revenue);
    struct arena *arena = call->arena;

    /* The notes also say that days have no rate.  The headline shows that, so the notes are shown
     * only without figures or with as-of. */
    if ((row == NULL || revenue->as_of.size > 0) && total->notes.size > 0)
        html_put(&call->html, "<p class=\"note lines\">{}</p>\n", total->notes);
    if (row == NULL)
        return;
    const struct figures figures = figures_of(row);
    struct bytes days = view_member(row, "unpriced_days");
    buffer_append_text(&call->html, "<dl class=\"headline\">\n");
    put_term(call, NULL, "Clicks", none, html_number(arena, view_member(row, "clicks")), none);
    put_term(call, NULL, "Gross", none, view_amount(call, view_member(row, "gross")), none);
    put_term(call, has_keys ? "share" : NULL, "Share of ", name,
             stands_alone(call, &figures, figures.amount), share_text(call, &figures));
    put_term(call, has_keys ? "rest" : NULL, "Left for the network", none,
             stands_alone(call, &figures, figures.rest), none);
    if (!decimal_is_zero(money_of(days)))
        put_term(call, has_keys ? "unpriced" : NULL, "Without a rate", none,
                 view_amount(call, money_digits(arena, figures.unpriced)),
                 html_format(arena, "on %.*s reseller-day%s", (int)days.size,
                             (const char *)days.data,
                             bytes_equal(days, bytes_text("1")) ? "" : "s"));
    buffer_append_text(&call->html, "</dl>\n");
}

/* ---- periods ---- */

/* A period with its row of each of the two resellers; NULL: the reseller has none. */
struct period {
    int64_t at;
    struct bytes label;
    const struct cql_json *first, *second;
};

struct periods {
    struct period *items; /* in ascending order */
    uint32_t count;
};

/* Returns the periods in ascending order; a report has them in descending order. */
static struct periods periods_of(struct view_call *call, const struct revenue *revenue,
                                 const struct view_run *run)
{
    const struct cql_json *row = run != NULL ? run->value->items : NULL;
    uint32_t rows = run != NULL ? run->value->count : 0, left = rows;
    struct period *items = arena_array(call->arena, rows + 1, sizeof *items);

    for (; row != NULL; row = row->next) {
        struct period period = {.label = view_member(row, revenue->grouping->column), .first = row};
        if (chart_period(period.label, revenue->grouping->unit_ms, &period.at))
            items[--left] = period;
    }
    return (struct periods){items + left, rows - left};
}

static struct periods merge_periods(struct view_call *call, const struct revenue *revenue)
{
    const struct periods a = periods_of(call, revenue, revenue->rows);
    const struct periods b = periods_of(call, revenue, revenue->with_rows);
    struct periods merged = {arena_array(call->arena, a.count + b.count + 1, sizeof *merged.items),
                             0};
    uint32_t i = 0, j = 0;

    while (i < a.count || j < b.count) {
        bool has_a = i < a.count && (j == b.count || a.items[i].at <= b.items[j].at);
        bool has_b = j < b.count && (i == a.count || b.items[j].at <= a.items[i].at);
        struct period *period = &merged.items[merged.count++];
        *period = has_a ? a.items[i] : b.items[j];
        period->first = has_a ? a.items[i++].first : NULL;
        period->second = has_b ? b.items[j++].first : NULL;
    }
    return merged;
}

/* ---- charts ---- */

static void tell(struct buffer *tip, const char *what, struct bytes value)
{
    buffer_append_text(tip, what);
    buffer_append_bytes(tip, value);
}

static void make_bar(struct view_call *call, const struct period *period, struct chart_point *point)
{
    const struct figures figures = figures_of(period->first);
    struct buffer tip = {.arena = call->arena};

    point->parts[0] = money_length(figures.amount);
    point->parts[1] = money_length(figures.rest);
    point->parts[2] = money_length(figures.unpriced);
    tell(&tip, "", period->label);
    if (figures.is_priced) {
        tell(&tip, ": share ", money_text(call->arena, figures.amount));
        tell(&tip, ", network ", money_text(call->arena, figures.rest));
    }
    if (!decimal_is_zero(figures.unpriced))
        tell(&tip, figures.is_priced ? ", without a rate " : ": without a rate ",
             money_text(call->arena, figures.unpriced));
    point->tip = buffer_view(&tip);
}

static struct decimal amount_of(const struct cql_json *row)
{
    return row != NULL ? money_of(view_member(row, "amount")) : decimal_from(0, 0);
}

/* Whether the earned amount is known.  A period without clicks has earned nothing; the amount of a
 * period without a rate is not known. */
static bool is_known(const struct cql_json *row)
{
    return row == NULL || figures_of(row).is_priced;
}

static struct bytes earned_text(struct view_call *call, const struct cql_json *row)
{
    if (row == NULL)
        return bytes_text(HTML_NONE);
    return is_known(row) ? money_text(call->arena, amount_of(row)) : bytes_text("no rate");
}

static void make_ends(struct view_call *call, const struct revenue *revenue,
                      const struct period *period, struct chart_point *point)
{
    struct buffer tip = {.arena = call->arena};

    point->parts[0] = money_length(amount_of(period->first));
    point->parts[1] = money_length(amount_of(period->second));
    tell(&tip, "", period->label);
    tell(&tip, ": ", revenue->reseller);
    tell(&tip, " ", earned_text(call, period->first));
    tell(&tip, ", ", revenue->with);
    tell(&tip, " ", earned_text(call, period->second));
    point->tip = buffer_view(&tip);
}

static void put_chart(struct view_call *call, const struct revenue *revenue,
                      const struct periods *periods)
{
    struct chart_point *points = arena_array(call->arena, periods->count + 1, sizeof *points);
    struct buffer title = {.arena = call->arena};
    bool compares = is_comparison(revenue);

    for (uint32_t i = 0; i < periods->count; i++) {
        points[i] =
            (struct chart_point){.at = periods->items[i].at, .label = periods->items[i].label};
        if (compares)
            make_ends(call, revenue, &periods->items[i], &points[i]);
        else
            make_bar(call, &periods->items[i], &points[i]);
    }
    tell(&title, compares ? "Shares by " : "Gross by ", bytes_text(revenue->grouping->by));
    if (periods->count > 0) {
        tell(&title, ", ", periods->items[0].label);
        tell(&title, " to ", periods->items[periods->count - 1].label);
    }
    tell(&title, compares ? ": " : ": the share of ", whose(revenue));
    tell(&title, compares ? " and " : " and what is left", revenue->with);
    const struct chart bars = {.form = CHART_BARS,
                               .zoom = has_unpriced(revenue) ? "6,5,3 stacked" : "5,3 stacked",
                               .classes = {"share", "rest", "unpriced"}};
    const struct chart lines = {.form = CHART_LINES, .zoom = "2,4", .classes = {"first", "second"}};
    struct chart chart = compares ? lines : bars;
    chart.title = buffer_view(&title);
    chart.points = points;
    chart.point_count = periods->count;
    chart_put(&call->html, call->arena, &chart);
}

/* ---- addresses ---- */

/* Returns the query of an address that shows this view for other days or other resellers. */
static struct bytes query_of(struct view_call *call, const struct revenue *revenue, const char *by,
                             struct bytes reseller)
{
    struct buffer query = {.arena = call->arena};

    html_put_parameter(&query, "by", bytes_text(by));
    html_put_parameter(&query, "from", given_day(revenue, revenue->from));
    html_put_parameter(&query, "to", given_day(revenue, revenue->to));
    html_put_parameter(&query, "reseller", reseller);
    html_put_parameter(&query, "with", revenue->with);
    html_put_parameter(&query, "as-of", revenue->as_of);
    html_put_parameter(&query, "stream", view_stream(call));
    return buffer_view(&query);
}

/* Write the first cell of a period's row.  A day links to the view Why, a longer period to its
 * days. */
static void put_period(struct view_call *call, const struct revenue *revenue,
                       const struct period *period)
{
    bool is_week = strcmp(revenue->grouping->by, "week") == 0;
    bool is_day = strcmp(revenue->grouping->by, "day") == 0;
    struct revenue days = *revenue;

    days.has_days = true;
    buffer_append_text(&call->html, "<tr><th scope=\"row\">");
    if (is_day) {
        struct buffer query = {.arena = call->arena};
        html_put_parameter(&query, "reseller", revenue->reseller);
        html_put_parameter(&query, "day", period->label);
        html_put_parameter(&query, "stream", view_stream(call));
        html_put(&call->html, "<a href=\"{}/why{}\">{}</a></th>", call->base, buffer_view(&query),
                 period->label);
        return;
    }
    if (revenue->grouping->unit_ms < DAY_MS) {
        html_put(&call->html, "{}</th>", period->label);
        return;
    }
    int32_t at = (int32_t)period->at;
    days.from = view_day(call, is_week ? monday_of(at) : calendar_month_first_day(at));
    days.to = view_day(call, (is_week ? monday_of(at + 1) : calendar_month_first_day(at + 1)) - 1);
    html_put(&call->html, "<a href=\"{}/revenue{}\">{}</a></th>", call->base,
             query_of(call, &days, "day", revenue->reseller), period->label);
}

/* ---- tables ---- */

static void begin_table(struct view_call *call, const struct revenue *revenue, struct bytes caption,
                        const char *first)
{
    const struct html_column columns[] = {
        {first, false},     {"Clicks", true},  {"Gross", true},         {"Share", true},
        {"of gross", true}, {"Network", true}, {"Without a rate", true}};

    html_table_begin(&call->html, caption, columns,
                     sizeof columns / sizeof columns[0] - !has_unpriced(revenue));
}

/* Write the cells after the first. */
static void put_money(struct view_call *call, const struct revenue *revenue,
                      const struct cql_json *row)
{
    const struct figures figures = figures_of(row);
    bool is_unpriced = !decimal_is_zero(figures.unpriced);

    html_put(&call->html,
             "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
             "<td class=\"n\">{}</td><td class=\"n\">{}</td>",
             html_number(call->arena, view_member(row, "clicks")),
             money_text(call->arena, figures.gross), priced_text(call, &figures, figures.amount),
             share_text(call, &figures), priced_text(call, &figures, figures.rest));
    if (has_unpriced(revenue))
        html_put(&call->html, is_unpriced ? "<td class=\"n unpriced\">{}</td>" : "<td>{}</td>",
                 is_unpriced ? money_text(call->arena, figures.unpriced) : (struct bytes){0});
    buffer_append_text(&call->html, "</tr>\n");
}

static const char *column_of(struct view_call *call, struct bytes reseller, const char *what)
{
    struct buffer title = {.arena = call->arena};

    buffer_append_bytes(&title, reseller);
    buffer_append_text(&title, what);
    return api_words_text(call->arena, buffer_view(&title));
}

static void begin_comparison(struct view_call *call, const struct revenue *revenue,
                             struct bytes caption)
{
    const struct html_column columns[] = {{revenue->grouping->title, false},
                                          {column_of(call, revenue->reseller, ": clicks"), true},
                                          {column_of(call, revenue->reseller, ": share"), true},
                                          {column_of(call, revenue->with, ": clicks"), true},
                                          {column_of(call, revenue->with, ": share"), true},
                                          {"Difference", true}};

    html_table_begin(&call->html, caption, columns, sizeof columns / sizeof columns[0]);
}

static void put_half(struct view_call *call, const struct cql_json *row)
{
    html_put(&call->html,
             is_known(row) ? "<td class=\"n\">{}</td><td class=\"n\">{}</td>"
                           : "<td class=\"n\">{}</td><td class=\"n unpriced\">{}</td>",
             row != NULL ? html_number(call->arena, view_member(row, "clicks"))
                         : bytes_text(HTML_NONE),
             earned_text(call, row));
}

static void put_comparison(struct view_call *call, const struct period *period)
{
    bool are_known = is_known(period->first) && is_known(period->second);
    struct decimal difference = money_minus(amount_of(period->first), amount_of(period->second));

    put_half(call, period->first);
    put_half(call, period->second);
    html_put(&call->html, "<td class=\"n\">{}</td></tr>\n",
             are_known ? money_text(call->arena, difference) : bytes_text(HTML_NONE));
}

static void put_periods(struct view_call *call, const struct revenue *revenue,
                        const struct periods *periods)
{
    const struct view_run *run = revenue->rows;
    struct bytes caption = html_format(call->arena, "By %s", revenue->grouping->by);

    if (is_comparison(revenue))
        begin_comparison(call, revenue, caption);
    else
        begin_table(call, revenue, caption, revenue->grouping->title);
    for (uint32_t i = periods->count; i-- > 0;) {
        put_period(call, revenue, &periods->items[i]);
        if (is_comparison(revenue))
            put_comparison(call, &periods->items[i]);
        else
            put_money(call, revenue, periods->items[i].first);
    }
    html_table_end(&call->html);
    view_put_cut(call, run, "newest", "rows");
}

static void put_resellers(struct view_call *call, const struct revenue *revenue)
{
    const struct view_run *run = revenue->resellers;
    const struct cql_json *row;

    if (!view_has(call, run) || run->value->count == 0)
        return;
    begin_table(call, revenue, bytes_text("By reseller"), "Reseller");
    for (row = run->value->items; row != NULL; row = row->next) {
        struct bytes reseller = view_member(row, "reseller_id");
        html_put(&call->html, "<tr><th scope=\"row\"><a href=\"{}/revenue{}\">{}</a></th>",
                 call->base, query_of(call, revenue, revenue->grouping->by, reseller), reseller);
        put_money(call, revenue, row);
    }
    html_table_end(&call->html);
    view_put_cut(call, run, "first", "resellers");
}

/* ---- export ---- */

static void put_exports(struct view_call *call, const struct revenue *revenue, const char *label,
                        bool is_total)
{
    struct buffer query = {.arena = call->arena};

    html_put_parameter(&query, "by", bytes_text(revenue->grouping->by));
    html_put_parameter(&query, "total", bytes_text(is_total ? "true" : ""));
    html_put_parameter(&query, "from", revenue->from);
    html_put_parameter(&query, "to", revenue->to);
    html_put_parameter(&query, "reseller", revenue->reseller);
    html_put_parameter(&query, "reseller", revenue->with);
    html_put_parameter(&query, "as-of", revenue->as_of);
    html_put_parameter(&query, "stream", view_stream(call));
    view_put_export(call, label, "report", buffer_view(&query), true);
}

/* ---- the view ---- */

static bool has_figures(struct view_call *call, const struct revenue *revenue)
{
    return view_has(call, revenue->total) && view_has(call, revenue->rows) &&
           (!is_comparison(revenue) ||
            (view_has(call, revenue->with_total) && view_has(call, revenue->with_rows)));
}

static void put_headlines(struct view_call *call, const struct revenue *revenue)
{
    bool compares = is_comparison(revenue);

    if (compares)
        html_put(&call->html, "<h2><span class=\"key first\"></span>{}</h2>\n", revenue->reseller);
    put_headline(call, revenue, whose(revenue), revenue->total);
    if (!compares)
        return;
    html_put(&call->html, "<h2><span class=\"key second\"></span>{}</h2>\n", revenue->with);
    put_headline(call, revenue, revenue->with, revenue->with_total);
}

/* Whether nothing was chosen and there are no figures at all. */
static bool is_empty(const struct revenue *revenue)
{
    return !revenue->has_days && revenue->reseller.size == 0 && revenue->as_of.size == 0 &&
           revenue->rows->value->count == 0;
}

static void revenue_render(struct view_call *call)
{
    const struct revenue *revenue = call->state;

    put_form(call, revenue);
    if (!has_figures(call, revenue))
        return;
    if (is_empty(revenue)) {
        view_put_first_click(call);
        return;
    }
    const struct periods periods = merge_periods(call, revenue);
    put_headlines(call, revenue);
    put_chart(call, revenue, &periods);
    put_periods(call, revenue, &periods);
    if (revenue->reseller.size == 0)
        put_resellers(call, revenue);
    put_exports(call, revenue, "Export this:", revenue->reseller.size == 0);
    if (revenue->reseller.size == 0)
        put_exports(call, revenue, "Each reseller on its own:", false);
}

const struct view view_revenue = {.path = "/revenue",
                                  .title = "Revenue",
                                  .script = "zoom.js",
                                  .begin = revenue_begin,
                                  .render = revenue_render};
