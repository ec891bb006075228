/* svg: what pictures are made of: a document around drawn parts, and text in it.
 *
 * All text is in a font whose letters are equally wide, which every system has, so that the width
 * of a text is its number of letters, whatever the font. */
#ifndef DAYBOOK_QUERY_REPORT_SVG_H
#define DAYBOOK_QUERY_REPORT_SVG_H

#include "base/buffer.h"

/* The CSS of text of every picture, to begin its own with. */
#define SVG_TEXT_STYLE                                                                             \
    "text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; "        \
    "fill: #1d2733; }\n"

/* Letters of East Asian scripts count as the two whose room they take. */
int32_t svg_letters(struct bytes text);
/* Pixels of a text of 13 px. */
int32_t svg_width(struct bytes text);

/* `text` as XML text.  What XML cannot hold (control characters, U+FFFE and U+FFFF, what is not
 * UTF-8) is shown as a question mark. */
void svg_put_text(struct buffer *svg, struct bytes text);
/* The baseline of the text begins at (x, y), or as the class anchors it. */
void svg_put_label(struct buffer *svg, int32_t x, int32_t y, const char *class, struct bytes text);

/* Write a whole document: `drawn` on a white background, with a title for screen readers. */
void svg_put_document(struct buffer *svg, int32_t width, int32_t height, struct bytes title,
                      const char *style, struct bytes drawn);
#endif
