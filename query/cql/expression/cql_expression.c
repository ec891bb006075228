/* A literal or a marker takes the type of the column, element or argument whose value it is.
 * Columns and functions have types of their own.
 *
 * A constant is null or a valid serialized value of the expression's type.  So it can be stored
 * without a further check. */

#include "query/cql/common/cql_scope.h"
#include "query/cql/expression/cql_expression_private.h"
#include "query/cql/expression/cql_literal_value.h"
#include "query/cql/syntax/cql_print.h"

struct cql_expression *cql_expression_new(struct cql_scope *scope, enum cql_expression_kind kind,
                                          const struct type *type, uint32_t argument_count)
{
    struct cql_expression *expression = arena_alloc(scope->arena, sizeof(*expression), 16);
    *expression = (struct cql_expression){
        .kind = kind, .type = type, .receiver = "", .argument_count = argument_count};
    expression->arguments = cql_scope_array(scope, argument_count, sizeof(struct cql_expression *));
    return expression;
}

const char *cql_expression_text(struct cql_scope *scope, const struct cql_term *term)
{
    struct buffer name = {.arena = scope->arena};
    cql_print_header(term, &name);
    return cql_text(scope->arena, buffer_view(&name));
}

int cql_expression_untyped(struct cql_scope *scope, const struct cql_term *term)
{
    return cql_invalid(scope->fault,
                       "Cannot infer type for term %s in selection clause (try using a cast to "
                       "force a type)",
                       cql_expression_text(scope, term));
}

const char *cql_expression_part(struct cql_scope *scope, const char *part, const char *of)
{
    return cql_text_printf(scope->arena, "%s(%s)", part, of);
}

bool cql_expression_is_typed(const struct cql_term *term, bool is_argument)
{
    if (cql_term_is_literal(term))
        return is_argument;
    switch ((int)term->kind) {
    case CQL_TERM_NULL:
    case CQL_TERM_MARKER:
    case CQL_TERM_MAP:
    case CQL_TERM_UDT:
        return false;
    case CQL_TERM_LIST:
    case CQL_TERM_SET:
    case CQL_TERM_TUPLE:
        for (const struct cql_term *item = term->arguments; item != NULL; item = item->next)
            if (!cql_expression_is_typed(item, is_argument))
                return false;
        return term->arguments != NULL;
    default:
        return true;
    }
}

int cql_expression_fit(struct cql_scope *scope, const struct cql_place *place,
                       const struct cql_expression *expression, const char *what)
{
    if (place->type == NULL || cql_type_fits(place->type, expression->type))
        return 0;
    if (place->misfit != NULL)
        return cql_invalid(scope->fault, "%s", place->misfit);
    return cql_invalid(scope->fault,
                       "Type error: cannot assign result of function %s (type %s) to %s (type %s)",
                       what, cql_type_name(scope, expression->type), place->receiver,
                       cql_type_name(scope, place->type));
}

int cql_expression_udt_field(const struct type *type, struct bytes name)
{
    for (uint32_t i = 0; type->kind == TYPE_UDT && i < type->argument_count; i++)
        if (bytes_equal(bytes_text(type->field_names[i]), name))
            return (int)i;
    return -1;
}

/* ---- markers ---- */

static void set_marker(struct cql_scope *scope, uint32_t marker, const struct type *type,
                       const char *name)
{
    check(marker < scope->marker_count);
    struct cql_column *column = &scope->markers[marker];
    if (column->name == NULL)
        column->name = name;
    column->type = type;
    column->keyspace = scope->table != NULL ? scope->table->keyspace : scope->keyspace;
    column->table = scope->table != NULL ? scope->table->name : "";
}

static int resolve_marker(struct cql_scope *scope, const struct cql_term *term,
                          const struct cql_place *place, struct cql_expression **out)
{
    if (place->type == NULL)
        return cql_expression_untyped(scope, term);
    *out = cql_expression_new(scope, CQL_EXPRESSION_MARKER, place->type, 0);
    (*out)->index = term->marker;
    (*out)->receiver = place->receiver;
    set_marker(scope, term->marker, place->type, place->receiver);
    return 0;
}

/* ---- type hints ---- */

static int hint_refused(struct cql_scope *scope, const struct cql_term *term, const char *receiver,
                        const struct type *type)
{
    return cql_invalid(scope->fault, "Cannot assign value %s to %s of type %s",
                       cql_expression_text(scope, term), receiver, cql_type_name(scope, type));
}

static int resolve_hint(struct cql_scope *scope, const struct cql_term *term,
                        const struct cql_place *place, struct cql_expression **out)
{
    struct cql_place within = *place;
    int rc = cql_type_resolve(scope, term->type, &within.type);
    if (rc != 0)
        return rc;
    const struct type *type = within.type;
    if (cql_term_is_literal(term->of) && !cql_literal_value_fits(term->of, type))
        return hint_refused(scope, term, cql_expression_text(scope, term), type);
    bool is_column = term->of->kind == CQL_TERM_NAME;
    within.type = is_column ? NULL : type;
    rc = cql_expression_resolve(scope, term->of, &within, out);
    if (rc == 0 && is_column && !cql_type_fits(type, (*out)->type))
        return hint_refused(scope, term, cql_expression_text(scope, term), type);
    if (rc == 0 && place->type != NULL && !cql_type_fits(place->type, type))
        return hint_refused(scope, term, place->receiver, place->type);
    return rc;
}

/* ---- columns ---- */

static int resolve_column(struct cql_scope *scope, const struct cql_term *term,
                          const struct cql_place *place, struct cql_expression **out)
{
    if (place->table == NULL) {
        return cql_invalid(scope->fault, "Invalid term %.*s: a column cannot stand here",
                           CQL_SHOW(term->text));
    }
    const struct column *column = cql_scope_column(scope, place->table, term->text);
    if (column == NULL)
        return ERROR_INVALID;
    *out = cql_expression_new(scope, CQL_EXPRESSION_COLUMN, column->type, 0);
    (*out)->column = column;
    return cql_expression_fit(scope, place, *out, column->name);
}

/* NULL: the term is refused. */
static struct cql_expression *resolve_source(struct cql_scope *scope, const struct cql_term *term,
                                             const struct cql_place *place)
{
    struct cql_place within = *place;
    struct cql_expression *of;
    within.type = NULL;
    return cql_expression_resolve(scope, term, &within, &of) == 0 ? of : NULL;
}

static int resolve_field(struct cql_scope *scope, const struct cql_term *term,
                         const struct cql_place *place, struct cql_expression **out)
{
    struct cql_expression *of = resolve_source(scope, term->of, place);
    if (of == NULL)
        return ERROR_INVALID;
    int field = cql_expression_udt_field(of->type, term->text);
    if (of->type->kind != TYPE_UDT) {
        return cql_invalid(scope->fault,
                           "Invalid field selection: %s of type %s is not a user type",
                           cql_expression_text(scope, term->of), cql_type_name(scope, of->type));
    }
    if (field < 0) {
        return cql_invalid(scope->fault, "%s of type %s has no field %.*s",
                           cql_expression_text(scope, term->of), cql_type_name(scope, of->type),
                           CQL_SHOW(term->text));
    }
    *out = cql_expression_new(scope, CQL_EXPRESSION_FIELD, of->type->arguments[field], 1);
    (*out)->arguments[0] = of;
    (*out)->index = (uint32_t)field;
    return cql_expression_fit(scope, place, *out, "field");
}

static int resolve_element(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out)
{
    struct cql_expression *of = resolve_source(scope, term->of, place);
    if (of == NULL)
        return ERROR_INVALID;
    bool is_slice = term->kind == CQL_TERM_SLICE;
    if (of->type->kind == TYPE_LIST) {
        return cql_invalid(scope->fault,
                           "%s selection is only allowed on sets and maps, but %s is a list",
                           is_slice ? "Slice" : "Element", cql_expression_text(scope, term->of));
    }
    if (of->type->kind != TYPE_MAP && of->type->kind != TYPE_SET) {
        return cql_invalid(scope->fault,
                           "Invalid element selection: %s is of type %s is not a "
                           "collection",
                           of->column != NULL ? of->column->name : "value",
                           cql_type_name(scope, of->type));
    }
    const struct type *result =
        is_slice ? of->type : of->type->arguments[of->type->kind == TYPE_MAP ? 1 : 0];
    *out = cql_expression_new(scope, is_slice ? CQL_EXPRESSION_SLICE : CQL_EXPRESSION_ELEMENT,
                              result, is_slice ? 3 : 2);
    (*out)->arguments[0] = of;
    struct cql_place within = *place;
    within.type = of->type->arguments[0];
    within.receiver = cql_expression_part(scope, of->type->kind == TYPE_MAP ? "key" : "value",
                                          cql_expression_text(scope, term->of));
    int rc = 0;
    if (term->from != NULL)
        rc = cql_expression_resolve(scope, term->from, &within, &(*out)->arguments[1]);
    if (rc == 0 && is_slice && term->until != NULL)
        rc = cql_expression_resolve(scope, term->until, &within, &(*out)->arguments[2]);
    return rc == 0 ? cql_expression_fit(scope, place, *out, "element") : rc;
}

static int resolve_times(struct cql_scope *scope, const struct cql_term *term,
                         const struct cql_place *place, struct cql_expression **out)
{
    bool is_ttl = term->kind == CQL_TERM_TTL;
    struct cql_expression *of = resolve_source(scope, term->of, place);
    if (of == NULL)
        return ERROR_INVALID;
    const struct cql_expression *root = of;
    bool is_one = false; /* an element or a field is chosen, or a part of one */
    for (; root->argument_count > 0; root = root->arguments[0])
        is_one |= root->kind != CQL_EXPRESSION_SLICE;
    const struct column *column = root->column;
    if (column == NULL || column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING) {
        const char *latest = term->kind == CQL_TERM_MAXWRITETIME ? "maxwritetime" : "writetime";
        return cql_invalid(scope->fault, "Cannot use selection function %s on PRIMARY KEY part %s",
                           is_ttl ? "ttl" : latest, column == NULL ? "" : column->name);
    }
    bool is_many = type_is_complex(column->type) && !is_one && term->kind != CQL_TERM_MAXWRITETIME;
    const struct type *type = type_builtin(is_ttl ? TYPE_INT : TYPE_BIGINT);
    if (is_many) {
        int rc =
            schema_parse_type(scope->schema, "", bytes_text(is_ttl ? "list<int>" : "list<bigint>"),
                              scope->arena, &type, NULL);
        check(rc == 0);
    }
    *out =
        cql_expression_new(scope, is_ttl ? CQL_EXPRESSION_TTL : CQL_EXPRESSION_WRITETIME, type, 1);
    (*out)->column = column;
    (*out)->arguments[0] = of;
    (*out)->index = term->kind == CQL_TERM_MAXWRITETIME;
    return 0;
}

int cql_expression_resolve(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out)
{
    *out = NULL;
    switch (term->kind) {
    case CQL_TERM_STRING:
    case CQL_TERM_INTEGER:
    case CQL_TERM_FLOAT:
    case CQL_TERM_BOOLEAN:
    case CQL_TERM_UUID:
    case CQL_TERM_BLOB:
    case CQL_TERM_DURATION:
        return cql_expression_literal(scope, term, place, out);
    case CQL_TERM_NULL:
        if (place->type == NULL)
            return cql_expression_untyped(scope, term);
        *out = cql_expression_new(scope, CQL_EXPRESSION_VALUE, place->type, 0);
        (*out)->receiver = place->receiver;
        return 0;
    case CQL_TERM_MARKER:
        return resolve_marker(scope, term, place, out);
    case CQL_TERM_LIST:
    case CQL_TERM_SET:
    case CQL_TERM_MAP:
    case CQL_TERM_UDT:
    case CQL_TERM_TUPLE:
        return cql_expression_collection(scope, term, place, out);
    case CQL_TERM_FUNCTION:
        return cql_expression_function(scope, term, place, out);
    case CQL_TERM_COUNT_ROWS:
        return cql_expression_count_rows(scope, place, out);
    case CQL_TERM_CAST:
        return cql_expression_cast(scope, term, place, out);
    case CQL_TERM_HINT:
        return resolve_hint(scope, term, place, out);
    case CQL_TERM_OPERATION:
        return cql_expression_operation(scope, term, place, out);
    case CQL_TERM_NEGATION:
        return cql_expression_negation(scope, term, place, out);
    case CQL_TERM_NAME:
        return resolve_column(scope, term, place, out);
    case CQL_TERM_FIELD:
        return resolve_field(scope, term, place, out);
    case CQL_TERM_ELEMENT:
    case CQL_TERM_SLICE:
        return resolve_element(scope, term, place, out);
    case CQL_TERM_WRITETIME:
    case CQL_TERM_MAXWRITETIME:
    case CQL_TERM_TTL:
        return resolve_times(scope, term, place, out);
    }
    return cql_invalid(scope->fault, "Invalid term");
}

int cql_expression_resolve_value(struct cql_scope *scope, const struct cql_term *term,
                                 const struct type *type, const char *receiver,
                                 struct cql_expression **out)
{
    struct cql_place place = {.type = type, .receiver = receiver};
    return cql_expression_resolve(scope, term, &place, out);
}
