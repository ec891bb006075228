/* html: writes HTML.  Templates are literals of the program.  The values in templates may be any
 * bytes, and are escaped.
 *
 *     html_put(html, "<td><a href=\"{}/why?reseller={}\">{}</a></td>", base,
 *              html_url(arena, reseller), reseller);
 *
 * Escaped text is safe between tags and in quoted attributes. */
#ifndef DAYBOOK_QUERY_WEB_PAGE_HTML_H
#define DAYBOOK_QUERY_WEB_PAGE_HTML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

struct arena;

/* Append `text`, escaped.  U+FFFD replaces each byte that is not UTF-8, and each control character
 * that HTML forbids. */
void html_put_text(struct buffer *html, struct bytes text);
/* Append `template`, with each {} replaced by the next value, escaped.  There must be as many
 * values as {} in the template. */
#define html_put(html, template, ...)                                                              \
    html_put_values(html, template, (const struct bytes[]){__VA_ARGS__},                           \
                    sizeof((const struct bytes[]){__VA_ARGS__}) / sizeof(struct bytes))
void html_put_values(struct buffer *html, const char *template, const struct bytes *values,
                     size_t value_count);

/* Append a time that a command printed, 2013-11-28T02:16:52.000Z, in a form for people: 2013-11-28
 * 02:16 UTC, with seconds if `has_seconds`.  Any other text is appended as html_put_text does. */
void html_put_time(struct buffer *html, struct bytes time, bool has_seconds);

/* ---- values, returned in the arena ---- */

/* Returns `text` as a value in the query of an address: %XX for all bytes except letters, digits,
 * and - . _ ~. */
struct bytes html_url(struct arena *arena, struct bytes text);
/* Returns a number with commas between thousands: 1234567.50 becomes 1,234,567.50.  A text that is
 * no number is returned unchanged. */
struct bytes html_number(struct arena *arena, struct bytes digits);
struct bytes html_count(struct arena *arena, uint64_t count);
struct bytes html_format(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Append a parameter to the query of an address: "?day=2013-11-28", or with "&" after another
 * parameter.  An empty value appends nothing.  The query is in an arena. */
void html_put_parameter(struct buffer *query, const char *name, struct bytes value);

/* Append a choice of a <select>. */
void html_put_option(struct buffer *html, const char *text, bool is_chosen);
/* Append all `texts` as choices, and after them `chosen`, unless it is empty or one of them. */
void html_put_options(struct buffer *html, const char *const *texts, size_t count,
                      struct bytes chosen);

/* ---- tables ---- */

#define HTML_NONE "\xE2\x80\x94" /* a dash, shown if there is no value */

struct html_column {
    const char *title;
    bool is_number;                    /* aligned to the right, with digits of one width */
};

/* Begin a table in a region that scrolls, also by keyboard.  The caller then writes rows: <tr>, a
 * <th scope="row"> first, then <td>, or <td class="n"> for a number. */
void html_table_begin(struct buffer *html, struct bytes caption, const struct html_column *columns,
                      size_t column_count);
void html_table_end(struct buffer *html);
#endif
