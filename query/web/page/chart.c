/* chart: see the header. */
#include "query/web/page/chart.h"

#include <inttypes.h>
#include <math.h>

#include "base/calendar.h"
#include "query/web/page/html.h"

enum {
    WIDTH = 960,
    HEIGHT = 260,
    LEFT = 64, /* margin between the chart's edge and the plot */
    RIGHT = 8,
    BAR_MAX = 72, /* the greatest width of a bar */
    TOP = 12,
    BOTTOM = 28,
    PLOT_WIDTH = WIDTH - LEFT - RIGHT,
    LINES_MAX = 5,
    LABELS_MAX = 8,
    LETTER_WIDTH = 9 /* greatest width of a letter of 14 pixels */
};

/* ---- periods ---- */

static bool parse_digits(struct bytes text, size_t at, size_t count, int32_t *number_out)
{
    *number_out = 0;
    if (at + count > text.size)
        return false;
    for (size_t i = at; i < at + count; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        *number_out = 10 * *number_out + text.data[i] - '0';
    }
    return true;
}

/* By ISO 8601, the week that has the fourth of January is the first of its year. */
static bool parse_week(struct bytes text, int64_t *at_out)
{
    int32_t year, week, fourth;
    char day[] = "0000-01-04";

    if (text.size != 8 || !parse_digits(text, 0, 4, &year) || text.data[5] != 'W' ||
        !parse_digits(text, 6, 2, &week))
        return false;
    memcpy(day, text.data, 4);
    if (!calendar_day_parse(bytes_text(day), &fourth))
        return false;
    *at_out = calendar_week_of_day(fourth) + week - 1;
    return true;
}

static bool parse_month(struct bytes text, int64_t *at_out)
{
    int32_t year, month;

    if (text.size != MONTH_TEXT_SIZE || !parse_digits(text, 0, 4, &year) ||
        !parse_digits(text, 5, 2, &month))
        return false;
    *at_out = 12 * (int64_t)year + month - 1;
    return true;
}

bool chart_period(struct bytes text, int64_t unit_ms, int64_t *at_out)
{
    int32_t day;
    int64_t time_ms;

    if (calendar_day_parse(text, &day)) {
        *at_out = day;
        return true;
    }
    if (parse_month(text, at_out) || parse_week(text, at_out))
        return true;
    if (!calendar_time_parse(text, &time_ms))
        return false;
    *at_out = time_ms / unit_ms;
    return true;
}

/* ---- scales ---- */

struct scale {
    const struct chart *chart;
    int32_t height; /* of the chart */
    int32_t plot_height;
    int64_t first, places; /* the first period, and how many there are up to the last */
    double step;           /* between two lines of the grid */
    uint32_t lines;
    double top;
};

static double point_height(const struct chart *chart, const struct chart_point *point)
{
    double height = 0;

    for (uint32_t i = 0; i < CHART_PARTS; i++) {
        if (chart->classes[i] == NULL)
            continue;
        if (chart->form == CHART_BARS)
            height += point->parts[i];
        else
            height = fmax(height, point->parts[i]);
    }
    return height;
}

/* Returns the step rounded up to 1, 2 or 5 times a power of ten. */
static double round_step(double step)
{
    double power = pow(10, floor(log10(step)));
    double factor = step / power;

    return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

static struct scale make_scale(const struct chart *chart)
{
    const struct chart_point *last = &chart->points[chart->point_count - 1];
    struct scale scale = {.chart = chart, .first = chart->points[0].at};
    double highest = 0;

    for (uint32_t i = 0; i < chart->point_count; i++)
        highest = fmax(highest, point_height(chart, &chart->points[i]));
    scale.height = chart->height > 0 ? chart->height : HEIGHT;
    scale.plot_height = scale.height - TOP - BOTTOM;
    scale.places = last->at - scale.first + 1;
    scale.step = highest > 0 ? round_step(highest / (LINES_MAX - 1)) : 1;
    scale.lines = (uint32_t)fmax(1, ceil(highest / scale.step - 1e-9));
    scale.top = scale.step * scale.lines;
    return scale;
}

static double place_width(const struct scale *scale)
{
    return (double)PLOT_WIDTH / (double)scale->places;
}

static double x_of(const struct scale *scale, int64_t at)
{
    return LEFT + (double)(at - scale->first) * place_width(scale);
}

static double y_of(const struct scale *scale, double value)
{
    return TOP + scale->plot_height * (1 - value / scale->top);
}

/* ---- drawing ---- */

static void put_grid(struct buffer *html, struct arena *arena, const struct scale *scale)
{
    int digits = (int)fmin(9, fmax(0, -floor(log10(scale->step) + 1e-9)));

    for (uint32_t i = 0; i <= scale->lines; i++) {
        double value = scale->step * i;
        double y = y_of(scale, value);
        struct bytes label = html_number(arena, html_format(arena, "%.*f", digits, value));
        buffer_printf(html, "<path class=\"%s\" d=\"M%d %.1fH%d\"/>", i == 0 ? "axis" : "grid",
                      LEFT, y, WIDTH - RIGHT);
        buffer_printf(html, "<text class=\"y\" x=\"%d\" y=\"%.1f\">", LEFT - 8, y + 4);
        html_put(html, "{}</text>\n", label);
    }
}

static void put_labels(struct buffer *html, const struct scale *scale)
{
    const struct chart *chart = scale->chart;
    double last = -2 * WIDTH;

    for (uint32_t i = 0; i < chart->point_count; i++) {
        double x = x_of(scale, chart->points[i].at) + place_width(scale) / 2;
        double half = LETTER_WIDTH / 2.0 * (double)chart->points[i].label.size;
        double apart = fmax((double)PLOT_WIDTH / LABELS_MAX, 2 * half + 2 * LETTER_WIDTH);
        if (x - last < apart || x - half < 0 || x + half > WIDTH)
            continue;
        last = x;
        buffer_printf(html, "<text class=\"x\" x=\"%.1f\" y=\"%d\">", x, scale->height - 8);
        html_put(html, "{}</text>\n", chart->points[i].label);
    }
}

static void put_bar(struct buffer *html, const struct scale *scale, const struct chart_point *point)
{
    double place = place_width(scale), width = fmin(place - fmin(2, place / 5), BAR_MAX);
    double x = x_of(scale, point->at) + (place - width) / 2, below = 0;

    buffer_append_text(html, point->is_chosen ? "<g class=\"bar chosen\">" : "<g class=\"bar\">");
    html_put(html, "<title>{}</title>", point->tip);
    for (uint32_t i = 0; i < CHART_PARTS; i++) {
        if (scale->chart->classes[i] == NULL || point->parts[i] <= 0)
            continue;
        double y = y_of(scale, below + point->parts[i]);
        buffer_printf(html,
                      "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>",
                      scale->chart->classes[i], x, y, width, y_of(scale, below) - y);
        below += point->parts[i];
    }
    buffer_append_text(html, "</g>\n");
}

static void put_line(struct buffer *html, const struct scale *scale, uint32_t part)
{
    const struct chart *chart = scale->chart;
    bool is_step = chart->form == CHART_STEPS;
    double middle = is_step ? 0 : place_width(scale) / 2;

    buffer_printf(html, "<path class=\"line %s\" d=\"", chart->classes[part]);
    for (uint32_t i = 0; i < chart->point_count; i++) {
        const struct chart_point *point = &chart->points[i];
        double x = x_of(scale, point->at) + middle, y = y_of(scale, point->parts[part]);
        if (i == 0)
            buffer_printf(html, "M%.1f %.1f", x, y);
        else if (is_step)
            buffer_printf(html, "H%.1fV%.1f", x, y);
        else
            buffer_printf(html, "L%.1f %.1f", x, y);
    }
    if (is_step)
        buffer_printf(html, "H%d", WIDTH - RIGHT);
    buffer_append_text(html, "\"/>\n");
}

/* A line is too thin to point at.  Therefore each of its points gets an area, which shows the
 * tip. */
static void put_target(struct buffer *html, const struct scale *scale,
                       const struct chart_point *point)
{
    buffer_printf(html, "<rect class=\"target\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\">",
                  x_of(scale, point->at), TOP, place_width(scale), scale->plot_height);
    html_put(html, "<title>{}</title></rect>\n", point->tip);
}

void chart_put(struct buffer *html, struct arena *arena, const struct chart *chart)
{
    if (chart->point_count == 0)
        return;
    const struct scale scale = make_scale(chart);
    buffer_append_text(html, "<figure class=\"chart\"");
    if (chart->zoom != NULL)
        html_put(html, " data-zoom=\"{}\"", bytes_text(chart->zoom));
    html_put(html,
             ">\n<figcaption>{}</figcaption>\n"
             "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n",
             chart->title, chart->title);
    buffer_printf(html, "<svg viewBox=\"0 0 %d %d\" role=\"img\">", WIDTH, scale.height);
    html_put(html, "<title>{}</title>\n", chart->title);
    put_grid(html, arena, &scale);
    if (chart->form == CHART_BARS)
        for (uint32_t i = 0; i < chart->point_count; i++)
            put_bar(html, &scale, &chart->points[i]);
    for (uint32_t i = 0; chart->form != CHART_BARS && i < CHART_PARTS; i++)
        if (chart->classes[i] != NULL)
            put_line(html, &scale, i);
    for (uint32_t i = 0; chart->form != CHART_BARS && i < chart->point_count; i++)
        put_target(html, &scale, &chart->points[i]);
    put_labels(html, &scale);
    buffer_append_text(html, "</svg>\n</div>\n</figure>\n");
}
