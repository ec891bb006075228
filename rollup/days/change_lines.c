/* What must hold: a line is in all three texts or in none.  A line is never cut, so that each text
 * is valid UTF-8 if its values are. */
#include "rollup/days/change_lines.h"

#include <inttypes.h>

#include "rollup/tables.h"

enum { LAST_LINE_MAX = 48 };

static struct bytes or_none(struct bytes text)
{
    return text.size > 0 ? text : bytes_text("(none)");
}

static bool has_room(const struct buffer *text, struct bytes line, size_t size_max)
{
    return text->size + 1 + line.size + LAST_LINE_MAX <= size_max;
}

static void add_line(struct buffer *text, struct bytes line)
{
    if (text->size > 0)
        buffer_put_u8(text, '\n');
    buffer_append_bytes(text, line);
}

void change_lines_add(struct change_lines *lines, struct bytes key, struct bytes old,
                      struct bytes new)
{
    old = or_none(old);
    new = or_none(new);
    if (lines->left_out > 0 || !has_room(&lines->keys, key, CHANGE_KEYS_MAX) ||
        !has_room(&lines->old, old, CHANGE_STATES_MAX) ||
        !has_room(&lines->new, new, CHANGE_STATES_MAX)) {
        lines->left_out++;
        return;
    }
    add_line(&lines->keys, key);
    add_line(&lines->old, old);
    add_line(&lines->new, new);
}

bool change_lines_are_empty(const struct change_lines *lines)
{
    return lines->keys.size == 0 && lines->left_out == 0;
}

void change_lines_copy(const struct change_lines *lines, struct change_lines *copy_out)
{
    *copy_out = (struct change_lines){.left_out = lines->left_out};
    buffer_append_bytes(&copy_out->keys, buffer_view(&lines->keys));
    buffer_append_bytes(&copy_out->old, buffer_view(&lines->old));
    buffer_append_bytes(&copy_out->new, buffer_view(&lines->new));
}

void change_lines_end(struct change_lines *lines)
{
    if (lines->left_out == 0)
        return;
    struct buffer last = {0};
    buffer_printf(&last, CHANGE_LINES_LEFT_OUT "%" PRIu64 " more", lines->left_out);
    add_line(&lines->keys, buffer_view(&last));
    add_line(&lines->old, bytes_text("..."));
    add_line(&lines->new, bytes_text("..."));
    buffer_release(&last);
}

uint32_t change_lines_values(const struct change_lines *lines,
                             struct column_value values_out[CHANGE_LINES_VALUES])
{
    values_out[0] = (struct column_value){CHANGE_KEYS, false, buffer_view(&lines->keys)};
    values_out[1] = (struct column_value){CHANGE_OLD, false, buffer_view(&lines->old)};
    values_out[2] = (struct column_value){CHANGE_NEW, false, buffer_view(&lines->new)};
    return CHANGE_LINES_VALUES;
}

void change_lines_release(struct change_lines *lines)
{
    buffer_release(&lines->keys);
    buffer_release(&lines->old);
    buffer_release(&lines->new);
    *lines = (struct change_lines){0};
}
