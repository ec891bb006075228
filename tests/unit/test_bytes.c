/* test_bytes: the order of bytes, and what UTF-8 is. */
#include "base/bytes.h"

#include <criterion/criterion.h>

Test(bytes, are_a_word_in_any_case)
{
    cr_expect(bytes_are_word(bytes_text("NaN"), "nan"));
    cr_expect(bytes_are_word(bytes_text(""), ""));
    cr_expect(!bytes_are_word(bytes_text("na"), "nan"));
    cr_expect(!bytes_are_word(bytes_text("nano"), "nan"));
    cr_expect(!bytes_are_word(bytes_text("nab"), "nan"));
}

Test(bytes, order_is_unsigned_and_shorter_first)
{
    static const char *rows[] = {"", "a", "a\x01", "ab", "b", "\x7f", "\x80", "\xff"};
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 8; k++) {
            int order = bytes_compare(bytes_text(rows[i]), bytes_text(rows[k]));
            cr_assert_eq((order > 0) - (order < 0), (i > k) - (i < k));
            cr_assert_eq(bytes_equal(bytes_text(rows[i]), bytes_text(rows[k])), i == k);
        }
}

static const struct {
    const char *text;
    bool valid;
} utf8_rows[] = {
    {"", true},
    {"plain ascii text of some length", true},
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", true},
    {"\xc2\x80", true},
    {"\xdf\xbf", true},
    {"\xe0\xa0\x80", true},
    {"\xed\x9f\xbf", true},
    {"\xee\x80\x80", true},
    {"\xf0\x90\x80\x80", true},
    {"\xf4\x8f\xbf\xbf", true},
    {"\x80", false},
    {"\xc0\x80", false},
    {"\xc1\xbf", false},
    {"\xe0\x9f\xbf", false},
    {"\xed\xa0\x80", false},
    {"\xed\xbf\xbf", false},
    {"\xf0\x8f\xbf\xbf", false},
    {"\xf4\x90\x80\x80", false},
    {"\xf5\x80\x80\x80", false},
    {"\xff", false},
    {"1234567\xc3", false},
    {"\xe2\x82", false},
    {"\xf0\x9f\x98", false},
    {"\xe2\x82\x41", false},
    {"\xf0\x9f\x98\x41", false},
    {"12345678abc\xc3\x28", false},
};

Test(bytes, utf8_is_that_of_rfc_3629)
{
    for (size_t i = 0; i < sizeof utf8_rows / sizeof utf8_rows[0]; i++)
        cr_assert_eq(bytes_valid_utf8(bytes_text(utf8_rows[i].text)), utf8_rows[i].valid, "row %zu",
                     i);
    cr_assert(bytes_valid_utf8(bytes_of("a\0b", 3)));
}

Test(bytes, a_cut_is_between_characters)
{
    static const size_t sizes[] = {0, 1, 1, 3, 3, 3, 3, 7, 7}; /* of a, 2 bytes, 4 bytes */
    struct bytes text = bytes_text("a\xC3\xA9\xF0\x9F\x98\x80");

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        cr_expect_eq(bytes_utf8_cut(text, i).size, sizes[i], "%zu", i);
    cr_expect_eq(bytes_utf8_cut(bytes_of("\x80\x80", 2), 1).size, 0);
}
