/* cql_lexer: CQL text cut into tokens: words, signs and literals.
 *
 * The kinds of tokens are lemon's numbers, from cql_grammar.y.
 *
 * Its specification is tests/unit/test_cql_parse.c. */
#ifndef DAYBOOK_QUERY_CQL_SYNTAX_CQL_LEXER_H
#define DAYBOOK_QUERY_CQL_SYNTAX_CQL_LEXER_H

#include "base/buffer.h"
#include "query/cql/syntax/cql_ast.h"

struct arena;

enum {
    CQL_TOKEN_END = 0,                   /* of the text: lemon's number for it */
    CQL_TOKENS_REMEMBERED = 11           /* the offending token of an error and ten before it */
};

/* Where a token begins, as Cassandra's errors give it: lines from 1, columns from 0, counted in
 * UTF-16 units. */
struct cql_position {
    uint32_t line;
    uint32_t column;
};

struct cql_token {
    int kind;
    struct cql_position position;
    /* Names: lowercased, or as quoted.  Strings: without quotes.  Others: as written. */
    struct bytes text;
    struct bytes written;                /* the token in the text, quotes and all */
};

/* Blanks and comments are tokens as far as an error's excerpt counts them. */
struct cql_lexer {
    struct arena *arena;                 /* for names and strings that are not as written */
    struct bytes text;
    const uint8_t *cursor;
    struct cql_position position;        /* of the cursor */
    const uint8_t *starts[CQL_TOKENS_REMEMBERED];    /* a ring: of the newest tokens */
    uint64_t token_count;                /* blanks and comments included */
};

/* The tokens are views into `text` and `arena`.  The byte after the text is 0 and readable. */
void cql_lexer_init(struct cql_lexer *lexer, struct bytes text, struct arena *arena);

/* The next token; CQL_TOKEN_END at the end, again and again.  ERROR_INVALID with Cassandra's text
 * for what is no token. */
must_check int cql_lexer_next(struct cql_lexer *lexer, struct cql_token *token_out,
                              struct error *err);

/* How Cassandra's errors name a kind of token: EOF, K_FROM, '('. */
void cql_lexer_print_kind(int kind, struct buffer *text);

/* Whether a lowercase word is a keyword, reserved or not. */
bool cql_lexer_is_keyword(struct bytes word);

/* UTF-16 units of UTF-8 text, in which Cassandra counts columns. */
uint32_t cql_lexer_units(struct bytes text);
#endif
