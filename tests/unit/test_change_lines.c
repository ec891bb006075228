/* test_change_lines: a line is in all three texts or in none, and none is longer than it may be. */
#include "rollup/days/change_lines.h"

#include "base/calendar.h"

#include <criterion/criterion.h>

static uint32_t lines_of(const struct buffer *text)
{
    uint32_t count = 1;
    for (size_t i = 0; i < text->size; i++)
        count += text->data[i] == '\n';
    return count;
}

static void expect_text(const struct buffer *text, const char *expected)
{
    cr_expect(bytes_equal(buffer_view(text), bytes_text(expected)), "%.*s", (int)text->size,
              (const char *)text->data);
}

Test(change_lines, a_line_for_each_thing)
{
    struct change_lines lines = {0};
    cr_expect(change_lines_are_empty(&lines));
    change_lines_add(&lines, bytes_text("r 2013-11-01"), bytes_text(""), bytes_text("25%"));
    change_lines_add(&lines, bytes_text("r 2013-12-01"), bytes_text("30%"), bytes_text(""));
    change_lines_end(&lines);
    expect_text(&lines.keys, "r 2013-11-01\nr 2013-12-01");
    expect_text(&lines.old, "(none)\n30%");
    expect_text(&lines.new, "25%\n(none)");
    change_lines_release(&lines);
}

Test(change_lines, what_has_no_room_is_counted)
{
    static char longest[2 * CHANGE_KEYS_MAX];
    struct change_lines lines = {0};
    memset(longest, 'r', sizeof(longest));
    for (uint32_t i = 0; i < 1000; i++)
        change_lines_add(&lines, bytes_text("reseller 2013-11-01"), bytes_text(""),
                         bytes_text("25%"));
    change_lines_end(&lines);
    cr_expect_leq(lines.keys.size, (size_t)CHANGE_KEYS_MAX);
    cr_expect_leq(lines.old.size, (size_t)CHANGE_STATES_MAX);
    cr_expect_eq(lines_of(&lines.keys) - 1 + lines.left_out, 1000u);
    cr_expect_eq(lines_of(&lines.keys), lines_of(&lines.old));
    cr_expect_eq(lines_of(&lines.keys), lines_of(&lines.new));
    change_lines_release(&lines);
    change_lines_add(&lines, bytes_of(longest, sizeof(longest)), bytes_text("1%"), bytes_text(""));
    change_lines_end(&lines);
    cr_expect_not(change_lines_are_empty(&lines));
    change_lines_release(&lines);
}

Test(change_lines, the_longest_key_has_room)
{
    static char key[RATE_RESELLER_SIZE_MAX + 1 + DAY_TEXT_SIZE];
    struct change_lines lines = {0};
    memset(key, 'r', sizeof key);
    change_lines_add(&lines, bytes_of(key, sizeof key), bytes_text(""), bytes_text("25%"));
    change_lines_end(&lines);
    cr_expect_eq(lines.left_out, 0u);
    cr_expect_eq(lines.keys.size, sizeof key);
    change_lines_release(&lines);
}
