/* svg: writes SVG documents and the texts in them.
 *
 * All text is in a monospaced font, so its width follows from its number of letters. */
#ifndef DAYBOOK_QUERY_REPORT_SVG_H
#define DAYBOOK_QUERY_REPORT_SVG_H

#include "base/buffer.h"

#define SVG_TEXT_STYLE                                                                             \
    "text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; "        \
    "fill: #1d2733; }\n"

/* Count the letters of a text; a character from U+3000 on counts as two, because it is twice as
 * wide. */
int32_t svg_letters(struct bytes text);
/* The width in pixels of a text whose font size is 13 px. */
int32_t svg_width(struct bytes text);

/* Write `text` as XML text.  ASCII control characters, U+FFFE and U+FFFF become question marks, and
 * so does every byte from 0x80 on if the text is not UTF-8. */
void svg_put_text(struct buffer *svg, struct bytes text);
/* The baseline of the text begins at (x, y), unless the CSS of `class` sets another text-anchor. */
void svg_put_label(struct buffer *svg, int32_t x, int32_t y, const char *class, struct bytes text);

/* Write a document that has `drawn` on a white background, and a title for screen readers. */
void svg_put_document(struct buffer *svg, int32_t width, int32_t height, struct bytes title,
                      const char *style, struct bytes drawn);
#endif
