/* command_text: helpers for the text of a command's answer, which is written in pieces. */
#ifndef DAYBOOK_BASE_CLI_COMMAND_TEXT_H
#define DAYBOOK_BASE_CLI_COMMAND_TEXT_H

#include "base/buffer.h"
#include "base/cli/command.h"

/* Append "1 day", "2 days". */
void command_text_count(struct buffer *text, uint64_t count, const char *singular);
void command_text_day(struct buffer *text, int32_t day);

/* Write `text` to the output and clear it, if it has at least 64 KiB or `is_last`. */
void command_text_flush(struct command_output *output, struct buffer *text, bool is_last);
#endif
