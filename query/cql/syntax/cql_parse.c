/* The parser copies the text and appends a 0, at which the lexer stops.  A tree has about one node
 * for each token, so the limit on tokens also limits the tree's memory. */
#include "query/cql/syntax/cql_parse.h"

#include "query/cql/syntax/cql_build.h"
#include "base/arena.h"

static struct bytes copy_text(struct arena *arena, struct bytes text)
{
    uint8_t *copy = arena_alloc(arena, text.size + 1, 1);

    memcpy(copy, text.data, text.size);
    copy[text.size] = 0;
    return bytes_of(copy, text.size);
}

int cql_parse(struct bytes text, struct arena *arena, const struct cql_parse_limits *limits,
              const struct cql_statement **statement_out, struct error *err)
{
    static const struct cql_parse_limits defaults = {
        .text_max = CQL_PARSE_TEXT_MAX,
        .tokens_max = CQL_PARSE_TOKENS_MAX,
        .depth_max = CQL_PARSE_DEPTH_MAX,
    };
    struct error own;
    struct cql_builder builder = {.arena = arena, .err = err == NULL ? &own : err};
    struct cql_lexer lexer;

    *statement_out = NULL;
    if (limits == NULL)
        limits = &defaults;
    if (text.size > limits->text_max)
        return error_set(err, ERROR_LIMIT, "a statement of %zu bytes; at most %zu are read",
                         text.size, limits->text_max);
    if (!bytes_valid_utf8(text))
        return error_set(err, ERROR_INVALID, "the statement is not valid UTF-8");
    cql_lexer_init(&lexer, copy_text(arena, text), arena);
    builder.lexer = &lexer;
    builder.depth_max = limits->depth_max;
    int result = cql_grammar_run(&builder, limits->tokens_max);
    if (result == 0)
        *statement_out = builder.statement;
    return result;
}
