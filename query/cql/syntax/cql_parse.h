/* cql_parse: the parser of CQL: from text to syntax tree.
 *
 * The grammar is Cassandra 5.0's, with parts of later versions (BETWEEN, NOT IN).  Semicolons
 * may follow a statement. */
#ifndef DAYBOOK_QUERY_CQL_SYNTAX_CQL_PARSE_H
#define DAYBOOK_QUERY_CQL_SYNTAX_CQL_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "query/cql/syntax/cql_ast.h"

struct arena;

enum {
    CQL_PARSE_TEXT_MAX = 16 << 20,       /* bytes of a statement */
    CQL_PARSE_TOKENS_MAX = 1 << 20,      /* words, signs and literals of a statement */
    CQL_PARSE_DEPTH_MAX = 100            /* levels of nested terms, types or parentheses */
};

struct cql_parse_limits {
    size_t text_max;
    uint32_t tokens_max;
    uint32_t depth_max;
};

/* Parse a text; `limits` may be NULL for the limits above.  The tree is in `arena`, and does not
 * point into `text`.  ERROR_INVALID: the text is not UTF-8, or has a syntax error; the error has
 * Cassandra's words.  ERROR_LIMIT: the text is over a limit. */
must_check int cql_parse(struct bytes text, struct arena *arena,
                         const struct cql_parse_limits *limits,
                         const struct cql_statement **statement_out, struct error *err);
#endif
