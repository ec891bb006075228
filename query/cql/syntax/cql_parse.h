/* cql_parse: the parser of CQL: from text to syntax tree.
 *
 * The lexer is cql_lexer.re, and the grammar is cql_grammar.y: the whole language of Cassandra 5.0,
 * and some of what later versions added (BETWEEN, NOT IN).  Semicolons may follow a statement. */
#ifndef DAYBOOK_QUERY_CQL_SYNTAX_CQL_PARSE_H
#define DAYBOOK_QUERY_CQL_SYNTAX_CQL_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "query/cql/syntax/cql_ast.h"

struct arena;

enum {
    CQL_PARSE_TEXT_MAX = 16 << 20,       /* bytes of a statement */
    CQL_PARSE_TOKENS_MAX = 1 << 20,      /* words, signs and literals of a statement */
    CQL_PARSE_DEPTH_MAX = 100            /* nested terms, types or parentheses */
};

struct cql_parse_limits {
    size_t text_max;
    uint32_t tokens_max;
    uint32_t depth_max;
};

/* Parse a text; NULL as `limits` stands for CQL_PARSE_*.  The tree is in `arena`, not in `text`.
 * ERROR_INVALID: the text is not UTF-8, or has a syntax error, with Cassandra's words for it ("line
 * 1:7 no viable alternative at input ...").  ERROR_LIMIT: the text is over a limit.  The arena may
 * hold parts of a tree after an error. */
must_check int cql_parse(struct bytes text, struct arena *arena,
                         const struct cql_parse_limits *limits,
                         const struct cql_statement **statement_out, struct error *err);
#endif
