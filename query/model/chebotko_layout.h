/* chebotko_layout: computes the positions of the boxes and lines of a diagram, in pixels.
 *
 *     entry ─Q1─▶ ┌ layer 0 ┐ ─Q2─▶ ┌ layer 1 ┐ ─Q4─▶ ┌ layer 2 ┐
 *                 └─────────┘ ─Q3─▶ └─────────┘       └─────────┘
 *     boxes without lines, in columns of about the same height
 *     boxes of the second kind (user types), in the same way
 *
 * Its specification is tests/unit/test_chebotko.c. */
#ifndef DAYBOOK_QUERY_MODEL_CHEBOTKO_LAYOUT_H
#define DAYBOOK_QUERY_MODEL_CHEBOTKO_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

enum { CHEBOTKO_TITLE_HEIGHT = 30, CHEBOTKO_NOWHERE = UINT16_MAX };

struct chebotko_place {
    int32_t width;                     /* given; enlarged to the width of the column's widest box */
    int32_t height;                    /* given; enlarged where the box's lines need more */
    bool is_second;
    int32_t x;                         /* the result: the upper left corner */
    int32_t y;
};

struct chebotko_line {
    uint32_t from;                     /* index of a place; CHEBOTKO_NOWHERE: an entry */
    uint32_t to;
    int32_t label_width;
    int32_t x1;                        /* the result: where the line leaves its source; without a
                                        * source: where it begins */
    int32_t y1;
    bool leaves_left;
    int32_t x2;                        /* the result: where the line reaches its target */
    int32_t y2;
    bool arrives_right;
};

struct chebotko_layout {
    struct chebotko_place *places;
    uint32_t place_count;
    struct chebotko_line *lines;
    uint32_t line_count;
    int32_t top;                       /* given: the least y that a box may have */
    int32_t left;                      /* given: the least x that a box may have */
    int32_t width;                     /* the result: the right end of all boxes and lines */
    int32_t height;                    /* the result: the lower end of all boxes and lines */
    int32_t second_y;                  /* the result: the y where boxes of the second kind begin; 0:
                                        * there are none */
};

/* Length of the straight end of a line, on which the line's label lies. */
int32_t chebotko_layout_straight(const struct chebotko_line *line);

void chebotko_layout_make(struct chebotko_layout *layout);
#endif
