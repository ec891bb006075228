/* html: writes HTML.  What is not written by the program itself is escaped: templates are literals
 * of the program, and their values may be any bytes.
 *
 *     html_put(html, "<td><a href=\"{}/why?reseller={}\">{}</a></td>", base,
 *              html_url(arena, reseller), reseller);
 *
 * Escaped text is right between tags and in quoted attributes. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_HTML_H
#define DAYBOOK_QUERY_WEB_PAGE_HTML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct arena;

/* Append `text`, escaped.  U+FFFD stands for each byte that is not UTF-8, and for each control
 * character that HTML does not allow. */
void html_put_text(struct buffer *html, struct bytes text);
/* Append `template`, with each {} replaced by the next value, escaped.  There are as many values as
 * {} in the template. */
#define html_put(html, template, ...)                                                              \
    html_put_values(html, template, (const struct bytes[]){__VA_ARGS__},                           \
                    sizeof((const struct bytes[]){__VA_ARGS__}) / sizeof(struct bytes))
void html_put_values(struct buffer *html, const char *template, const struct bytes *values,
                     size_t value_count);

/* Append a time as commands print it, 2013-11-28T02:16:52.000Z, for people: 2013-11-28 02:16 UTC,
 * with seconds where `has_seconds`.  Any other text is appended as it is. */
void html_put_time(struct buffer *html, struct bytes time, bool has_seconds);

/* ---- values; what they return is in the arena ---- */

/* `text` as a value in the query of an address: %XX for all but letters, digits, and - . _ ~. */
struct bytes html_url(struct arena *arena, struct bytes text);
/* Plain digits with commas between thousands: 1234567.50 becomes 1,234,567.50.  What is no number
 * is returned as it is. */
struct bytes html_number(struct arena *arena, struct bytes digits);
struct bytes html_count(struct arena *arena, uint64_t count);
struct bytes html_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append a parameter to the query of an address: "?day=2013-11-28", or with "&" behind another one;
 * nothing if the value is empty.  The query is in an arena. */
void html_put_parameter(struct buffer *query, const char *name, struct bytes value);

/* A choice of a <select>. */
void html_put_option(struct buffer *html, const char *text, bool is_chosen);

/* ---- tables ---- */

#define HTML_NONE "\xE2\x80\x94" /* stands where there is no value: a dash */

struct html_column {
    const char *title;
    bool is_number;                    /* aligned to the right, with digits of one width */
};

/* A table in a region that scrolls, also by the keys of a keyboard.  The caller writes rows: <tr>,
 * a <th scope="row"> first, then <td>, or <td class="n"> for a number. */
void html_table_begin(struct buffer *html, struct bytes caption, const struct html_column *columns,
                      size_t column_count);
void html_table_end(struct buffer *html);
#endif
