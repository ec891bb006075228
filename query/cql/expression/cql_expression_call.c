/* An argument without a type of its own takes the type that the function's `wants` returns. */

#include "query/cql/expression/cql_expression_private.h"
#include "query/cql/expression/cql_function.h"
#include "query/cql/expression/cql_literal_value.h"

/* The checks of the call's place do not apply to an argument. */
static struct cql_place argument_place(const struct cql_place *place)
{
    struct cql_place within = *place;
    within.type = NULL;
    within.is_checked = false;
    within.misfit = NULL;
    return within;
}

static const char *system_name(struct cql_scope *scope, const struct cql_function *function)
{
    return cql_text_printf(scope->arena, "system.%s",
                           function->name[0] == '_' ? "_negate" : function->name);
}

/* Cassandra's text also lists the signatures. */
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
    if (function->is_overloaded)
        return no_signature(scope, function);
    return cql_invalid(scope->fault,
                       "Invalid number of arguments in call to function system.%s: %u required "
                       "but %u provided",
                       function->name, wanted, count);
}

static int argument_unknown(struct cql_scope *scope, const struct cql_function *function,
                            const struct cql_term *argument)
{
    if (function->requires != NULL) {
        return cql_invalid(scope->fault,
                           "Cannot infer type of argument %s in call to function system.%s(%s): "
                           "use type casts to disambiguate",
                           cql_expression_text(scope, argument), function->name,
                           function->parameter);
    }
    return cql_invalid(scope->fault, "Ambiguous call to function %s", function->name);
}

static int requirement_refused(struct cql_scope *scope, const struct cql_function *function,
                               const struct cql_term *argument, const struct type *type)
{
    return cql_invalid(scope->fault,
                       "Function system.%s requires %s, but found argument %s of type %s",
                       function->name, function->requires, cql_expression_text(scope, argument),
                       cql_type_name(scope, type));
}

/* Refuse an argument that does not fit `wanted`, if the function has one signature.  `expression`
 * is NULL before the argument is resolved. */
static int check_argument(struct cql_scope *scope, const struct cql_call *call,
                          const struct type *wanted, const struct cql_term *argument,
                          const struct cql_expression *expression)
{
    const struct cql_function *function = call->function;
    if (wanted == NULL || function->is_overloaded)
        return 0;
    bool fits = expression != NULL
                    ? cql_type_fits(wanted, expression->type)
                    : !cql_term_is_literal(argument) || cql_literal_value_fits(argument, wanted);
    if (fits)
        return 0;
    if (function->requires != NULL) {
        const struct type *found =
            expression != NULL ? expression->type : cql_literal_value_natural(argument);
        return requirement_refused(scope, function, argument, found);
    }
    return cql_invalid(scope->fault,
                       "Type error: %s cannot be passed as argument %u of function system.%s of "
                       "type %s",
                       cql_expression_text(scope, argument), call->index, function->name,
                       cql_type_name(scope, wanted));
}

static int resolve_argument(struct cql_scope *scope, const struct cql_term *argument,
                            const struct cql_place *place, const struct cql_call *call,
                            struct cql_expression **out)
{
    const struct cql_function *function = call->function;
    const struct type *wanted = function->wants != NULL ? function->wants(call) : NULL;
    struct cql_place within = argument_place(place);
    within.receiver = place->table != NULL ? "[selection]"
                                           : cql_text_printf(scope->arena, "arg%u(%s)", call->index,
                                                             system_name(scope, function));
    within.is_argument = true;
    /* An argument with a type of its own is checked after it is resolved. */
    within.type = cql_expression_is_typed(argument, false) ? NULL : wanted;
    if (within.type != NULL && function->is_overloaded && cql_term_is_literal(argument) &&
        !cql_literal_value_fits(argument, within.type)) {
        within.type = argument->kind == CQL_TERM_UUID ? type_builtin(TYPE_TIMEUUID) : NULL;
    }
    if (function->is_aggregate)
        within.aggregates = NULL;
    if (argument->kind == CQL_TERM_NULL && function->takes_null && !function->is_overloaded &&
        function->requires == NULL) {
        within.type = type_builtin(TYPE_BLOB);
    }
    if (within.type == NULL && !cql_expression_is_typed(argument, true))
        return argument_unknown(scope, function, argument);
    int rc = check_argument(scope, call, wanted, argument, NULL);
    if (rc == 0)
        rc = cql_expression_resolve(scope, argument, &within, out);
    return rc == 0 ? check_argument(scope, call, wanted, argument, *out) : rc;
}

static int resolve_arguments(struct cql_scope *scope, const struct cql_term *arguments,
                             const struct cql_place *place, struct cql_call *call,
                             struct cql_expression *expression)
{
    const struct cql_term *argument = arguments;
    for (uint32_t i = 0; i < call->count; i++, argument = argument->next) {
        call->index = i;
        int rc = resolve_argument(scope, argument, place, call, &expression->arguments[i]);
        if (rc != 0)
            return rc;
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
    if (*place->aggregate_count == CQL_AGGREGATES_MAX)
        return cql_invalid(scope->fault, "over %d aggregates in one statement", CQL_AGGREGATES_MAX);
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
    return call->function->
        requires ==
                     NULL ? no_signature(scope, call->function)
                          : requirement_refused(scope, call->function, arguments, call->types[0]);
}

static int resolve_call(struct cql_scope *scope, const struct cql_function *function,
                        const struct cql_term *arguments, uint32_t count,
                        const struct cql_place *place, struct cql_expression **out)
{
    if (count < function->arguments_min || count > function->arguments_max)
        return argument_count_refused(scope, function, function->arguments_min, count);
    check(count <= CQL_ARGUMENTS_MAX);
    struct cql_call call = {.function = function,
                            .count = count,
                            .result = place->type,
                            .table = scope->table,
                            .arena = scope->arena};
    *out = cql_expression_new(scope, CQL_EXPRESSION_CALL, NULL, count);
    (*out)->function = function;
    (*out)->receiver = place->receiver;
    int rc = resolve_arguments(scope, arguments, place, &call, *out);
    if (rc != 0)
        return rc;
    (*out)->type = function->result(&call);
    if ((*out)->type == NULL)
        return result_refused(scope, &call, arguments);
    if (function->is_aggregate)
        rc = add_aggregate(scope, place, function, *out);
    return rc == 0 ? cql_expression_fit(scope, place, *out, system_name(scope, function)) : rc;
}

int cql_expression_negation(struct cql_scope *scope, const struct cql_term *term,
                            const struct cql_place *place, struct cql_expression **out)
{
    return resolve_call(scope, cql_function_operator('_'), term->of, 1, place, out);
}

/* Returns the type that a literal operand takes from its place; NULL: it takes none. */
static const struct type *operand_type(const struct cql_place *place, const struct cql_term *side)
{
    bool may_be = place->table == NULL && place->type != NULL && cql_term_is_literal(side);
    return may_be && cql_literal_value_fits(side, place->type) ? place->type : NULL;
}

/* An operation of a timestamp with anything but a duration is refused as ambiguous, because the
 * timestamp could be meant as a bigint. */
int cql_expression_operation(struct cql_scope *scope, const struct cql_term *term,
                             const struct cql_place *place, struct cql_expression **out)
{
    const struct cql_function *function = cql_function_operator(term->operation);
    const struct cql_term *sides[2] = {term->arguments, term->arguments->next};
    struct cql_call call = {.function = function, .count = 2, .result = place->type};
    bool is_ambiguous = false;
    *out = cql_expression_new(scope, CQL_EXPRESSION_CALL, NULL, 2);
    (*out)->function = function;
    (*out)->receiver = place->receiver;
    for (uint32_t i = 0; i < 2; i++) {
        struct cql_place within = argument_place(place);
        within.is_argument = true;
        within.type = operand_type(place, sides[i]);
        if (!cql_expression_is_typed(sides[i], true)) {
            is_ambiguous = true;
            continue;
        }
        int rc = cql_expression_resolve(scope, sides[i], &within, &(*out)->arguments[i]);
        if (rc != 0)
            return rc;
        call.types[i] = (*out)->arguments[i]->type;
    }
    if (!is_ambiguous) {
        (*out)->type = function->result(&call);
        bool has_time =
            cql_function_is(&call, 0, TYPE_TIMESTAMP) || cql_function_is(&call, 1, TYPE_TIMESTAMP);
        bool has_duration =
            cql_function_is(&call, 0, TYPE_DURATION) || cql_function_is(&call, 1, TYPE_DURATION);
        is_ambiguous = (*out)->type == NULL && has_time && !has_duration;
    }
    if (is_ambiguous) {
        return cql_invalid(scope->fault,
                           "Ambiguous '%s' operation with args %s and %s: use type hint to "
                           "disambiguate, example '(int) ?'",
                           function->name, cql_expression_text(scope, sides[0]),
                           cql_expression_text(scope, sides[1]));
    }
    bool is_value = place->table == NULL && place->type != NULL;
    if ((*out)->type == NULL || (is_value && !cql_type_fits(place->type, (*out)->type))) {
        return cql_invalid(scope->fault, "the '%s' operation is not supported between %s and %s",
                           function->name, cql_expression_text(scope, sides[0]),
                           cql_expression_text(scope, sides[1]));
    }
    return cql_expression_fit(scope, place, *out, function->name);
}

int cql_expression_count_rows(struct cql_scope *scope, const struct cql_place *place,
                              struct cql_expression **out)
{
    *out = cql_expression_new(scope, CQL_EXPRESSION_CALL, type_builtin(TYPE_BIGINT), 0);
    return add_aggregate(scope, place, cql_function_find(bytes_text("count")), *out);
}

int cql_expression_function(struct cql_scope *scope, const struct cql_term *term,
                            const struct cql_place *place, struct cql_expression **out)
{
    const struct cql_function *function = cql_function_find(term->text);
    bool is_ours = term->keyspace.size == 0 || bytes_equal(term->keyspace, bytes_text("system"));
    if (function == NULL || !is_ours) {
        bool is_value = place->table == NULL;
        return cql_invalid(
            scope->fault,
            is_value ? "Unknown function %.*s%s%.*s called" : "Unknown function '%.*s%s%.*s'",
            CQL_SHOW(term->keyspace), term->keyspace.size > 0 ? "." : "", CQL_SHOW(term->text));
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
    /* As in Cassandra, count of a literal is the same as count(*), also in its column's name. */
    if (bytes_equal(term->text, bytes_text("count")) && term->argument_count == 1 &&
        cql_term_is_literal(term->arguments)) {
        return cql_expression_count_rows(scope, place, out);
    }
    return resolve_call(scope, function, term->arguments, term->argument_count, place, out);
}

int cql_expression_cast(struct cql_scope *scope, const struct cql_term *term,
                        const struct cql_place *place, struct cql_expression **out)
{
    const struct type *to;
    struct cql_place within = argument_place(place);
    within.is_argument = place->table == NULL;
    *out = cql_expression_new(scope, CQL_EXPRESSION_CALL, NULL, 1);
    int rc = cql_type_resolve(scope, term->type, &to);
    if (rc == 0)
        rc = cql_expression_resolve(scope, term->of, &within, &(*out)->arguments[0]);
    if (rc != 0)
        return rc;
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
        return cql_invalid(scope->fault, "%s cannot be cast to %s",
                           cql_expression_text(scope, term->of), cql_type_name(scope, to));
    }
    return cql_expression_fit(scope, place, *out, "cast");
}
