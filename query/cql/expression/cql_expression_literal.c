/* An item of a literal is an element, a key, a value or a field.
 *
 * As in Cassandra, all items are checked before the first one is resolved, so that the error for an
 * item names the whole literal.
 *
 * A call has a type only after it is resolved.  If that type does not fit, the call is refused in
 * the words for an item that does not fit. */
#include "query/cql/expression/cql_expression_private.h"
#include "query/cql/expression/cql_literal_value.h"
#include "query/cql/syntax/cql_print.h"

int cql_expression_literal(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out)
{
    const struct type *type = place->type != NULL ? place->type : cql_literal_value_natural(term);
    if (place->type == NULL && !place->is_argument)
        return cql_expression_untyped(scope, term);
    if (!cql_literal_value_fits(term, type)) {
        return cql_invalid(scope->fault, "Invalid %s constant (%.*s) for \"%s\" of type %s",
                           cql_literal_value_kind(term), CQL_SHOW(term->text), place->receiver,
                           cql_type_name(scope, type));
    }
    *out = cql_expression_new(scope, CQL_EXPRESSION_VALUE, type, 0);
    (*out)->receiver = place->receiver;
    struct buffer value = {.arena = scope->arena};
    struct error err = {0};
    int rc = cql_literal_value(term, type, &value, &err);
    (*out)->value = value.size == 0 ? bytes_of("", 0) : buffer_view(&value);
    return rc == 0 ? 0 : cql_fault_of(scope->fault, &err);
}

/* ---- whether a literal stands for a type ---- */

static bool is_parenthesis(const struct cql_term *term, const struct type *type)
{
    return term->kind == CQL_TERM_TUPLE && term->argument_count == 1 &&
           (type == NULL || type->kind != TYPE_TUPLE);
}

static bool has_too_many(const struct cql_term *term, const struct type *type)
{
    return type->kind == TYPE_TUPLE && term->argument_count > type->argument_count;
}

static const struct literal_kind {
    const char *name;
    enum type_kind type;
} literal_kinds[] = {[CQL_TERM_LIST] = {"list", TYPE_LIST},
                     [CQL_TERM_SET] = {"set", TYPE_SET},
                     [CQL_TERM_MAP] = {"map", TYPE_MAP},
                     [CQL_TERM_UDT] = {"user type", TYPE_UDT},
                     [CQL_TERM_TUPLE] = {"tuple", TYPE_TUPLE}};

static bool brackets_fit(const struct cql_term *term, const struct type *type)
{
    bool is_empty_map =
        term->kind == CQL_TERM_SET && term->arguments == NULL && type->kind == TYPE_MAP;
    return type->kind == literal_kinds[term->kind].type || is_empty_map;
}

/* The texts of errors differ between values and selectors. */
static int check_brackets(struct cql_scope *scope, const struct cql_term *term,
                          const struct cql_place *place)
{
    bool is_value = place->table == NULL;
    if (brackets_fit(term, place->type))
        return 0;
    if (is_value && term->kind == CQL_TERM_LIST) {
        return cql_invalid(scope->fault,
                           "Unexpected receiver type '%s'; only list and vector are expected",
                           cql_type_name(scope, place->type));
    }
    bool is_tuple = is_value && term->kind == CQL_TERM_TUPLE && place->type->kind != TYPE_UDT;
    return cql_invalid(scope->fault, "Invalid %s literal for %s of type %s",
                       is_tuple ? "tuple type" : literal_kinds[term->kind].name, place->receiver,
                       cql_type_name(scope, place->type));
}

static const char *misfit_text(struct cql_scope *scope, const struct cql_term *term,
                               const struct cql_place *place, uint32_t index,
                               const struct cql_term *item)
{
    struct buffer text = {.arena = scope->arena};
    const struct type *type = place->type;
    buffer_printf(&text, "Invalid %s literal for %s: ", literal_kinds[term->kind].name,
                  place->receiver);
    if (type->kind == TYPE_UDT) {
        buffer_printf(&text, "field %s", type->field_names[index]);
    } else if (term->kind == CQL_TERM_TUPLE) {
        buffer_printf(&text, "component %u", index);
    } else {
        bool is_key = term->kind == CQL_TERM_MAP && index % 2 == 0;
        buffer_append_text(&text, is_key ? "key " : "value ");
        cql_print_header(item, &text);
    }
    buffer_printf(&text, " is not of type %s", cql_type_name(scope, type_item_type(type, index)));
    return cql_text(scope->arena, buffer_view(&text));
}

/* Returns the item's index in the type; negative: there is no such field.  In a literal of a user
 * type, `*item` is the name of a field, and is set to the field's value. */
static int item_place(struct cql_scope *scope, const struct type *type, uint32_t index,
                      const struct cql_term **item)
{
    int place = (int)index;
    if (type->kind == TYPE_UDT) {
        arena_count(scope->arena, type->argument_count);
        place = cql_expression_udt_field(type, (*item)->text);
        *item = (*item)->next;
    }
    return place;
}

static int find_misfit(struct cql_scope *scope, const struct cql_term *term,
                       const struct cql_place *place, const char **misfit_out);

/* Returns 1 if the item fits, or if that is known only after it is resolved; 0 if it does not fit;
 * a negative code if it is refused. */
static int item_fits(struct cql_scope *scope, const struct cql_term *item,
                     const struct cql_place *place)
{
    const char *misfit = NULL;
    const struct type *type;
    if (cql_term_is_literal(item))
        return cql_literal_value_fits(item, place->type);
    switch ((int)item->kind) {
    case CQL_TERM_LIST: {
        int rc = check_brackets(scope, item, place);
        rc = rc == 0 ? find_misfit(scope, item, place, &misfit) : rc;
        return rc == 0 ? misfit == NULL : rc;
    }
    case CQL_TERM_SET:
    case CQL_TERM_MAP:
    case CQL_TERM_UDT:
    case CQL_TERM_TUPLE: {
        if (is_parenthesis(item, place->type))
            return item_fits(scope, item->arguments, place);
        if (!brackets_fit(item, place->type) || has_too_many(item, place->type))
            return 0;
        int rc = find_misfit(scope, item, place, &misfit);
        return rc == 0 ? misfit == NULL : rc;
    }
    case CQL_TERM_HINT:
        return cql_type_resolve(scope, item->type, &type) == 0 && cql_type_fits(place->type, type);
    default:
        return 1;
    }
}

/* Set `*misfit_out` to the error's text for the first item that does not fit; NULL: all items fit.
 * The caller has checked the brackets. */
static int find_misfit(struct cql_scope *scope, const struct cql_term *term,
                       const struct cql_place *place, const char **misfit_out)
{
    const struct type *type = place->type;
    uint32_t index = 0;
    *misfit_out = NULL;
    for (const struct cql_term *item = term->arguments; item != NULL; item = item->next, index++) {
        struct cql_place within = *place;
        int at = item_place(scope, type, index, &item);
        if (at < 0)
            continue;
        within.type = type_item_type(type, (uint32_t)at);
        int fits = item_fits(scope, item, &within);
        if (fits < 0)
            return fits;
        if (fits == 0) {
            *misfit_out = misfit_text(scope, term, place, (uint32_t)at, item);
            return 0;
        }
    }
    return 0;
}

/* ---- literals of several items ---- */

static bool is_call(const struct cql_term *item)
{
    return item->kind == CQL_TERM_FUNCTION || item->kind == CQL_TERM_CAST;
}

static bool has_marker(const struct cql_term *term)
{
    bool found = term->kind == CQL_TERM_MARKER || (term->of != NULL && has_marker(term->of));
    for (const struct cql_term *item = term->arguments; item != NULL && !found; item = item->next)
        found = has_marker(item);
    return found;
}

/* Tuples and user types may have nulls and markers; in selectors, collections may have markers. */
static int check_item(struct cql_scope *scope, const struct cql_term *term,
                      const struct cql_term *item, const struct cql_place *place)
{
    if (place->type->kind == TYPE_TUPLE || place->type->kind == TYPE_UDT)
        return 0;
    if (item->kind == CQL_TERM_NULL)
        return cql_invalid(scope->fault, "null is not supported inside collections");
    if (place->table == NULL && has_marker(item)) {
        return cql_invalid(scope->fault,
                           "Invalid %s literal for %s: bind variables are not supported inside "
                           "collection literals",
                           literal_kinds[term->kind].name, place->receiver);
    }
    return 0;
}

static const char *item_receiver(struct cql_scope *scope, const struct cql_place *place,
                                 uint32_t index)
{
    const struct type *type = place->type;
    if (type->kind == TYPE_UDT)
        return type->field_names[index];
    const char *part = type->kind == TYPE_TUPLE                   ? "tuple"
                       : type->kind == TYPE_MAP && index % 2 == 0 ? "key"
                                                                  : "value";
    return cql_expression_part(scope, part, place->receiver);
}

static int resolve_items(struct cql_scope *scope, const struct cql_term *term,
                         const struct cql_place *place, struct cql_expression *collection)
{
    const struct type *type = collection->type;
    uint32_t index = 0;
    for (const struct cql_term *item = term->arguments; item != NULL; item = item->next, index++) {
        struct bytes name = item->text;
        int at = item_place(scope, type, index, &item);
        if (at < 0) {
            return cql_invalid(scope->fault,
                               "Unknown field '%.*s' in value of user defined type %s",
                               CQL_SHOW(name), type->name);
        }
        struct cql_place within = *place;
        within.type = type_item_type(type, (uint32_t)at);
        within.receiver = item_receiver(scope, place, (uint32_t)at);
        within.is_checked = true;
        within.misfit = place->table == NULL && is_call(item)
                            ? misfit_text(scope, term, place, (uint32_t)at, item)
                            : NULL;
        int rc = cql_expression_resolve(scope, item, &within, &collection->arguments[at]);
        if (rc == 0)
            rc = check_item(scope, term, item, place);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int resolve_untyped(struct cql_scope *scope, const struct cql_term *term,
                           const struct cql_place *place, struct cql_expression **out)
{
    if (!cql_expression_is_typed(term, place->is_argument))
        return cql_expression_untyped(scope, term);
    uint32_t count = term->argument_count;
    *out = cql_expression_new(scope, CQL_EXPRESSION_COLLECTION, NULL, count);
    (*out)->receiver = place->receiver;
    const struct type **types = arena_alloc(scope->arena, count * sizeof(*types), 16);
    uint32_t i = 0;
    for (const struct cql_term *item = term->arguments; item != NULL; item = item->next, i++) {
        int rc = cql_expression_resolve(scope, item, place, &(*out)->arguments[i]);
        if (rc != 0)
            return rc;
        types[i] = (*out)->arguments[i]->type;
        if (term->kind != CQL_TERM_TUPLE && !cql_type_fits(types[0], types[i]))
            return cql_expression_untyped(scope, term);
    }
    (*out)->type =
        term->kind == CQL_TERM_TUPLE
            ? cql_type_of(scope->arena, TYPE_TUPLE, types, count)
            : cql_type_collection_of(scope->arena,
                                     term->kind == CQL_TERM_LIST ? TYPE_LIST : TYPE_SET, types[0]);
    return 0;
}

int cql_expression_collection(struct cql_scope *scope, const struct cql_term *term,
                              const struct cql_place *place, struct cql_expression **out)
{
    const struct type *type = place->type;
    const char *misfit = NULL;
    if (is_parenthesis(term, type))
        return cql_expression_resolve(scope, term->arguments, place, out);
    if (type == NULL)
        return resolve_untyped(scope, term, place, out);
    int rc = check_brackets(scope, term, place);
    if (rc == 0 && has_too_many(term, type)) {
        return cql_invalid(scope->fault,
                           "Invalid tuple literal for %s: too many elements. Type %s expects %u "
                           "but got %u",
                           place->receiver, cql_type_name(scope, type), type->argument_count,
                           term->argument_count);
    }
    if (rc == 0 && place->table == NULL && !place->is_checked)
        rc = find_misfit(scope, term, place, &misfit);
    if (rc != 0)
        return rc;
    if (misfit != NULL)
        return cql_invalid(scope->fault, "%s", misfit);
    bool has_fields = type->kind == TYPE_TUPLE || type->kind == TYPE_UDT;
    uint32_t count = has_fields ? type->argument_count : term->argument_count;
    *out = cql_expression_new(scope, CQL_EXPRESSION_COLLECTION, type, count);
    (*out)->receiver = place->receiver;
    return resolve_items(scope, term, place, *out);
}
