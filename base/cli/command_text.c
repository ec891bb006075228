/* command_text: see the header. */
#include "base/cli/command_text.h"

#include <inttypes.h>

#include "base/calendar.h"

enum { PIECE = 64 * 1024 };

void command_text_flush(struct command_output *output, struct buffer *text, bool is_last)
{
    if (text->size == 0 || (!is_last && text->size < PIECE))
        return;
    output->write(output, COMMAND_OUT, buffer_view(text));
    buffer_clear(text);
}

void command_text_count(struct buffer *text, uint64_t count, const char *singular)
{
    buffer_printf(text, "%" PRIu64 " %s%s", count, singular, count == 1 ? "" : "s");
}

void command_text_day(struct buffer *text, int32_t day)
{
    char digits[DAY_TEXT_SIZE + 1];
    calendar_day_format(day, digits);
    buffer_append_text(text, digits);
}
