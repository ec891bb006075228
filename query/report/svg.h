/* svg: writes SVG documents and the texts in them.
 *
 * All text is in a monospaced font, so that the width of a text follows from its number of letters.
 * Every usual system has one of the fonts in SVG_TEXT_STYLE. */
#ifndef DAYBOOK_QUERY_REPORT_SVG_H
#define DAYBOOK_QUERY_REPORT_SVG_H

#include "base/buffer.h"

/* The CSS for text, with which the style of every picture begins. */
#define SVG_TEXT_STYLE                                                                             \
    "text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; "        \
    "fill: #1d2733; }\n"

/* The number of letters of a text.  A character from U+3000 on, such as a letter of an East Asian
 * script, counts as two, because it is twice as wide. */
int32_t svg_letters(struct bytes text);
/* The width in pixels of a text whose font size is 13 px. */
int32_t svg_width(struct bytes text);

/* Write `text` as XML text.  Characters that XML does not allow (control characters, U+FFFE and
 * U+FFFF) become question marks, and so does every byte from 0x80 on if the text is not UTF-8. */
void svg_put_text(struct buffer *svg, struct bytes text);
/* Write a text whose baseline begins at (x, y), unless the CSS of `class` sets another
 * text-anchor. */
void svg_put_label(struct buffer *svg, int32_t x, int32_t y, const char *class, struct bytes text);

/* Write a whole document: `drawn` on a white background, with a title for screen readers. */
void svg_put_document(struct buffer *svg, int32_t width, int32_t height, struct bytes title,
                      const char *style, struct bytes drawn);
#endif
