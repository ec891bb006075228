/* test_chart: periods as numbers, and what a chart has for each point. */
#include "query/web/page/chart.h"

#include <criterion/criterion.h>

#include "base/arena.h"
#include "base/calendar.h"

static int64_t period(const char *text, int64_t unit_ms)
{
    int64_t at = -1;

    cr_assert(chart_period(bytes_text(text), unit_ms, &at), "%s", text);
    return at;
}

Test(chart, periods_follow_each_other)
{
    cr_expect(period("2013-12-01", DAY_MS) == period("2013-11-30", DAY_MS) + 1);
    cr_expect(period("2014-01", DAY_MS) == period("2013-12", DAY_MS) + 1);
    cr_expect(period("2014-W01", DAY_MS) == period("2013-W52", DAY_MS) + 1);
    cr_expect(period("2016-W01", DAY_MS) == period("2015-W53", DAY_MS) + 1);
    cr_expect(period("2013-11-28T03:00+01:00", HOUR_MS) ==
              period("2013-11-28T01:00Z", HOUR_MS) + 1);
    cr_expect(period("2013-11-28T01:01Z", MINUTE_MS) == period("2013-11-28T01:00Z", MINUTE_MS) + 1);
    int64_t at;
    cr_expect(!chart_period(bytes_text("2013-Wxx"), DAY_MS, &at));
    cr_expect(!chart_period(bytes_text(""), DAY_MS, &at));
}

static uint32_t count(const struct buffer *html, const char *text)
{
    const uint8_t *at = html->data, *end = html->data + html->size;
    uint32_t found = 0;

    while ((at = memmem(at, (size_t)(end - at), text, strlen(text))) != NULL) {
        found++;
        at++;
    }
    return found;
}

Test(chart, draws_each_part_and_escapes_names)
{
    struct arena *arena = arena_new(4096);
    struct buffer html = {0};
    const struct chart_point points[] = {
        {.at = 1, .label = bytes_text("<1>"), .tip = bytes_text("tip & 1"), .parts = {2, 3}},
        {.at = 4, .label = bytes_text("4"), .tip = bytes_text("tip 4")}};
    struct chart chart = {.form = CHART_BARS,
                          .title = bytes_text("a \"title\""),
                          .classes = {"one", "two", NULL},
                          .points = points,
                          .point_count = 2};

    chart_put(&html, arena, &chart);
    cr_expect(count(&html, "width=\"72.00\"") == 2);
    cr_expect(count(&html, "<rect class=\"one\"") == 1 && count(&html, "<rect class=\"two\"") == 1);
    cr_expect(count(&html, "<title>tip &amp; 1</title>") == 1);
    cr_expect(count(&html, "aria-label=\"a &quot;title&quot;\"") == 1);
    cr_expect(count(&html, "&lt;1&gt;</text>") == 1);
    buffer_clear(&html);
    chart.form = CHART_STEPS;
    chart_put(&html, arena, &chart);
    cr_expect(count(&html, "<path class=\"line ") == 2 && count(&html, "class=\"target\"") == 2);
    buffer_clear(&html);
    chart.point_count = 0;
    chart_put(&html, arena, &chart);
    cr_expect(html.size == 0);
    buffer_release(&html);
    arena_free(arena);
}

/* Without any amount there is a scale all the same, and no division by zero. */
Test(chart, draws_nothing_but_zeros)
{
    struct arena *arena = arena_new(4096);
    struct buffer html = {0};
    const struct chart_point point = {.at = 7, .label = bytes_text("7")};

    chart_put(&html, arena,
              &(struct chart){.title = bytes_text("t"), .points = &point, .point_count = 1});
    cr_expect(count(&html, "nan") == 0 && count(&html, "inf") == 0 && count(&html, "<svg") == 1);
    buffer_release(&html);
    arena_free(arena);
}
