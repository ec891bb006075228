/* Lines that begin with '#': which are known, and what their words are. */
#include "ingest/parse/control_line.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"

Test(control_line, the_first_word_says_what_it_is)
{
    static const struct {
        const char *line;
        enum control_kind kind;
        bool keeps_stream;
    } table[] = {
        {"#producer x 1 new", CONTROL_PRODUCER, true},
        {"#batch 1 2", CONTROL_BATCH, true},
        {"#stream nights", CONTROL_STREAM, false},
        {"#sync", CONTROL_SYNC, true},
        {"#file x", CONTROL_FILE, true},
        {"#files x", CONTROL_FILES, true},
        {"#columns", CONTROL_COLUMNS, true},
        {"#notes", CONTROL_NOTES, true},
        {"#streams", CONTROL_UNKNOWN, false},
        {"#Sync", CONTROL_UNKNOWN, false},
        {"#", CONTROL_UNKNOWN, false},
        {"", CONTROL_UNKNOWN, false},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct bytes line = bytes_text(table[i].line);

        cr_expect_eq(control_line_kind(line), table[i].kind, "%s", table[i].line);
        cr_expect_eq(control_line_keeps_stream(line), table[i].keeps_stream, "%s", table[i].line);
    }
}

Test(control_line, one_that_is_too_long_is_none)
{
    struct buffer line = {0};

    buffer_append_text(&line, "#sync ");
    while (line.size < CONTROL_LINE_MAX)
        buffer_put_u8(&line, 'x');
    cr_expect_eq(control_line_kind(buffer_view(&line)), CONTROL_SYNC);
    buffer_put_u8(&line, 'x');
    cr_expect_eq(control_line_kind(buffer_view(&line)), CONTROL_UNKNOWN);
    buffer_release(&line);
}

Test(control_line, words_are_apart_by_one_space_and_no_more_of_them_count_than_there_is_room)
{
    struct control_words words;

    control_line_split(bytes_text("#a  b "), &words);
    cr_assert_eq(words.count, 4);
    cr_expect(control_line_is_word(words.words[0], "#a"));
    cr_expect_eq(words.words[1].size, 0);
    cr_expect(control_line_is_word(words.words[2], "b"));
    cr_expect_eq(words.words[3].size, 0);
    control_line_split(bytes_text("1 2 3 4 5 6 7 8 9"), &words);
    cr_expect_eq(words.count, CONTROL_WORDS_MAX);
}

Test(control_line, a_batch_has_a_number_above_zero_and_a_count)
{
    static const struct {
        const char *line;
        bool opens;
    } table[] = {
        {"#batch 7 0", true},      {"#batch 9223372036854775807 3", true},
        {"#batch 0 3", false},     {"#batch 9223372036854775808 3", false},
        {"#batch 07 3", false},    {"#batch 7", false},
        {"#batch 7 3 4", false},   {"#batch -7 3", false},
        {"#batch 7 three", false}, {"#sync 7 3", false},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t sequence = 0;
        uint64_t lines = 0;

        cr_expect_eq(control_line_opens_batch(bytes_text(table[i].line), &sequence, &lines),
                     table[i].opens, "%s", table[i].line);
    }
}

Test(control_line, a_hash_is_32_digits_in_lower_case)
{
    static const uint8_t expected[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
                                         0x00, 0xff, 0x10, 0x0f, 0xaa, 0x55, 0x5a, 0xa5};
    uint8_t hash[16];

    cr_expect(control_line_hash(bytes_text("0123456789abcdef00ff100faa555aa5"), hash));
    cr_expect_eq(memcmp(hash, expected, sizeof hash), 0);
    cr_expect_not(control_line_hash(bytes_text("0123456789ABCDEF00ff100faa555aa5"), hash));
    cr_expect_not(control_line_hash(bytes_text("0123456789abcdef00ff100faa555aa"), hash));
}
