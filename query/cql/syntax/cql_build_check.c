/* Checks of rules that the grammar does not have, and the texts of syntax errors.
 *
 * An error of the grammar is one line as Cassandra (ANTLR) has it:
 *
 *     line 1:24 mismatched input 'limit' expecting EOF (select a from t limit 1 [limit]...)
 *
 * The line shows up to ten tokens before the wrong token, which is in brackets.  As in Cassandra, a
 * token's quotes do not count in its length, so that the bracket closes too early. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "query/cql/syntax/cql_build.h"
#include "query/cql/syntax/cql_grammar.h"
#include "query/cql/syntax/cql_print.h"
#include "storage/schema/type.h"

enum { ERROR_TOKEN_MAX = 150 }; /* bytes shown of the wrong token, and of the text before it */

void cql_build_fail(struct cql_builder *builder, int code, const char *format, ...)
{
    char text[sizeof builder->err->text + 1]; /* one byte more than is kept: bytes_utf8_cut reads
                                               * it */
    va_list arguments;

    if (builder->failure != 0)
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text[bytes_utf8_cut(bytes_text(text), sizeof builder->err->text - 1).size] = '\0';
    builder->failure = error_set(builder->err, code, "%s", text);
}

static void excerpt_append(struct buffer *buffer, const uint8_t *from, const uint8_t *until)
{
    for (; from < until; from++)
        if (*from != '\n')
            buffer_put_u8(buffer, *from);
}

/* Returns the end of the part of `token->written` that is shown.  That part ends with the first
 * line, and has at most as many characters as `token->text` has UTF-16 units. */
static const uint8_t *excerpt_end(const struct cql_token *token)
{
    const uint8_t *limit = token->written.data + token->written.size;
    const uint8_t *end = token->written.data;
    uint32_t units = cql_lexer_units(token->text);

    while (end < limit && *end != '\n' && units > 0) {
        end++;
        while (end < limit && (*end & 0xC0) == 0x80)
            end++;
        units--;
    }
    return end;
}

/* Print " (...ten tokens before [token]...)". */
static void excerpt_print(const struct cql_lexer *lexer, const struct cql_token *token,
                          struct buffer *buffer)
{
    const uint8_t *limit = lexer->text.data + lexer->text.size;
    const uint8_t *end = excerpt_end(token);
    uint64_t first = lexer->token_count <= CQL_TOKENS_REMEMBERED
                         ? 0
                         : lexer->token_count % CQL_TOKENS_REMEMBERED;
    const uint8_t *start = lexer->starts[first];

    while (limit > end && limit[-1] == '\n')
        limit--;
    buffer_append_text(buffer, start == lexer->text.data ? " (" : " (...");
    if (token->written.data - start > ERROR_TOKEN_MAX)
        start = token->written.data - ERROR_TOKEN_MAX;
    while (start < token->written.data && (*start & 0xC0) == 0x80)
        start++;
    excerpt_append(buffer, start, token->written.data);
    buffer_put_u8(buffer, '[');
    excerpt_append(buffer, token->written.data, end);
    buffer_put_u8(buffer, ']');
    buffer_append_text(buffer, end == limit ? ")" : "...)");
}

void cql_build_fail_token(struct cql_builder *builder, const struct cql_token *token, int expected)
{
    struct buffer text = {.arena = builder->arena};
    struct cql_token shown = *token;

    if (token->kind == CQL_TOKEN_END) {
        buffer_append_text(&text, "line 0:-1 ");
        shown.text = bytes_text("<EOF>");
    } else {
        buffer_printf(&text, "line %u:%u ", token->position.line, token->position.column);
        if (token->kind != CQL_TOKEN_STRING && token->kind != CQL_TOKEN_QUOTED_NAME)
            shown.text = token->written;
        shown.text = bytes_utf8_cut(shown.text, ERROR_TOKEN_MAX);
    }
    buffer_append_text(&text,
                       expected < 0 ? "no viable alternative at input '" : "mismatched input '");
    buffer_append_bytes(&text, shown.text);
    buffer_put_u8(&text, '\'');
    if (expected >= 0) {
        buffer_append_text(&text, " expecting ");
        cql_lexer_print_kind(expected, &text);
    }
    if (token->kind != CQL_TOKEN_END)
        excerpt_print(builder->lexer, &shown, &text);
    cql_build_fail(builder, ERROR_INVALID, "%.*s", (int)text.size, (const char *)text.data);
}

/* ---- repeated names ---- */

static int compare_names(const void *a, const void *b)
{
    const struct bytes *const *of_a = a;
    const struct bytes *const *of_b = b;

    return bytes_compare(**of_a, **of_b);
}

/* Sorts `names`.  Returns a name that occurs twice, or NULL. */
static const struct bytes *repeated_name(const struct bytes **names, uint32_t count)
{
    qsort(names, count, sizeof names[0], compare_names);
    for (uint32_t i = 1; i < count; i++)
        if (bytes_equal(*names[i - 1], *names[i]))
            return names[i];
    return NULL;
}

static int compare_assignments(const void *a, const void *b)
{
    const struct cql_assignment *const *of_a = a;
    const struct cql_assignment *const *of_b = b;
    int order = bytes_compare((*of_a)->column, (*of_b)->column);

    if (order == 0)
        order = ((*of_a)->kind != CQL_ASSIGN) - ((*of_b)->kind != CQL_ASSIGN);
    return order != 0 ? order : bytes_compare((*of_a)->field, (*of_b)->field);
}

/* compare_assignments sorts `whole` before `other`. */
static bool are_incompatible(const struct cql_assignment *whole, const struct cql_assignment *other)
{
    return whole->kind == CQL_ASSIGN ||
           (whole->kind == CQL_ASSIGN_FIELD && other->kind == CQL_ASSIGN_FIELD &&
            bytes_equal(whole->field, other->field));
}

void cql_build_check_assignments(struct cql_builder *builder, struct cql_assignment_list list)
{
    const struct cql_assignment **sorted = cql_build_new(builder, list.count * sizeof sorted[0]);
    uint32_t count = 0;

    for (const struct cql_assignment *of = list.first; of != NULL; of = of->next)
        sorted[count++] = of;
    qsort(sorted, count, sizeof sorted[0], compare_assignments);
    for (uint32_t i = 1; i < count; i++)
        if (bytes_equal(sorted[i - 1]->column, sorted[i]->column) &&
            are_incompatible(sorted[i - 1], sorted[i]))
            cql_build_fail(builder, ERROR_INVALID, "Multiple incompatible setting of column %.*s",
                           (int)sorted[i]->column.size, (const char *)sorted[i]->column.data);
}

void cql_build_check_properties(struct cql_builder *builder, struct cql_property_list list)
{
    const struct bytes **names = cql_build_new(builder, list.count * sizeof names[0]);
    uint32_t count = 0;

    for (const struct cql_property *of = list.first; of != NULL; of = of->next)
        names[count++] = &of->name;
    const struct bytes *repeated = repeated_name(names, count);
    if (repeated != NULL)
        cql_build_fail(builder, ERROR_INVALID, "Multiple definitions for property '%.*s'",
                       (int)repeated->size, (const char *)repeated->data);
}

/* `value` is NULL if the key is wrong; otherwise the value is wrong. */
static void fail_property(struct cql_builder *builder, const struct cql_term *key,
                          const struct cql_term *value)
{
    struct buffer text = {.arena = builder->arena};

    buffer_append_text(&text,
                       value == NULL ? "Invalid property name: " : "Invalid property value: ");
    cql_print_term(value == NULL ? key : value, &text);
    if (value != NULL) {
        buffer_append_text(&text, " for property: ");
        cql_print_term(key, &text);
    }
    if ((value == NULL ? key : value)->kind == CQL_TERM_MARKER)
        buffer_append_text(&text, " (bind variables are not supported in DDL queries)");
    cql_build_fail(builder, ERROR_INVALID, "%.*s", (int)text.size, (const char *)text.data);
}

void cql_build_check_map(struct cql_builder *builder, const struct cql_term *map)
{
    const struct bytes **names = cql_build_new(builder, map->argument_count * sizeof names[0]);
    uint32_t count = 0;

    for (const struct cql_term *key = map->arguments; key != NULL; key = key->next->next) {
        if (!cql_term_is_literal(key))
            fail_property(builder, key, NULL);
        else if (!cql_term_is_literal(key->next))
            fail_property(builder, key, key->next);
        names[count++] = &key->text;
    }
    const struct bytes *repeated = repeated_name(names, count);
    if (repeated != NULL)
        cql_build_fail(builder, ERROR_INVALID, "Multiple definition for property %.*s",
                       (int)repeated->size, (const char *)repeated->data);
}

/* ---- names and options ---- */

void cql_build_check_type_name(struct cql_builder *builder, struct cql_token name)
{
    static const char *const reserved[] = {"byte",     "complex", "enum",     "date",
                                           "interval", "macaddr", "bitstring"};
    bool is_reserved = type_builtin_named(name.text) != NULL;

    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        is_reserved |= bytes_equal(name.text, bytes_text(reserved[i]));
    if (is_reserved && name.kind != CQL_TOKEN_QUOTED_NAME)
        cql_build_fail(builder, ERROR_INVALID, "Invalid (reserved) user type name %.*s",
                       (int)name.text.size, (const char *)name.text.data);
}

void cql_build_check_view(struct cql_builder *builder, struct cql_table_options options)
{
    if (options.compact_storage)
        cql_build_fail(builder, ERROR_INVALID,
                       "COMPACT STORAGE tables are not allowed starting with version 4.0");
    cql_build_check_properties(builder, options.properties);
}

void cql_build_check_user(struct cql_builder *builder, struct cql_token name)
{
    if (name.kind == CQL_TOKEN_QUOTED_NAME)
        cql_build_fail(builder, ERROR_INVALID,
                       "Quoted strings are are not supported for user names and USER is "
                       "deprecated, please use ROLE");
}

void cql_build_check_role(struct cql_builder *builder, struct cql_role_option_list list)
{
    static const char *const passwords[] = {"password", "hashed password", "generated password"};
    int found = -1;

    for (const struct cql_role_option *option = list.first; option != NULL; option = option->next) {
        int kind = (int)option->kind;

        if (kind > CQL_ROLE_GENERATED_PASSWORD)
            continue;
        if (found >= 0 && found != kind)
            cql_build_fail(builder, ERROR_INVALID, "Options '%s' and '%s' are mutually exclusive",
                           passwords[found < kind ? found : kind],
                           passwords[found < kind ? kind : found]);
        found = kind;
    }
}
