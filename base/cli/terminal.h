/* terminal: replaces control characters, which a terminal would execute, in the output of
 * commands. */
#ifndef DAYBOOK_BASE_CLI_TERMINAL_H
#define DAYBOOK_BASE_CLI_TERMINAL_H

#include <stdbool.h>

#include "base/buffer.h"

/* A stream of text; zero at its beginning. */
struct terminal_text {
    bool holds_c2;             /* the last byte was C2, which begins a character */
};

/* Append `bytes` to `text`, with a '?' for each control character other than LF and tab.  U+0080 to
 * U+009F are control characters, too. */
void terminal_append(struct terminal_text *stream, struct bytes bytes, struct buffer *text);
#endif
