/* html: see the header. */
#include "query/web/page/html.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"

/* ---- escaping ---- */

static const char *entity_of(uint8_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Whether a character is a control character that HTML forbids: C0 except tab, LF and CR; DEL; or
 * C1. */
static bool is_control(const uint8_t *at, size_t size)
{
    if (size == 1)
        return (*at < ' ' && *at != '\t' && *at != '\n' && *at != '\r') || *at == 0x7F;
    return size == 2 && at[0] == 0xC2 && at[1] < 0xA0;
}

void html_put_text(struct buffer *html, struct bytes text)
{
    while (text.size > 0) {
        size_t size = bytes_utf8_character(text);
        const char *entity = entity_of(text.data[0]);

        if (entity != NULL)
            buffer_append_text(html, entity);
        else if (size == 0 || is_control(text.data, size))
            buffer_append_text(html, "\xEF\xBF\xBD");
        else
            buffer_append(html, text.data, size);
        size += size == 0;
        text = bytes_of(text.data + size, text.size - size);
    }
}

void html_put_values(struct buffer *html, const char *template, const struct bytes *values,
                     size_t value_count)
{
    size_t used = 0;
    const char *place;

    while ((place = strstr(template, "{}")) != NULL) {
        check(used < value_count);
        buffer_append(html, template, (size_t)(place - template));
        html_put_text(html, values[used++]);
        template = place + 2;
    }
    check(used == value_count);
    buffer_append_text(html, template);
}

void html_put_time(struct buffer *html, struct bytes time, bool has_seconds)
{
    enum { DAY = 10, CLOCK = 5, SECONDS = 8 }; /* 2013-11-28, 02:16, 02:16:52 */

    if (time.size != strlen("2013-11-28T02:16:52.000Z") || time.data[DAY] != 'T' ||
        time.data[time.size - 1] != 'Z') {
        html_put_text(html, time);
        return;
    }
    html_put(html, "<time datetime=\"{}\">{} {} UTC</time>", time, bytes_of(time.data, DAY),
             bytes_of(time.data + DAY + 1, has_seconds ? SECONDS : CLOCK));
}

/* ---- values ---- */

struct bytes html_url(struct arena *arena, struct bytes text)
{
    static const char digits[] = "0123456789ABCDEF";
    struct buffer url = {.arena = arena};

    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (is_letter || (c >= '0' && c <= '9') || (c != '\0' && strchr("-._~", c) != NULL)) {
            buffer_put_u8(&url, c);
        } else {
            buffer_put_u8(&url, '%');
            buffer_put_u8(&url, (uint8_t)digits[c >> 4]);
            buffer_put_u8(&url, (uint8_t)digits[c & 15]);
        }
    }
    return buffer_view(&url);
}

static size_t count_digits(struct bytes text)
{
    size_t count = 0;

    while (count < text.size && text.data[count] >= '0' && text.data[count] <= '9')
        count++;
    return count;
}

struct bytes html_number(struct arena *arena, struct bytes digits)
{
    bool is_negative = digits.size > 0 && digits.data[0] == '-';
    struct bytes left = is_negative ? bytes_of(digits.data + 1, digits.size - 1) : digits;
    size_t whole = count_digits(left);
    struct buffer text = {.arena = arena};

    if (whole == 0 || (whole < left.size && left.data[whole] != '.'))
        return digits;
    if (is_negative)
        buffer_append_text(&text, "\xE2\x88\x92"); /* a minus sign, as wide as a digit */
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0)
            buffer_put_u8(&text, ',');
        buffer_put_u8(&text, left.data[i]);
    }
    buffer_append(&text, left.data + whole, left.size - whole);
    return buffer_view(&text);
}

struct bytes html_count(struct arena *arena, uint64_t count)
{
    return html_number(arena, html_format(arena, "%" PRIu64, count));
}

struct bytes html_format(struct arena *arena, const char *format, ...)
{
    struct buffer text = {.arena = arena};
    va_list arguments;

    va_start(arguments, format);
    buffer_vprintf(&text, format, arguments);
    va_end(arguments);
    return buffer_view(&text);
}

void html_put_parameter(struct buffer *query, const char *name, struct bytes value)
{
    if (value.size == 0)
        return;
    buffer_put_u8(query, query->size == 0 ? '?' : '&');
    buffer_append_text(query, name);
    buffer_put_u8(query, '=');
    buffer_append_bytes(query, html_url(query->arena, value));
}

void html_put_option(struct buffer *html, const char *text, bool is_chosen)
{
    html_put(html, is_chosen ? "<option selected>{}</option>" : "<option>{}</option>",
             bytes_text(text));
}

void html_put_options(struct buffer *html, const char *const *texts, size_t count,
                      struct bytes chosen)
{
    bool is_offered = chosen.size == 0;

    for (size_t i = 0; i < count; i++) {
        bool is_chosen = bytes_equal(chosen, bytes_text(texts[i]));
        html_put_option(html, texts[i], is_chosen);
        is_offered |= is_chosen;
    }
    if (!is_offered)
        html_put(html, "<option selected>{}</option>", chosen);
}

/* ---- tables ---- */

void html_table_begin(struct buffer *html, struct bytes caption, const struct html_column *columns,
                      size_t column_count)
{
    html_put(html,
             "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n"
             "<table>\n<caption>{}</caption>\n<thead><tr>",
             caption, caption);
    for (size_t i = 0; i < column_count; i++)
        html_put(html,
                 columns[i].is_number ? "<th scope=\"col\" class=\"n\">{}</th>"
                                      : "<th scope=\"col\">{}</th>",
                 bytes_text(columns[i].title));
    buffer_append_text(html, "</tr></thead>\n<tbody>\n");
}

void html_table_end(struct buffer *html)
{
    buffer_append_text(html, "</tbody>\n</table>\n</div>\n");
}
