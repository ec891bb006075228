/* test_terminal: nothing that a terminal would obey comes through, however it is cut. */
#include "base/cli/terminal.h"

#include <criterion/criterion.h>

Test(terminal, control_characters_become_question_marks_and_text_stays)
{
    static const char from[] = "a\tb\n\x1b[31mred\x7f Z\xc3\xbcrich \xc2\xa3 \xc2\x9b"
                               "2J\r\x07";
    static const char to[] = "a\tb\n?[31mred? Z\xc3\xbcrich \xc2\xa3 ?2J??";
    for (size_t cut = 0; cut < sizeof from - 1; cut++) {
        struct terminal_text stream = {0};
        struct buffer text = {0};
        terminal_append(&stream, bytes_of(from, cut), &text);
        terminal_append(&stream, bytes_of(from + cut, sizeof from - 1 - cut), &text);
        buffer_put_u8(&text, 0);
        cr_expect_str_eq((const char *)text.data, to, "cut at %zu", cut);
        buffer_release(&text);
    }
}
