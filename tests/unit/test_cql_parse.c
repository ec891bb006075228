/* test_cql_parse: which statements are CQL, what they mean, and what is said of the others. */
#include "query/cql/syntax/cql_parse.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "storage/schema/type.h"
#include "tests/lib/cql_statement_print.h"

struct parsed {
    struct arena *arena;
    const struct cql_statement *statement;
    struct error err;
    int rc;
};

static struct parsed parse_limited(struct bytes text, const struct cql_parse_limits *limits)
{
    struct parsed parsed = {.arena = arena_new(4096)};

    parsed.rc = cql_parse(text, parsed.arena, limits, &parsed.statement, &parsed.err);
    cr_assert_eq(parsed.rc == 0, parsed.statement != NULL);
    return parsed;
}

static struct parsed parse(const char *text)
{
    struct parsed parsed = parse_limited(bytes_text(text), NULL);

    cr_assert_eq(parsed.rc, 0, "%s: %s", text, parsed.err.text);
    return parsed;
}

static void expect_error(const char *text, int code, const char *expected)
{
    struct parsed parsed = parse_limited(bytes_text(text), NULL);

    cr_assert_eq(parsed.rc, code, "%s: %d", text, parsed.rc);
    cr_expect_str_eq(parsed.err.text, expected, "%s\n%s\n%s", text, parsed.err.text, expected);
    arena_free(parsed.arena);
}

/* Append the statement printed, line ends as \n. */
static void print_escaped(const struct cql_statement *statement, struct buffer *line)
{
    struct buffer text = {0};

    cql_statement_print(statement, &text);
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '\n')
            buffer_append_text(line, "\\n");
        else
            buffer_put_u8(line, text.data[i]);
    buffer_release(&text);
}

/* "= printed" or "! error". */
static void answer_to(struct bytes text, struct buffer *line)
{
    struct parsed parsed = parse_limited(text, NULL);

    if (parsed.rc == 0) {
        buffer_append_text(line, "= ");
        print_escaped(parsed.statement, line);
    } else {
        buffer_printf(line, "! %s", parsed.err.text);
    }
    arena_free(parsed.arena);
}

static void unescape(struct bytes line, struct buffer *text)
{
    for (size_t i = 0; i < line.size; i++) {
        bool is_end = line.data[i] == '\\' && i + 1 < line.size && line.data[i + 1] == 'n';

        buffer_put_u8(text, is_end ? '\n' : line.data[i]);
        i += is_end;
    }
}

static struct bytes line_of(const char *line, size_t size)
{
    return bytes_of(line + 2, size - 2 - (line[size - 1] == '\n'));
}

/* Calls `each` with every statement of the file, its line ends real, and the answer's line. */
static unsigned each_recorded(void (*each)(struct bytes text, struct bytes answer))
{
    FILE *file = fopen("tests/data/cql_statements.txt", "r");
    struct buffer text = {0};
    unsigned count = 0;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;

    cr_assert_not_null(file);
    while ((size = getline(&line, &capacity, file)) > 0) {
        if (line[0] == '>') {
            buffer_clear(&text);
            unescape(line_of(line, (size_t)size), &text);
        } else if (line[0] == '=' || line[0] == '!') {
            each(buffer_view(&text), bytes_of(line, (size_t)size - (line[size - 1] == '\n')));
            count++;
        }
    }
    memory_free(line);
    buffer_release(&text);
    fclose(file);
    return count;
}

static void expect_answer(struct bytes text, struct bytes answer)
{
    struct buffer line = {0};

    answer_to(text, &line);
    cr_expect(bytes_equal(buffer_view(&line), answer), "%.*s\n  gave %.*s\n  want %.*s",
              (int)text.size, (const char *)text.data, (int)line.size, (const char *)line.data,
              (int)answer.size, (const char *)answer.data);
    buffer_release(&line);
}

Test(cql_parse, recorded_statements_are_read_and_refused_as_recorded)
{
    cr_assert_geq(each_recorded(expect_answer), 700);
}

static void expect_same_again(struct bytes text, struct bytes answer)
{
    struct buffer printed = {0};
    struct buffer line = {0};
    struct parsed parsed = parse_limited(text, NULL);

    if (answer.data[0] == '=') {
        cql_statement_print(parsed.statement, &printed);
        answer_to(buffer_view(&printed), &line);
        cr_expect(bytes_equal(buffer_view(&line), answer), "%.*s\n  again: %.*s", (int)text.size,
                  (const char *)text.data, (int)line.size, (const char *)line.data);
    }
    buffer_release(&line);
    buffer_release(&printed);
    arena_free(parsed.arena);
}

Test(cql_parse, a_printed_statement_is_read_as_the_same_one)
{
    each_recorded(expect_same_again);
}

/* From memory of exactly its size, so that a read past it shows. */
static void parse_truncated(struct bytes text, struct bytes answer)
{
    (void)answer;
    for (size_t size = 0; size < text.size; size++) {
        uint8_t *copy = memory_copy(text.data, size);
        struct parsed parsed = parse_limited(bytes_of(copy, size), NULL);

        arena_free(parsed.arena);
        memory_free(copy);
    }
}

Test(cql_parse, statements_cut_at_every_byte_are_safe_to_read)
{
    each_recorded(parse_truncated);
}

/* ---- the tree ---- */

static void expect_text(struct bytes text, const char *expected)
{
    cr_expect(bytes_equal(text, bytes_text(expected)), "%.*s, not %s", (int)text.size,
              (const char *)text.data, expected);
}

Test(cql_parse, a_select_has_its_parts)
{
    struct parsed parsed = parse("SELECT a AS b, \"C\" FROM ks.T WHERE k = 1 AND (c, d) > (?, :x) "
                                 "ORDER BY c DESC PER PARTITION LIMIT 2 LIMIT ? ALLOW FILTERING;;");
    const struct cql_select *select = &parsed.statement->select;

    cr_assert_eq(parsed.statement->kind, CQL_STATEMENT_SELECT);
    expect_text(select->selectors->term->text, "a");
    expect_text(select->selectors->alias, "b");
    expect_text(select->selectors->next->term->text, "C");
    cr_expect_null(select->selectors->next->next);
    expect_text(select->table.keyspace, "ks");
    expect_text(select->table.name, "t");
    cr_expect_eq(select->where->kind, CQL_RELATION_COLUMN);
    expect_text(select->where->values->text, "1");
    cr_expect_eq(select->where->next->kind, CQL_RELATION_TUPLE);
    cr_expect_eq(select->where->next->operator, CQL_GT);
    cr_expect_eq(select->where->next->column_count, 2);
    cr_expect(select->order_by->descending);
    expect_text(select->per_partition_limit->text, "2");
    cr_expect_eq(select->limit->kind, CQL_TERM_MARKER);
    cr_expect(select->allow_filtering);
    arena_free(parsed.arena);
}

Test(cql_parse, markers_are_numbered_through_a_batch)
{
    struct parsed parsed = parse("BEGIN UNLOGGED BATCH USING TIMESTAMP ? "
                                 "INSERT INTO t (a) VALUES (:b); UPDATE t SET a = ? WHERE k IN :ks "
                                 "APPLY BATCH");
    const struct cql_statement *update = parsed.statement->batch.statements->next;

    cr_assert_eq(parsed.statement->marker_count, 4);
    expect_text(parsed.statement->marker_names[0], "");
    expect_text(parsed.statement->marker_names[1], "b");
    expect_text(parsed.statement->marker_names[3], "ks");
    cr_expect_eq(update->update.assignments->value->marker, 2);
    cr_expect_eq(update->update.where->values->marker, 3);
    cr_expect(update->update.where->in_marker);
    cr_expect_eq(update->marker_count, 0);
    cr_expect_eq(parsed.statement->batch.statement_count, 2);
    cr_expect(parsed.statement->batch.is_unlogged);
    arena_free(parsed.arena);
}

Test(cql_parse, positions_are_lines_and_utf16_columns)
{
    expect_error("SELECT 'é😀', a FROM t WHERE 1", ERROR_INVALID,
                 "line 1:29 no viable alternative at input '1' (..., a FROM t WHERE [1])");
    expect_error("SELECT 'é😀', a\n  FROM t\n WHERE\n\t x ! 1", ERROR_INVALID,
                 "line 4:5 mismatched character ' ' expecting '='");
}

Test(cql_parse, a_minus_before_digits_belongs_to_them)
{
    struct parsed parsed = parse("UPDATE t SET c = c -3, d = d - 3, e = 2 + e WHERE k = 1");
    const struct cql_assignment *assignment = parsed.statement->update.assignments;

    cr_expect_eq(assignment->kind, CQL_ASSIGN_ADD);
    expect_text(assignment->value->text, "-3");
    cr_expect_eq(assignment->next->kind, CQL_ASSIGN_SUBTRACT);
    expect_text(assignment->next->value->text, "3");
    cr_expect_eq(assignment->next->next->kind, CQL_ASSIGN_PREPEND);
    arena_free(parsed.arena);
}

Test(cql_parse, built_in_types_are_no_keywords_and_user_types_may_have_their_names)
{
    struct parsed parsed = parse("CREATE TABLE t (int int, b \"int\", c varchar, d ks.int, e list, "
                                 "f frozen<map<TEXT, list<u>>>, PRIMARY KEY ((int, b), c))");
    const struct cql_create_table *create = &parsed.statement->create_table;
    const struct cql_definition *column = create->columns;

    cr_expect_eq(column->type->kind, CQL_TYPE_NATIVE);
    column = column->next;
    cr_expect_eq(column->type->kind, CQL_TYPE_USER);
    column = column->next;
    expect_text(column->type->name.name, "text");
    column = column->next;
    cr_expect_eq(column->type->kind, CQL_TYPE_USER);
    expect_text(column->type->name.keyspace, "ks");
    column = column->next;
    cr_expect_eq(column->type->kind, CQL_TYPE_USER);
    column = column->next;
    cr_expect_eq(column->type->kind, CQL_TYPE_FROZEN);
    cr_expect_eq(column->type->depth, 4);
    expect_text(create->key.partition->next->text, "b");
    expect_text(create->key.clustering->text, "c");
    arena_free(parsed.arena);
}

Test(cql_parse, every_reserved_word_is_refused_as_a_name_and_every_other_one_taken)
{
    static const char *const words[] = {
        "add",
        "allow",
        "alter",
        "and",
        "apply",
        "asc",
        "authorize",
        "batch",
        "begin",
        "by",
        "create",
        "delete",
        "desc",
        "describe",
        "drop",
        "entries",
        "execute",
        "from",
        "full",
        "grant",
        "if",
        "in",
        "index",
        "infinity",
        "insert",
        "into",
        "is",
        "keyspace",
        "limit",
        "materialized",
        "modify",
        "nan",
        "norecursive",
        "not",
        "null",
        "of",
        "on",
        "or",
        "order",
        "primary",
        "rename",
        "revoke",
        "schema",
        "select",
        "set",
        "table",
        "to",
        "token",
        "truncate",
        "unlogged",
        "update",
        "use",
        "using",
        "view",
        "where",
        "with",
        /* not reserved */
        "access",
        "aggregate",
        "all",
        "ann",
        "as",
        "between",
        "called",
        "cast",
        "cidrs",
        "cluster",
        "clustering",
        "compact",
        "contains",
        "count",
        "counter",
        "custom",
        "date",
        "default",
        "distinct",
        "exists",
        "filtering",
        "frozen",
        "function",
        "group",
        "int",
        "json",
        "key",
        "keys",
        "keyspaces",
        "language",
        "like",
        "list",
        "login",
        "map",
        "masked",
        "mbean",
        "only",
        "options",
        "partition",
        "password",
        "per",
        "permission",
        "role",
        "static",
        "storage",
        "superuser",
        "tables",
        "true",
        "false",
        "text",
        "time",
        "timestamp",
        "trigger",
        "ttl",
        "tuple",
        "type",
        "unset",
        "user",
        "uuid",
        "value",
        "values",
        "vector",
        "writetime",
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[100];
        struct parsed parsed;
        bool is_plain = type_name_is_plain(bytes_text(words[i]));

        snprintf(text, sizeof text, "INSERT INTO %s (%s) VALUES (1)", words[i], words[i]);
        parsed = parse_limited(bytes_text(text), NULL);
        cr_expect_eq(parsed.rc == 0, is_plain, "%s", text);
        arena_free(parsed.arena);
    }
}

/* ---- limits ---- */

static struct buffer repeated(const char *before, const char *text, unsigned count,
                              const char *after)
{
    struct buffer buffer = {0};

    buffer_append_text(&buffer, before);
    for (unsigned i = 0; i < count; i++)
        buffer_append_text(&buffer, text);
    buffer_append_text(&buffer, after);
    return buffer;
}

static int parse_repeated(const char *before, const char *text, unsigned count, const char *after)
{
    struct buffer statement = repeated(before, text, count, after);
    struct parsed parsed = parse_limited(buffer_view(&statement), NULL);

    arena_free(parsed.arena);
    buffer_release(&statement);
    return parsed.rc;
}

Test(cql_parse, what_is_nested_too_deeply_is_refused)
{
    static const struct {
        const char *before;
        const char *text;
    } nested[] = {
        {"SELECT ", "("},
        {"SELECT ", "["},
        {"SELECT ", "{"},
        {"SELECT ", "- "},
        {"SELECT ", "f("},
        {"SELECT ", "(int)"},
        {"SELECT a", " + a"},
        {"SELECT a", "[1]"},
        {"SELECT a", ".b"},
        {"SELECT * FROM t WHERE a = 1", " + 1"},
        {"SELECT * FROM t WHERE ", "("},
        {"SELECT * FROM t WHERE a = ", "f("},
        {"INSERT INTO t (a) VALUES (", "{1: "},
        {"CREATE TABLE t (a ", "list<"},
    };

    for (size_t i = 0; i < sizeof nested / sizeof nested[0]; i++) {
        cr_expect_eq(parse_repeated(nested[i].before, nested[i].text, 100000, ""), ERROR_LIMIT,
                     "%s%s", nested[i].before, nested[i].text);
    }
    cr_expect_eq(parse_repeated("SELECT a", " + a", 98, " FROM t"), 0);
    cr_expect_eq(parse_repeated("SELECT a FROM t WHERE k = ", "f(", 99, "1"), ERROR_INVALID);
}

Test(cql_parse, many_elements_are_no_depth)
{
    cr_expect_eq(parse_repeated("INSERT INTO t (a) VALUES ([1", ", 1", 200000, "])"), 0);
    cr_expect_eq(parse_repeated("SELECT * FROM t WHERE a = 1", " AND a = 1", 100000, ""), 0);
    cr_expect_eq(parse_repeated("BEGIN BATCH ", "DELETE FROM t WHERE a = 1;", 50000, "APPLY BATCH"),
                 0);
}

Test(cql_parse, size_and_tokens_are_limited)
{
    const struct cql_parse_limits limits = {.text_max = 20, .tokens_max = 4, .depth_max = 10};
    struct parsed parsed = parse_limited(bytes_text("SELECT * FROM     tt "), &limits);

    cr_expect_eq(parsed.rc, ERROR_LIMIT);
    arena_free(parsed.arena);
    parsed = parse_limited(bytes_text("SELECT * FROM tt    "), &limits);
    cr_expect_eq(parsed.rc, 0);
    arena_free(parsed.arena);
    parsed = parse_limited(bytes_text("SELECT a,b FROM t"), &limits);
    cr_expect_eq(parsed.rc, ERROR_LIMIT);
    arena_free(parsed.arena);
}

Test(cql_parse, text_that_is_not_utf8_is_refused)
{
    expect_error("SELECT '\xC3' FROM t", ERROR_INVALID, "the statement is not valid UTF-8");
}

Test(cql_parse, an_error_about_a_long_token_is_cut_between_characters)
{
    struct buffer statement = repeated("SELECT a FROM t WHERE k = 1 '", "é", 5000, "'");
    struct parsed parsed = parse_limited(buffer_view(&statement), NULL);

    cr_expect_eq(parsed.rc, ERROR_INVALID);
    cr_expect(bytes_valid_utf8(bytes_text(parsed.err.text)), "%s", parsed.err.text);
    arena_free(parsed.arena);
    buffer_release(&statement);
}

/* A slip of the keys: every byte changed, left out or doubled. */
static void parse_changed(struct bytes text, struct bytes answer)
{
    static const char others[] = "'\"(){}[]$-/*;:,.<= aZ0\n";
    uint8_t *copy = memory_copy(text.data, text.size);

    (void)answer;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t old = copy[i];

        copy[i] = (uint8_t)others[i % (sizeof others - 1)];
        arena_free(parse_limited(bytes_of(copy, text.size), NULL).arena);
        copy[i] = old;
    }
    memory_free(copy);
}

Test(cql_parse, statements_with_a_wrong_byte_are_safe_to_read)
{
    each_recorded(parse_changed);
}
