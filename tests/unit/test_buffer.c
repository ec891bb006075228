/* test_buffer: a buffer grows as it needs, and numbers lie in it in the order that their names say.
 */
#include "base/buffer.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(buffer, printf_grows_the_buffer_as_needed)
{
    struct buffer buffer = {0};
    char expected[4000] = "";
    size_t length = 0;
    for (int i = 0; i < 300; i++) {
        buffer_printf(&buffer, "%d-%s;", i, "text");
        length +=
            (size_t)snprintf(expected + length, sizeof expected - length, "%d-%s;", i, "text");
    }
    cr_assert(bytes_equal(buffer_view(&buffer), bytes_of(expected, length)));
    buffer_clear(&buffer);
    cr_assert_eq(buffer.size, 0);
    cr_assert_neq(buffer.capacity, 0);
    buffer_put_zeros(&buffer, 5000);
    buffer_append(&buffer, NULL, 0);
    cr_assert_eq(buffer.size, 5000);
    cr_assert_eq(buffer.data[4999], 0);
    buffer_release(&buffer);
    cr_assert_eq(buffer.capacity, 0);
}

static void expect_json(const char *text, const char *json)
{
    struct buffer buffer = {0};

    buffer_append_json(&buffer, bytes_text(text));
    cr_expect(bytes_equal(buffer_view(&buffer), bytes_text(json)), "%.*s", (int)buffer.size,
              (const char *)buffer.data);
    buffer_release(&buffer);
}

Test(buffer, json_is_valid_for_all_bytes)
{
    expect_json("a\"b\\c\n\t\x7f", "\"a\\\"b\\\\c\\n\\u0009\\u007f\"");
    expect_json("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    expect_json("a\xe9"
                "b",
                "\"a\xef\xbf\xbd"
                "b\"");
    expect_json("cut \xc3", "\"cut \xef\xbf\xbd\"");
}

Test(buffer, numbers_are_little_endian_unless_their_function_says_be)
{
    static const uint8_t expected[] = {0x02, 0x01, 0x01, 0x02, 0x04, 0x03, 0x02, 0x01};
    struct buffer buffer = {0};
    buffer_put_u16(&buffer, 0x0102);
    buffer_put_u16_be(&buffer, 0x0102);
    buffer_put_u32(&buffer, 0x01020304);
    cr_assert(bytes_equal(buffer_view(&buffer), bytes_of(expected, sizeof expected)));
    buffer_release(&buffer);
}
