/* chart: draws a chart over time, as SVG within a page.
 *
 * A chart has no colours or fonts of its own: style.css sets them by the classes of its parts, for
 * light and dark.  A table beside each chart has the same figures; so for screen readers, a chart
 * is an image with a title. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_CHART_H
#define DAYBOOK_QUERY_WEB_PAGE_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct arena;

enum { CHART_PARTS = 3 };

struct chart_point {
    int64_t at;                        /* number of the period, which gives the place on the axis */
    struct bytes label;                /* text below the axis */
    struct bytes tip;                  /* text shown when one points at the point */
    double parts[CHART_PARTS];         /* values, at least 0 */
    bool is_chosen;                    /* the point is highlighted */
};

enum chart_form {
    CHART_BARS,                        /* the parts of a point on top of each other */
    CHART_LINES,                       /* a line for each part */
    CHART_STEPS                        /* a line for each part, level until the next point */
};

struct chart {
    enum chart_form form;
    struct bytes title;
    const char *zoom;                  /* for zoom.js, which describes the format; NULL: no zoom */
    int32_t height;                    /* if the width is 960; 0: 260 */
    const char *classes[CHART_PARTS];  /* of the parts; NULL: the part is not there */
    const struct chart_point *points;  /* in ascending order of `at`; no two are equal */
    uint32_t point_count;              /* 0: nothing is drawn */
};

void chart_put(struct buffer *html, struct arena *arena, const struct chart *chart);

/* Get the number of a period that `report` prints: of a day for "2013-11-28", of a month for
 * "2013-11", of a week for "2013-W48"; for a time, the number of units of `unit_ms` since 1970.
 * False: the text is none of these. */
bool chart_period(struct bytes text, int64_t unit_ms, int64_t *at_out);
#endif
