/* Terms get their types from where they stand: a literal or marker takes the type of the column,
 * element or argument it is for; columns and functions bring their own, which must fit.
 *
 * What decides correctness: a value that leaves here is a valid serialized value of the
 * expression's type, with sets and maps in it sorted, because the store takes it as it is.
 *
 *   INSERT INTO t (k, s) VALUES (1, {'b', ?})     s set<text>: the marker is `value(s)`, text */
#include "query/cql/cql_expression.h"

#include <string.h>

#include "query/cql/cql_function.h"
#include "query/cql/cql_literal_value.h"

static int resolve(struct cql_scope *scope, const struct cql_term *term,
                   const struct cql_place *place, struct cql_expression **out);

static struct cql_expression *expression_new(struct cql_scope *scope,
                                             enum cql_expression_kind kind,
                                             const struct type *type, uint32_t argument_count)
{
    struct cql_expression *expression = arena_alloc(scope->arena, sizeof(*expression), 16);
    *expression = (struct cql_expression){
        .kind = kind, .type = type, .receiver = "", .argument_count = argument_count};
    size_t size = argument_count * sizeof(struct cql_expression *);
    expression->arguments = arena_alloc(scope->arena, size, 16);
    memset(expression->arguments, 0, size);
    return expression;
}

/* ---- types ---- */

void cql_type_text(const struct cql_type *type, struct buffer *text)
{
    static const char *const names[] = {[CQL_TYPE_LIST] = "list",     [CQL_TYPE_SET] = "set",
                                        [CQL_TYPE_MAP] = "map",       [CQL_TYPE_TUPLE] = "tuple",
                                        [CQL_TYPE_FROZEN] = "frozen", [CQL_TYPE_VECTOR] = "vector"};
    if (type->arguments == NULL) {
        struct buffer name = {0};
        buffer_append_bytes(&name, type->name.name);
        buffer_put_u8(&name, 0);
        if (type->kind == CQL_TYPE_USER) {
            type_print_name((const char *)name.data, text);
        } else {
            buffer_append_bytes(text, type->name.name);
        }
        buffer_release(&name);
        return;
    }
    buffer_append_text(text, names[type->kind]);
    const char *separator = "<";
    for (const struct cql_type *argument = type->arguments; argument != NULL;
         argument = argument->next) {
        buffer_append_text(text, separator);
        cql_type_text(argument, text);
        separator = ", ";
    }
    if (type->kind == CQL_TYPE_VECTOR) {
        buffer_append_text(text, ", ");
        buffer_append_bytes(text, type->dimension);
    }
    buffer_put_u8(text, '>');
}

static const char *type_name(struct cql_scope *scope, const struct type *type)
{
    struct buffer text = {0};
    type_print(type, &text);
    const char *name = cql_text(scope->arena, buffer_view(&text));
    buffer_release(&text);
    return name;
}

int cql_type_resolve(struct cql_scope *scope, const struct cql_type *type,
                     const struct type **type_out)
{
    struct buffer text = {0};
    struct error err = {0};
    cql_type_text(type, &text);
    int rc = schema_parse_type(scope->schema, scope->keyspace, buffer_view(&text), scope->arena,
                               type_out, &err);
    buffer_release(&text);
    return rc == 0 ? 0 : cql_fault_of(scope->fault, &err);
}

/* Whether a value of type `from` is one of type `to` as it is. */
static bool type_fits(const struct type *to, const struct type *from)
{
    if (to->kind == TYPE_BLOB || (to->kind == TYPE_TEXT && from->kind == TYPE_ASCII) ||
        (to->kind == TYPE_UUID && from->kind == TYPE_TIMEUUID) ||
        (to->kind == TYPE_BIGINT && from->kind == TYPE_COUNTER) ||
        (to->kind == TYPE_COUNTER && from->kind == TYPE_BIGINT)) {
        return true;
    }
    if (to->kind != from->kind || to->argument_count != from->argument_count) {
        return false;
    }
    bool fits = true;
    for (uint32_t i = 0; i < to->argument_count && fits; i++) {
        fits = type_fits(to->arguments[i], from->arguments[i]);
    }
    return fits;
}

/* ---- markers ---- */

int cql_expression_set_marker(struct cql_scope *scope, uint32_t marker, const struct type *type,
                              const char *name)
{
    check(marker < scope->marker_count);
    struct cql_column *column = &scope->markers[marker];
    if (column->name == NULL) {
        column->name = name;
    }
    column->type = type;
    column->keyspace = scope->table != NULL ? scope->table->keyspace : scope->keyspace;
    column->table = scope->table != NULL ? scope->table->name : "";
    return 0;
}

static int resolve_marker(struct cql_scope *scope, const struct cql_term *term,
                          const struct cql_place *place, struct cql_expression **out)
{
    if (place->type == NULL) {
        return cql_invalid(scope->fault,
                           "Cannot infer type for term ? in selection clause (try using a cast to "
                           "force a type)");
    }
    *out = expression_new(scope, CQL_EXPRESSION_MARKER, place->type, 0);
    (*out)->index = term->marker;
    (*out)->receiver = place->receiver;
    return cql_expression_set_marker(scope, term->marker, place->type, place->receiver);
}

/* ---- literals ---- */

static int resolve_literal(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out)
{
    const struct type *type =
        place->type != NULL ? place->type : cql_literal_value_natural(term);
    if (!cql_literal_value_fits(term, type)) {
        return cql_invalid(scope->fault, "Invalid %s constant (%.*s) for \"%s\" of type %s",
                           cql_literal_value_kind(term), CQL_SHOW(term->text), place->receiver,
                           type_name(scope, type));
    }
    *out = expression_new(scope, CQL_EXPRESSION_VALUE, type, 0);
    (*out)->receiver = place->receiver;
    struct buffer value = {0};
    struct error err = {0};
    int rc = cql_literal_value(term, type, &value, &err);
    (*out)->value =
        value.size == 0 ? bytes_of("", 0) : arena_copy(scope->arena, buffer_view(&value));
    buffer_release(&value);
    return rc == 0 ? 0 : cql_fault_of(scope->fault, &err);
}

/* What kind of brackets a literal has, in refusals. */
static const char *collection_word(const struct cql_term *term)
{
    switch ((int)term->kind) {
    case CQL_TERM_LIST:
        return "list";
    case CQL_TERM_SET:
        return "set";
    case CQL_TERM_MAP:
        return "map";
    case CQL_TERM_TUPLE:
        return "tuple";
    default:
        return "user type";
    }
}

static const char *part_name(struct cql_scope *scope, const char *part, const char *of)
{
    struct buffer text = {0};
    buffer_printf(&text, "%s(%s)", part, of);
    const char *name = cql_text(scope->arena, buffer_view(&text));
    buffer_release(&text);
    return name;
}

/* The type of item `index` of a collection literal, and what it is called. */
static const struct type *item_type(struct cql_scope *scope, const struct type *type,
                                    uint32_t index, const char *receiver, const char **name_out)
{
    const char *part = type->kind == TYPE_MAP && index % 2 == 0 ? "key" : "value";
    *name_out = part_name(scope, type->kind == TYPE_TUPLE ? "tuple" : part, receiver);
    if (type->kind == TYPE_TUPLE) {
        return type->arguments[index];
    }
    return type->arguments[type->kind == TYPE_MAP ? index % 2 : 0];
}

static int resolve_items(struct cql_scope *scope, const struct cql_term *term,
                         const struct cql_place *place, struct cql_expression *collection)
{
    const struct type *type = collection->type;
    uint32_t index = 0;
    for (const struct cql_term *item = term->arguments; item != NULL; item = item->next, index++) {
        struct cql_place within = *place;
        within.type = item_type(scope, type, index, place->receiver, &within.receiver);
        if (item->kind == CQL_TERM_NULL && type->kind != TYPE_TUPLE) {
            return cql_invalid(scope->fault, "null is not supported inside collections");
        }
        int rc = resolve(scope, item, &within, &collection->arguments[index]);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int udt_field(const struct type *type, struct bytes name)
{
    for (uint32_t i = 0; i < type->argument_count; i++) {
        if (bytes_equal(bytes_text(type->field_names[i]), name)) {
            return (int)i;
        }
    }
    return -1;
}

static int resolve_udt(struct cql_scope *scope, const struct cql_term *term,
                       const struct cql_place *place, struct cql_expression **out)
{
    const struct type *type = place->type;
    *out = expression_new(scope, CQL_EXPRESSION_COLLECTION, type, type->argument_count);
    const struct cql_term *name = term->arguments;
    while (name != NULL && name->next != NULL) {
        int field = udt_field(type, name->text);
        if (field < 0) {
            return cql_invalid(scope->fault,
                               "Unknown field '%.*s' in value of user defined type %s",
                               CQL_SHOW(name->text), type->name);
        }
        struct cql_place within = *place;
        within.type = type->arguments[field];
        within.receiver = type->field_names[field];
        int rc = resolve(scope, name->next, &within, &(*out)->arguments[field]);
        if (rc != 0) {
            return rc;
        }
        name = name->next->next;
    }
    return 0;
}

static bool brackets_fit(const struct cql_term *term, const struct type *type)
{
    switch ((int)term->kind) {
    case CQL_TERM_LIST:
        return type->kind == TYPE_LIST;
    case CQL_TERM_SET:
        return type->kind == TYPE_SET ||
               (term->arguments == NULL && (type->kind == TYPE_MAP || type->kind == TYPE_UDT));
    case CQL_TERM_MAP:
        return type->kind == TYPE_MAP;
    case CQL_TERM_TUPLE:
        return type->kind == TYPE_TUPLE;
    default:
        return type->kind == TYPE_UDT;
    }
}

static int resolve_collection(struct cql_scope *scope, const struct cql_term *term,
                              const struct cql_place *place, struct cql_expression **out)
{
    const struct type *type = place->type;
    bool is_parenthesis = term->kind == CQL_TERM_TUPLE && term->argument_count == 1;
    if (is_parenthesis && (type == NULL || type->kind != TYPE_TUPLE)) {
        return resolve(scope, term->arguments, place, out);
    }
    if (type == NULL) {
        return cql_invalid(scope->fault, "Cannot infer type for term in selection clause (try "
                                         "using a cast to force a type)");
    }
    if (!brackets_fit(term, type)) {
        return cql_invalid(scope->fault, "Invalid %s literal for %s of type %s",
                           collection_word(term), place->receiver, type_name(scope, type));
    }
    if (type->kind == TYPE_UDT) {
        return resolve_udt(scope, term, place, out);
    }
    if (type->kind == TYPE_TUPLE && term->argument_count > type->argument_count) {
        return cql_invalid(scope->fault,
                           "Invalid tuple literal for %s: too many elements. Type %s expects %u "
                           "but got %u",
                           place->receiver, type_name(scope, type), type->argument_count,
                           term->argument_count);
    }
    uint32_t count = type->kind == TYPE_TUPLE ? type->argument_count : term->argument_count;
    *out = expression_new(scope, CQL_EXPRESSION_COLLECTION, type, count);
    (*out)->receiver = place->receiver;
    return resolve_items(scope, term, place, *out);
}

/* ---- calls ---- */

static int check_fit(struct cql_scope *scope, const struct cql_place *place,
                     const struct cql_expression *expression, const char *what)
{
    if (place->type == NULL || type_fits(place->type, expression->type)) {
        return 0;
    }
    return cql_invalid(scope->fault,
                       "Type error: cannot assign result of function %s (type %s) to %s (type %s)",
                       what, type_name(scope, expression->type), place->receiver,
                       type_name(scope, place->type));
}

static int argument_count_refused(struct cql_scope *scope, const struct cql_function *function,
                                  uint32_t count)
{
    return cql_invalid(scope->fault,
                       "Invalid number of arguments in call to function system.%s: %u required "
                       "but %u provided",
                       function->name, function->arguments_min, count);
}

static int resolve_arguments(struct cql_scope *scope, const struct cql_term *arguments,
                             const struct cql_place *place, struct cql_call *call,
                             struct cql_expression *expression)
{
    const struct cql_term *argument = arguments;
    for (uint32_t i = 0; i < call->count; i++, argument = argument->next) {
        struct cql_place within = *place;
        struct buffer name = {0};
        buffer_printf(&name, "arg%u(system.%s)", i, call->function->name);
        within.receiver = cql_text(scope->arena, buffer_view(&name));
        buffer_release(&name);
        within.type = call->function->wants != NULL ? call->function->wants(call, i) : NULL;
        if (call->function->is_aggregate) {
            within.aggregates = NULL;
        }
        int rc = resolve(scope, argument, &within, &expression->arguments[i]);
        if (rc != 0) {
            return rc;
        }
        call->types[i] = expression->arguments[i]->type;
    }
    return 0;
}

static int add_aggregate(struct cql_scope *scope, const struct cql_place *place,
                         const struct cql_function *function, struct cql_expression *expression)
{
    if (place->aggregates == NULL) {
        return cql_invalid(scope->fault,
                           place->table == NULL
                               ? "aggregation function are not supported in the where clause"
                               : "aggregate functions cannot be used as arguments of aggregate "
                                 "functions");
    }
    if (*place->aggregate_count == CQL_AGGREGATES_MAX) {
        return cql_invalid(scope->fault, "over %d aggregates in one statement",
                           CQL_AGGREGATES_MAX);
    }
    expression->kind = CQL_EXPRESSION_AGGREGATE;
    expression->index = (*place->aggregate_count)++;
    place->aggregates[expression->index] = (struct cql_aggregate){
        .function = function,
        .argument = expression->argument_count == 0 ? NULL : expression->arguments[0],
        .type = expression->type};
    return 0;
}

/* A function, operator or conversion of `count` arguments. */
static int resolve_call(struct cql_scope *scope, const struct cql_function *function,
                        const struct cql_term *arguments, uint32_t count,
                        const struct cql_place *place, struct cql_expression **out)
{
    if (count < function->arguments_min || count > function->arguments_max) {
        return argument_count_refused(scope, function, count);
    }
    struct cql_call call = {.function = function, .count = count, .table = scope->table};
    *out = expression_new(scope, CQL_EXPRESSION_CALL, NULL, count);
    (*out)->function = function;
    (*out)->receiver = place->receiver;
    int rc = resolve_arguments(scope, arguments, place, &call, *out);
    if (rc != 0) {
        return rc;
    }
    call.result = place->type;
    (*out)->type = function->result(&call);
    if ((*out)->type == NULL) {
        return cql_invalid(scope->fault,
                           "Invalid call to function %s, none of its type signatures match",
                           function->name);
    }
    if (function->is_aggregate) {
        rc = add_aggregate(scope, place, function, *out);
    }
    return rc == 0 ? check_fit(scope, place, *out, function->name) : rc;
}

static int resolve_function(struct cql_scope *scope, const struct cql_term *term,
                            const struct cql_place *place, struct cql_expression **out)
{
    const struct cql_function *function = cql_function_find(term->text);
    bool is_ours = term->keyspace.size == 0 || bytes_equal(term->keyspace, bytes_text("system"));
    if (function == NULL || !is_ours) {
        return cql_invalid(scope->fault, "Unknown function '%.*s'", CQL_SHOW(term->text));
    }
    return resolve_call(scope, function, term->arguments, term->argument_count, place, out);
}

static int resolve_count_rows(struct cql_scope *scope, const struct cql_place *place,
                              struct cql_expression **out)
{
    *out = expression_new(scope, CQL_EXPRESSION_CALL, type_builtin(TYPE_BIGINT), 0);
    return add_aggregate(scope, place, cql_function_find(bytes_text("count")), *out);
}

static int resolve_cast(struct cql_scope *scope, const struct cql_term *term,
                        const struct cql_place *place, struct cql_expression **out)
{
    const struct type *to;
    struct cql_place within = *place;
    within.type = NULL;
    *out = expression_new(scope, CQL_EXPRESSION_CALL, NULL, 1);
    int rc = cql_type_resolve(scope, term->type, &to);
    if (rc == 0) {
        rc = resolve(scope, term->of, &within, &(*out)->arguments[0]);
    }
    if (rc != 0) {
        return rc;
    }
    const struct type *from = (*out)->arguments[0]->type;
    if (type_equal(from, to)) {
        *out = (*out)->arguments[0];
        return 0;
    }
    (*out)->function = cql_function_cast(from, to);
    (*out)->type = to;
    if ((*out)->function == NULL) {
        return cql_invalid(scope->fault, "%s cannot be cast to %s", type_name(scope, from),
                           type_name(scope, to));
    }
    return check_fit(scope, place, *out, "cast");
}

static int resolve_hint(struct cql_scope *scope, const struct cql_term *term,
                        const struct cql_place *place, struct cql_expression **out)
{
    struct cql_place within = *place;
    int rc = cql_type_resolve(scope, term->type, &within.type);
    if (rc == 0) {
        rc = resolve(scope, term->of, &within, out);
    }
    if (rc == 0 && place->type != NULL && !type_fits(place->type, within.type)) {
        return cql_invalid(scope->fault, "Cannot assign value of type %s to %s of type %s",
                           type_name(scope, within.type), place->receiver,
                           type_name(scope, place->type));
    }
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
    const struct column *column = cql_find_column(scope, place->table, term->text);
    if (column == NULL) {
        return ERROR_INVALID;
    }
    *out = expression_new(scope, CQL_EXPRESSION_COLUMN, column->type, 0);
    (*out)->column = column;
    return check_fit(scope, place, *out, column->name);
}

static int resolve_inner(struct cql_scope *scope, const struct cql_term *term,
                         const struct cql_place *place, struct cql_expression **out)
{
    struct cql_place within = *place;
    within.type = NULL;
    return resolve(scope, term, &within, out);
}

static int resolve_field(struct cql_scope *scope, const struct cql_term *term,
                         const struct cql_place *place, struct cql_expression **out)
{
    struct cql_expression *of;
    int rc = resolve_inner(scope, term->of, place, &of);
    if (rc != 0) {
        return rc;
    }
    int field = of->type->kind == TYPE_UDT ? udt_field(of->type, term->text) : -1;
    if (of->type->kind != TYPE_UDT) {
        return cql_invalid(scope->fault, "Invalid field selection: %s is not a UDT",
                           type_name(scope, of->type));
    }
    if (field < 0) {
        return cql_invalid(scope->fault, "%s of type %s has no field %.*s",
                           of->column != NULL ? of->column->name : "value", of->type->name,
                           CQL_SHOW(term->text));
    }
    *out = expression_new(scope, CQL_EXPRESSION_FIELD, of->type->arguments[field], 1);
    (*out)->arguments[0] = of;
    (*out)->index = (uint32_t)field;
    return check_fit(scope, place, *out, "field");
}

static int resolve_element(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out)
{
    struct cql_expression *of;
    int rc = resolve_inner(scope, term->of, place, &of);
    if (rc != 0) {
        return rc;
    }
    if (of->type->kind != TYPE_MAP && of->type->kind != TYPE_SET) {
        return cql_invalid(scope->fault, "Invalid element selection: %s is of type %s is not a "
                                         "collection",
                           of->column != NULL ? of->column->name : "value",
                           type_name(scope, of->type));
    }
    bool is_slice = term->kind == CQL_TERM_SLICE;
    const struct type *result =
        is_slice ? of->type : of->type->arguments[of->type->kind == TYPE_MAP ? 1 : 0];
    *out = expression_new(scope, is_slice ? CQL_EXPRESSION_SLICE : CQL_EXPRESSION_ELEMENT, result,
                          is_slice ? 3 : 2);
    (*out)->arguments[0] = of;
    struct cql_place within = *place;
    within.type = of->type->arguments[0];
    within.receiver = "key";
    if (term->from != NULL) {
        rc = resolve(scope, term->from, &within, &(*out)->arguments[1]);
    }
    if (rc == 0 && is_slice && term->until != NULL) {
        rc = resolve(scope, term->until, &within, &(*out)->arguments[2]);
    }
    return rc == 0 ? check_fit(scope, place, *out, "element") : rc;
}

static int resolve_times(struct cql_scope *scope, const struct cql_term *term,
                         const struct cql_place *place, struct cql_expression **out)
{
    bool is_ttl = term->kind == CQL_TERM_TTL;
    struct cql_expression *of;
    int rc = resolve_inner(scope, term->of, place, &of);
    if (rc != 0) {
        return rc;
    }
    const struct cql_expression *root = of;
    while (root->argument_count > 0) {
        root = root->arguments[0];
    }
    const struct column *column = root->column;
    if (column == NULL || column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING) {
        return cql_invalid(scope->fault, "Cannot use selection function %s on PRIMARY KEY part %s",
                           is_ttl ? "ttl" : "writetime", column == NULL ? "" : column->name);
    }
    bool is_many = type_is_complex(column->type) && of == root &&
                   term->kind != CQL_TERM_MAXWRITETIME;
    const struct type *single = type_builtin(is_ttl ? TYPE_INT : TYPE_BIGINT);
    const struct type *type = single;
    if (is_many) {
        rc = schema_parse_type(scope->schema, "", bytes_text(is_ttl ? "list<int>" : "list<bigint>"),
                               scope->arena, &type, NULL);
        check(rc == 0);
    }
    *out = expression_new(scope, is_ttl ? CQL_EXPRESSION_TTL : CQL_EXPRESSION_WRITETIME, type, 1);
    (*out)->column = column;
    (*out)->arguments[0] = of;
    (*out)->index = term->kind == CQL_TERM_MAXWRITETIME;
    return 0;
}

static int resolve(struct cql_scope *scope, const struct cql_term *term,
                   const struct cql_place *place, struct cql_expression **out)
{
    switch (term->kind) {
    case CQL_TERM_STRING:
    case CQL_TERM_INTEGER:
    case CQL_TERM_FLOAT:
    case CQL_TERM_BOOLEAN:
    case CQL_TERM_UUID:
    case CQL_TERM_BLOB:
    case CQL_TERM_DURATION:
        return resolve_literal(scope, term, place, out);
    case CQL_TERM_NULL:
        *out = expression_new(scope, CQL_EXPRESSION_VALUE,
                              place->type != NULL ? place->type : type_builtin(TYPE_BLOB), 0);
        (*out)->receiver = place->receiver;
        return 0;
    case CQL_TERM_MARKER:
        return resolve_marker(scope, term, place, out);
    case CQL_TERM_LIST:
    case CQL_TERM_SET:
    case CQL_TERM_MAP:
    case CQL_TERM_UDT:
    case CQL_TERM_TUPLE:
        return resolve_collection(scope, term, place, out);
    case CQL_TERM_FUNCTION:
        return resolve_function(scope, term, place, out);
    case CQL_TERM_COUNT_ROWS:
        return resolve_count_rows(scope, place, out);
    case CQL_TERM_CAST:
        return resolve_cast(scope, term, place, out);
    case CQL_TERM_HINT:
        return resolve_hint(scope, term, place, out);
    case CQL_TERM_OPERATION:
        return resolve_call(scope, cql_function_operator(term->operation), term->arguments, 2,
                            place, out);
    case CQL_TERM_NEGATION:
        return resolve_call(scope, cql_function_operator('_'), term->of, 1, place, out);
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

int cql_expression_resolve(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out)
{
    *out = NULL;
    return resolve(scope, term, place, out);
}

int cql_expression_resolve_value(struct cql_scope *scope, const struct cql_term *term,
                                 const struct type *type, const char *receiver,
                                 struct cql_expression **out)
{
    struct cql_place place = {.type = type, .receiver = receiver};
    return cql_expression_resolve(scope, term, &place, out);
}
