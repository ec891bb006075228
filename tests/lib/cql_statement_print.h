/* cql_statement_print: a statement's tree as CQL text, by which tests see the whole of it.
 *
 * cql_parse reads the text as the same tree.  Clauses come in the order of the
 * grammar. */
#ifndef DAYBOOK_TESTS_LIB_CQL_STATEMENT_PRINT_H
#define DAYBOOK_TESTS_LIB_CQL_STATEMENT_PRINT_H

#include "base/buffer.h"
#include "query/cql/syntax/cql_ast.h"

/* Without a final semicolon. */
void cql_statement_print(const struct cql_statement *statement, struct buffer *text);
#endif
