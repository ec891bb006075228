/* Numbers of any size: text and bytes are Java's, and comparisons are exact. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/bigint.h"

static struct buffer parse(const char *text)
{
    struct buffer number = {0};

    cr_assert_eq(bigint_parse(bytes_text(text), &number), 0, "%s", text);
    return number;
}

Test(bigint, the_shortest_twos_complement_form_is_written)
{
    static const struct {
        const char *text;
        uint8_t bytes[12];
        size_t size;
    } cases[] = {
        {"0", {0x00}, 1},
        {"1", {0x01}, 1},
        {"-1", {0xFF}, 1},
        {"127", {0x7F}, 1},
        {"128", {0x00, 0x80}, 2},
        {"-128", {0x80}, 1},
        {"-129", {0xFF, 0x7F}, 2},
        {"-256", {0xFF, 0x00}, 2},
        {"32768", {0x00, 0x80, 0x00}, 3},
        {"18446744073709551616", {0x01, 0, 0, 0, 0, 0, 0, 0, 0}, 9},
        {"-18446744073709551616", {0xFF, 0, 0, 0, 0, 0, 0, 0, 0}, 9},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer number = parse(cases[i].text);
        struct buffer text = {0};
        cr_expect(bytes_equal(buffer_view(&number), bytes_of(cases[i].bytes, cases[i].size)), "%s",
                  cases[i].text);
        bigint_format(buffer_view(&number), &text);
        cr_expect(bytes_equal(buffer_view(&text), bytes_text(cases[i].text)));
        buffer_release(&number);
        buffer_release(&text);
    }
}

Test(bigint, every_number_of_three_bytes_reads_back)
{
    for (int32_t value = -(1 << 23); value < 1 << 23; value += 251) {
        char text[16];
        struct buffer printed = {0};
        snprintf(text, sizeof text, "%d", value);
        struct buffer number = parse(text);
        cr_assert_leq(number.size, 3);
        bigint_format(buffer_view(&number), &printed);
        cr_assert(bytes_equal(buffer_view(&printed), bytes_text(text)));
        buffer_release(&number);
        buffer_release(&printed);
    }
}

Test(bigint, longer_forms_than_needed_and_no_bytes_are_understood)
{
    static const uint8_t padded[] = {0xFF, 0xFF, 0xFF, 0x80};
    struct buffer text = {0};

    bigint_format(bytes_of(padded, sizeof padded), &text);
    bigint_format(bytes_of(padded, 0), &text);
    cr_assert(bytes_equal(buffer_view(&text), bytes_text("-1280")));
    buffer_release(&text);
}

Test(bigint, what_is_no_number_is_refused)
{
    static const char *const cases[] = {"", "-", "+1", "1.0", " 1", "1a", "--1"};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer number = {0};
        cr_expect_eq(bigint_parse(bytes_text(cases[i]), &number), ERROR_INVALID, "%s", cases[i]);
        cr_expect_eq(number.size, 0);
        buffer_release(&number);
    }
}

Test(bigint, values_of_different_scales_compare_exactly)
{
    static const struct {
        const char *a;
        int32_t a_scale;
        const char *b;
        int32_t b_scale;
        int order;
    } cases[] = {
        {"5", 1, "50", 2, 0},
        {"-5", 1, "-50", 2, 0},
        {"1", 1000, "0", -1000, 1},
        {"-1", 1000, "0", 0, -1},
        {"1", -1000, "1", 1000, 1},
        {"100000000000000000000000000001", 30, "1", 1, 1},
        {"99999999999999999999999999999", 30, "1", 1, -1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buffer a = parse(cases[i].a);
        struct buffer b = parse(cases[i].b);
        int order = bigint_compare_scaled(buffer_view(&a), cases[i].a_scale, buffer_view(&b),
                                          cases[i].b_scale);
        cr_expect_eq((order > 0) - (order < 0), cases[i].order, "case %zu", i);
        buffer_release(&a);
        buffer_release(&b);
    }
}
