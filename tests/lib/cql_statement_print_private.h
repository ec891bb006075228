/* cql_statement_print_private: what the printers of data statements, definitions and statements
 * about roles share. */
#ifndef DAYBOOK_TESTS_LIB_CQL_STATEMENT_PRINT_PRIVATE_H
#define DAYBOOK_TESTS_LIB_CQL_STATEMENT_PRINT_PRIVATE_H

#include "query/cql/syntax/cql_print.h"
#include "tests/lib/cql_statement_print.h"

/* Quoted if it is any keyword, reserved or not. */
void cql_print_name_safely(struct bytes name, struct buffer *text);
/* Lists, with commas between. */
void cql_print_names(const struct cql_name *names, struct buffer *text);
void cql_print_types(const struct cql_type *types, struct buffer *text);
void cql_print_terms(const struct cql_term *terms, struct buffer *text);
void cql_print_selectors(const struct cql_selector *selectors, struct buffer *text);

/* " WHERE ...", or nothing. */
void cql_print_where(const struct cql_relation *where, struct buffer *text);

/* For the kinds of statements in cql_statement_print_definition.c and cql_statement_print_role.c.
 * False: the kind is none of theirs. */
bool cql_print_definition(const struct cql_statement *statement, struct buffer *text);
bool cql_print_role(const struct cql_statement *statement, struct buffer *text);

/* `words` if `condition` holds. */
static inline void cql_print_words(struct buffer *text, bool condition, const char *words)
{
    if (condition)
        buffer_append_text(text, words);
}
#endif
