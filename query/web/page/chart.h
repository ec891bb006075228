/* chart: a chart over time, as SVG within a page.
 *
 * It has no colours or fonts of its own: style.css gives them by the classes of its parts, light
 * and dark.  Each chart stands beside a table with its figures, so it is an image with a title for
 * screen readers. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_CHART_H
#define DAYBOOK_QUERY_WEB_PAGE_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct arena;

enum { CHART_PARTS = 3 };

struct chart_point {
    int64_t at;                        /* number of the period: places are proportional to it */
    struct bytes label;                /* of the axis */
    struct bytes tip;                  /* what one reads when one points at it */
    double parts[CHART_PARTS];         /* lengths, at least 0 */
    bool is_chosen;                    /* stands out */
};

enum chart_form {
    CHART_BARS,                        /* the parts of a point on top of each other */
    CHART_LINES,                       /* a line for each part */
    CHART_STEPS                        /* the same; a value pauses until the next point */
};

struct chart {
    enum chart_form form;
    struct bytes title;
    const char *zoom;                  /* for zoom.js, which says what it is; NULL: no zoom */
    int32_t height;                    /* of a width of 960; 0: 260 */
    const char *classes[CHART_PARTS];  /* of the parts; NULL: the part is not there */
    const struct chart_point *points;  /* in ascending order of `at`, which are different */
    uint32_t point_count;              /* 0: nothing is drawn */
};

void chart_put(struct buffer *html, struct arena *arena, const struct chart *chart);

/* The number of a period, as `report` prints it: of days for "2013-11-28", of months for "2013-11",
 * of weeks for "2013-W48"; of units for a time.  False: the text is none of these. */
bool chart_period(struct bytes text, int64_t unit_ms, int64_t *at_out);
#endif
