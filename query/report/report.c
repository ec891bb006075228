/* report: `daybook report`: prints clicks, gross and amount by reseller and day, or grouped.
 *
 * Figures are read by ascending reseller and descending day, so one accumulator is enough.  Sums
 * are exact decimals: the parts of a report add up to its total digit for digit.
 *
 *     R1 2013-12-02 ┐                     R1 2013-12 ┐
 *     R1 2013-12-01 ┘ month               R1 2013-11 ┘ reseller          total
 *     R1 2013-11-30 ─ month               R2 ...
 *
 * Weeks are grouped as months are.  For hours, minutes and ads, the reading of figures pauses at
 * each day while the day's clicks are read.
 *
 * With --total, rows are first added up over all resellers (report_totals.h).
 *
 * A day without a rate counts in clicks and gross, never in amount.
 *
 * Numbers are rounded only when they are printed. */
#include "query/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "query/query.h"
#include "query/report/report_figures.h"
#include "rollup/days/day_times.h"
#include "rollup/days/rate.h"
#include "rollup/streams/streams.h"
#include "query/report/report_ads.h"
#include "query/report/report_chart.h"
#include "query/report/report_totals.h"
#include "base/calendar.h"
#include "base/memory.h"

enum {
    KEY_FROM = 0x20001,
    KEY_TO,
    KEY_AD,
    KEY_BY,
    KEY_TOTAL,
    KEY_AS_OF,
    KEY_ROUND,
    KEY_FORMAT,
    KEY_STREAM
};
enum { ROUND_MAX = 36, REPORT_COLUMNS_MAX = 7 };
enum { PRINTED_MAX = 1000 }; /* ads or times that one turn of the loop prints or draws */

struct report {
    const struct query *query;
    struct rollup *rollup;
    const struct command_request *request;
    const struct report_options *options;
    struct query_answer answer;
    struct bytes resellers[REPORT_RESELLERS_MAX];
    bool is_found[REPORT_RESELLERS_MAX]; /* for each of `resellers`: a figure was read */
    uint32_t found_last;
    bool is_ad_found; /* --ad: a click of it came */
    struct table_column columns[REPORT_COLUMNS_MAX];
    uint32_t column_count;
    char names[REPORT_COLUMNS_MAX][32];
    bool has_group;
    struct report_row group; /* the group being summed; its reseller is in `reseller` */
    struct buffer reseller;  /* of the last figure */
    bool has_last;
    struct report_figures figures;
    struct report_ads *ads;
    struct day_times *times;
    size_t times_bytes; /* charged by command_keep */
    uint32_t times_next;
    struct report_totals *totals; /* NULL: rows are printed by reseller */
    bool has_all_totals;
    uint64_t untimed; /* clicks without a time; these and expired clicks are in no hour */
    uint64_t expired;
    bool has_day; /* day_figure is a day whose clicks are to be read */
    struct day_figure day_figure;
    struct buffer day_reseller;
    bool is_as_of;
    int64_t as_of_ms;
    uint64_t days_behind;
    uint64_t days; /* --as-of: how many figures there are now */
    uint64_t days_known;
    struct report_sum unpriced;
    struct report_chart *chart; /* NULL: rows are printed */
    struct timer time_slice;
    int status;
    struct error err;
};

/* ---- options ---- */

const char *const report_by_names[] = {
    [BY_DAY] = "day",     [BY_MINUTE] = "minute",     [BY_HOUR] = "hour", [BY_WEEK] = "week",
    [BY_MONTH] = "month", [BY_RESELLER] = "reseller", [BY_AD] = "ad",     [BY_TOTAL] = "total"};

static error_t parse_day(const char *text, const char *option, int32_t *day_out,
                         struct argp_state *state)
{
    return calendar_day_parse(bytes_text(text), day_out)
               ? 0
               : command_refuse(state, "%s takes a day such as 2013-11-28, not '%s'", option, text);
}

static error_t parse_by(const char *text, enum report_by *by_out, struct argp_state *state)
{
    *by_out = (enum report_by)command_word(text, report_by_names, REPORT_BYS);
    return *by_out < REPORT_BYS ? 0
                                : command_refuse(state,
                                                 "--by is minute, hour, day, week, month, "
                                                 "reseller, ad or total, not '%s'",
                                                 text);
}

static error_t parse_round(const char *text, struct report_options *options,
                           struct argp_state *state)
{
    options->is_rounded = true;
    return command_number(text, 0, ROUND_MAX, &options->round)
               ? 0
               : command_refuse(state, "--round takes a number of digits from 0 to %d, not '%s'",
                                ROUND_MAX, text);
}

/* Parse a time with its zone, or a day.  A day stands for its last millisecond in `zone`; if `zone`
 * is NULL, a day is only checked.  False: the text is neither. */
static bool parse_as_of(const char *text, const struct zone *zone, int64_t *time_ms_out)
{
    int32_t day;
    if (calendar_time_parse(bytes_text(text), time_ms_out))
        return true;
    if (!calendar_day_parse(bytes_text(text), &day) || day == DAY_MAX)
        return false;
    *time_ms_out = zone == NULL ? 0 : calendar_zone_day_start(zone, day + 1) - 1;
    return true;
}

static error_t report_finish_options(struct report_options *options, struct argp_state *state)
{
    if (options->is_total && options->by > BY_MONTH) {
        return command_refuse(state, "--total adds up periods, not --by %s",
                              report_by_names[options->by]);
    }
    if (options->day_from > options->day_to)
        return command_refuse(state, "the days end (--to) before they begin (--from)");
    if (options->as_of != NULL && (options->by == BY_AD || options->ad != NULL))
        return command_refuse(state, "the ledger has no ads: --as-of does not go with %s",
                              options->ad != NULL ? "--ad" : "--by ad");
    if (options->ad != NULL && report_by_is_time(options->by))
        return command_refuse(state, "--ad does not go with --by %s; the shortest period is a day",
                              report_by_names[options->by]);
    if (options->as_of != NULL && report_by_is_time(options->by)) {
        return command_refuse(state, "the ledger has days only: --as-of does not go with --by %s",
                              report_by_names[options->by]);
    }
    return 0;
}

static error_t report_parse(int key, char *argument, struct argp_state *state)
{
    struct report_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        options->day_from = DAY_MIN;
        options->day_to = DAY_MAX;
        return 0;
    case 'r':
        if (options->reseller_count == REPORT_RESELLERS_MAX) {
            return command_refuse(state, "more than %d resellers; leave --reseller out for all",
                                  REPORT_RESELLERS_MAX);
        }
        options->resellers[options->reseller_count++] = argument;
        return 0;
    case KEY_FROM:
        return parse_day(argument, "--from", &options->day_from, state);
    case KEY_TO:
        return parse_day(argument, "--to", &options->day_to, state);
    case KEY_AD:
        options->ad = argument;
        return argument[0] != '\0' ? 0 : command_refuse(state, "--ad takes the id of an ad");
    case KEY_BY:
        return parse_by(argument, &options->by, state);
    case KEY_TOTAL:
        options->is_total = true;
        return 0;
    case KEY_FORMAT:
        options->is_chart = strcmp(argument, "svg") == 0;
        return options->is_chart ? 0 : query_answer_format(argument, &options->format, state);
    case KEY_STREAM:
        options->stream = argument;
        return 0;
    case KEY_AS_OF: {
        int64_t time_ms;
        options->as_of = argument;
        if (parse_as_of(argument, NULL, &time_ms))
            return 0;
        return command_refuse(
            state, "--as-of takes a time such as 2013-12-01T12:00:00Z, or a day, not '%s'",
            argument);
    }
    case KEY_ROUND:
        return parse_round(argument, options, state);
    case ARGP_KEY_ARG:
        return command_refuse(state, "'%s' is one word too many; a reseller is given by --reseller",
                              argument);
    case ARGP_KEY_END:
        return report_finish_options(options, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option report_argp_options[] = {
    {"reseller", 'r', "R", 0, "Only this reseller; may be given again", 0},
    {"from", KEY_FROM, "DAY", 0, "From this day on, such as 2013-11-01", 0},
    {"to", KEY_TO, "DAY", 0, "Up to this day, which is included", 0},
    {"ad", KEY_AD, "ID", 0, "Only the clicks of this ad, of which the report is then", 0},
    {"by", KEY_BY, "KEY", 0, "minute, hour, day (unless given), week, month, reseller, ad or total",
     0},
    {"total", KEY_TOTAL, NULL, 0, "Add the resellers up in each period", 0},
    {"as-of", KEY_AS_OF, "T", 0, "What the ledger said at this time, or at the end of this day", 0},
    {"round", KEY_ROUND, "N", 0, "Round money to N digits after the point, half to even", 0},
    {"format", KEY_FORMAT, "F", 0,
     "table (unless given), csv, csv-safe, json, md, or svg: a picture", 0},
    {"stream", KEY_STREAM, "NAME", 0, "Of this stream; clicks unless given", 0},
    {0},
};

static const struct argp report_argp = {
    .options = report_argp_options,
    .parser = report_parse,
    .doc = "Print clicks, gross and amount of resellers by day, or grouped."
           "\vAmounts are exact.  Days with clicks and without a rate are unpriced: they count in "
           "clicks and gross, not in amount, and are told as such.\n\n"
           "Examples:\n"
           "  daybook report --from 2013-11-01 --to 2013-11-30\n"
           "  daybook report --reseller supaboobs --by month\n"
           "  daybook report --by week --from 2013-11-01\n"
           "  daybook report --by hour --from 2013-11-28 --to 2013-11-28\n"
           "  daybook report --by hour --total --from 2013-11-28\n"
           "  daybook report --by total --format json\n"
           "  daybook report --by ad --reseller supaboobs --round 2\n"
           "  daybook report --ad ad42 --from 2013-11-01\n"
           "  daybook report --from 2013-11-01 --to 2013-11-30 --as-of 2013-12-05\n"
           "  daybook report --reseller supaboobs --by month --format svg > earned.svg\n"
           "  daybook report --format csv > november.csv",
};

/* ---- columns ---- */

enum report_field {
    FIELD_NONE,
    FIELD_RESELLER,
    FIELD_AD,
    FIELD_DAY,
    FIELD_AT,
    FIELD_WEEK,
    FIELD_MONTH,
    FIELD_CLICKS,
    FIELD_GROSS,
    FIELD_RATE,
    FIELD_AMOUNT,
    FIELD_UNPRICED_DAYS,
    FIELD_UNPRICED_GROSS
};

static const struct table_column fields[] = {
    [FIELD_RESELLER] = {"reseller_id", TABLE_TEXT},
    [FIELD_AD] = {"ad_id", TABLE_TEXT},
    [FIELD_DAY] = {"day", TABLE_TEXT},
    [FIELD_AT] = {"at", TABLE_TEXT},
    [FIELD_WEEK] = {"week", TABLE_TEXT},
    [FIELD_MONTH] = {"month", TABLE_TEXT},
    [FIELD_CLICKS] = {"clicks", TABLE_NUMBER},
    [FIELD_GROSS] = {"gross", TABLE_DECIMAL},
    [FIELD_RATE] = {"rate", TABLE_DECIMAL},
    [FIELD_AMOUNT] = {"amount", TABLE_DECIMAL},
    [FIELD_UNPRICED_DAYS] = {"unpriced_days", TABLE_NUMBER},
    [FIELD_UNPRICED_GROSS] = {"unpriced_gross", TABLE_DECIMAL}};

#define TIME_FIELDS                                                                                \
    FIELD_RESELLER, FIELD_DAY, FIELD_AT, FIELD_CLICKS, FIELD_GROSS, FIELD_RATE, FIELD_AMOUNT
#define SUM_FIELDS                                                                                 \
    FIELD_CLICKS, FIELD_GROSS, FIELD_AMOUNT, FIELD_UNPRICED_DAYS, FIELD_UNPRICED_GROSS

#define TIME_SUM_FIELDS                                                                            \
    FIELD_DAY, FIELD_AT, FIELD_CLICKS, FIELD_GROSS, FIELD_AMOUNT, FIELD_UNPRICED_GROSS

static const enum report_field layouts[][REPORT_COLUMNS_MAX + 1] = {
    [BY_DAY] = {FIELD_RESELLER, FIELD_DAY, FIELD_CLICKS, FIELD_GROSS, FIELD_RATE, FIELD_AMOUNT},
    [BY_MINUTE] = {TIME_FIELDS},
    [BY_HOUR] = {TIME_FIELDS},
    [BY_WEEK] = {FIELD_RESELLER, FIELD_WEEK, SUM_FIELDS},
    [BY_MONTH] = {FIELD_RESELLER, FIELD_MONTH, SUM_FIELDS},
    [BY_RESELLER] = {FIELD_RESELLER, SUM_FIELDS},
    [BY_AD] = {FIELD_RESELLER, FIELD_AD, SUM_FIELDS},
    [BY_TOTAL] = {SUM_FIELDS}};

/* There is no column of rates, because resellers have different rates. */
static const enum report_field total_layouts[][REPORT_COLUMNS_MAX + 1] = {
    [BY_DAY] = {FIELD_DAY, SUM_FIELDS},
    [BY_MINUTE] = {TIME_SUM_FIELDS},
    [BY_HOUR] = {TIME_SUM_FIELDS},
    [BY_WEEK] = {FIELD_WEEK, SUM_FIELDS},
    [BY_MONTH] = {FIELD_MONTH, SUM_FIELDS}};

static const enum report_field *layout_of(const struct report_options *options)
{
    return options->is_total ? total_layouts[options->by] : layouts[options->by];
}

static const char *report_currency(const struct report *report)
{
    const struct click_stream *stream = rollup_stream(report->rollup);
    return stream->currency[0] != '\0' ? stream->currency : report->query->currency;
}

static const char *money_name(const struct report *report, const char *name, char to[32])
{
    const char *currency = report_currency(report);
    bool is_said = report->options->format == TABLE_ALIGNED && currency[0] != '\0';
    snprintf(to, 32, "%s %s", name, currency);
    return is_said ? to : name;
}

static void name_columns(struct report *report)
{
    const enum report_field *layout = layout_of(report->options);
    for (uint32_t i = 0; layout[i] != FIELD_NONE; i++) {
        report->columns[i] = fields[layout[i]];
        if (layout[i] == FIELD_GROSS || layout[i] == FIELD_AMOUNT)
            report->columns[i].name = money_name(report, fields[layout[i]].name, report->names[i]);
        report->column_count++;
    }
}

/* ---- rows ---- */

static struct bytes decimal_cell(struct decimal value, char text[DECIMAL_TEXT_MAX])
{
    size_t length = decimal_format(value, text);
    return bytes_of(text, length);
}

/* A sum that has too many digits to be rounded is printed as it is. */
static struct bytes money_cell(const struct report *report, struct decimal value,
                               char text[DECIMAL_TEXT_MAX])
{
    struct decimal rounded;
    if (report->options->is_rounded &&
        decimal_round(value, (int32_t)report->options->round, &rounded) == 0)
        value = rounded;
    return decimal_cell(value, text);
}

static struct bytes period_cell(int32_t day, size_t size, char text[DAY_TEXT_SIZE + 1])
{
    calendar_day_format(day, text);
    return bytes_of(text, size);
}

static struct bytes field_cell(const struct report *report, enum report_field field,
                               const struct report_row *row, char text[RATE_PERCENT_TEXT_MAX])
{
    bool is_table = report->options->format == TABLE_ALIGNED;
    enum report_by by = report->options->by;
    bool has_rate = !report->options->is_total && (by == BY_DAY || report_by_is_time(by));
    bool lacks_rate = has_rate && row->rate == NULL;
    switch (field) {
    case FIELD_RESELLER:
        return row->reseller;
    case FIELD_AD:
        return row->ad;
    case FIELD_DAY:
        return period_cell((int32_t)row->period, DAY_TEXT_SIZE, text);
    case FIELD_AT:
        return bytes_of(text, calendar_zone_format(rollup_zone(report->rollup), row->at_ms, text));
    case FIELD_WEEK:
        return bytes_of(text, calendar_week_format((int32_t)row->period, text));
    case FIELD_MONTH:
        return period_cell(calendar_month_first_day((int32_t)row->period), MONTH_TEXT_SIZE, text);
    case FIELD_CLICKS:
        return query_answer_number(row->sum.clicks, text);
    case FIELD_GROSS:
        return money_cell(report, row->sum.gross, text);
    case FIELD_RATE:
        if (!lacks_rate)
            return is_table ? bytes_of(text, rate_format_percent(*row->rate, text))
                            : decimal_cell(*row->rate, text);
        break;
    case FIELD_AMOUNT:
        if (!lacks_rate)
            return money_cell(report, row->sum.amount, text);
        break;
    case FIELD_UNPRICED_DAYS:
        return query_answer_number(row->sum.unpriced_days, text);
    case FIELD_UNPRICED_GROSS:
        return money_cell(report, row->sum.unpriced_gross, text);
    case FIELD_NONE:
        break;
    }
    return (struct bytes){0};
}

/* False: enough output waits for the client. */
static bool print_row(struct report *report, const struct report_row *row)
{
    const enum report_field *layout = layout_of(report->options);
    char texts[REPORT_COLUMNS_MAX][RATE_PERCENT_TEXT_MAX];
    struct bytes cells[REPORT_COLUMNS_MAX];
    if (report->totals != NULL && !report->has_all_totals) {
        int rc = report_totals_add(report->totals, row, &report->err);
        report->status = report->status == 0 ? rc : report->status;
        return true;
    }
    if (report->chart != NULL) {
        int rc = report_chart_add(report->chart, row, &report->err);
        report->status = report->status == 0 ? rc : report->status;
        return true;
    }
    for (uint32_t i = 0; i < report->column_count; i++)
        cells[i] = field_cell(report, layout[i], row, texts[i]);
    return query_answer_row(&report->answer, cells);
}

static bool print_day(struct report *report, const struct day_figure *figure,
                      const struct report_sum *sum)
{
    const struct report_row row = {.reseller = figure->reseller,
                                   .period = figure->day,
                                   .rate = figure->is_priced ? &figure->rate : NULL,
                                   .sum = *sum};
    return print_row(report, &row);
}

static bool print_group(struct report *report)
{
    struct report_row row = report->group;
    if (report->options->by != BY_TOTAL)
        row.reseller = buffer_view(&report->reseller);
    report->has_group = false;
    report->group = (struct report_row){0};
    return print_row(report, &row);
}

static void count_unpriced(struct report *report, const struct report_sum *sum)
{
    int rc = sum->unpriced_days > 0 ? report_sum_add(&report->unpriced, sum) : 0;
    report->status = report->status == 0 ? rc : report->status;
}

static bool print_ad(struct report *report, const struct report_ad *ad)
{
    const struct report_row row = {
        .reseller = buffer_view(&report->reseller), .ad = ad->ad, .sum = ad->sum};
    if (report->options->ad != NULL)
        count_unpriced(report, &ad->sum);
    report->is_ad_found = true;
    return print_row(report, &row);
}

static bool print_time(struct report *report, const struct day_time *time)
{
    const struct day_figure *figure = &report->day_figure;
    bool is_first = report->times_next == 1;
    struct report_row row = {.reseller = figure->reseller,
                             .period = figure->day,
                             .at_ms = time->at_ms,
                             .rate = figure->is_priced ? &figure->rate : NULL,
                             .sum = {.clicks = time->clicks, .gross = time->gross}};
    if (figure->is_priced) {
        int rc = decimal_multiply(time->gross, figure->rate, &row.sum.amount);
        report->status = report->status == 0 ? rc : report->status;
    } else {
        /* A chart adds the rows up, so only the first row counts the day as unpriced. */
        row.sum.unpriced_days = is_first;
        row.sum.unpriced_gross = time->gross;
    }
    return print_row(report, &row);
}

/* The week or month of a day; 0 if the report is by neither. */
static int32_t period_of(const struct report *report, int32_t day)
{
    enum report_by by = report->options->by;
    if (by == BY_WEEK)
        return calendar_week_of_day(day);
    return by == BY_MONTH ? calendar_month_of_day(day) : 0;
}

static bool is_next_group(const struct report *report, const struct day_figure *figure)
{
    bool is_next_reseller = !bytes_equal(figure->reseller, buffer_view(&report->reseller));
    return (report->options->by != BY_TOTAL && is_next_reseller) ||
           period_of(report, figure->day) != report->group.period;
}

static void set_last_reseller(struct report *report, const struct day_figure *figure)
{
    buffer_set(&report->reseller, figure->reseller);
    report->has_last = true;
}

static void set_day(struct report *report, const struct day_figure *figure)
{
    report->has_day = true;
    report->day_figure = *figure;
    buffer_set(&report->day_reseller, figure->reseller);
    report->day_figure.reseller = buffer_view(&report->day_reseller);
}

static void mark_found(struct report *report, struct bytes reseller)
{
    uint32_t count = report->options->reseller_count;
    uint32_t at = report->found_last;
    for (uint32_t i = 0; i < count && !bytes_equal(report->resellers[at], reseller); i++)
        at = at + 1 < count ? at + 1 : 0;
    report->found_last = at;
    report->is_found[at] = true;
}

/* Whether the clicks of each day are read, and not only the figures. */
static bool reads_clicks(const struct report_options *options)
{
    return options->by == BY_AD || options->ad != NULL || report_by_is_time(options->by);
}

/* Print a day's row, or add the day to its group.  False: enough output waits for the client. */
static bool add_day(struct report *report, const struct day_figure *figure,
                    const struct report_sum *sum)
{
    bool has_room = true;
    if (report->options->by == BY_DAY) {
        has_room = print_day(report, figure, sum);
    } else {
        if (report->has_group && is_next_group(report, figure))
            has_room = print_group(report);
        report->has_group = true;
        report->group.period = period_of(report, figure->day);
        int rc = report_sum_add(&report->group.sum, sum);
        report->status = report->status == 0 ? rc : report->status;
    }
    set_last_reseller(report, figure);
    return has_room;
}

static bool report_figure(void *context, const struct day_figure *figure)
{
    struct report *report = context;
    const struct report_sum sum = report_sum_of_day(figure);
    report->days_known++;
    if (report->options->reseller_count > 0)
        mark_found(report, figure->reseller);
    if (report->options->ad == NULL)
        count_unpriced(report, &sum);
    if (reads_clicks(report->options)) {
        if (figure->clicks > 0)
            set_day(report, figure);
        return figure->clicks == 0;
    }
    return add_day(report, figure, &sum) && report->status == 0;
}

/* ---- the command ---- */

static void note_absent(const struct report *report)
{
    for (uint32_t i = 0; i < report->options->reseller_count; i++) {
        struct buffer name = {0};
        if (report->is_found[i])
            continue;
        buffer_append_json(&name, report->resellers[i]);
        command_printf(report->answer.output, COMMAND_ERR,
                       "daybook: note: there are no figures of reseller %.*s in the days asked "
                       "for\n",
                       (int)name.size, (const char *)name.data);
        buffer_release(&name);
    }
}

/* The id of an ad without clicks is mostly a mistyped one. */
static void note_absent_ad(const struct report *report)
{
    struct buffer name = {0};

    if (report->options->ad == NULL || report->is_ad_found)
        return;
    buffer_append_json(&name, bytes_text(report->options->ad));
    command_printf(report->answer.output, COMMAND_ERR,
                   "daybook: note: there are no clicks of ad %.*s in the days asked for%s\n",
                   (int)name.size, (const char *)name.data,
                   report->rollup == streams_find(report->query->streams, NULL)
                       ? "; daybook counters clicks_per_ad --top 20 prints ids of ads"
                       : "");
    buffer_release(&name);
}

static void report_notes(const struct report *report)
{
    note_absent(report);
    note_absent_ad(report);
    if (report->request->is_read_only && report->days_behind > 0) {
        command_printf(report->answer.output, COMMAND_ERR,
                       "daybook: note: the figures of %" PRIu64 " day%s were worked out for this "
                       "report; daybook rollup keeps them\n",
                       report->days_behind, report->days_behind == 1 ? "" : "s");
    }
    if (report->is_as_of && report->days > report->days_known) {
        command_printf(report->answer.output, COMMAND_ERR,
                       "daybook: note: %" PRIu64 " reseller-day%s had no published figure then\n",
                       report->days - report->days_known,
                       report->days - report->days_known == 1 ? "" : "s");
    }
    if (report->expired + report->untimed > 0) {
        command_printf(report->answer.output, COMMAND_ERR,
                       "daybook: note: clicks of these days that are left out: %" PRIu64
                       " expired, %" PRIu64 " without a time\n",
                       report->expired, report->untimed);
    }
    if (report->unpriced.unpriced_days > 0) {
        bool is_one = report->unpriced.unpriced_days == 1;
        char gross[DECIMAL_TEXT_MAX];
        decimal_format(report->unpriced.unpriced_gross, gross);
        command_printf(
            report->answer.output, COMMAND_ERR,
            "daybook: note: %" PRIu64 " reseller-day%s without a rate, gross %s, %s in no amount\n",
            report->unpriced.unpriced_days, is_one ? "" : "s", gross, is_one ? "is" : "are");
    }
}

static void report_free(struct report *report)
{
    query_answer_release(&report->answer);
    report_ads_free(report->ads);
    day_times_free(report->times);
    report_totals_free(report->totals);
    report_chart_free(report->chart);
    buffer_release(&report->reseller);
    buffer_release(&report->day_reseller);
    rollup_leave(report->rollup);
    memory_free(report);
}

static void report_fail(struct report *report, int status, const struct error *err)
{
    struct command_output *output = report->answer.output;
    struct error kept = {0};
    error_keep(&kept, status, err != NULL && err->text[0] != '\0' ? err : NULL);
    report_free(report);
    command_fail(output, command_exit_of(status), "report: %s", kept.text);
}

static void report_finish(struct report *report)
{
    struct command_output *output = report->answer.output;
    if (report->status != 0) {
        report_fail(report, report->status, &report->err);
        return;
    }
    if (report->chart != NULL)
        report_chart_draw(report->chart, &report->answer.text);
    query_answer_end(&report->answer);
    report_notes(report);
    report_free(report);
    output->finish(output, EXIT_DONE);
}

static void print_totals(void *context)
{
    struct report *report = context;
    const struct report_row *row;
    report->answer.output->drained = NULL;
    for (uint32_t i = 0; report->status == 0 && (row = report_totals_next(report->totals)); i++) {
        if (!print_row(report, row)) {
            query_answer_wait(&report->answer, print_totals, report);
            return;
        }
        if (i + 1 == PRINTED_MAX) {
            rollup_yield(report->rollup, &report->time_slice);
            return;
        }
    }
    report_finish(report);
}

static void report_end(struct report *report)
{
    if (report->has_group || report->options->by == BY_TOTAL)
        print_group(report);
    report->has_all_totals = true;
    if (report->totals != NULL)
        print_totals(report);
    else
        report_finish(report);
}

static void ads_added(void *context, int status, const struct error *err)
{
    struct report *report = context;
    if (status != 0) {
        report->status = error_keep(&report->err, status, err);
        report_figures_resume(&report->figures);
        return;
    }
    set_last_reseller(report, &report->day_figure);
    report->has_day = false;
    report_figures_wait(&report->figures);
}

/* Print the ads of a reseller whose days are all read, then read the next day's clicks or end. */
static void print_ads(void *context)
{
    struct report *report = context;
    bool is_complete = report->has_last &&
                       (!report->has_day ||
                        !bytes_equal(report->day_figure.reseller, buffer_view(&report->reseller)));
    report->answer.output->drained = NULL;
    const struct report_ad *ad;
    for (uint32_t i = 0; is_complete && (ad = report_ads_next(report->ads)) != NULL; i++) {
        if (!print_ad(report, ad)) {
            query_answer_wait(&report->answer, print_ads, report);
            return;
        }
        if (i + 1 == PRINTED_MAX) {
            rollup_yield(report->rollup, &report->time_slice);
            return;
        }
    }
    if (!report->has_day) {
        report_end(report);
        return;
    }
    if (is_complete)
        report_ads_clear(report->ads);
    report_ads_add(report->ads, &report->day_figure, ads_added, report);
}

/* With --ad, the sum of a day's clicks of the ad replaces the day's figure. */
static void ad_read(void *context, int status, const struct error *err)
{
    struct report *report = context;
    if (status != 0)
        report->status = error_keep(&report->err, status, err);
    const struct report_ad *ad = status == 0 ? report_ads_next(report->ads) : NULL;
    if (ad != NULL) {
        report->is_ad_found = true;
        count_unpriced(report, &ad->sum);
        add_day(report, &report->day_figure, &ad->sum);
        report_ads_clear(report->ads);
    }
    report->has_day = false;
    report_figures_wait(&report->figures);
}

/* Print the times of the day that was read, then continue with the figures. */
static void print_times(void *context)
{
    struct report *report = context;
    const struct day_times *times = report->times;
    report->answer.output->drained = NULL;
    for (uint32_t i = 0; report->status == 0 && report->times_next < times->count; i++) {
        if (i == PRINTED_MAX) {
            rollup_yield(report->rollup, &report->time_slice);
            return;
        }
        if (!print_time(report, &times->times[report->times_next++])) {
            query_answer_wait(&report->answer, print_times, report);
            return;
        }
    }
    report->has_day = false;
    report_figures_resume(&report->figures);
}

static int keep_times(struct report *report)
{
    size_t bytes = day_times_bytes(report->times);
    if (bytes != report->times_bytes &&
        !command_keep(report->answer.output, (int64_t)(bytes - report->times_bytes)))
        return error_set(&report->err, ERROR_LIMIT, COMMAND_NO_ROOM);
    report->times_bytes = bytes;
    return 0;
}

static void times_read(void *context, int status, const struct error *err)
{
    struct report *report = context;
    if (status < 0)
        report->status = error_keep(&report->err, status, err);
    else
        report->status = keep_times(report);
    report->expired += report->times->expired;
    report->untimed += report->times->untimed;
    report->times_next = 0;
    print_times(report);
}

static void print_more(struct timer *timer)
{
    const struct report *report = timer->context;
    if (report->totals != NULL && report->has_all_totals)
        print_totals(timer->context);
    else if (report->times != NULL)
        print_times(timer->context);
    else
        print_ads(timer->context);
}

static void report_read_done(void *context, int status, const struct error *err)
{
    struct report *report = context;
    if (status == 0 && report->status != 0) {
        status = report->status;
        err = &report->err;
    }
    if (status != 0)
        report_fail(report, status, err);
    else if (report->options->by == BY_AD)
        print_ads(report);
    else
        report_end(report);
}

static void report_paused(void *context, struct figure_reading *reading)
{
    struct report *report = context;
    report->figures.reading = reading;
    if (report->status == 0 && report->options->by == BY_AD)
        print_ads(report);
    else if (report->status == 0 && report->has_day && report->ads != NULL)
        report_ads_add(report->ads, &report->day_figure, ad_read, report);
    else if (report->status == 0 && report->has_day)
        day_times_read(report->times, report->day_figure.reseller, report->day_figure.day,
                       times_read, report);
    else
        report_figures_wait(&report->figures);
}

static struct figure_query query_of(const struct report *report)
{
    return (struct figure_query){.resellers = report->resellers,
                                 .reseller_count = report->options->reseller_count,
                                 .day_from = report->options->day_from,
                                 .day_to = report->options->day_to,
                                 .is_current = true,
                                 .in_any_order = true};
}

static void report_read(struct report *report)
{
    struct figure_query query = query_of(report);
    query.behind = &report->days_behind;
    query.is_as_of = report->is_as_of;
    query.as_of_ms = report->as_of_ms;
    query.in_any_order = (report->options->by == BY_TOTAL || report->totals != NULL) &&
                         !reads_clicks(report->options);
    if (!query.in_any_order)
        query.paused = report_paused;
    rollup_figures(report->rollup, &query, report_figure, report_read_done, report);
}

static bool count_day(void *context, const struct day_figure *figure)
{
    (void)figure;
    ((struct report *)context)->days++;
    return true;
}

static void days_counted(void *context, int status, const struct error *err)
{
    struct report *report = context;
    if (status != 0)
        report_fail(report, status, err);
    else
        report_read(report);
}

static void report_begin(struct report *report)
{
    const struct figure_query query = query_of(report);
    if (report->is_as_of)
        rollup_figures(report->rollup, &query, count_day, days_counted, report);
    else
        report_read(report);
}

static void report_run(void *room, const struct command_request *request,
                       struct command_output *output)
{
    const struct query *query = room;
    const struct report_options *options = request->options;
    struct rollup *rollup = streams_enter(query->streams, options->stream, output);
    if (rollup == NULL)
        return;
    struct report *report = memory_zeroed(1, sizeof(*report));
    report->query = query;
    report->rollup = rollup;
    report->request = request;
    report->options = request->options;
    report->figures = (struct report_figures){.answer = &report->answer, .status = &report->status};
    for (uint32_t i = 0; i < report->options->reseller_count; i++)
        report->resellers[i] = bytes_text(report->options->resellers[i]);
    report->is_as_of =
        report->options->as_of != NULL &&
        parse_as_of(report->options->as_of, rollup_zone(report->rollup), &report->as_of_ms);
    if (options->by == BY_AD || options->ad != NULL) {
        struct bytes only = options->ad != NULL ? bytes_text(options->ad) : (struct bytes){0};
        report->ads = report_ads_new(query->store, rollup, only, output);
    }
    if (report_by_is_time(options->by)) {
        report->times =
            day_times_new(query->store, rollup, options->by == BY_HOUR ? HOUR_MS : MINUTE_MS);
    }
    if (options->is_total)
        report->totals = report_totals_new(output);
    report->time_slice = (struct timer){.fire = print_more, .context = report};
    name_columns(report);
    if (report->options->is_chart) {
        report->chart = report_chart_new(options, report_currency(report), rollup_zone(rollup));
        report->answer.output = output;
    } else {
        query_answer_begin(&report->answer, output, report->options->format, report->columns,
                           report->column_count);
    }
    report_begin(report);
}

const struct command report_command = {
    .name = "report",
    .summary = "print clicks, gross and amount by hour, day, week, month, reseller or ad",
    .argp = &report_argp,
    .options_size = sizeof(struct report_options),
    .run = report_run};
