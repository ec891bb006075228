/* A null argument makes the result null, unless the function's `takes_null` is set.  A field of a
 * null, and an element that is missing, are null.  Lists, sets and maps refuse nulls; in tuples and
 * user types a null is a missing field. */

#include "query/cql/expression/cql_expression.h"
#include "query/cql/expression/cql_function.h"
#include "query/cql/expression/cql_value_set.h"

struct cql_context cql_expression_context(struct cql_execution *execution, struct arena *arena)
{
    return (struct cql_context){.arena = arena,
                                .fault = &execution->fault,
                                .values = execution->values,
                                .world = execution->cql->options.world,
                                .store = execution->cql->options.store,
                                .now_s = execution->now_s};
}

static int marker_value(const struct cql_expression *expression, const struct cql_context *context,
                        struct bytes *value)
{
    const struct cql_value *bound = &context->values[expression->index];
    if (bound->state == CQL_VALUE_UNSET)
        return CQL_UNSET;
    if (bound->state == CQL_VALUE_SET)
        *value = bound->data.data == NULL ? bytes_of("", 0) : bound->data;
    return 0;
}

static int part_or_null(const struct cql_expression *expression, const struct cql_context *context,
                        struct bytes *value)
{
    *value = CQL_NULL;
    if (expression == NULL)
        return 0;
    int rc = cql_expression_value(expression, context, value);
    return rc == CQL_UNSET
               ? cql_invalid(context->fault, "Invalid unset value for %s", expression->receiver)
               : rc;
}

static int collection_value(const struct cql_expression *expression,
                            const struct cql_context *context, struct bytes *value)
{
    const struct type *type = expression->type;
    bool may_be_null = type->kind == TYPE_TUPLE || type->kind == TYPE_UDT;
    uint32_t count = expression->argument_count;
    struct bytes *items = arena_alloc(context->arena, (count + 1) * sizeof(struct bytes), 16);
    for (uint32_t i = 0; i < count; i++) {
        const struct cql_expression *item = expression->arguments[i];
        if (item != NULL && item->kind == CQL_EXPRESSION_MARKER &&
            context->values[item->index].state == CQL_VALUE_UNSET) {
            return cql_invalid(context->fault, "unset value is not supported inside collections");
        }
        int rc = part_or_null(item, context, &items[i]);
        if (rc != 0)
            return rc;
        if (items[i].data == NULL && !may_be_null)
            return cql_invalid(context->fault, "null is not supported inside collections");
    }
    *value = type_normalize(type, cql_row_collection(type, items, count, context->arena),
                            context->arena);
    return 0;
}

/* Returns the name that Cassandra's errors give to the function or operator. */
static const char *refused_name(const struct cql_function *function)
{
    static const char *const operators[] = {
        ['+'] = "_add",    ['-'] = "_substract", ['*'] = "_multiply",
        ['/'] = "_divide", ['%'] = "_modulo",    ['_'] = "_negate"};
    size_t sign = (uint8_t)function->name[0];
    bool is_operator = sign < sizeof(operators) / sizeof(operators[0]) && operators[sign] != NULL;
    return is_operator ? operators[sign] : function->name;
}

static int call_value(const struct cql_expression *expression, const struct cql_context *context,
                      struct bytes *value)
{
    struct bytes arguments[CQL_ARGUMENTS_MAX];
    for (uint32_t i = 0; i < expression->argument_count; i++) {
        int rc = cql_expression_value(expression->arguments[i], context, &arguments[i]);
        if (rc == CQL_UNSET) {
            return cql_invalid(context->fault,
                               "Invalid unset value for argument in call to function %s",
                               refused_name(expression->function));
        }
        if (rc != 0)
            return rc;
        if (arguments[i].data == NULL && !expression->function->takes_null)
            return 0;
    }
    return expression->function->value(expression, arguments, context, value);
}

static int field_value(const struct cql_expression *expression, const struct cql_context *context,
                       struct bytes *value)
{
    struct bytes of;
    struct type_items items;
    int rc = part_or_null(expression->arguments[0], context, &of);
    if (rc != 0 || of.data == NULL || !type_items_open(expression->arguments[0]->type, of, &items))
        return rc;
    for (uint32_t i = 0; i <= expression->index; i++)
        if (!type_items_next(&items, value))
            *value = CQL_NULL;
    return 0;
}

/* Reads one element of a column without making the value of the whole column. */
static int column_element(const struct cql_expression *expression,
                          const struct cql_context *context, struct bytes *value)
{
    struct bytes key;
    int rc = part_or_null(expression->arguments[1], context, &key);
    if (rc == 0 && key.data != NULL) {
        *value =
            cql_row_element(context->row, expression->arguments[0]->column, key, context->arena);
    }
    return rc;
}

/* An element is computed as a slice both of whose ends are the element's key. */
static int items_value(const struct cql_expression *expression, const struct cql_context *context,
                       struct bytes *value)
{
    bool is_slice = expression->kind == CQL_EXPRESSION_SLICE;
    const struct type *type = expression->arguments[0]->type;
    struct bytes parts[3] = {{0}};
    if (!is_slice && expression->arguments[0]->kind == CQL_EXPRESSION_COLUMN &&
        context->row != NULL) {
        return column_element(expression, context, value);
    }
    for (uint32_t i = 0; i < expression->argument_count; i++) {
        int rc = part_or_null(expression->arguments[i], context, &parts[i]);
        if (rc != 0)
            return rc;
    }
    struct type_items items;
    if (parts[0].data == NULL || (!is_slice && parts[1].data == NULL) ||
        !type_items_open(type, parts[0], &items)) {
        return 0;
    }
    struct bytes until = is_slice ? parts[2] : parts[1];
    struct bytes *kept = arena_alloc(context->arena, (items.count + 1) * sizeof(struct bytes), 16);
    uint32_t step = type->kind == TYPE_MAP ? 2 : 1;
    uint32_t count = 0;
    arena_count(context->arena, items.count);
    for (uint32_t i = 0; i < items.count; i += step) {
        struct bytes pair[2] = {{0}};
        for (uint32_t part = 0; part < step; part++)
            if (!type_items_next(&items, &pair[part]))
                return 0;
        bool inside =
            (parts[1].data == NULL || type_compare(type->arguments[0], pair[0], parts[1]) >= 0) &&
            (until.data == NULL || type_compare(type->arguments[0], pair[0], until) <= 0);
        if (inside && !is_slice) {
            *value = pair[step - 1];
            return 0;
        }
        for (uint32_t part = 0; inside && part < step; part++)
            kept[count++] = pair[part];
    }
    if (is_slice && count > 0)
        *value = cql_row_collection(type, kept, count, context->arena);
    return 0;
}

/* ---- WRITETIME and TTL ---- */

/* Cells in the order of their paths. */
struct chosen_cells {
    const struct cell *cells;
    uint32_t count;
    bool is_one; /* at most one cell is chosen; parts of its value have the cell's times */
};

/* Get the first and the last path of a part.  Data NULL: the part is open at this end. */
static int part_bounds(const struct cql_expression *part, const struct cql_context *context,
                       struct bytes *from, struct bytes *until)
{
    *from = *until = CQL_NULL;
    if (part->kind == CQL_EXPRESSION_FIELD) {
        uint8_t field[2] = {(uint8_t)(part->index >> 8), (uint8_t)part->index};
        *from = *until = arena_copy(context->arena, bytes_of(field, sizeof(field)));
        return 0;
    }
    int rc = part_or_null(part->arguments[1], context, from);
    if (part->kind != CQL_EXPRESSION_SLICE)
        *until = *from;
    else if (rc == 0)
        rc = part_or_null(part->arguments[2], context, until);
    return rc;
}

/* Choose the cells of a column, or of an element, a slice or a field of it.  cql_build.c limits the
 * nesting of parts. */
static int choose_cells(const struct cql_expression *part, const struct column *column,
                        const struct cql_context *context, struct chosen_cells *chosen)
{
    if (part->kind == CQL_EXPRESSION_COLUMN) {
        chosen->cells = cql_row_cells(context->row, column, &chosen->count);
        chosen->is_one = !type_is_complex(column->type);
        return 0;
    }
    struct bytes from;
    struct bytes until;
    int rc = choose_cells(part->arguments[0], column, context, chosen);
    if (rc != 0 || chosen->is_one)
        return rc;
    rc = part_bounds(part, context, &from, &until);
    if (rc != 0)
        return rc;
    chosen->is_one = part->kind != CQL_EXPRESSION_SLICE;
    if (chosen->count == 0 || (chosen->is_one && from.data == NULL)) {
        chosen->count = 0;
        return 0;
    }
    const struct type *path = type_path(column->type);
    const struct cell *cells = chosen->cells;
    uint32_t count = chosen->count;
    uint32_t first = from.data == NULL
                         ? 0
                         : cql_value_set_place(path, &cells[0].path, sizeof(*cells), count, from);
    uint32_t end = until.data == NULL
                       ? count
                       : cql_value_set_place(path, &cells[0].path, sizeof(*cells), count, until);
    end += until.data != NULL && end < count && type_compare(path, cells[end].path, until) == 0;
    chosen->count = first < end ? end - first : 0;
    chosen->cells = chosen->count > 0 ? &cells[first] : NULL;
    return 0;
}

static struct bytes time_of(const struct cell *cell, bool is_ttl, const struct cql_context *context)
{
    struct buffer value = {.arena = context->arena};
    if (!is_ttl)
        type_value_put_bigint(&value, cell->timestamp_us);
    else if (cell->ttl_s > 0)
        type_value_put_int(&value, (int32_t)(cell->expiry_s - context->now_s));
    return value.size == 0 ? CQL_NULL : buffer_view(&value);
}

static int times_value(const struct cql_expression *expression, const struct cql_context *context,
                       struct bytes *value)
{
    bool is_ttl = expression->kind == CQL_EXPRESSION_TTL;
    struct chosen_cells chosen;
    int rc = choose_cells(expression->arguments[0], expression->column, context, &chosen);
    if (rc != 0 || chosen.count == 0)
        return rc;
    const struct cell *cells = chosen.cells;
    uint32_t count = chosen.count;
    arena_count(context->arena, count);
    if (expression->type->kind != TYPE_LIST) {
        const struct cell *latest = cells;
        for (uint32_t i = 1; i < count; i++)
            latest = cells[i].timestamp_us > latest->timestamp_us ? &cells[i] : latest;
        *value = time_of(latest, is_ttl, context);
        return 0;
    }
    struct bytes *items = arena_alloc(context->arena, count * sizeof(struct bytes), 16);
    for (uint32_t i = 0; i < count; i++)
        items[i] = time_of(&cells[i], is_ttl, context);
    *value = cql_row_collection(expression->type, items, count, context->arena);
    return 0;
}

int cql_expression_value(const struct cql_expression *expression, const struct cql_context *context,
                         struct bytes *value)
{
    *value = CQL_NULL;
    switch (expression->kind) {
    case CQL_EXPRESSION_VALUE:
        *value = expression->value;
        return 0;
    case CQL_EXPRESSION_MARKER:
        return marker_value(expression, context, value);
    case CQL_EXPRESSION_COLUMN:
        *value = context->row == NULL
                     ? CQL_NULL
                     : cql_row_value(context->row, expression->column, context->arena);
        return 0;
    case CQL_EXPRESSION_CALL:
        return call_value(expression, context, value);
    case CQL_EXPRESSION_COLLECTION:
        return collection_value(expression, context, value);
    case CQL_EXPRESSION_FIELD:
        return field_value(expression, context, value);
    case CQL_EXPRESSION_ELEMENT:
    case CQL_EXPRESSION_SLICE:
        return items_value(expression, context, value);
    case CQL_EXPRESSION_WRITETIME:
    case CQL_EXPRESSION_TTL:
        return context->row == NULL ? 0 : times_value(expression, context, value);
    case CQL_EXPRESSION_AGGREGATE:
        *value = context->aggregates[expression->index];
        return 0;
    }
    return 0;
}
