/* terminal: replaces control characters, which a terminal would execute. */
#ifndef DAYBOOK_BASE_CLI_TERMINAL_H
#define DAYBOOK_BASE_CLI_TERMINAL_H

#include <stdbool.h>

#include "base/buffer.h"

/* Begins as zeros. */
struct terminal_text {
    bool holds_c2;
};

/* Replace each control character (U+0000 to U+001F, U+007F to U+009F) by '?', except LF and tab. */
void terminal_append(struct terminal_text *stream, struct bytes bytes, struct buffer *text);
#endif
