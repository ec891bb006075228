/* report_chart: see report_chart.h.
 *
 * Figures stay decimals; only the scale and lengths are computed with doubles.  Rows are kept until
 * the last one was added, because the scale and the time axis depend on all rows. */
#include "query/report/report_chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/report/svg.h"
#include "base/arena.h"
#include "base/calendar.h"
#include "base/memory.h"

enum {
    ARENA_CHUNK = 16 * 1024,
    WIDTH = 960, /* this and all lengths below are in pixels */
    MARGIN = 24,
    HEADING = 64,    /* title and sums */
    PANEL_HEAD = 24, /* a panel's reseller and sum */
    PANEL_HEIGHT = 120,
    PANEL_GAP = 28,
    AXIS_WIDTH = 110, /* the numbers left of a panel */
    AXIS_HEIGHT = 24, /* the days or months below the last panel */
    TICKS = 4,        /* steps of a panel's scale, at most */
    LABELS = 8,       /* on the time axis, at most */
    LETTER = 7,       /* width of a letter on the time axis */
    BAR_STEP = 24,    /* from one bar to the next */
    BAR_HEIGHT = 16,
    BAR_LABEL = 260, /* the names left of the bars */
    BAR_LEAST = 40,  /* the longest bar's width, at least */
    SLOT_MOST = 60,  /* from one period's bar to the next */
    NAME_LETTERS = 32,
    NAME_BYTES = NAME_LETTERS * 4 + 8,
    MARK_HEIGHT = 6
};

/* The rows of a reseller, in the order in which they are added: newest first. */
struct panel {
    struct bytes reseller;
    struct report_row *rows;
    uint32_t count;
    uint32_t capacity;
    struct report_sum sum;
};

struct bar {
    struct report_row row; /* `reseller` and `ad` are not valid after report_chart_add */
    char name[NAME_BYTES];
};

struct report_chart {
    const struct report_options *options;
    const char *currency;
    const struct zone *zone;
    struct arena *arena;
    struct panel panels[CHART_PANELS];
    uint32_t panel_count;
    uint32_t row_count;
    int64_t phase_ms; /* by minute and hour: how long after a whole minute or hour since 1970 each
                       * period begins */
    int64_t period_first;
    int64_t period_last;
    struct bar bars[CHART_BARS]; /* the largest first */
    uint32_t bar_count;
    struct report_sum others;
    uint64_t other_count;
    struct report_sum sum;
};

static const char style[] =
    SVG_TEXT_STYLE ".heading { font-size: 18px; font-weight: bold; }\n"
                   ".name { font-weight: bold; }\n"
                   ".note { fill: #5b6b7c; }\n"
                   ".tick { fill: #5b6b7c; font-size: 11px; text-anchor: end; }\n"
                   ".time { fill: #5b6b7c; font-size: 11px; text-anchor: middle; }\n"
                   ".right { text-anchor: end; }\n"
                   ".rule { stroke: #d3dbe4; }\n"
                   ".bar { fill: #2f6db5; }\n"
                   ".mark { fill: #c2500c; }\n";

struct report_chart *report_chart_new(const struct report_options *options, const char *currency,
                                      const struct zone *zone)
{
    struct report_chart *chart = memory_zeroed(1, sizeof(*chart));
    chart->options = options;
    chart->currency = currency;
    chart->zone = zone;
    chart->arena = arena_new(ARENA_CHUNK);
    return chart;
}

void report_chart_free(struct report_chart *chart)
{
    if (chart == NULL)
        return;
    for (uint32_t i = 0; i < chart->panel_count; i++)
        memory_free(chart->panels[i].rows);
    arena_free(chart->arena);
    memory_free(chart);
}

/* ---- rows ---- */

static bool is_over_time(const struct report_chart *chart)
{
    return chart->options->by <= BY_MONTH;
}

static int64_t unit_of(const struct report_chart *chart)
{
    return chart->options->by == BY_HOUR ? HOUR_MS : MINUTE_MS;
}

static void period_format(const struct report_chart *chart, int64_t period,
                          char text[MOMENT_TEXT_MAX + 1])
{
    enum report_by by = chart->options->by;
    if (report_by_is_time(by)) {
        calendar_zone_format(chart->zone, period * unit_of(chart) + chart->phase_ms, text);
    } else if (by == BY_WEEK) {
        calendar_week_format((int32_t)period, text);
    } else if (by == BY_MONTH) {
        calendar_day_format(calendar_month_first_day((int32_t)period), text);
        text[MONTH_TEXT_SIZE] = '\0';
    } else {
        calendar_day_format((int32_t)period, text);
    }
}

static int add_to(struct report_sum *sum, const struct report_sum *term, struct error *err)
{
    int rc = report_sum_add(sum, term);
    return rc == 0 ? 0 : error_set(err, rc, "a sum has too many digits");
}

static struct panel *panel_of(struct report_chart *chart, struct bytes reseller)
{
    struct panel *last = chart->panel_count > 0 ? &chart->panels[chart->panel_count - 1] : NULL;
    if (last != NULL && bytes_equal(last->reseller, reseller))
        return last;
    if (chart->panel_count == CHART_PANELS)
        return NULL;
    last = &chart->panels[chart->panel_count++];
    last->reseller = arena_copy(chart->arena, reseller);
    return last;
}

/* Two days may have rows of the same hour, because the day that a client gives a click may differ
 * from the day of the click's time. */
static struct report_row *row_of(struct report_chart *chart, struct panel *panel, int64_t period)
{
    uint32_t at = panel->count;
    while (at > 0 && panel->rows[at - 1].period < period)
        at--;
    if (at > 0 && panel->rows[at - 1].period == period)
        return &panel->rows[at - 1];
    panel->rows =
        memory_make_room(panel->rows, panel->count, &panel->capacity, sizeof(*panel->rows));
    struct report_row *row = &panel->rows[at];
    memmove(row + 1, row, (panel->count - at) * sizeof(*row));
    *row = (struct report_row){.period = period};
    panel->count++;
    chart->row_count++;
    return row;
}

static int32_t periods_max(const struct report_chart *chart)
{
    return chart->options->by == BY_MINUTE ? CHART_MINUTES : CHART_PERIODS;
}

static int refuse_periods(const struct report_chart *chart, struct error *err)
{
    static const char *const longer[] = {[BY_MINUTE] = ", or ask --by hour",
                                         [BY_HOUR] = ", or ask --by day",
                                         [BY_DAY] = ", or ask --by week",
                                         [BY_WEEK] = ", or ask --by month",
                                         [BY_MONTH] = ""};
    return error_set(
        err, ERROR_INVALID, "a picture shows at most %d %ss; choose some with --from and --to%s",
        periods_max(chart), report_by_names[chart->options->by], longer[chart->options->by]);
}

static int64_t period_of(struct report_chart *chart, const struct report_row *row)
{
    if (!report_by_is_time(chart->options->by))
        return row->period;
    int64_t unit = unit_of(chart);
    if (chart->row_count == 0)
        chart->phase_ms = (row->at_ms % unit + unit) % unit;
    int64_t from_phase = row->at_ms - chart->phase_ms;
    return from_phase / unit - (from_phase % unit < 0);
}

static int add_period(struct report_chart *chart, const struct report_row *row, struct error *err)
{
    int64_t period = period_of(chart, row);
    struct panel *panel = panel_of(chart, row->reseller);
    if (panel == NULL) {
        return error_set(err, ERROR_INVALID,
                         "a picture shows at most %d resellers over time; choose some with "
                         "--reseller, or ask --by reseller",
                         CHART_PANELS);
    }
    bool is_first = chart->row_count == 0;
    chart->period_first = is_first || period < chart->period_first ? period : chart->period_first;
    chart->period_last = is_first || period > chart->period_last ? period : chart->period_last;
    if (chart->period_last - chart->period_first >= periods_max(chart))
        return refuse_periods(chart, err);
    if (chart->row_count == CHART_ROWS) {
        return error_set(err, ERROR_INVALID,
                         "a picture has at most %d bars; choose some with --reseller, --from and "
                         "--to",
                         CHART_ROWS);
    }
    int rc = add_to(&row_of(chart, panel, period)->sum, &row->sum, err);
    return rc == 0 ? add_to(&panel->sum, &row->sum, err) : rc;
}

/* Copy a name; one of over NAME_LETTERS letters is cut and ends in an ellipsis.  A NUL becomes a
 * question mark, because it would end `to` too early. */
static void name_cut(struct bytes name, char to[NAME_BYTES])
{
    size_t end = 0;
    for (size_t next; end < name.size; end = next) {
        for (next = end + 1; next < name.size && (name.data[next] & 0xC0) == 0x80; next++) {
        }
        if (svg_letters(bytes_of(name.data, next)) > NAME_LETTERS - (next < name.size) ||
            next > NAME_LETTERS * 4) {
            break;
        }
    }
    for (size_t i = 0; i < end; i++)
        to[i] = name.data[i] == '\0' ? '?' : (char)name.data[i];
    snprintf(to + end, NAME_BYTES - end, "%s", end < name.size ? "…" : "");
}

static void name_bar(const struct report_chart *chart, struct bar *bar)
{
    struct buffer name = {0};
    if (chart->options->by == BY_TOTAL)
        buffer_append_text(&name, "all");
    buffer_append_bytes(&name, bar->row.reseller);
    if (chart->options->by == BY_AD) {
        buffer_append_text(&name, " ");
        buffer_append_bytes(&name, bar->row.ad);
    }
    name_cut(buffer_view(&name), bar->name);
    buffer_release(&name);
}

static bool is_before(const struct report_sum *a, const struct report_sum *b)
{
    int order = decimal_compare(a->amount, b->amount);
    return order != 0 ? order > 0 : decimal_compare(a->gross, b->gross) > 0;
}

static int add_bar(struct report_chart *chart, const struct report_row *row, struct error *err)
{
    uint32_t at = chart->bar_count;
    while (at > 0 && is_before(&row->sum, &chart->bars[at - 1].row.sum))
        at--;
    if (chart->bar_count == CHART_BARS) {
        const struct report_row *out = at == CHART_BARS ? row : &chart->bars[CHART_BARS - 1].row;
        chart->other_count++;
        int rc = add_to(&chart->others, &out->sum, err);
        if (rc != 0 || at == CHART_BARS)
            return rc;
        chart->bar_count--;
    }
    struct bar *bar = &chart->bars[at];
    memmove(bar + 1, bar, (chart->bar_count - at) * sizeof(*bar));
    bar->row = *row;
    name_bar(chart, bar);
    chart->bar_count++;
    return 0;
}

int report_chart_add(struct report_chart *chart, const struct report_row *row, struct error *err)
{
    int rc = add_to(&chart->sum, &row->sum, err);
    if (rc != 0)
        return rc;
    return is_over_time(chart) ? add_period(chart, row, err) : add_bar(chart, row, err);
}

/* ---- text ---- */

static void put_money(const struct report_chart *chart, struct decimal value, struct buffer *text)
{
    struct decimal rounded;
    const struct report_options *options = chart->options;
    if (options->is_rounded && decimal_round(value, (int32_t)options->round, &rounded) == 0)
        value = rounded;
    decimal_append(text, value);
}

static void put_count(struct buffer *text, uint64_t count, const char *what)
{
    buffer_printf(text, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void put_earned(const struct report_chart *chart, const struct report_sum *sum,
                       struct buffer *text)
{
    put_money(chart, sum->amount, text);
    if (chart->currency[0] != '\0')
        buffer_printf(text, " %s", chart->currency);
}

static void put_unpriced(const struct report_sum *sum, struct buffer *text)
{
    if (sum->unpriced_days > 0) {
        buffer_append_text(text, ", ");
        put_count(text, sum->unpriced_days, "day");
        buffer_append_text(text, " without a rate");
    } else if (!decimal_is_zero(sum->unpriced_gross)) {
        buffer_append_text(text, ", without a rate");
    }
}

static void put_amount(const struct report_chart *chart, const struct report_sum *sum,
                       struct buffer *text)
{
    put_earned(chart, sum, text);
    put_unpriced(sum, text);
}

static void put_hint(const struct report_chart *chart, const char *name,
                     const struct report_sum *sum, struct buffer *svg)
{
    struct buffer amount = {0};
    put_amount(chart, sum, &amount);
    buffer_append_text(svg, "<title>");
    svg_put_text(svg, bytes_text(name));
    buffer_append_text(svg, ": ");
    svg_put_text(svg, buffer_view(&amount));
    buffer_append_text(svg, "; ");
    put_count(svg, sum->clicks, "click");
    buffer_append_text(svg, ", gross ");
    put_money(chart, sum->gross, svg);
    buffer_append_text(svg, "</title>");
    buffer_release(&amount);
}

static void put_label(struct buffer *svg, int32_t x, int32_t y, const char *class,
                      struct buffer *text)
{
    svg_put_label(svg, x, y, class, buffer_view(text));
    buffer_clear(text);
}

static double real_of(struct decimal value)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format(value, text);
    return strtod(text, NULL);
}

/* ---- the scale ---- */

/* An axis from 0 to `most`, with ticks in steps of mantissa * 10^exponent. */
struct scale {
    double most;
    int32_t mantissa; /* 1, 2 or 5; 0: there are no amounts, and the only tick is at 0 */
    int32_t exponent;
};

static double step_of(const struct scale *scale)
{
    return scale->mantissa * pow(10, scale->exponent);
}

/* The scale with the smallest step that needs no more than TICKS steps. */
static struct scale scale_of(double most)
{
    struct scale scale = {.most = most, .mantissa = 1};
    if (most <= 0)
        return (struct scale){.most = 1};
    scale.exponent = (int32_t)floor(log10(most / TICKS));
    while (step_of(&scale) * TICKS < most) {
        if (scale.mantissa == 5) {
            scale.mantissa = 1;
            scale.exponent++;
        } else {
            scale.mantissa = scale.mantissa == 1 ? 2 : 5;
        }
    }
    return scale;
}

static void put_tick(const struct scale *scale, int32_t number, struct buffer *text)
{
    decimal_append(text, decimal_from((int128)number * scale->mantissa,
                                      scale->exponent < 0 ? -scale->exponent : 0));
    for (int32_t i = 0; i < scale->exponent && number > 0; i++)
        buffer_put_u8(text, '0');
}

/* ---- panels ---- */

static double largest_amount(const struct report_chart *chart)
{
    double most = 0;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        for (uint32_t k = 0; k < chart->panels[i].count; k++) {
            double amount = real_of(chart->panels[i].rows[k].sum.amount);
            most = amount > most ? amount : most;
        }
    }
    return most;
}

static double slot_width(const struct report_chart *chart)
{
    int32_t slots = (int32_t)(chart->period_last - chart->period_first) + 1;
    double width = (double)(WIDTH - 2 * MARGIN - AXIS_WIDTH) / slots;
    return width < SLOT_MOST ? width : SLOT_MOST;
}

static void draw_ticks(struct buffer *svg, const struct scale *scale, int32_t base)
{
    struct buffer text = {0};
    for (int32_t i = 0; i <= TICKS && i * step_of(scale) <= scale->most * 1.0001; i++) {
        int32_t y = base - (int32_t)(PANEL_HEIGHT * i * step_of(scale) / scale->most);
        buffer_printf(svg, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"rule\"/>\n",
                      MARGIN + AXIS_WIDTH, y, WIDTH - MARGIN, y);
        put_tick(scale, i, &text);
        put_label(svg, MARGIN + AXIS_WIDTH - 8, y + 4, "tick", &text);
        if (scale->mantissa == 0)
            break;
    }
    buffer_release(&text);
}

static void draw_period(const struct report_chart *chart, const struct report_row *row,
                        const struct scale *scale, int32_t base, struct buffer *svg)
{
    char name[MOMENT_TEXT_MAX + 1];
    double slot = slot_width(chart);
    double x = MARGIN + AXIS_WIDTH + slot * (double)(row->period - chart->period_first);
    double width = slot > 3 ? slot * 0.8 : slot;
    double height = PANEL_HEIGHT * real_of(row->sum.amount) / scale->most;
    period_format(chart, row->period, name);
    buffer_append_text(svg, "<g>");
    put_hint(chart, name, &row->sum, svg);
    buffer_printf(svg, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" class=\"bar\"/>",
                  x, base - height, width, height);
    if (row->sum.unpriced_days > 0 || !decimal_is_zero(row->sum.unpriced_gross)) {
        buffer_printf(svg,
                      "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" class=\"mark\"/>", x,
                      base + 1, width, MARK_HEIGHT);
    }
    buffer_append_text(svg, "</g>\n");
}

static void draw_times(const struct report_chart *chart, int32_t y, struct buffer *svg)
{
    char name[MOMENT_TEXT_MAX + 1];
    int32_t slots = (int32_t)(chart->period_last - chart->period_first) + 1;
    double slot = slot_width(chart);
    period_format(chart, chart->period_first, name);
    int32_t labels = (int32_t)(slot * slots) / ((int32_t)strlen(name) * LETTER + LETTER);
    labels = labels < 1 ? 1 : labels > LABELS ? LABELS : labels;
    for (int32_t i = 0; i < slots; i += (slots + labels - 1) / labels) {
        period_format(chart, chart->period_first + i, name);
        svg_put_label(svg, (int32_t)(MARGIN + AXIS_WIDTH + slot * (i + 0.4)), y, "time",
                      bytes_text(name));
    }
}

/* Returns the y coordinate where the drawing ends. */
static int32_t draw_panels(const struct report_chart *chart, struct buffer *svg)
{
    struct scale scale = scale_of(largest_amount(chart));
    char name[NAME_BYTES];
    struct buffer text = {0};
    int32_t y = HEADING + MARGIN;
    for (uint32_t i = 0; i < chart->panel_count; i++) {
        const struct panel *panel = &chart->panels[i];
        int32_t base = y + PANEL_HEAD + PANEL_HEIGHT;
        name_cut(chart->options->is_total ? bytes_text("all") : panel->reseller, name);
        svg_put_label(svg, MARGIN + AXIS_WIDTH, y + 8, "name", bytes_text(name));
        put_amount(chart, &panel->sum, &text);
        put_label(svg, WIDTH - MARGIN, y + 8, "right", &text);
        draw_ticks(svg, &scale, base);
        for (uint32_t k = panel->count; k > 0; k--)
            draw_period(chart, &panel->rows[k - 1], &scale, base, svg);
        y = base + PANEL_GAP;
    }
    if (chart->panel_count > 0) {
        draw_times(chart, y - 4, svg);
        y += AXIS_HEIGHT;
    }
    buffer_release(&text);
    return y;
}

/* ---- bars ---- */

/* The longest bar's length, which leaves room for every label, but at least BAR_LEAST. */
static int32_t bar_room(const struct report_chart *chart)
{
    int32_t widest = 0;
    struct buffer text = {0};
    for (uint32_t i = 0; i < chart->bar_count; i++) {
        put_amount(chart, &chart->bars[i].row.sum, &text);
        int32_t width = svg_width(buffer_view(&text));
        widest = width > widest ? width : widest;
        buffer_clear(&text);
    }
    buffer_release(&text);
    int32_t room = WIDTH - 2 * MARGIN - BAR_LABEL - 16 - widest;
    return room > BAR_LEAST ? room : BAR_LEAST;
}

static void draw_bar(const struct report_chart *chart, const char *name,
                     const struct report_sum *sum, double width, int32_t y, struct buffer *svg)
{
    struct buffer amount = {0};
    svg_put_label(svg, MARGIN + BAR_LABEL - 8, y + 13, "right", bytes_text(name));
    buffer_append_text(svg, "<g>");
    put_hint(chart, name, sum, svg);
    buffer_printf(svg, "<rect x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%d\" class=\"bar\"/></g>\n",
                  MARGIN + BAR_LABEL, y, width, BAR_HEIGHT);
    put_amount(chart, sum, &amount);
    put_label(svg, MARGIN + BAR_LABEL + (int32_t)width + 8, y + 13,
              sum->unpriced_days > 0 ? "mark" : "note", &amount);
    buffer_release(&amount);
}

/* Rows without a bar are one line of digits, because their sum may be larger than every bar. */
static int32_t draw_bars(const struct report_chart *chart, struct buffer *svg)
{
    double most = chart->bar_count > 0 ? real_of(chart->bars[0].row.sum.amount) : 0;
    int32_t room = bar_room(chart);
    int32_t y = HEADING + MARGIN;
    for (uint32_t i = 0; i < chart->bar_count; i++, y += BAR_STEP) {
        const struct bar *bar = &chart->bars[i];
        double share = most > 0 ? real_of(bar->row.sum.amount) / most : 0;
        draw_bar(chart, bar->name, &bar->row.sum, room * share, y, svg);
    }
    if (chart->other_count > 0) {
        char name[NAME_BYTES];
        snprintf(name, sizeof(name), "%" PRIu64 " others", chart->other_count);
        draw_bar(chart, name, &chart->others, 0, y, svg);
        y += BAR_STEP;
    }
    return y;
}

/* ---- the picture ---- */

static void put_heading(const struct report_chart *chart, struct buffer *title)
{
    char day[DAY_TEXT_SIZE + 1];
    const struct report_options *options = chart->options;
    char ad[NAME_BYTES];
    buffer_append_text(title, "Amount");
    if (options->ad != NULL) {
        name_cut(bytes_text(options->ad), ad);
        buffer_printf(title, " of ad %s", ad);
    }
    if (options->by != BY_TOTAL)
        buffer_printf(title, " by %s", report_by_names[options->by]);
    if (options->day_from > DAY_MIN) {
        calendar_day_format(options->day_from, day);
        buffer_printf(title, " from %s", day);
    }
    if (options->day_to < DAY_MAX) {
        calendar_day_format(options->day_to, day);
        buffer_printf(title, " to %s", day);
    }
    if (options->as_of != NULL)
        buffer_printf(title, ", as of %s", options->as_of);
}

static void draw_sum(const struct report_chart *chart, struct buffer *svg)
{
    struct buffer text = {0};
    put_earned(chart, &chart->sum, &text);
    buffer_append_text(&text, " of gross ");
    put_money(chart, chart->sum.gross, &text);
    buffer_append_text(&text, ", ");
    put_count(&text, chart->sum.clicks, "click");
    put_unpriced(&chart->sum, &text);
    put_label(svg, MARGIN, MARGIN + 36, chart->sum.unpriced_days > 0 ? "mark" : "note", &text);
    buffer_release(&text);
}

void report_chart_draw(struct report_chart *chart, struct buffer *svg)
{
    struct buffer drawn = {0};
    struct buffer title = {0};
    put_heading(chart, &title);
    svg_put_label(&drawn, MARGIN, MARGIN + 14, "heading", buffer_view(&title));
    draw_sum(chart, &drawn);
    int32_t end = is_over_time(chart) ? draw_panels(chart, &drawn) : draw_bars(chart, &drawn);
    svg_put_document(svg, WIDTH, end + MARGIN, buffer_view(&title), style, buffer_view(&drawn));
    buffer_release(&title);
    buffer_release(&drawn);
}
