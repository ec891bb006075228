/* Printing trees.
 *
 * What decides correctness: the text must be read as the same tree again.  Operations need no
 * parentheses, because those that were written are tuples of one in the tree.  A minus is kept
 * apart from digits behind it, which would make a number of them.  Where the grammar gives an
 * unreserved word a meaning (SELECT json ..., DESCRIBE tables) such a name is quoted. */
#include "query/cql/syntax/cql_print.h"

#include "query/cql/syntax/cql_lexer.h"
#include "storage/schema/type.h"

void cql_print_string(struct bytes string, struct buffer *text)
{
    buffer_append_quoted(text, string, '\'');
}

void cql_print_name(struct bytes name, struct buffer *text)
{
    if (type_name_is_plain(name))
        buffer_append_bytes(text, name);
    else
        buffer_append_quoted(text, name, '"');
}

static void print_name_safely(struct bytes name, struct buffer *text)
{
    if (cql_lexer_is_keyword(name))
        buffer_append_quoted(text, name, '"');
    else
        cql_print_name(name, text);
}

void cql_print_qualified(struct cql_qualified_name name, struct buffer *text)
{
    if (name.keyspace.size > 0) {
        cql_print_name(name.keyspace, text);
        buffer_put_u8(text, '.');
    }
    cql_print_name(name.name, text);
}

static void print_names(const struct cql_name *names, struct buffer *text)
{
    for (const struct cql_name *name = names; name != NULL; name = name->next) {
        if (name != names)
            buffer_append_text(text, ", ");
        cql_print_name(name->text, text);
    }
}

/* ---- types ---- */

static void print_types(const struct cql_type *types, struct buffer *text)
{
    for (const struct cql_type *type = types; type != NULL; type = type->next) {
        if (type != types)
            buffer_append_text(text, ", ");
        cql_print_type(type, text);
    }
}

static void print_generic(const struct cql_type *type, const char *name, struct buffer *text)
{
    buffer_append_text(text, name);
    buffer_put_u8(text, '<');
    print_types(type->arguments, text);
    if (type->kind == CQL_TYPE_VECTOR) {
        buffer_append_text(text, ", ");
        buffer_append_bytes(text, type->dimension);
    }
    buffer_put_u8(text, '>');
}

static void print_user_type(const struct cql_type *type, struct buffer *text)
{
    if (type->name.keyspace.size == 0 && type_name_is_builtin(type->name.name))
        buffer_append_quoted(text, type->name.name, '"');
    else
        cql_print_qualified(type->name, text);
}

void cql_print_type(const struct cql_type *type, struct buffer *text)
{
    switch (type->kind) {
    case CQL_TYPE_NATIVE:
        buffer_append_bytes(text, type->name.name);
        return;
    case CQL_TYPE_USER:
        print_user_type(type, text);
        return;
    case CQL_TYPE_CUSTOM:
        cql_print_string(type->name.name, text);
        return;
    case CQL_TYPE_LIST:
        print_generic(type, "list", text);
        return;
    case CQL_TYPE_SET:
        print_generic(type, "set", text);
        return;
    case CQL_TYPE_MAP:
        print_generic(type, "map", text);
        return;
    case CQL_TYPE_TUPLE:
        print_generic(type, "tuple", text);
        return;
    case CQL_TYPE_FROZEN:
        print_generic(type, "frozen", text);
        return;
    case CQL_TYPE_VECTOR:
        print_generic(type, "vector", text);
        return;
    }
}

/* ---- terms ---- */

static void print_terms(const struct cql_term *terms, struct buffer *text)
{
    for (const struct cql_term *term = terms; term != NULL; term = term->next) {
        if (term != terms)
            buffer_append_text(text, ", ");
        cql_print_term(term, text);
    }
}

static void print_pairs(const struct cql_term *term, struct buffer *text)
{
    buffer_put_u8(text, '{');
    for (const struct cql_term *key = term->arguments; key != NULL; key = key->next->next) {
        if (key != term->arguments)
            buffer_append_text(text, ", ");
        if (key->kind == CQL_TERM_NAME)
            cql_print_name(key->text, text);
        else
            cql_print_term(key, text);
        buffer_append_text(text, ": ");
        cql_print_term(key->next, text);
    }
    buffer_put_u8(text, '}');
}

static void print_enclosed(const struct cql_term *terms, const char *brackets, struct buffer *text)
{
    buffer_put_u8(text, (uint8_t)brackets[0]);
    print_terms(terms, text);
    buffer_put_u8(text, (uint8_t)brackets[1]);
}

static void print_function(const struct cql_term *term, struct buffer *text)
{
    if (term->keyspace.size > 0) {
        print_name_safely(term->keyspace, text);
        buffer_put_u8(text, '.');
    }
    if (term->keyspace.size == 0 && bytes_equal(term->text, bytes_text("token")))
        buffer_append_text(text, "token");
    else if (bytes_equal(term->text, bytes_text("writetime")) ||
             bytes_equal(term->text, bytes_text("maxwritetime")))
        buffer_append_quoted(text, term->text, '"');
    else
        print_name_safely(term->text, text);
    print_enclosed(term->arguments, "()", text);
}

static void print_around(const char *name, const struct cql_term *term, struct buffer *text)
{
    buffer_append_text(text, name);
    buffer_put_u8(text, '(');
    cql_print_term(term->of, text);
    buffer_put_u8(text, ')');
}

static void print_cast(const struct cql_term *term, struct buffer *text)
{
    buffer_append_text(text, "CAST(");
    cql_print_term(term->of, text);
    buffer_append_text(text, " AS ");
    cql_print_type(term->type, text);
    buffer_put_u8(text, ')');
}

static void print_hint(const struct cql_term *term, struct buffer *text)
{
    buffer_put_u8(text, '(');
    cql_print_type(term->type, text);
    buffer_append_text(text, ") ");
    cql_print_term(term->of, text);
}

static void print_operation(const struct cql_term *term, struct buffer *text)
{
    cql_print_term(term->arguments, text);
    buffer_printf(text, " %c ", term->operation);
    cql_print_term(term->arguments->next, text);
}

static void print_subscript(const struct cql_term *term, struct buffer *text)
{
    cql_print_term(term->of, text);
    buffer_put_u8(text, '[');
    if (term->from != NULL)
        cql_print_term(term->from, text);
    if (term->kind == CQL_TERM_SLICE)
        buffer_append_text(text, " .. ");
    if (term->until != NULL)
        cql_print_term(term->until, text);
    buffer_put_u8(text, ']');
}

static void print_marker(const struct cql_term *term, struct buffer *text)
{
    if (term->text.size == 0) {
        buffer_put_u8(text, '?');
        return;
    }
    buffer_put_u8(text, ':');
    cql_print_name(term->text, text);
}

void cql_print_term(const struct cql_term *term, struct buffer *text)
{
    switch (term->kind) {
    case CQL_TERM_STRING:
        cql_print_string(term->text, text);
        return;
    case CQL_TERM_INTEGER:
    case CQL_TERM_FLOAT:
    case CQL_TERM_BOOLEAN:
    case CQL_TERM_UUID:
    case CQL_TERM_BLOB:
    case CQL_TERM_DURATION:
        buffer_append_bytes(text, term->text);
        return;
    case CQL_TERM_NULL:
        buffer_append_text(text, "NULL");
        return;
    case CQL_TERM_MARKER:
        print_marker(term, text);
        return;
    case CQL_TERM_LIST:
        print_enclosed(term->arguments, "[]", text);
        return;
    case CQL_TERM_SET:
        print_enclosed(term->arguments, "{}", text);
        return;
    case CQL_TERM_MAP:
    case CQL_TERM_UDT:
        print_pairs(term, text);
        return;
    case CQL_TERM_TUPLE:
        print_enclosed(term->arguments, "()", text);
        return;
    case CQL_TERM_FUNCTION:
        print_function(term, text);
        return;
    case CQL_TERM_COUNT_ROWS:
        buffer_append_text(text, "count(*)");
        return;
    case CQL_TERM_CAST:
        print_cast(term, text);
        return;
    case CQL_TERM_HINT:
        print_hint(term, text);
        return;
    case CQL_TERM_OPERATION:
        print_operation(term, text);
        return;
    case CQL_TERM_NEGATION:
        buffer_append_text(text, "- ");
        cql_print_term(term->of, text);
        return;
    case CQL_TERM_NAME:
        print_name_safely(term->text, text);
        return;
    case CQL_TERM_FIELD:
        cql_print_term(term->of, text);
        buffer_put_u8(text, '.');
        cql_print_name(term->text, text);
        return;
    case CQL_TERM_ELEMENT:
    case CQL_TERM_SLICE:
        print_subscript(term, text);
        return;
    case CQL_TERM_WRITETIME:
        print_around("WRITETIME", term, text);
        return;
    case CQL_TERM_MAXWRITETIME:
        print_around("MAXWRITETIME", term, text);
        return;
    case CQL_TERM_TTL:
        print_around("TTL", term, text);
        return;
    }
}

/* ---- parts of statements ---- */

static const char *operator_text(enum cql_operator operator)
{
    switch (operator) {
    case CQL_EQ:
        return " = ";
    case CQL_LT:
        return " < ";
    case CQL_LE:
        return " <= ";
    case CQL_GT:
        return " > ";
    case CQL_GE:
        return " >= ";
    case CQL_NE:
        return " != ";
    case CQL_IN:
        return " IN ";
    case CQL_NOT_IN:
        return " NOT IN ";
    case CQL_CONTAINS:
        return " CONTAINS ";
    case CQL_CONTAINS_KEY:
        return " CONTAINS KEY ";
    case CQL_NOT_CONTAINS:
        return " NOT CONTAINS ";
    case CQL_NOT_CONTAINS_KEY:
        return " NOT CONTAINS KEY ";
    case CQL_LIKE:
        return " LIKE ";
    case CQL_BETWEEN:
        return " BETWEEN ";
    case CQL_IS_NOT_NULL:
        return " IS NOT NULL";
    }
    check(false);
    return NULL;
}

/* What stands left of the operator. */
static void print_subject(const struct cql_relation *relation, struct buffer *text)
{
    switch (relation->kind) {
    case CQL_RELATION_COLUMN:
        cql_print_name(relation->columns->text, text);
        return;
    case CQL_RELATION_ELEMENT:
        cql_print_name(relation->columns->text, text);
        buffer_put_u8(text, '[');
        cql_print_term(relation->key, text);
        buffer_put_u8(text, ']');
        return;
    case CQL_RELATION_FIELD:
        cql_print_name(relation->columns->text, text);
        buffer_put_u8(text, '.');
        cql_print_name(relation->field, text);
        return;
    case CQL_RELATION_TOKEN:
        buffer_append_text(text, "token");
        break;
    case CQL_RELATION_TUPLE:
    case CQL_RELATION_INDEX:
        break;
    }
    buffer_put_u8(text, '(');
    print_names(relation->columns, text);
    buffer_put_u8(text, ')');
}

static void print_index_relation(const struct cql_relation *relation, struct buffer *text)
{
    buffer_append_text(text, "expr(");
    print_names(relation->columns, text);
    buffer_append_text(text, ", ");
    cql_print_term(relation->values, text);
    buffer_put_u8(text, ')');
}

void cql_print_relation(const struct cql_relation *relation, struct buffer *text)
{
    bool is_in = relation->operator== CQL_IN || relation->operator== CQL_NOT_IN;

    if (relation->kind == CQL_RELATION_INDEX) {
        print_index_relation(relation, text);
        return;
    }
    print_subject(relation, text);
    buffer_append_text(text, operator_text(relation->operator));
    if (is_in && !relation->in_marker) {
        buffer_put_u8(text, '(');
        print_terms(relation->values, text);
        buffer_put_u8(text, ')');
    } else if (relation->operator== CQL_BETWEEN) {
        cql_print_term(relation->values, text);
        buffer_append_text(text, " AND ");
        cql_print_term(relation->values->next, text);
    } else if (relation->values != NULL) {
        cql_print_term(relation->values, text);
    }
}

/* column, column[key] or column.field. */
static void print_place(struct bytes column, const struct cql_term *key, struct bytes field,
                        struct buffer *text)
{
    cql_print_name(column, text);
    if (key != NULL) {
        buffer_put_u8(text, '[');
        cql_print_term(key, text);
        buffer_put_u8(text, ']');
    }
    if (field.size > 0) {
        buffer_put_u8(text, '.');
        cql_print_name(field, text);
    }
}

void cql_print_assignment(const struct cql_assignment *assignment, struct buffer *text)
{
    print_place(assignment->column, assignment->key, assignment->field, text);
    buffer_append_text(text, " = ");
    if (assignment->kind == CQL_ASSIGN_ADD || assignment->kind == CQL_ASSIGN_SUBTRACT) {
        cql_print_name(assignment->column, text);
        buffer_append_text(text, assignment->kind == CQL_ASSIGN_ADD ? " + " : " - ");
    }
    cql_print_term(assignment->value, text);
    if (assignment->kind == CQL_ASSIGN_PREPEND) {
        buffer_append_text(text, " + ");
        cql_print_name(assignment->column, text);
    }
}
