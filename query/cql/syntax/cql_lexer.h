/* cql_lexer: cuts CQL text into tokens: words, signs and literals.
 *
 * The kinds of tokens are the numbers CQL_TOKEN_* that the parser generator, lemon, gives to them.
 *
 * Its specification is tests/unit/test_cql_parse.c. */
#ifndef DAYBOOK_QUERY_CQL_SYNTAX_CQL_LEXER_H
#define DAYBOOK_QUERY_CQL_SYNTAX_CQL_LEXER_H

#include "base/buffer.h"
#include "query/cql/syntax/cql_ast.h"

struct arena;

enum {
    CQL_TOKEN_END = 0,                   /* lemon's number for the end of the text */
    CQL_TOKENS_REMEMBERED = 11           /* shown in an error: the wrong token and ten before it */
};

/* Where a token begins, as in Cassandra's errors: lines count from 1, and columns from 0 in UTF-16
 * units. */
struct cql_position {
    uint32_t line;
    uint32_t column;
};

struct cql_token {
    int kind;
    struct cql_position position;
    /* A name is in lower case, unless it was in quotes.  Names and strings are without their
     * quotes. */
    struct bytes text;
    struct bytes written;                /* the token as it stands in the text */
};

struct cql_lexer {
    struct arena *arena;                 /* for texts of tokens that differ from `written` */
    struct bytes text;
    const uint8_t *cursor;
    struct cql_position position;
    const uint8_t *starts[CQL_TOKENS_REMEMBERED];    /* ring: where the newest tokens start */
    uint64_t token_count;                /* blanks and comments count, too */
};

/* The tokens are views into `text` and `arena`.  The byte after the text must be readable and 0. */
void cql_lexer_init(struct cql_lexer *lexer, struct bytes text, struct arena *arena);

/* Read the next token; at the end of the text each call gives CQL_TOKEN_END.  ERROR_INVALID, with
 * Cassandra's text: the next characters are no token. */
must_check int cql_lexer_next(struct cql_lexer *lexer, struct cql_token *token_out,
                              struct error *err);

/* Print the name that Cassandra's errors have for this kind of token: EOF, K_FROM, '('. */
void cql_lexer_print_kind(int kind, struct buffer *text);

/* `word` is in lower case. */
bool cql_lexer_is_keyword(struct bytes word);

/* The number of UTF-16 units of UTF-8 text. */
uint32_t cql_lexer_units(struct bytes text);
#endif
