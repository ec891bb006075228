/* terminal: removes control characters, which a terminal would execute, from what commands
 * print. */
#ifndef DAYBOOK_BASE_CLI_TERMINAL_H
#define DAYBOOK_BASE_CLI_TERMINAL_H

#include <stdbool.h>

#include "base/buffer.h"

/* A stream of text; zero at its beginning. */
struct terminal_text {
    bool holds_c2;             /* C2, the first byte of a character, was the last byte so far */
};

/* Append `bytes` with a '?' for each control character, U+0080 to U+009F included, but for ends of
 * lines and tabs. */
void terminal_append(struct terminal_text *stream, struct bytes bytes, struct buffer *text);
#endif
