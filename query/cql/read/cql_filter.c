#include "query/cql/read/cql_filter.h"

#include "query/cql/expression/cql_value_set.h"
#include "storage/schema/type.h"

/* ---- values ---- */

/* After IF, no value may be unset, and no list of IN may be null. */
static int refuse_condition(const struct cql_context *context, bool is_null)
{
    return is_null ? cql_invalid(context->fault, "Invalid null list in IN condition")
                   : cql_invalid(context->fault, "Invalid 'unset' value in condition");
}

static int refuse_value(const struct cql_restriction *restriction,
                        const struct cql_context *context, bool is_null)
{
    bool is_key = restriction->columns[0]->kind == COLUMN_PARTITION ||
                  restriction->columns[0]->kind == COLUMN_CLUSTERING;
    if (is_null && restriction->kind == CQL_RELATION_TOKEN)
        return cql_invalid(context->fault, "Invalid null token value");
    if (is_null && restriction->kind == CQL_RELATION_ELEMENT) {
        return cql_invalid(context->fault, "Unsupported null map value for column %s",
                           restriction->columns[0]->name);
    }
    if (is_null) {
        return cql_invalid(context->fault,
                           is_key ? "Invalid null value in condition for column %s"
                                  : "Unsupported null value for column %s",
                           restriction->columns[0]->name);
    }
    return cql_invalid(context->fault,
                       is_key ? "Invalid unset value for column %s"
                              : "Unsupported unset value for column %s",
                       restriction->columns[0]->name);
}

static int bind_list(const struct cql_restriction *restriction, const struct cql_context *context,
                     struct bytes list, bool allows_null, struct cql_filter *filter)
{
    struct type_items items;
    const struct type *type = restriction->values[0]->type;
    if (!type_items_open(type, list, &items))
        return cql_invalid(context->fault, "Invalid list for %s", restriction->name);
    filter->values = arena_array(context->arena, items.count + 1, sizeof(struct bytes));
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes item;
        if (!type_items_next(&items, &item) || (item.data == NULL && !allows_null))
            return refuse_value(restriction, context, true);
        filter->values[filter->value_count++] = item;
    }
    return 0;
}

static int bind_values(const struct cql_restriction *restriction, const struct cql_context *context,
                       bool allows_null, struct cql_filter *filter)
{
    *filter = (struct cql_filter){.restriction = restriction};
    if (restriction->key != NULL) {
        int rc = cql_expression_value(restriction->key, context, &filter->key);
        if (rc == CQL_UNSET || (rc == 0 && filter->key.data == NULL)) {
            return cql_invalid(context->fault,
                               allows_null ? "Invalid null value for %s element access"
                                           : "Unsupported null map key for column %s",
                               restriction->columns[0]->name);
        }
        if (rc != 0)
            return rc;
    }
    uint32_t count = restriction->value_count;
    filter->values = arena_array(context->arena, count + 1, sizeof(struct bytes));
    for (uint32_t i = 0; i < count; i++) {
        struct bytes value;
        int rc = cql_expression_value(restriction->values[i], context, &value);
        if (rc < 0)
            return rc;
        bool is_null_list = rc != CQL_UNSET && value.data == NULL && restriction->in_marker;
        if (allows_null && (rc == CQL_UNSET || is_null_list))
            return refuse_condition(context, is_null_list);
        if (is_null_list) {
            return cql_invalid(context->fault, "Invalid null value for column %s",
                               restriction->columns[0]->name);
        }
        if (rc == CQL_UNSET || (value.data == NULL && !allows_null))
            return refuse_value(restriction, context, rc != CQL_UNSET);
        if (restriction->in_marker)
            return bind_list(restriction, context, value, allows_null, filter);
        filter->values[filter->value_count++] = value;
    }
    return 0;
}

int cql_filter_bind(const struct cql_restriction *restriction, const struct cql_context *context,
                    bool allows_null, struct cql_filter *filter)
{
    int rc = bind_values(restriction, context, allows_null, filter);
    bool is_sorted = restriction->operator== CQL_IN && restriction->kind != CQL_RELATION_TUPLE;
    if (rc == 0 && is_sorted) {
        filter->value_count =
            cql_value_set_sort(restriction->type, filter->values, filter->value_count).count;
    }
    return rc;
}

/* ---- rows ---- */

static bool order_fits(enum cql_operator operator, int order)
{
    switch ((int)operator) {
    case CQL_EQ:
    case CQL_IN:
        return order == 0;
    case CQL_LT:
        return order < 0;
    case CQL_LE:
        return order <= 0;
    case CQL_GT:
        return order > 0;
    case CQL_GE:
        return order >= 0;
    default:
        return order != 0;
    }
}

/* Null equals null, and is neither less nor greater than any value. */
static bool value_fits(const struct cql_filter *filter, const struct type *type, struct bytes value)
{
    enum cql_operator operator= filter->restriction->operator;
    if (operator== CQL_IN) {
        struct cql_value_set set = {type, filter->values, filter->value_count};
        return cql_value_set_has(&set, value);
    }
    for (uint32_t i = 0; i < filter->value_count; i++) {
        struct bytes wanted = filter->values[i];
        if (value.data == NULL || wanted.data == NULL) {
            bool both = value.data == NULL && wanted.data == NULL;
            if (operator== CQL_NE ? !both : both && operator== CQL_EQ)
                return true;
        } else if (order_fits(operator, type_compare(type, value, wanted))) {
            return true;
        }
    }
    return false;
}

static struct bytes element_of(const struct cql_filter *filter, const struct cql_row *row,
                               const struct column *column, struct arena *arena)
{
    if (column->type->kind != TYPE_LIST)
        return cql_row_element(row, column, filter->key, arena);
    struct cql_items items = cql_row_items(row, column, arena);
    int64_t index = filter->key.size == 4 ? type_value_int(filter->key) : -1;
    return index >= 0 && index < (int64_t)items.count ? items.items[index] : CQL_NULL;
}

static struct bytes field_of(const struct cql_filter *filter, const struct type *type,
                             struct bytes value)
{
    struct type_items items;
    struct bytes item = CQL_NULL;
    if (value.data == NULL || !type_items_open(type, value, &items))
        return CQL_NULL;
    for (uint32_t i = 0; i <= filter->restriction->field; i++)
        if (i >= items.count || !type_items_next(&items, &item))
            return CQL_NULL;
    return item;
}

static bool tuple_matches(const struct cql_filter *filter, const struct cql_row *row,
                          struct arena *arena)
{
    const struct cql_restriction *restriction = filter->restriction;
    for (uint32_t v = 0; v < filter->value_count; v++) {
        struct type_items items;
        if (!type_items_open(restriction->type, filter->values[v], &items))
            continue;
        int order = 0;
        for (uint32_t i = 0; i < restriction->column_count && order == 0; i++) {
            struct bytes wanted;
            struct bytes value = cql_row_value(row, restriction->columns[i], arena);
            if (!type_items_next(&items, &wanted) || value.data == NULL)
                return false;
            order = type_compare(restriction->columns[i]->type, value, wanted);
        }
        if (order_fits(restriction->operator, order))
            return true;
    }
    return false;
}

bool cql_filter_matches(const struct cql_filter *filter, const struct cql_row *row,
                        struct arena *arena)
{
    const struct cql_restriction *restriction = filter->restriction;
    if (restriction->kind == CQL_RELATION_TUPLE)
        return tuple_matches(filter, row, arena);
    const struct column *column = restriction->columns[0];
    arena_count(arena, 1);
    if (restriction->operator== CQL_CONTAINS || restriction->operator== CQL_CONTAINS_KEY) {
        bool is_value = restriction->operator== CQL_CONTAINS && column->type->kind == TYPE_MAP;
        return cql_row_contains(row, column, is_value, filter->values[0], arena);
    }
    if (restriction->kind == CQL_RELATION_ELEMENT)
        return value_fits(filter, restriction->type, element_of(filter, row, column, arena));
    struct bytes value = cql_row_value(row, column, arena);
    if (restriction->kind == CQL_RELATION_FIELD)
        return value_fits(filter, restriction->type, field_of(filter, column->type, value));
    return value_fits(filter, column->type, value);
}
