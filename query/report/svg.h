/* svg: what pictures are made of: a document around drawn parts, and text in it.
 *
 * All text is in a monospaced font: every system has one of those in SVG_TEXT_STYLE, and in each
 * of them the width of a text follows from its number of letters. */
#ifndef DAYBOOK_QUERY_REPORT_SVG_H
#define DAYBOOK_QUERY_REPORT_SVG_H

#include "base/buffer.h"

/* The CSS for text, with which the style of every picture begins. */
#define SVG_TEXT_STYLE                                                                             \
    "text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; "        \
    "fill: #1d2733; }\n"

/* The number of letters of a text.  One of an East Asian script counts as two, as it is twice as
 * wide. */
int32_t svg_letters(struct bytes text);
/* The width in pixels of a text whose font size is 13 px. */
int32_t svg_width(struct bytes text);

/* `text` as XML text.  What XML cannot hold (control characters, U+FFFE and U+FFFF, what is not
 * UTF-8) is shown as a question mark. */
void svg_put_text(struct buffer *svg, struct bytes text);
/* Write a text whose baseline begins at (x, y), unless the CSS of `class` sets another
 * text-anchor. */
void svg_put_label(struct buffer *svg, int32_t x, int32_t y, const char *class, struct bytes text);

/* Write a whole document: `drawn` on a white background, with a title for screen readers. */
void svg_put_document(struct buffer *svg, int32_t width, int32_t height, struct bytes title,
                      const char *style, struct bytes drawn);
#endif
