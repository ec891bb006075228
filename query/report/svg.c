/* svg: see svg.h.  The output is well-formed XML, whatever bytes a name has. */
#include "query/report/svg.h"

int32_t svg_letters(struct bytes text)
{
    int32_t count = 0;

    for (size_t i = 0; i < text.size; i++) {
        bool begins = (text.data[i] & 0xC0) != 0x80;
        count += begins + (begins && text.data[i] >= 0xE3);
    }
    return count;
}

/* A letter of 13 px is 0.602 * 13 = 7.83 px wide. */
int32_t svg_width(struct bytes text)
{
    return (svg_letters(text) * 783 + 99) / 100;
}

void svg_put_text(struct buffer *svg, struct bytes text)
{
    bool is_utf8 = bytes_valid_utf8(text);

    for (size_t i = 0; i < text.size; i++) {
        uint8_t c = text.data[i];
        if (c == '&')
            buffer_append_text(svg, "&amp;");
        else if (c == '<')
            buffer_append_text(svg, "&lt;");
        else if (c == '>')
            buffer_append_text(svg, "&gt;");
        else if (c < ' ' || c == 0x7F || (c >= 0x80 && !is_utf8))
            buffer_put_u8(svg, '?');
        else if (c == 0xEF && text.data[i + 1] == 0xBF && text.data[i + 2] >= 0xBE) {
            buffer_put_u8(svg, '?');
            i += 2;
        } else
            buffer_put_u8(svg, c);
    }
}

void svg_put_label(struct buffer *svg, int32_t x, int32_t y, const char *class, struct bytes text)
{
    buffer_printf(svg, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
    svg_put_text(svg, text);
    buffer_append_text(svg, "</text>\n");
}

void svg_put_document(struct buffer *svg, int32_t width, int32_t height, struct bytes title,
                      const char *style, struct bytes drawn)
{
    buffer_printf(svg,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\">\n<title>",
                  width, height, width, height);
    svg_put_text(svg, title);
    buffer_append_text(svg, "</title>\n<style>\n");
    buffer_append_text(svg, style);
    buffer_append_text(svg, "</style>\n");
    buffer_printf(svg, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", width, height);
    buffer_append_bytes(svg, drawn);
    buffer_append_text(svg, "</svg>\n");
}
