/* test_cql_print: names, types, terms and relations of a tree as the CQL that was read. */
#include "query/cql/syntax/cql_print.h"

#include <criterion/criterion.h>

#include "base/arena.h"
#include "query/cql/syntax/cql_parse.h"

static const struct cql_statement *parse(struct arena *arena, const char *text)
{
    const struct cql_statement *statement = NULL;
    struct error err = {0};
    cr_assert_eq(cql_parse(bytes_text(text), arena, NULL, &statement, &err), 0, "%s", err.text);
    return statement;
}

static void expect_text(struct buffer *text, const char *wanted)
{
    cr_expect(bytes_equal(buffer_view(text), bytes_text(wanted)), "%.*s, not %s", (int)text->size,
              (const char *)text->data, wanted);
    buffer_release(text);
}

Test(cql_print, names_are_quoted_where_cql_would_read_them_otherwise)
{
    static const char *const names[][2] = {{"plain", "plain"},
                                           {"Camel", "\"Camel\""},
                                           {"with space", "\"with space\""},
                                           {"a\"b", "\"a\"\"b\""},
                                           {"select", "\"select\""}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct buffer text = {0};
        cql_print_name(bytes_text(names[i][0]), &text);
        expect_text(&text, names[i][1]);
    }
    struct buffer text = {0};
    cql_print_qualified((struct cql_qualified_name){bytes_text("Ks"), bytes_text("t")}, &text);
    expect_text(&text, "\"Ks\".t");
    cql_print_qualified((struct cql_qualified_name){.name = bytes_text("t")}, &text);
    expect_text(&text, "t");
    cql_print_string(bytes_text("it's"), &text);
    expect_text(&text, "'it''s'");
}

Test(cql_print, types_are_spelled_as_they_were)
{
    static const char *const types[] = {"int", "frozen<map<text, list<bigint>>>",
                                        "tuple<int, set<uuid>>", "ks.\"My type\"",
                                        "vector<float, 3>"};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct arena *arena = arena_new(4096);
        struct buffer text = {.arena = arena};
        struct buffer printed = {0};
        buffer_printf(&text, "CREATE TABLE t (k int PRIMARY KEY, c %s)%c", types[i], 0);
        const struct cql_statement *statement = parse(arena, (const char *)text.data);
        cql_print_type(statement->create_table.columns->next->type, &printed);
        expect_text(&printed, types[i]);
        arena_free(arena);
    }
}

Test(cql_print, terms_are_read_as_the_same_terms_again)
{
    static const char *const terms[] = {
        "'it''s'",          "-1",          "1.5e3",    "0xcafe",          "a + - 1",
        "ks.f(a, ?)",       "token(a, b)", "count(*)", "CAST(a AS text)", "m['k'][1 .. 2]",
        "{'a': 1, 'b': 2}", "[1, 2]",      "(1, 'a')", "WRITETIME(a)",    "(int) :\"Name\"",
        "u.field",          "NULL"};
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        struct arena *arena = arena_new(4096);
        struct buffer text = {.arena = arena};
        struct buffer printed = {0};
        buffer_printf(&text, "SELECT %s FROM t%c", terms[i], 0);
        const struct cql_statement *statement = parse(arena, (const char *)text.data);
        cql_print_term(statement->select.selectors->term, &printed);
        expect_text(&printed, terms[i]);
        arena_free(arena);
    }
}

Test(cql_print, headers_are_those_of_cassandra)
{
    static const char *const headers[][2] = {{"\"Name\"", "Name"},
                                             {"'it''s'", "'it's'"},
                                             {"min(v)", "system.min(v)"},
                                             {"count(*)", "count"},
                                             {"count(1)", "count"},
                                             {"to_json(a)", "system.tojson(a)"},
                                             {"CAST(a AS text)", "cast(a as text)"},
                                             {"(int) :\"Name\"", "(int):Name"},
                                             {"(ks.\"T\") a", "(\"T\")a"},
                                             {"- a", "-a"},
                                             {"m['k'][1 .. 2]", "m['k'][1..2]"},
                                             {"WRITETIME(a)", "writetime(a)"}};
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
        struct arena *arena = arena_new(4096);
        struct buffer text = {.arena = arena};
        struct buffer printed = {0};
        buffer_printf(&text, "SELECT %s FROM t%c", headers[i][0], 0);
        const struct cql_statement *statement = parse(arena, (const char *)text.data);
        cql_print_header(statement->select.selectors->term, &printed);
        expect_text(&printed, headers[i][1]);
        arena_free(arena);
    }
}

Test(cql_print, relations_and_assignments_stand_as_in_their_clause)
{
    static const char *const relations[] = {
        "a = 1",         "(a, b) > (1, 2)", "a IN (1, 2)",      "a IN ?",
        "token(a) >= 3", "m['k'] != 2",     "c CONTAINS KEY 1", "a BETWEEN 1 AND 2"};
    static const char *const assignments[] = {"a = 1", "l = [1] + l", "c = c - 1", "m['k'] = 2",
                                              "u.f = NULL"};
    for (size_t i = 0; i < sizeof(relations) / sizeof(relations[0]); i++) {
        struct arena *arena = arena_new(4096);
        struct buffer text = {.arena = arena};
        struct buffer printed = {0};
        buffer_printf(&text, "SELECT * FROM t WHERE %s%c", relations[i], 0);
        cql_print_relation(parse(arena, (const char *)text.data)->select.where, &printed);
        expect_text(&printed, relations[i]);
        arena_free(arena);
    }
    for (size_t i = 0; i < sizeof(assignments) / sizeof(assignments[0]); i++) {
        struct arena *arena = arena_new(4096);
        struct buffer text = {.arena = arena};
        struct buffer printed = {0};
        buffer_printf(&text, "UPDATE t SET %s WHERE k = 1%c", assignments[i], 0);
        cql_print_assignment(parse(arena, (const char *)text.data)->update.assignments, &printed);
        expect_text(&printed, assignments[i]);
        arena_free(arena);
    }
}
