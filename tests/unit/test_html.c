/* test_html: whatever a value has, the markup around it stays what the template says. */
#include "query/web/page/html.h"

#include <criterion/criterion.h>

#include "base/arena.h"

static struct arena *arena;
static struct buffer html;

static void setup(void)
{
    arena = arena_new(4096);
    html = (struct buffer){0};
}

static void teardown(void)
{
    buffer_release(&html);
    arena_free(arena);
}

TestSuite(html, .init = setup, .fini = teardown);

static void check_text(struct bytes text, const char *wanted)
{
    buffer_clear(&html);
    html_put_text(&html, text);
    cr_assert(bytes_equal(buffer_view(&html), bytes_text(wanted)), "%.*s is not %s", (int)html.size,
              (const char *)html.data, wanted);
}

static void check_value(struct bytes value, const char *wanted)
{
    cr_assert(bytes_equal(value, bytes_text(wanted)), "%.*s is not %s", (int)value.size,
              (const char *)value.data, wanted);
}

Test(html, escapes_what_ends_a_text_or_an_attribute)
{
    check_text(bytes_text("<b a=\"1\" b='2'>&amp;"),
               "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;");
    check_text(bytes_text("caf\xC3\xA9 \xF0\x9F\x98\x80\t\n"), "caf\xC3\xA9 \xF0\x9F\x98\x80\t\n");
    check_text(bytes_text(""), "");
}

Test(html, replaces_what_html_cannot_have)
{
    check_text(bytes_of("a\0b", 3), "a\xEF\xBF\xBD"
                                    "b");
    check_text(bytes_text("\x1B\x7F\xC2\x85"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    check_text(bytes_text("\xC3<\xFF"), "\xEF\xBF\xBD&lt;\xEF\xBF\xBD");
}

Test(html, puts_values_into_a_template)
{
    html_put(&html, "<a href=\"{}\">{}</a>{", bytes_text("\"x"), bytes_text("{}"));
    cr_assert(bytes_equal(buffer_view(&html), bytes_text("<a href=\"&quot;x\">{}</a>{")));
}

Test(html, encodes_addresses)
{
    check_value(html_url(arena, bytes_of("a-Z_0.~ +&=%/\0\xC3", 15)),
                "a-Z_0.~%20%2B%26%3D%25%2F%00%C3");
    check_value(html_url(arena, bytes_text("")), "");
}

Test(html, groups_digits)
{
    check_value(html_number(arena, bytes_text("1234567.50")), "1,234,567.50");
    check_value(html_number(arena, bytes_text("123456")), "123,456");
    check_value(html_number(arena, bytes_text("999")), "999");
    check_value(html_number(arena, bytes_text("0.000012345")), "0.000012345");
    check_value(html_number(arena, bytes_text("-1000.5")), "\xE2\x88\x92"
                                                           "1,000.5");
    check_value(html_number(arena, bytes_text("12AB")), "12AB");
    check_value(html_number(arena, bytes_text("-")), "-");
    check_value(html_number(arena, bytes_text("")), "");
    check_value(html_count(arena, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void check_time(const char *time, bool has_seconds, const char *wanted)
{
    buffer_clear(&html);
    html_put_time(&html, bytes_text(time), has_seconds);
    cr_assert(bytes_equal(buffer_view(&html), bytes_text(wanted)), "%s", time);
}

Test(html, shows_times)
{
    check_time("2013-11-28T02:16:52.000Z", false,
               "<time datetime=\"2013-11-28T02:16:52.000Z\">2013-11-28 02:16 UTC</time>");
    check_time("2013-11-28T02:16:52.000Z", true,
               "<time datetime=\"2013-11-28T02:16:52.000Z\">2013-11-28 02:16:52 UTC</time>");
    check_time("<soon>", true, "&lt;soon&gt;");
}

Test(html, writes_tables_with_caption_and_scope)
{
    static const struct html_column columns[] = {{"Day", false}, {"Clicks", true}};

    html_table_begin(&html, bytes_text("By <day>"), columns, 2);
    html_table_end(&html);
    buffer_put_u8(&html, 0);
    const char *text = (const char *)html.data;
    cr_assert_not_null(strstr(text, "<caption>By &lt;day&gt;</caption>"));
    cr_assert_not_null(strstr(text, "aria-label=\"By &lt;day&gt;\""));
    cr_assert_not_null(strstr(text, "<th scope=\"col\">Day</th>"));
    cr_assert_not_null(strstr(text, "<th scope=\"col\" class=\"n\">Clicks</th>"));
}

Test(html, parameters_follow_each_other_and_empty_ones_are_left_out)
{
    struct buffer query = {.arena = arena};

    html_put_parameter(&query, "from", (struct bytes){0});
    cr_expect_eq(query.size, 0);
    html_put_parameter(&query, "ad", bytes_text("a&b"));
    html_put_parameter(&query, "to", bytes_text("2013-11-28"));
    cr_expect(bytes_equal(buffer_view(&query), bytes_text("?ad=a%26b&to=2013-11-28")));
}
