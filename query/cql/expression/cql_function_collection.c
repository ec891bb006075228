/* cql_accumulator.c computes the least, the greatest, the sum and the average of a collection's
 * items as it does for the rows of a SELECT, so that digits and overflows are the same. */
#include <string.h>

#include "query/cql/expression/cql_accumulator.h"
#include "query/cql/expression/cql_function.h"
#include "query/cql/expression/cql_number.h"

static bool is_list_or_set(const struct type *type)
{
    return type->kind == TYPE_LIST || type->kind == TYPE_SET;
}

/* ---- keys and values of a map ---- */

static const struct type *part_result(const struct cql_call *call)
{
    const struct type *type = call->types[0];
    if (type->kind != TYPE_MAP)
        return NULL;
    bool is_keys = call->function->kind == TYPE_SET;
    return cql_type_collection_of(call->arena, call->function->kind,
                                  type->arguments[is_keys ? 0 : 1]);
}

static int part_value(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    struct type_items items;
    uint32_t part = call->function->kind == TYPE_SET ? 0 : 1;
    if (!type_items_open(call->arguments[0]->type, arguments[0], &items))
        return 0;
    struct bytes *kept = arena_alloc(context->arena, (items.count + 1) * sizeof(*kept), 16);
    uint32_t count = 0;
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes item;
        if (!type_items_next(&items, &item))
            return 0;
        if (i % 2 == part)
            kept[count++] = item;
    }
    *value = cql_row_collection(call->type, kept, count, context->arena);
    return 0;
}

/* ---- size ---- */

static const struct type *size_result(const struct cql_call *call)
{
    bool fits = is_list_or_set(call->types[0]) || call->types[0]->kind == TYPE_MAP;
    return fits ? type_builtin(TYPE_INT) : NULL;
}

static int size_value(const struct cql_expression *call, const struct bytes *arguments,
                      const struct cql_context *context, struct bytes *value)
{
    const struct type *type = call->arguments[0]->type;
    struct type_items items;
    if (!type_items_open(type, arguments[0], &items))
        return 0;
    struct buffer count = {.arena = context->arena};
    type_value_put_int(&count, (int32_t)(items.count / (type->kind == TYPE_MAP ? 2 : 1)));
    *value = cql_function_keep(&count);
    return 0;
}

/* ---- aggregates of the items ---- */

static const struct type *item_result(const struct cql_call *call)
{
    return is_list_or_set(call->types[0]) ? call->types[0]->arguments[0] : NULL;
}

static const struct type *number_result(const struct cql_call *call)
{
    const struct type *item = item_result(call);
    return item != NULL && cql_number_is(item->kind) ? item : NULL;
}

/* The function's name is "collection_" and the name of the aggregate. */
static int items_value(const struct cql_expression *call, const struct bytes *arguments,
                       const struct cql_context *context, struct bytes *value)
{
    const char *name = call->function->name + strlen("collection_");
    struct cql_expression item = {.type = call->type};
    struct cql_aggregate aggregate = {.function =
                                          cql_function_in(cql_function_aggregate, bytes_text(name)),
                                      .argument = &item,
                                      .type = call->type};
    struct type_items items;
    if (!type_items_open(call->arguments[0]->type, arguments[0], &items))
        return 0;
    struct cql_accumulator *accumulator = cql_accumulator_new(&aggregate, context->arena);
    int rc = 0;
    arena_count(context->arena, items.count);
    for (uint32_t i = 0; i < items.count && rc == 0; i++) {
        struct bytes one;
        rc = type_items_next(&items, &one)
                 ? cql_accumulator_add(accumulator, one, context->fault)
                 : cql_invalid(context->fault, "a collection ends too early");
    }
    if (rc == 0)
        cql_accumulator_result(accumulator, context->arena, value);
    return rc;
}

#define ITEMS_FUNCTION(name, result, requires)                                                     \
    {                                                                                              \
        name, TYPE_INT, 1, 1, false, false, NULL, result, items_value, false,                      \
            requires,                                                                              \
        "numeric_set_or_list"                                                                      \
    }

const struct cql_function cql_function_collection[] = {
    {"map_keys", TYPE_SET, 1, 1, false, false, NULL, part_result, part_value, false,
     "a map argument", "map"},
    {"map_values", TYPE_LIST, 1, 1, false, false, NULL, part_result, part_value, false,
     "a map argument", "map"},
    {"collection_count", TYPE_INT, 1, 1, false, false, NULL, size_result, size_value, false,
     "a collection argument", "collection"},
    ITEMS_FUNCTION("collection_min", item_result, "a set or list argument"),
    ITEMS_FUNCTION("collection_max", item_result, "a set or list argument"),
    ITEMS_FUNCTION("collection_sum", number_result, "a numeric set/list argument"),
    ITEMS_FUNCTION("collection_avg", number_result, "a numeric set/list argument"),
    {.name = NULL},
};
