/* cql_print: prints parts of the syntax tree as CQL text: names, types, terms, relations.
 *
 * cql_parse reads the text as the same tree, unless cql_print_header or cql_print_type_plainly
 * printed it. */
#ifndef DAYBOOK_QUERY_CQL_SYNTAX_CQL_PRINT_H
#define DAYBOOK_QUERY_CQL_SYNTAX_CQL_PRINT_H

#include "base/buffer.h"
#include "query/cql/syntax/cql_ast.h"

void cql_print_term(const struct cql_term *term, struct buffer *text);
/* The column header of a term, as Cassandra shows it: system.min(v), writetime(v). */
void cql_print_header(const struct cql_term *term, struct buffer *text);
void cql_print_assignment(const struct cql_assignment *assignment, struct buffer *text);
void cql_print_relation(const struct cql_relation *relation, struct buffer *text);
/* schema_parse_type reads the text, too, except for vectors and custom classes. */
void cql_print_type(const struct cql_type *type, struct buffer *text);
/* Print a type for messages: without keyspaces, and a custom class without quotes. */
void cql_print_type_plainly(const struct cql_type *type, struct buffer *text);
/* Print a name, in double quotes unless it is a plain lowercase identifier and no reserved word. */
void cql_print_name(struct bytes name, struct buffer *text);
void cql_print_qualified(struct cql_qualified_name name, struct buffer *text);
/* Single quotes within the string are doubled. */
void cql_print_string(struct bytes string, struct buffer *text);
#endif
