/* Prints names, types, terms and relations.
 *
 * Operations need no parentheses, because parentheses that were written are tuples of one term in
 * the tree.  A blank follows a minus, because a minus directly before digits belongs to the number.
 * In a term, a name that is an unreserved keyword is quoted, because the keyword may mean something
 * else there. */
#include "query/cql/syntax/cql_print.h"

#include "query/cql/syntax/cql_lexer.h"
#include "storage/schema/type.h"

/* AS_READ: cql_parse reads the text as the same tree.  AS_SHOWN: the text is as Cassandra shows it
 * in headers and errors. */
enum style { AS_READ, AS_SHOWN };

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

static void print_type(const struct cql_type *type, enum style style, struct buffer *text);

static void print_types(const struct cql_type *types, enum style style, struct buffer *text)
{
    for (const struct cql_type *type = types; type != NULL; type = type->next) {
        if (type != types)
            buffer_append_text(text, ", ");
        print_type(type, style, text);
    }
}

static void print_generic(const struct cql_type *type, const char *name, enum style style,
                          struct buffer *text)
{
    buffer_append_text(text, name);
    buffer_put_u8(text, '<');
    print_types(type->arguments, style, text);
    if (type->kind == CQL_TYPE_VECTOR) {
        buffer_append_text(text, ", ");
        buffer_append_bytes(text, type->dimension);
    }
    buffer_put_u8(text, '>');
}

static void print_user_type(const struct cql_type *type, enum style style, struct buffer *text)
{
    bool is_bare = style == AS_SHOWN || type->name.keyspace.size == 0;

    if (style == AS_READ && is_bare && type_builtin_named(type->name.name) != NULL)
        buffer_append_quoted(text, type->name.name, '"');
    else if (is_bare)
        cql_print_name(type->name.name, text);
    else
        cql_print_qualified(type->name, text);
}

static void print_type(const struct cql_type *type, enum style style, struct buffer *text)
{
    static const char *const names[] = {
        [CQL_TYPE_LIST] = "list",   [CQL_TYPE_SET] = "set",       [CQL_TYPE_MAP] = "map",
        [CQL_TYPE_TUPLE] = "tuple", [CQL_TYPE_FROZEN] = "frozen", [CQL_TYPE_VECTOR] = "vector"};

    if (type->kind == CQL_TYPE_USER)
        print_user_type(type, style, text);
    else if (type->kind == CQL_TYPE_CUSTOM && style == AS_READ)
        cql_print_string(type->name.name, text);
    else if (type->kind == CQL_TYPE_CUSTOM || type->kind == CQL_TYPE_NATIVE)
        buffer_append_bytes(text, type->name.name);
    else
        print_generic(type, names[type->kind], style, text);
}

void cql_print_type(const struct cql_type *type, struct buffer *text)
{
    print_type(type, AS_READ, text);
}

void cql_print_type_plainly(const struct cql_type *type, struct buffer *text)
{
    print_type(type, AS_SHOWN, text);
}

/* ---- terms ---- */

static void print_term(const struct cql_term *term, enum style style, struct buffer *text);

static void put_name(struct bytes name, enum style style, struct buffer *text)
{
    if (style == AS_READ)
        cql_print_name(name, text);
    else
        buffer_append_bytes(text, name);
}

static void print_pairs(const struct cql_term *term, enum style style, struct buffer *text)
{
    buffer_put_u8(text, '{');
    for (const struct cql_term *key = term->arguments; key != NULL; key = key->next->next) {
        if (key != term->arguments)
            buffer_append_text(text, ", ");
        if (key->kind == CQL_TERM_NAME)
            put_name(key->text, style, text);
        else
            print_term(key, style, text);
        buffer_append_text(text, ": ");
        print_term(key->next, style, text);
    }
    buffer_put_u8(text, '}');
}

static void print_enclosed(const struct cql_term *terms, const char *brackets, enum style style,
                           struct buffer *text)
{
    buffer_put_u8(text, (uint8_t)brackets[0]);
    for (const struct cql_term *term = terms; term != NULL; term = term->next) {
        if (term != terms)
            buffer_append_text(text, ", ");
        print_term(term, style, text);
    }
    buffer_put_u8(text, (uint8_t)brackets[1]);
}

static void print_text(const struct cql_term *term, enum style style, struct buffer *text)
{
    if (term->kind == CQL_TERM_NAME && style == AS_READ) {
        print_name_safely(term->text, text);
    } else if (term->kind == CQL_TERM_STRING && style == AS_READ) {
        cql_print_string(term->text, text);
    } else if (term->kind == CQL_TERM_STRING) {
        buffer_put_u8(text, '\'');
        buffer_append_bytes(text, term->text);
        buffer_put_u8(text, '\'');
    } else {
        buffer_append_bytes(text, term->text);
    }
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
    print_enclosed(term->arguments, "()", AS_READ, text);
}

/* As in Cassandra, count of a literal is shown as count, and to_json by its older name. */
static void show_function(const struct cql_term *term, struct buffer *text)
{
    bool is_count = bytes_equal(term->text, bytes_text("count"));

    if (is_count && term->argument_count == 1 && cql_term_is_literal(term->arguments)) {
        buffer_append_text(text, "count");
        return;
    }
    buffer_append_text(text, "system.");
    if (bytes_equal(term->text, bytes_text("to_json")))
        buffer_append_text(text, "tojson");
    else
        buffer_append_bytes(text, term->text);
    print_enclosed(term->arguments, "()", AS_SHOWN, text);
}

static void put_word(const char *as_read, const char *as_shown, enum style style,
                     struct buffer *text)
{
    buffer_append_text(text, style == AS_READ ? as_read : as_shown);
}

static void print_around(const struct cql_term *term, const char *as_read, const char *as_shown,
                         enum style style, struct buffer *text)
{
    put_word(as_read, as_shown, style, text);
    print_term(term->of, style, text);
    buffer_put_u8(text, ')');
}

static void print_cast(const struct cql_term *term, enum style style, struct buffer *text)
{
    put_word("CAST(", "cast(", style, text);
    print_term(term->of, style, text);
    put_word(" AS ", " as ", style, text);
    print_type(term->type, style, text);
    buffer_put_u8(text, ')');
}

static void print_hint(const struct cql_term *term, enum style style, struct buffer *text)
{
    buffer_put_u8(text, '(');
    print_type(term->type, style, text);
    put_word(") ", ")", style, text);
    print_term(term->of, style, text);
}

static void print_operation(const struct cql_term *term, enum style style, struct buffer *text)
{
    print_term(term->arguments, style, text);
    buffer_printf(text, " %c ", term->operation);
    print_term(term->arguments->next, style, text);
}

static void print_subscript(const struct cql_term *term, enum style style, struct buffer *text)
{
    print_term(term->of, style, text);
    buffer_put_u8(text, '[');
    if (term->from != NULL)
        print_term(term->from, style, text);
    if (term->kind == CQL_TERM_SLICE)
        put_word(" .. ", "..", style, text);
    if (term->until != NULL)
        print_term(term->until, style, text);
    buffer_put_u8(text, ']');
}

static void print_marker(const struct cql_term *term, enum style style, struct buffer *text)
{
    buffer_put_u8(text, term->text.size > 0 ? ':' : '?');
    if (term->text.size > 0)
        put_name(term->text, style, text);
}

static void print_term(const struct cql_term *term, enum style style, struct buffer *text)
{
    switch ((int)term->kind) {
    case CQL_TERM_NULL:
        buffer_append_text(text, "NULL");
        return;
    case CQL_TERM_MARKER:
        print_marker(term, style, text);
        return;
    case CQL_TERM_LIST:
        print_enclosed(term->arguments, "[]", style, text);
        return;
    case CQL_TERM_SET:
        print_enclosed(term->arguments, "{}", style, text);
        return;
    case CQL_TERM_MAP:
    case CQL_TERM_UDT:
        print_pairs(term, style, text);
        return;
    case CQL_TERM_TUPLE:
        print_enclosed(term->arguments, "()", style, text);
        return;
    case CQL_TERM_FUNCTION:
        if (style == AS_READ)
            print_function(term, text);
        else
            show_function(term, text);
        return;
    case CQL_TERM_COUNT_ROWS:
        put_word("count(*)", "count", style, text);
        return;
    case CQL_TERM_CAST:
        print_cast(term, style, text);
        return;
    case CQL_TERM_HINT:
        print_hint(term, style, text);
        return;
    case CQL_TERM_OPERATION:
        print_operation(term, style, text);
        return;
    case CQL_TERM_NEGATION:
        put_word("- ", "-", style, text);
        print_term(term->of, style, text);
        return;
    case CQL_TERM_FIELD:
        print_term(term->of, style, text);
        buffer_put_u8(text, '.');
        put_name(term->text, style, text);
        return;
    case CQL_TERM_ELEMENT:
    case CQL_TERM_SLICE:
        print_subscript(term, style, text);
        return;
    case CQL_TERM_WRITETIME:
        print_around(term, "WRITETIME(", "writetime(", style, text);
        return;
    case CQL_TERM_MAXWRITETIME:
        print_around(term, "MAXWRITETIME(", "maxwritetime(", style, text);
        return;
    case CQL_TERM_TTL:
        print_around(term, "TTL(", "ttl(", style, text);
        return;
    default:
        print_text(term, style, text);
        return;
    }
}

void cql_print_term(const struct cql_term *term, struct buffer *text)
{
    print_term(term, AS_READ, text);
}

void cql_print_header(const struct cql_term *term, struct buffer *text)
{
    print_term(term, AS_SHOWN, text);
}

/* ---- parts of statements ---- */

static const char *const operator_texts[] = {
    [CQL_EQ] = " = ",
    [CQL_LT] = " < ",
    [CQL_LE] = " <= ",
    [CQL_GT] = " > ",
    [CQL_GE] = " >= ",
    [CQL_NE] = " != ",
    [CQL_IN] = " IN ",
    [CQL_NOT_IN] = " NOT IN ",
    [CQL_CONTAINS] = " CONTAINS ",
    [CQL_CONTAINS_KEY] = " CONTAINS KEY ",
    [CQL_NOT_CONTAINS] = " NOT CONTAINS ",
    [CQL_NOT_CONTAINS_KEY] = " NOT CONTAINS KEY ",
    [CQL_LIKE] = " LIKE ",
    [CQL_BETWEEN] = " BETWEEN ",
    [CQL_IS_NOT_NULL] = " IS NOT NULL",
};

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

static void print_subject(const struct cql_relation *relation, struct buffer *text)
{
    bool is_token = relation->kind == CQL_RELATION_TOKEN;

    if (is_token || relation->kind == CQL_RELATION_TUPLE) {
        buffer_append_text(text, is_token ? "token(" : "(");
        print_names(relation->columns, text);
        buffer_put_u8(text, ')');
    } else {
        print_place(relation->columns->text, relation->key, relation->field, text);
    }
}

void cql_print_relation(const struct cql_relation *relation, struct buffer *text)
{
    bool is_in = relation->operator== CQL_IN || relation->operator== CQL_NOT_IN;

    if (relation->kind == CQL_RELATION_INDEX) {
        buffer_append_text(text, "expr(");
        cql_print_name(relation->columns->text, text);
        buffer_append_text(text, ", ");
        cql_print_term(relation->values, text);
        buffer_put_u8(text, ')');
        return;
    }
    print_subject(relation, text);
    buffer_append_text(text, operator_texts[relation->operator]);
    if (is_in && !relation->in_marker)
        print_enclosed(relation->values, "()", AS_READ, text);
    else if (relation->values != NULL)
        cql_print_term(relation->values, text);
    if (relation->operator== CQL_BETWEEN) {
        buffer_append_text(text, " AND ");
        cql_print_term(relation->values->next, text);
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
