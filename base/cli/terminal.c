/* terminal: see the header.
 *
 * U+0080 to U+009F are the bytes C2 80 to C2 9F.  One call may get the C2 and the next the rest. */
#include "base/cli/terminal.h"

static bool is_control(uint8_t c)
{
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
}

void terminal_append(struct terminal_text *stream, struct bytes bytes, struct buffer *text)
{
    for (size_t i = 0; i < bytes.size; i++) {
        uint8_t c = bytes.data[i];
        bool is_c1 = stream->holds_c2 && c >= 0x80 && c < 0xA0;
        if (stream->holds_c2 && !is_c1)
            buffer_put_u8(text, 0xC2);
        stream->holds_c2 = c == 0xC2;
        if (!stream->holds_c2)
            buffer_put_u8(text, is_c1 || is_control(c) ? '?' : c);
    }
}
