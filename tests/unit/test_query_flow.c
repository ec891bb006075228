/* test_query_flow: the file of an application's queries. */
#include <criterion/criterion.h>

#include "base/buffer.h"
#include "query/model/query_flow.h"
#include "base/arena.h"

static void put(struct buffer *shown, struct bytes text, const char *end)
{
    buffer_append_bytes(shown, text);
    buffer_append_text(shown, end);
}

static void expect(struct bytes text, const char *wanted)
{
    struct arena *arena = arena_new(4096);
    struct query_flow flow;
    struct buffer shown = {0};
    struct error err = {0};

    if (query_flow_parse(text, arena, &flow, &err) < 0)
        buffer_printf(&shown, "! %s", err.text);
    for (uint32_t i = 0; i < flow.count && err.code == 0; i++) {
        put(&shown, flow.lines[i].name, "|");
        put(&shown, flow.lines[i].from, "|");
        put(&shown, flow.lines[i].to, "|");
        put(&shown, flow.lines[i].text, "\n");
    }
    buffer_put_u8(&shown, '\0');
    cr_assert_str_eq((const char *)shown.data, wanted);
    buffer_release(&shown);
    arena_free(arena);
}

Test(query_flow, lines_are_a_name_a_way_and_an_answer)
{
    expect(bytes_text("# queries\n\nQ1 -> hotels_by_poi  Hotels near a point \r\n"
                      "\tQ2 hotels_by_poi\t-> hotels\nQ3 a -> b -> c"),
           "Q1||hotels_by_poi|Hotels near a point\nQ2|hotels_by_poi|hotels|\nQ3|a|b|-> c\n");
    expect(bytes_text(""), "");
}

Test(query_flow, what_is_no_query_is_refused_with_its_line)
{
    expect(bytes_text("\nQ1 hotels"),
           "! line 2: a line is NAME [TABLE] -> TABLE [what it answers]");
    expect(bytes_text("Q1 a ->"), "! line 1: a line is NAME [TABLE] -> TABLE [what it answers]");
    expect(bytes_text("Q1 a b -> c"),
           "! line 1: a line is NAME [TABLE] -> TABLE [what it answers]");
    expect(bytes_text("Q12345678901234567 -> a"),
           "! line 1: the query's name is over 16 bytes long");
    expect(bytes_text("Q1 -> a \xff"), "! line 1: the text is not UTF-8");
}

Test(query_flow, lines_and_texts_are_limited)
{
    struct buffer text = {0};

    buffer_append_text(&text, "Q -> t ");
    for (int i = 0; i <= QUERY_FLOW_TEXT_MAX; i++)
        buffer_append_text(&text, "x");
    expect(buffer_view(&text), "! line 1: what the query answers is over 200 bytes long");
    buffer_clear(&text);
    for (int i = 0; i <= QUERY_FLOW_LINES_MAX; i++)
        buffer_append_text(&text, "Q -> t\n");
    expect(buffer_view(&text), "! line 1001: more than 1000 queries");
    buffer_release(&text);
}
