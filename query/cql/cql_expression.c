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

static struct cql_expression *expression_new(struct cql_scope *scope, enum cql_expression_kind kind,
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

static const char *term_text(struct cql_scope *scope, const struct cql_term *term)
{
    struct buffer name = {0};
    cql_expression_name(term, &name);
    const char *text = cql_text(scope->arena, buffer_view(&name));
    buffer_release(&name);
    return text;
}

static int type_unknown(struct cql_scope *scope, const struct cql_term *term)
{
    return cql_invalid(scope->fault,
                       "Cannot infer type for term %s in selection clause (try using a cast to "
                       "force a type)",
                       term_text(scope, term));
}

static int resolve_marker(struct cql_scope *scope, const struct cql_term *term,
                          const struct cql_place *place, struct cql_expression **out)
{
    if (place->type == NULL) {
        return type_unknown(scope, term);
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
    const struct type *type = place->type != NULL ? place->type : cql_literal_value_natural(term);
    if (place->type == NULL && !place->is_argument) {
        return type_unknown(scope, term);
    }
    if (!cql_literal_value_fits(term, type)) {
        return cql_invalid(scope->fault, "Invalid %s constant (%.*s) for \"%s\" of type %s",
                           cql_literal_value_kind(term), CQL_SHOW(term->text), place->receiver,
                           cql_type_name(scope, type));
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
               (term->arguments == NULL && type->kind == TYPE_MAP);
    case CQL_TERM_MAP:
        return type->kind == TYPE_MAP;
    case CQL_TERM_TUPLE:
        return type->kind == TYPE_TUPLE;
    default:
        return type->kind == TYPE_UDT;
    }
}

/* Whether a term says by itself of which type it is. */
static bool is_typed(const struct cql_term *term, bool is_argument)
{
    if (cql_term_is_literal(term)) {
        return is_argument;
    }
    switch ((int)term->kind) {
    case CQL_TERM_NULL:
    case CQL_TERM_MARKER:
    case CQL_TERM_MAP:
    case CQL_TERM_UDT:
        return false;
    case CQL_TERM_LIST:
    case CQL_TERM_SET:
    case CQL_TERM_TUPLE:
        for (const struct cql_term *item = term->arguments; item != NULL; item = item->next) {
            if (!is_typed(item, is_argument)) {
                return false;
            }
        }
        return term->arguments != NULL;
    default:
        return true;
    }
}

/* A list, set or tuple that no type is wanted of: what its items are. */
static int resolve_untyped(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out)
{
    if (!is_typed(term, place->is_argument)) {
        return type_unknown(scope, term);
    }
    uint32_t count = term->argument_count;
    *out = expression_new(scope, CQL_EXPRESSION_COLLECTION, NULL, count);
    (*out)->receiver = place->receiver;
    const struct type **types = arena_alloc(scope->arena, count * sizeof(*types), 16);
    uint32_t i = 0;
    for (const struct cql_term *item = term->arguments; item != NULL; item = item->next, i++) {
        int rc = resolve(scope, item, place, &(*out)->arguments[i]);
        if (rc != 0) {
            return rc;
        }
        types[i] = (*out)->arguments[i]->type;
        if (term->kind != CQL_TERM_TUPLE && !cql_type_fits(types[0], types[i])) {
            return type_unknown(scope, term);
        }
    }
    (*out)->type =
        term->kind == CQL_TERM_TUPLE
            ? cql_type_of(scope->arena, TYPE_TUPLE, types, count)
            : cql_type_collection_of(scope->arena,
                                     term->kind == CQL_TERM_LIST ? TYPE_LIST : TYPE_SET, types[0]);
    return 0;
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
        return resolve_untyped(scope, term, place, out);
    }
    if (!brackets_fit(term, type)) {
        return cql_invalid(scope->fault, "Invalid %s literal for %s of type %s",
                           collection_word(term), place->receiver, cql_type_name(scope, type));
    }
    if (type->kind == TYPE_UDT) {
        return resolve_udt(scope, term, place, out);
    }
    if (type->kind == TYPE_TUPLE && term->argument_count > type->argument_count) {
        return cql_invalid(scope->fault,
                           "Invalid tuple literal for %s: too many elements. Type %s expects %u "
                           "but got %u",
                           place->receiver, cql_type_name(scope, type), type->argument_count,
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
    if (place->type == NULL || cql_type_fits(place->type, expression->type)) {
        return 0;
    }
    return cql_invalid(scope->fault,
                       "Type error: cannot assign result of function %s (type %s) to %s (type %s)",
                       what, cql_type_name(scope, expression->type), place->receiver,
                       cql_type_name(scope, place->type));
}

/* Cassandra lists the signatures behind this. */
static int no_signature(struct cql_scope *scope, const struct cql_function *function)
{
    bool is_operator = function->name[0] == '_';
    return cql_invalid(scope->fault,
                       "Invalid call to function %s, none of its type signatures match",
                       is_operator ? "system._negate" : function->name);
}

static int argument_count_refused(struct cql_scope *scope, const struct cql_function *function,
                                  uint32_t wanted, uint32_t count)
{
    if (function->requires != NULL) {
        return cql_invalid(scope->fault, "Invalid number of arguments for function system.%s(%s)",
                           function->name, function->parameter);
    }
    if (function->is_overloaded) {
        return no_signature(scope, function);
    }
    return cql_invalid(scope->fault,
                       "Invalid number of arguments in call to function system.%s: %u required "
                       "but %u provided",
                       function->name, wanted, count);
}

/* An argument that has no type of its own where the function wants none. */
static int argument_unknown(struct cql_scope *scope, const struct cql_function *function,
                            const struct cql_term *argument)
{
    if (function->requires != NULL) {
        return cql_invalid(scope->fault,
                           "Cannot infer type of argument %s in call to function system.%s(%s): "
                           "use type casts to disambiguate",
                           term_text(scope, argument), function->name, function->parameter);
    }
    return cql_invalid(scope->fault, "Ambiguous call to function %s", function->name);
}

/* Of a function with one signature: its argument must be what that says. */
static int check_argument(struct cql_scope *scope, const struct cql_call *call, uint32_t index,
                          const struct cql_term *argument, const struct cql_expression *expression)
{
    const struct cql_function *function = call->function;
    const struct type *wanted = function->wants != NULL ? function->wants(call, index) : NULL;
    bool is_known = expression != NULL && wanted != NULL && !function->is_overloaded;
    bool fits = !is_known || cql_type_fits(wanted, expression->type);
    if (expression == NULL) {
        fits = wanted == NULL || function->is_overloaded || !cql_term_is_literal(argument) ||
               cql_literal_value_fits(argument, wanted);
    }
    return fits ? 0
                : cql_invalid(scope->fault,
                              "Type error: %s cannot be passed as argument %u of function "
                              "system.%s of type %s",
                              term_text(scope, argument), index, function->name,
                              cql_type_name(scope, wanted));
}

static int resolve_argument(struct cql_scope *scope, const struct cql_term *argument,
                            const struct cql_place *place, struct cql_call *call, uint32_t index,
                            struct cql_expression **out)
{
    const struct cql_function *function = call->function;
    struct cql_place within = *place;
    struct buffer name = {0};
    buffer_printf(&name, "arg%u(system.%s)", index,
                  function->name[0] == '_' ? "_negate" : function->name);
    within.receiver =
        place->table != NULL ? "[selection]" : cql_text(scope->arena, buffer_view(&name));
    buffer_release(&name);
    within.is_argument = true;
    /* What has a type of its own is checked afterwards. */
    within.type =
        function->wants == NULL || is_typed(argument, false) ? NULL : function->wants(call, index);
    if (within.type != NULL && function->is_overloaded && cql_term_is_literal(argument) &&
        !cql_literal_value_fits(argument, within.type)) {
        within.type = argument->kind == CQL_TERM_UUID ? type_builtin(TYPE_TIMEUUID) : NULL;
    }
    if (function->is_aggregate) {
        within.aggregates = NULL;
    }
    if (argument->kind == CQL_TERM_NULL && function->takes_null && !function->is_overloaded &&
        function->requires == NULL) {
        within.type = type_builtin(TYPE_BLOB);
    }
    if (within.type == NULL && !is_typed(argument, true)) {
        return argument_unknown(scope, function, argument);
    }
    int rc = check_argument(scope, call, index, argument, NULL);
    if (rc == 0) {
        rc = resolve(scope, argument, &within, out);
    }
    return rc == 0 ? check_argument(scope, call, index, argument, *out) : rc;
}

static int resolve_arguments(struct cql_scope *scope, const struct cql_term *arguments,
                             const struct cql_place *place, struct cql_call *call,
                             struct cql_expression *expression)
{
    const struct cql_term *argument = arguments;
    for (uint32_t i = 0; i < call->count; i++, argument = argument->next) {
        int rc = resolve_argument(scope, argument, place, call, i, &expression->arguments[i]);
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
                               ? "Aggregation function are not supported in the where clause"
                               : "aggregate functions cannot be used as arguments of aggregate "
                                 "functions");
    }
    if (*place->aggregate_count == CQL_AGGREGATES_MAX) {
        return cql_invalid(scope->fault, "over %d aggregates in one statement", CQL_AGGREGATES_MAX);
    }
    expression->kind = CQL_EXPRESSION_AGGREGATE;
    expression->index = (*place->aggregate_count)++;
    place->aggregates[expression->index] = (struct cql_aggregate){
        .function = function,
        .argument = expression->argument_count == 0 ? NULL : expression->arguments[0],
        .type = expression->type};
    return 0;
}

static int result_refused(struct cql_scope *scope, const struct cql_call *call,
                          const struct cql_term *arguments)
{
    if (call->function->requires == NULL) {
        return no_signature(scope, call->function);
    }
    return cql_invalid(scope->fault,
                       "Function system.%s requires %s argument, but found argument %s of type %s",
                       call->function->name, call->function->requires, term_text(scope, arguments),
                       cql_type_name(scope, call->types[0]));
}

/* A function of `count` arguments. */
static int resolve_call(struct cql_scope *scope, const struct cql_function *function,
                        const struct cql_term *arguments, uint32_t count,
                        const struct cql_place *place, struct cql_expression **out)
{
    if (count < function->arguments_min || count > function->arguments_max) {
        return argument_count_refused(scope, function, function->arguments_min, count);
    }
    struct cql_call call = {.function = function,
                            .count = count,
                            .result = place->type,
                            .table = scope->table,
                            .arena = scope->arena};
    *out = expression_new(scope, CQL_EXPRESSION_CALL, NULL, count);
    (*out)->function = function;
    (*out)->receiver = place->receiver;
    int rc = resolve_arguments(scope, arguments, place, &call, *out);
    if (rc != 0) {
        return rc;
    }
    (*out)->type = function->result(&call);
    if ((*out)->type == NULL) {
        return result_refused(scope, &call, arguments);
    }
    if (function->is_aggregate) {
        rc = add_aggregate(scope, place, function, *out);
    }
    return rc == 0 ? check_fit(scope, place, *out, function->name) : rc;
}

/* Two operands: numbers, texts, or a time and a duration.  One whose type nothing says could be
 * anything, and so could a number beside a timestamp, which is one too. */
static int resolve_operation(struct cql_scope *scope, const struct cql_term *term,
                             const struct cql_place *place, struct cql_expression **out)
{
    const struct cql_function *function = cql_function_operator(term->operation);
    const struct cql_term *sides[2] = {term->arguments, term->arguments->next};
    struct cql_call call = {.function = function, .count = 2, .result = place->type};
    bool is_ambiguous = false;
    *out = expression_new(scope, CQL_EXPRESSION_CALL, NULL, 2);
    (*out)->function = function;
    (*out)->receiver = place->receiver;
    for (uint32_t i = 0; i < 2; i++) {
        struct cql_place within = *place;
        within.type = NULL;
        within.is_argument = true;
        if (!is_typed(sides[i], true)) {
            is_ambiguous = true;
            continue;
        }
        int rc = resolve(scope, sides[i], &within, &(*out)->arguments[i]);
        if (rc != 0) {
            return rc;
        }
        call.types[i] = (*out)->arguments[i]->type;
    }
    if (!is_ambiguous) {
        (*out)->type = function->result(&call);
        bool has_time =
            cql_call_is(&call, 0, TYPE_TIMESTAMP) || cql_call_is(&call, 1, TYPE_TIMESTAMP);
        bool has_duration =
            cql_call_is(&call, 0, TYPE_DURATION) || cql_call_is(&call, 1, TYPE_DURATION);
        is_ambiguous = (*out)->type == NULL && has_time && !has_duration;
    }
    if (is_ambiguous) {
        return cql_invalid(scope->fault,
                           "Ambiguous '%s' operation with args %s and %s: use type hint to "
                           "disambiguate, example '(int) ?'",
                           function->name, term_text(scope, sides[0]), term_text(scope, sides[1]));
    }
    if ((*out)->type == NULL) {
        return cql_invalid(scope->fault, "the '%s' operation is not supported between %s and %s",
                           function->name, term_text(scope, sides[0]), term_text(scope, sides[1]));
    }
    return check_fit(scope, place, *out, function->name);
}

static int resolve_count_rows(struct cql_scope *scope, const struct cql_place *place,
                              struct cql_expression **out)
{
    *out = expression_new(scope, CQL_EXPRESSION_CALL, type_builtin(TYPE_BIGINT), 0);
    return add_aggregate(scope, place, cql_function_find(bytes_text("count")), *out);
}

static int resolve_function(struct cql_scope *scope, const struct cql_term *term,
                            const struct cql_place *place, struct cql_expression **out)
{
    const struct cql_function *function = cql_function_find(term->text);
    bool is_ours = term->keyspace.size == 0 || bytes_equal(term->keyspace, bytes_text("system"));
    if (function == NULL || !is_ours) {
        return cql_invalid(scope->fault, "Unknown function '%.*s%s%.*s'", CQL_SHOW(term->keyspace),
                           term->keyspace.size > 0 ? "." : "", CQL_SHOW(term->text));
    }
    bool is_token = bytes_equal(term->text, bytes_text("token")) && scope->table != NULL;
    if (is_token && term->argument_count != scope->table->partition_count) {
        return argument_count_refused(scope, function, scope->table->partition_count,
                                      term->argument_count);
    }
    bool is_json = bytes_equal(term->text, bytes_text("fromjson")) ||
                   bytes_equal(term->text, bytes_text("from_json"));
    if (is_json && place->table != NULL) {
        return cql_invalid(scope->fault,
                           "%s() cannot be used in the selection clause of a SELECT statement",
                           function->name);
    }
    /* count of a literal is count(*), in its name too. */
    if (function == cql_function_aggregate(bytes_text("count")) && term->argument_count == 1 &&
        cql_term_is_literal(term->arguments)) {
        return resolve_count_rows(scope, place, out);
    }
    return resolve_call(scope, function, term->arguments, term->argument_count, place, out);
}

static int resolve_cast(struct cql_scope *scope, const struct cql_term *term,
                        const struct cql_place *place, struct cql_expression **out)
{
    const struct type *to;
    struct cql_place within = *place;
    within.type = NULL;
    within.is_argument = place->table == NULL;
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
        (*out)->named = (*out)->named != NULL ? (*out)->named : term->of;
        return 0;
    }
    (*out)->function = cql_function_cast(from, to);
    (*out)->type = to;
    if ((*out)->function == NULL && cql_function_casts_to(to)) {
        return cql_invalid(scope->fault,
                           "Invalid call to function system.cast_as_%s, none of its type "
                           "signatures match",
                           cql_type_name(scope, to));
    }
    if ((*out)->function == NULL) {
        return cql_invalid(scope->fault, "%s cannot be cast to %s", term_text(scope, term->of),
                           cql_type_name(scope, to));
    }
    return check_fit(scope, place, *out, "cast");
}

static int hint_refused(struct cql_scope *scope, const struct cql_term *term, const char *receiver,
                        const struct type *type)
{
    return cql_invalid(scope->fault, "Cannot assign value %s to %s of type %s",
                       term_text(scope, term), receiver, cql_type_name(scope, type));
}

static int resolve_hint(struct cql_scope *scope, const struct cql_term *term,
                        const struct cql_place *place, struct cql_expression **out)
{
    struct cql_place within = *place;
    int rc = cql_type_resolve(scope, term->type, &within.type);
    if (rc != 0) {
        return rc;
    }
    const struct type *type = within.type;
    if (cql_term_is_literal(term->of) && !cql_literal_value_fits(term->of, type)) {
        return hint_refused(scope, term, term_text(scope, term), type);
    }
    bool is_column = term->of->kind == CQL_TERM_NAME;
    within.type = is_column ? NULL : type;
    rc = resolve(scope, term->of, &within, out);
    if (rc == 0 && is_column && !cql_type_fits(type, (*out)->type)) {
        return hint_refused(scope, term, term_text(scope, term), type);
    }
    if (rc == 0 && place->type != NULL && !cql_type_fits(place->type, type)) {
        return hint_refused(scope, term, place->receiver, place->type);
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
        return cql_invalid(scope->fault,
                           "Invalid field selection: %s of type %s is not a user type",
                           term_text(scope, term->of), cql_type_name(scope, of->type));
    }
    if (field < 0) {
        return cql_invalid(scope->fault, "%s of type %s has no field %.*s",
                           term_text(scope, term->of), cql_type_name(scope, of->type),
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
    bool is_slice = term->kind == CQL_TERM_SLICE;
    if (of->type->kind == TYPE_LIST) {
        return cql_invalid(scope->fault,
                           "%s selection is only allowed on sets and maps, but %s is a list",
                           is_slice ? "Slice" : "Element", term_text(scope, term->of));
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
    *out = expression_new(scope, is_slice ? CQL_EXPRESSION_SLICE : CQL_EXPRESSION_ELEMENT, result,
                          is_slice ? 3 : 2);
    (*out)->arguments[0] = of;
    struct cql_place within = *place;
    within.type = of->type->arguments[0];
    within.receiver =
        part_name(scope, of->type->kind == TYPE_MAP ? "key" : "value", term_text(scope, term->of));
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
        const char *latest = term->kind == CQL_TERM_MAXWRITETIME ? "maxwritetime" : "writetime";
        return cql_invalid(scope->fault, "Cannot use selection function %s on PRIMARY KEY part %s",
                           is_ttl ? "ttl" : latest, column == NULL ? "" : column->name);
    }
    bool is_many = type_is_complex(column->type) &&
                   (of == root || of->kind == CQL_EXPRESSION_SLICE) &&
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
        if (place->type == NULL) {
            return type_unknown(scope, term);
        }
        *out = expression_new(scope, CQL_EXPRESSION_VALUE, place->type, 0);
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
        return resolve_operation(scope, term, place, out);
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
