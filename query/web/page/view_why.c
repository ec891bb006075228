/* view_why: explains one figure: its parts, who set its rate, and its earlier values.
 *
 *     /why?reseller=AA&day=2013-12-30                                    the figure
 *     /why?reseller=AA&day=2013-12-30&since=2013-12-01&rate=50%25        and what a change would do
 *     /why?reseller=AA&day=2013-12-30&since=2013-12-01&delete=yes        or no rate since that day
 *
 * Without a day, the newest day is shown, or today if the reseller has no clicks.  Without a
 * reseller, all figures of the day are shown, so that one can be chosen.  A POST changes the rate
 * only if the rate is still what the preview showed. */
#include "query/web/page/view.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/calendar.h"
#include "query/web/page/chart.h"
#include "query/web/page/money.h"
#include "query/web/page/newest_day.h"

enum {
    DAYS_BEFORE = 45, /* shown in the chart */
    DAYS_AFTER = 15,
    LEDGER_MAX = 200,
    CLICKS_MAX = 50,
    RESELLERS_MAX = 200
};

struct why {
    struct bytes reseller, day;
    struct bytes since, rate, note; /* of a change */
    bool deletes;                   /* the change deletes the rate that begins at `since` */
    struct newest_day newest;
    struct view_run *choices; /* the figures of the day, if no reseller is given */
    struct view_run *figure, *rate_then, *rates, *history, *ledger, *clicks;
    struct view_run *around, *ledger_around; /* of the days that the chart shows */
    struct view_run *preview, *rate_before;
    struct view_run *change; /* of a POST */
    struct bytes expected;   /* the rate before the change, as the form has it */
};

/* Returns the query of an address that is about one figure. */
static struct bytes query_of(struct view_call *call, struct bytes reseller, struct bytes day)
{
    struct buffer query = {.arena = call->arena};

    html_put_parameter(&query, "reseller", reseller);
    html_put_parameter(&query, "day", day);
    html_put_parameter(&query, "stream", view_stream(call));
    return buffer_view(&query);
}

/* ---- runs of commands ---- */

/* Returns the day that is `days` later; a text that is no day is returned unchanged. */
static struct bytes moved_day(struct view_call *call, struct bytes text, int32_t days)
{
    int32_t day;

    return calendar_day_parse(text, &day) ? view_day(call, day + days) : text;
}

static void choose_day(struct view_run *run, struct bytes day)
{
    view_run_option(run, "--from=", day);
    view_run_option(run, "--to=", day);
}

static struct view_run *run_rate(struct view_call *call, const struct why *why, struct bytes day)
{
    struct view_run *run = view_run(call, 1, "rate", "list", NULL);

    view_run_option(run, "--day=", day);
    view_run_value(run, why->reseller);
    return run;
}

static void choose_around(struct view_call *call, const struct why *why, struct view_run *run)
{
    view_run_option(run, "--reseller=", why->reseller);
    view_run_option(run, "--from=", moved_day(call, why->day, -DAYS_BEFORE));
    view_run_option(run, "--to=", moved_day(call, why->day, DAYS_AFTER));
}

/* Commands list clicks of the stream `clicks` only. */
static void ask_clicks(struct view_call *call, struct why *why)
{
    if (!view_is_of_clicks(call))
        return;
    why->clicks = view_run(call, CLICKS_MAX, "clicks", "list", NULL);
    view_run_option(why->clicks, "--reseller=", why->reseller);
    view_run_option(why->clicks, "--day=", why->day);
    view_run_stops(why->clicks);
}

static void ask_figure(struct view_call *call, struct why *why)
{
    why->figure = view_run(call, 1, "report", NULL);
    view_run_option(why->figure, "--reseller=", why->reseller);
    choose_day(why->figure, why->day);
    why->rate_then = run_rate(call, why, why->day);
    why->rates = view_run(call, VIEW_ROWS_MAX, "rate", "list", NULL);
    view_run_value(why->rates, why->reseller);
    why->history = view_run(call, VIEW_ROWS_MAX, "rate", "list", "--history", NULL);
    view_run_value(why->history, why->reseller);
    why->ledger = view_run(call, LEDGER_MAX, "restatements", "--all", NULL);
    view_run_option(why->ledger, "--reseller=", why->reseller);
    view_run_option(why->ledger, "--day=", why->day);
    ask_clicks(call, why);
    why->around = view_run(call, VIEW_ROWS_MAX, "report", NULL);
    choose_around(call, why, why->around);
    why->ledger_around = view_run(call, LEDGER_MAX, "restatements", NULL);
    choose_around(call, why, why->ledger_around);
}

static struct view_run *run_change(struct view_call *call, const struct why *why, bool is_applied)
{
    struct view_run *run = view_run(call, 0, "rate", why->deletes ? "delete" : "set", NULL);

    view_run_option(run, "--note=", why->note);
    view_run_option(run, "--expect=", why->expected);
    if (!is_applied)
        view_run_flag(run, "--dry-run");
    view_run_value(run, why->reseller);
    view_run_value(run, why->since);
    if (!why->deletes)
        view_run_value(run, why->rate);
    return run;
}

static struct bytes today(struct view_call *call)
{
    return view_day(call, calendar_day_of_time(call->wall_ms));
}

static void ask(struct view_call *call)
{
    struct why *why = call->state;

    if (why->day.size == 0)
        why->day = newest_day_of(&why->newest);
    if (why->day.size == 0 && why->reseller.size > 0 && why->newest.run->value != NULL)
        why->day = today(call);
    if (why->day.size == 0)
        return;
    if (why->since.size == 0)
        why->since = why->day;
    if (why->reseller.size > 0) {
        ask_figure(call, why);
        if ((why->rate.size > 0 || why->deletes) && call->may_change) {
            why->rate_before = run_rate(call, why, why->since);
            why->preview = run_change(call, why, false);
        }
        return;
    }
    why->choices = view_run(call, RESELLERS_MAX, "report", "--by=reseller", NULL);
    choose_day(why->choices, why->day);
}

static struct why *why_new(struct view_call *call)
{
    struct why *why = arena_alloc_zeroed(call->arena, sizeof *why, _Alignof(struct why));

    call->state = why;
    why->reseller = view_parameter(call, "reseller");
    why->day = view_parameter(call, "day");
    why->since = view_parameter(call, "since");
    why->rate = view_parameter(call, "rate");
    why->note = view_parameter(call, "note");
    why->deletes = view_parameter_is(call, "delete", "yes");
    return why;
}

static void why_begin(struct view_call *call)
{
    struct why *why = why_new(call);

    if (why->day.size > 0) {
        ask(call);
        return;
    }
    why->newest.reseller = why->reseller;
    newest_day_ask(call, &why->newest, ask);
}

/* ---- choosing a figure ---- */

static void put_form(struct view_call *call, const struct why *why)
{
    html_put(&call->html,
             "<form class=\"fields\" method=\"get\" action=\"{}/why\">\n"
             "<label>Reseller <input type=\"text\" name=\"reseller\" value=\"{}\"></label>\n"
             "<label>Day <input type=\"date\" name=\"day\" value=\"{}\"></label>\n",
             call->base, why->reseller, why->day);
    view_put_stream_choice(call);
    buffer_append_text(&call->html, "<button>Explain</button>\n");
    if (why->reseller.size > 0 && why->day.size > 0)
        html_put(&call->html,
                 "<span class=\"steps\"><a href=\"{}/why{}\">the day before</a> "
                 "<a href=\"{}/why{}\">the day after</a></span>\n",
                 call->base, query_of(call, why->reseller, moved_day(call, why->day, -1)),
                 call->base, query_of(call, why->reseller, moved_day(call, why->day, 1)));
    buffer_append_text(&call->html, "</form>\n");
}

static void put_choices(struct view_call *call, const struct why *why)
{
    static const struct html_column columns[] = {
        {"Reseller", false}, {"Clicks", true}, {"Gross", true}, {"Share", true}};
    const struct cql_json *row;

    if (!view_has(call, why->choices))
        return;
    if (why->choices->value->count == 0) {
        html_put(&call->html, "<p>There are no figures of {}.</p>\n", why->day);
        return;
    }
    buffer_append_text(&call->html,
                       "<p>Choose a figure; it is explained down to its clicks.</p>\n");
    html_table_begin(&call->html,
                     html_format(call->arena, "Figures of %.*s", (int)why->day.size,
                                 (const char *)why->day.data),
                     columns, sizeof columns / sizeof columns[0]);
    for (row = why->choices->value->items; row != NULL; row = row->next) {
        struct bytes reseller = view_member(row, "reseller_id");
        bool is_priced = decimal_is_zero(money_of(view_member(row, "unpriced_days")));
        html_put(&call->html,
                 "<tr><th scope=\"row\"><a href=\"{}/why{}\">{}</a></th>"
                 "<td class=\"n\">{}</td><td class=\"n\">{}</td>",
                 call->base, query_of(call, reseller, why->day), reseller,
                 html_number(call->arena, view_member(row, "clicks")),
                 html_number(call->arena, view_member(row, "gross")));
        html_put(&call->html,
                 is_priced ? "<td class=\"n\">{}</td></tr>\n"
                           : "<td class=\"n unpriced\">{}</td></tr>\n",
                 is_priced ? html_number(call->arena, view_member(row, "amount"))
                           : bytes_text("no rate"));
    }
    html_table_end(&call->html);
}

/* ---- the figure ---- */

static void name_page(struct view_call *call, const struct why *why, const struct cql_json *row)
{
    struct buffer title = {.arena = call->arena};
    struct bytes amount = view_member(row, "amount");

    buffer_append_text(&title, "Why ");
    buffer_append_bytes(&title, why->reseller);
    buffer_append_text(&title, amount.size > 0 ? " earned " : " has no amount");
    if (amount.size > 0)
        buffer_append_bytes(&title, view_amount(call, amount));
    buffer_append_text(&title, " on ");
    buffer_append_bytes(&title, why->day);
    call->title = buffer_view(&title);
}

static void put_equation(struct view_call *call, const struct why *why, const struct cql_json *row,
                         struct bytes since)
{
    struct bytes rate = view_member(row, "rate"), gross = view_member(row, "gross");
    struct bytes amount = view_member(row, "amount");
    struct arena *arena = call->arena;

    html_put(
        &call->html,
        "<dl class=\"headline equation\">\n<div><dt>Gross of {} clicks</dt><dd>{}</dd></div>\n",
        html_number(arena, view_member(row, "clicks")), view_amount(call, gross));
    if (rate.size == 0) {
        html_put(&call->html,
                 "<div><dt><span class=\"key unpriced\"></span>Rate of {}</dt><dd>none "
                 "<small>on this day</small></dd></div>\n</dl>\n",
                 why->reseller);
        return;
    }
    html_put(
        &call->html,
        "<div><dt>× rate, since {}</dt><dd>{}</dd></div>\n"
        "<div><dt><span class=\"key share\"></span>= share of {}</dt><dd>{}</dd></div>\n"
        "<div><dt><span class=\"key rest\"></span>left for the network</dt><dd>{}</dd></div>\n"
        "</dl>\n",
        since, money_rate(arena, rate), why->reseller, view_amount(call, amount),
        view_amount(call, money_digits(arena, money_minus(money_of(gross), money_of(amount)))));
}

/* Returns the rate that is in effect on the day; NULL: none. */
static const struct cql_json *rate_of(const struct why *why)
{
    return why->rate_then->value->items;
}

/* Returns the rate that was in effect before `rate`; NULL: none.  Days can be compared as texts,
 * because they are in ISO 8601. */
static const struct cql_json *find_before(const struct why *why, const struct cql_json *rate)
{
    struct bytes since = view_member(rate, "effective_since"), last = {0};
    const struct cql_json *found = NULL;

    for (const struct cql_json *row = why->rates->value->items; row != NULL; row = row->next) {
        struct bytes day = view_member(row, "effective_since");
        if (bytes_compare(day, since) < 0 && bytes_compare(day, last) > 0) {
            found = row;
            last = day;
        }
    }
    return found;
}

/* Whether the change's new rate, "25%", is the rate 0.25. */
static bool is_rate_of(const struct cql_json *change, const struct cql_json *rate)
{
    struct bytes percent = view_member(change, "new");
    struct decimal hundredfold;

    if (percent.size == 0 || percent.data[percent.size - 1] != '%' ||
        decimal_multiply(money_of(view_member(rate, "reward_percent")), decimal_from(100, 0),
                         &hundredfold) != 0)
        return false;
    return decimal_compare(money_of(bytes_of(percent.data, percent.size - 1)), hundredfold) == 0;
}

/* Returns the newest change of the rate.  NULL: it is not known, because not all changes were read,
 * or a change with many rates does not name this one, or changes do not name their stream. */
static const struct cql_json *find_change(const struct view_call *call, const struct why *why,
                                          const struct cql_json *rate)
{
    const struct cql_json *newest = NULL;

    if (view_is_cut(why->history) || call->stream_count > 1)
        return NULL;
    for (const struct cql_json *row = why->history->value->items; row != NULL; row = row->next)
        if (bytes_equal(view_member(row, "effective_since"),
                        view_member(rate, "effective_since")) &&
            (newest == NULL ||
             bytes_compare(view_member(row, "at"), view_member(newest, "at")) > 0))
            newest = row;
    return newest != NULL && is_rate_of(newest, rate) ? newest : NULL;
}

static void put_who(struct view_call *call, const struct cql_json *change)
{
    html_put(&call->html, " {} set it on ", view_member(change, "actor"));
    html_put_time(&call->html, view_member(change, "at"), false);
    html_put(&call->html, " by <code>{}</code>", view_member(change, "command"));
    if (view_member(change, "note").size > 0)
        html_put(&call->html, ", with the note <q>{}</q>", view_member(change, "note"));
    buffer_append_text(&call->html, ".");
}

static void put_rate(struct view_call *call, const struct why *why, const struct cql_json *rate)
{
    if (rate == NULL) {
        html_put(&call->html,
                 "<p>{} has no rate in effect on {}.  Clicks of the day have an amount as soon as "
                 "a rate is set that begins on this day or before.</p>\n",
                 why->reseller, why->day);
        return;
    }
    const struct cql_json *change = find_change(call, why, rate), *before = find_before(why, rate);
    html_put(&call->html, "<p>The rate is {}, in effect since {}.",
             money_rate(call->arena, view_member(rate, "reward_percent")),
             view_member(rate, "effective_since"));
    if (change != NULL)
        put_who(call, change);
    if (before != NULL)
        html_put(&call->html, " Before, it was {}, since {}.",
                 money_rate(call->arena, view_member(before, "reward_percent")),
                 view_member(before, "effective_since"));
    else if (!view_is_cut(why->rates))
        buffer_append_text(&call->html, " It is the first rate of this reseller.");
    buffer_append_text(&call->html, "</p>\n");
}

/* ---- charts ---- */

static void put_charts(struct view_call *call, const struct why *why)
{
    const struct cql_json *rows = why->around->value;
    struct chart_point *points = arena_array(call->arena, rows->count + 1, sizeof *points);
    struct chart_point *rates = arena_array(call->arena, rows->count + 1, sizeof *rates);
    uint32_t left = rows->count;
    struct arena *arena = call->arena;

    for (const struct cql_json *row = rows->items; row != NULL; row = row->next) {
        struct bytes day = view_member(row, "day"), rate = view_member(row, "rate");
        struct chart_point *point = &points[--left];
        double gross = money_length(money_of(view_member(row, "gross")));
        *point = (struct chart_point){.label = day, .is_chosen = bytes_equal(day, why->day)};
        (void)chart_period(day, DAY_MS, &point->at);
        bool is_priced = rate.size > 0;
        point->parts[0] = money_length(money_of(view_member(row, "amount")));
        point->parts[1] = is_priced ? gross - point->parts[0] : 0;
        point->parts[2] = is_priced ? 0 : gross;
        struct bytes amount =
            is_priced ? html_number(arena, view_member(row, "amount")) : bytes_text("no rate");
        struct bytes percent = is_priced ? money_rate(arena, rate) : bytes_text("no rate");
        rates[left] = *point;
        rates[left].parts[0] = 100 * money_length(money_of(rate));
        point->tip = html_format(arena, "%.*s: %.*s", (int)day.size, (const char *)day.data,
                                 (int)amount.size, (const char *)amount.data);
        rates[left].tip = html_format(arena, "%.*s: %.*s", (int)day.size, (const char *)day.data,
                                      (int)percent.size, (const char *)percent.data);
    }
    chart_put(&call->html, arena,
              &(struct chart){.form = CHART_BARS,
                              .title = bytes_text("Gross of the days around: the reseller's share, "
                                                  "and what is left"),
                              .height = 200,
                              .classes = {"share", "rest", "unpriced"},
                              .points = points,
                              .point_count = rows->count});
    chart_put(&call->html, arena,
              &(struct chart){.form = CHART_STEPS,
                              .title = bytes_text("Rate in percent, of the same days"),
                              .height = 110,
                              .classes = {"rate"},
                              .points = rates,
                              .point_count = rows->count});
}

/* ---- changing the rate ---- */

/* As a word for a shell, which takes '' within quotes for nothing. */
static struct bytes quoted(struct view_call *call, struct bytes word)
{
    struct buffer text = {.arena = call->arena};

    buffer_append_quoted(&text, word, '\'');
    return buffer_view(&text);
}

static void put_change_form(struct view_call *call, const struct why *why)
{
    if (!call->may_change) {
        html_put(
            &call->html,
            "<p class=\"note\">Nothing can be changed through this door.  On the server's "
            "machine: <code>daybook rate set {} {} RATE --note TEXT --dry-run{}{}</code></p>\n",
            quoted(call, why->reseller), why->day,
            bytes_text(view_is_of_clicks(call) ? "" : " --stream "),
            view_is_of_clicks(call) ? bytes_text("") : quoted(call, view_stream(call)));
        return;
    }
    html_put(&call->html,
             "<form class=\"fields\" method=\"get\" action=\"{}/why#change\">\n"
             "<input type=\"hidden\" name=\"reseller\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"day\" value=\"{}\">\n"
             "<label>Rate <input type=\"text\" name=\"rate\" value=\"{}\" placeholder=\"25%\" "
             "required autocomplete=\"off\"></label>\n"
             "<label>In effect since <input type=\"date\" name=\"since\" value=\"{}\" "
             "required></label>\n"
             "<label>Note <input type=\"text\" name=\"note\" value=\"{}\" class=\"wide\"></label>\n"
             "<button>Preview</button>\n",
             call->base, why->reseller, why->day, why->rate, why->since, why->note);
    view_put_stream_field(call);
    buffer_append_text(&call->html, "</form>\n");
}

/* Write a form that deletes `rate`, which is in effect on the day. */
static void put_deletion_form(struct view_call *call, const struct why *why,
                              const struct cql_json *rate)
{
    struct bytes since = view_member(rate, "effective_since");

    html_put(&call->html,
             "<details>\n<summary>Delete the rate of {}</summary>\n"
             "<form class=\"fields\" method=\"get\" action=\"{}/why#change\">\n"
             "<input type=\"hidden\" name=\"reseller\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"day\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"since\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"delete\" value=\"yes\">\n",
             since, call->base, why->reseller, why->day, since);
    view_put_stream_field(call);
    html_put(
        &call->html,
        "<label>Reason <input type=\"text\" name=\"note\" value=\"{}\" class=\"wide\"></label>\n"
        "<button>Show what that changes</button>\n</form>\n</details>\n",
        why->note);
}

static struct bytes rate_or_none(struct view_call *call, struct bytes rate)
{
    return rate.size > 0 ? money_rate(call->arena, rate) : bytes_text("no rate");
}

static struct bytes amount_or_none(struct view_call *call, struct bytes amount)
{
    return amount.size > 0 ? html_number(call->arena, amount) : bytes_text(HTML_NONE);
}

/* As amount_or_none, but for an amount outside of tables, with the currency. */
static struct bytes sum_or_none(struct view_call *call, struct bytes amount)
{
    return amount.size > 0 ? view_amount(call, amount) : bytes_text(HTML_NONE);
}

static void put_preview_rows(struct view_call *call, const struct cql_json *rows)
{
    static const struct html_column columns[] = {{"Day", false},      {"Clicks", true},
                                                 {"Rate now", true},  {"then", true},
                                                 {"Share now", true}, {"then", true}};

    html_table_begin(&call->html, bytes_text("Days that would change"), columns,
                     sizeof columns / sizeof columns[0]);
    for (const struct cql_json *row = rows->items; row != NULL; row = row->next)
        html_put(&call->html,
                 "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>"
                 "<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                 view_member(row, "day"), html_number(call->arena, view_member(row, "clicks")),
                 rate_or_none(call, view_member(row, "old_rate")),
                 rate_or_none(call, view_member(row, "new_rate")),
                 amount_or_none(call, view_member(row, "old_amount")),
                 amount_or_none(call, view_member(row, "new_amount")));
    html_table_end(&call->html);
}

/* Returns the rate that is in effect on the first day of the change, as --expect takes it. */
/* The command reads 1 only as 100%. */
static struct bytes expected_rate(const struct why *why)
{
    const struct cql_json *rate = why->rate_before->value->items;
    struct bytes text = rate != NULL ? view_member(rate, "reward_percent") : bytes_text("none");

    return decimal_compare(money_of(text), decimal_from(1, 0)) == 0 ? bytes_text("100%") : text;
}

static void put_apply(struct view_call *call, const struct why *why)
{
    html_put(&call->html,
             "<form method=\"post\" action=\"{}/why\">\n"
             "<input type=\"hidden\" name=\"token\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"reseller\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"day\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"since\" value=\"{}\">\n",
             call->base, bytes_text(call->options->token->text), why->reseller, why->day,
             why->since);
    view_put_stream_field(call);
    html_put(&call->html,
             "<input type=\"hidden\" name=\"rate\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"note\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"expect\" value=\"{}\">\n"
             "<input type=\"hidden\" name=\"delete\" value=\"{}\">\n"
             "<button>Apply</button> <a href=\"{}/why{}\">Leave it as it is</a>\n</form>\n",
             why->rate, why->note, expected_rate(why), bytes_text(why->deletes ? "yes" : ""),
             call->base, query_of(call, why->reseller, why->day));
}

/* Returns "1 day", or "2 days". */
static struct bytes things(struct view_call *call, struct bytes count, const char *thing)
{
    struct bytes number = html_number(call->arena, count);
    bool is_one = bytes_equal(count, bytes_text("1"));

    return html_format(call->arena, "%.*s %s%s", (int)number.size, (const char *)number.data, thing,
                       is_one ? "" : "s");
}

static struct bytes joined(struct view_call *call, struct bytes first, const char *second)
{
    struct buffer text = {.arena = call->arena};

    buffer_append_bytes(&text, first);
    buffer_append_text(&text, second);
    return buffer_view(&text);
}

static void put_preview(struct view_call *call, const struct why *why)
{
    const struct cql_json *effect = why->preview->value;

    if (!view_has(call, why->preview) || !view_has(call, why->rate_before))
        return;
    struct bytes before = view_member(effect, "old_amount");
    struct bytes after = view_member(effect, "new_amount");
    const struct cql_json *rows = cql_json_member(effect, "rows");
    html_put(&call->html,
             "<section class=\"empty\" aria-live=\"polite\">\n<h3>Preview: nothing has changed yet"
             "</h3>\n<p>{}{} changes the figures of {} with {}. In all, the share was {} and "
             "becomes <strong>{}</strong>.</p>\n",
             why->deletes ? bytes_text("Deleting the rate of ")
                          : joined(call, why->rate, " since "),
             why->since, things(call, view_member(effect, "days"), "day"),
             things(call, view_member(effect, "clicks"), "click"), sum_or_none(call, before),
             sum_or_none(call, after));
    put_apply(call, why);
    if (rows != NULL && rows->count > 0)
        put_preview_rows(call, rows);
    buffer_append_text(&call->html, "</section>\n");
}

/* `rate`: in effect on the day; NULL: none. */
static void put_change(struct view_call *call, const struct why *why, const struct cql_json *rate)
{
    buffer_append_text(&call->html, "<section class=\"change\">\n"
                                    "<h2 id=\"change\">Change the rate</h2>\n");
    put_change_form(call, why);
    if (call->may_change && rate != NULL)
        put_deletion_form(call, why, rate);
    if (why->preview != NULL)
        put_preview(call, why);
    buffer_append_text(&call->html, "</section>\n");
}

/* ---- earlier values ---- */

static void put_moved(struct view_call *call, struct bytes before, struct bytes after,
                      struct bytes (*show)(struct view_call *call, struct bytes value))
{
    buffer_append_text(&call->html, "<td class=\"n\">");
    if (!bytes_equal(before, after) && before.size > 0)
        html_put(&call->html, "<del>{}</del> ", show(call, before));
    html_put(&call->html, "{}</td>", show(call, after));
}

static void put_causes(struct view_call *call, const struct cql_json *row)
{
    const struct cql_json *causes = cql_json_member(row, "causes");
    const struct cql_json *cause = causes != NULL ? causes->items : NULL;

    buffer_append_text(&call->html, "<td>");
    for (; cause != NULL; cause = cause->next)
        html_put(&call->html, cause->next != NULL ? "{}, " : "{}", cause->text);
    buffer_append_text(&call->html, "</td>");
}

/* Write entries of the ledger, with a column of days if `has_days`. */
static void put_entries(struct view_call *call, struct bytes caption, const struct why *why,
                        const struct view_run *run, bool has_days)
{
    static const struct html_column columns[] = {
        {"When", false}, {"Day", false}, {"Cause", false}, {"Clicks", true},
        {"Gross", true}, {"Rate", true}, {"Share", true},  {"By", false}};
    struct html_column shown[sizeof columns / sizeof columns[0]];
    size_t count = 0;

    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        if (i != 1 || has_days)
            shown[count++] = columns[i];
    html_table_begin(&call->html, caption, shown, count);
    for (const struct cql_json *row = run->value->items; row != NULL; row = row->next) {
        struct bytes day = view_member(row, "day");
        buffer_append_text(&call->html, "<tr><th scope=\"row\">");
        html_put_time(&call->html, view_member(row, "at"), true);
        buffer_append_text(&call->html, "</th>");
        if (has_days)
            html_put(&call->html, "<td><a href=\"{}/why{}\">{}</a></td>", call->base,
                     query_of(call, why->reseller, day), day);
        put_causes(call, row);
        put_moved(call, view_member(row, "old_clicks"), view_member(row, "new_clicks"),
                  amount_or_none);
        put_moved(call, view_member(row, "old_gross"), view_member(row, "new_gross"),
                  amount_or_none);
        put_moved(call, view_member(row, "old_rate"), view_member(row, "new_rate"), rate_or_none);
        put_moved(call, view_member(row, "old_amount"), view_member(row, "new_amount"),
                  amount_or_none);
        html_put(&call->html, "<td class=\"long\">{}</td></tr>\n", view_member(row, "by"));
    }
    html_table_end(&call->html);
    view_put_cut(call, run, "first", "entries");
}

static void put_ledger(struct view_call *call, const struct why *why)
{
    if (!view_has(call, why->ledger))
        return;
    buffer_append_text(&call->html, "<h2 id=\"before\">What the figure was before</h2>\n");
    if (why->ledger->value->count == 0)
        buffer_append_text(&call->html, "<p>The figure has not been published yet.</p>\n");
    else
        put_entries(call, bytes_text("Restatements of this day"), why, why->ledger, false);
    if (!view_has(call, why->ledger_around) || why->ledger_around->value->count == 0)
        return;
    html_put(&call->html, "<details>\n<summary>{} restatements of the days around</summary>\n",
             html_count(call->arena, why->ledger_around->total));
    put_entries(call, bytes_text("Restatements of the days in the chart"), why, why->ledger_around,
                true);
    buffer_append_text(&call->html, "</details>\n");
}

static void put_history(struct view_call *call, const struct why *why)
{
    static const struct html_column columns[] = {
        {"Since", false}, {"Rate", true},     {"Before", true}, {"Set", false},
        {"By", false},    {"Command", false}, {"Note", false}};
    const struct cql_json *row;

    if (why->history->value->count == 0)
        return;
    buffer_append_text(&call->html, "<h2 id=\"rates\">Rates</h2>\n");
    html_table_begin(&call->html,
                     bytes_text(call->stream_count > 1
                                    ? "Changes of this reseller's rates in all streams"
                                    : "Changes of this reseller's rates, as they were made"),
                     columns, sizeof columns / sizeof columns[0]);
    for (row = why->history->value->items; row != NULL; row = row->next) {
        html_put(&call->html,
                 "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td>",
                 view_member(row, "effective_since"), view_member(row, "new"),
                 view_member(row, "old"));
        html_put_time(&call->html, view_member(row, "at"), true);
        html_put(&call->html, "</td><td>{}</td><td class=\"long\">{}</td><td>{}</td></tr>\n",
                 view_member(row, "actor"), view_member(row, "command"), view_member(row, "note"));
    }
    html_table_end(&call->html);
    if (why->history->notes.size > 0)
        html_put(&call->html, "<p class=\"note\">{}</p>\n", why->history->notes);
}

/* ---- clicks ---- */

/* Whether the column of ids is shown.  Clicks without ids of their own have their ranks there,
 * which are 0 unless clicks have the same ad and time. */
static bool has_ids(const struct cql_json *rows)
{
    for (const struct cql_json *row = rows->items; row != NULL; row = row->next)
        if (!bytes_equal(view_member(row, "click_id"), bytes_text("0")))
            return true;
    return false;
}

/* Write a link to the view Query, with the statement that reads all clicks of the day. */
static void put_statement(struct view_call *call, const struct why *why)
{
    struct buffer cql = {.arena = call->arena};

    buffer_append_text(&cql, "SELECT time, ad_id, click_id, amount FROM daybook.ad_click "
                             "WHERE reseller_id = ");
    buffer_append_quoted(&cql, why->reseller, '\'');
    buffer_append_text(&cql, " AND day = ");
    buffer_append_quoted(&cql, why->day, '\'');
    html_put(&call->html, "<p><a href=\"{}/query?query={}\">All of them by CQL</a></p>\n",
             call->base, html_url(call->arena, buffer_view(&cql)));
}

static void put_clicks(struct view_call *call, const struct why *why, struct bytes clicks)
{
    static const struct html_column columns[] = {
        {"Time", false}, {"Ad", false}, {"Amount", true}, {"Click", false}};
    const struct cql_json *row;

    if (!view_has(call, why->clicks))
        return;
    bool are_numbered = has_ids(why->clicks->value);
    buffer_append_text(&call->html, "<h2 id=\"clicks\">The clicks behind it</h2>\n");
    html_table_begin(&call->html,
                     html_format(call->arena, "The newest %u of %.*s clicks",
                                 why->clicks->value->count, (int)clicks.size,
                                 (const char *)clicks.data),
                     columns, are_numbered ? 4 : 3);
    for (row = why->clicks->value->items; row != NULL; row = row->next) {
        buffer_append_text(&call->html, "<tr><th scope=\"row\">");
        html_put_time(&call->html, view_member(row, "time"), true);
        html_put(&call->html,
                 "</th><td><a href=\"{}/counters?ad={}\">{}</a></td><td class=\"n\">{}</td>",
                 call->base, html_url(call->arena, view_member(row, "ad_id")),
                 view_member(row, "ad_id"), html_number(call->arena, view_member(row, "amount")));
        if (are_numbered)
            html_put(&call->html, "<td>{}</td>", view_member(row, "click_id"));
        buffer_append_text(&call->html, "</tr>\n");
    }
    html_table_end(&call->html);
    put_statement(call, why);
}

/* ---- the view ---- */

static void put_figure(struct view_call *call, const struct why *why)
{
    const struct cql_json *row = why->figure->value->items;
    const struct cql_json *rate = rate_of(why);

    if (row == NULL) {
        html_put(&call->html, "<p>{} has no clicks on {}.</p>\n", why->reseller, why->day);
        put_rate(call, why, rate);
        put_change(call, why, rate);
        put_history(call, why);
        return;
    }
    name_page(call, why, row);
    put_equation(call, why, row,
                 rate != NULL ? view_member(rate, "effective_since") : (struct bytes){0});
    put_rate(call, why, rate);
    put_charts(call, why);
    put_change(call, why, rate);
    put_ledger(call, why);
    put_history(call, why);
    if (why->clicks == NULL)
        return;
    put_clicks(call, why, html_number(call->arena, view_member(row, "clicks")));
    html_put(&call->html,
             "<p class=\"export\">All of this: "
             "<a href=\"{}/api/explain{}\">JSON</a></p>\n",
             call->base, query_of(call, why->reseller, why->day));
}

static void why_render(struct view_call *call)
{
    const struct why *why = call->state;

    put_form(call, why);
    if (why->newest.run != NULL && !view_has(call, why->newest.run))
        return;
    if (why->day.size == 0)
        view_put_first_click(call);
    else if (why->choices != NULL)
        put_choices(call, why);
    else if (view_has(call, why->figure) && view_has(call, why->rate_then) &&
             view_has(call, why->rates) && view_has(call, why->history) &&
             view_has(call, why->around))
        put_figure(call, why);
}

/* ---- a change ---- */

static void changed(struct view_call *call)
{
    const struct why *why = call->state;
    struct buffer location = {.arena = call->arena};

    if (!view_has(call, why->change)) {
        view_then(call, NULL);
        html_put(&call->html, "<p><a href=\"{}/why{}\">Back to the figure</a></p>\n", call->base,
                 query_of(call, why->reseller, why->day));
        return;
    }
    buffer_append_text(&location, "/why");
    buffer_append_bytes(&location, query_of(call, why->reseller, why->day));
    view_redirect(call, buffer_view(&location));
}

static void why_post(struct view_call *call)
{
    struct why *why = why_new(call);

    why->expected = view_parameter(call, "expect");
    if (why->expected.size == 0)
        why->expected = bytes_text("none");
    why->change = run_change(call, why, true);
    view_then(call, changed);
}

const struct view view_why = {
    .path = "/why", .title = "Why", .begin = why_begin, .render = why_render, .post = why_post};
