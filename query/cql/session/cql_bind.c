/* Finds each marker's value, by number or by name, and checks the value's type. */
#include "query/cql/session/cql_bind.h"

#include <stdlib.h>

#include "query/cql/common/cql_guard.h"
#include "storage/schema/type.h"

enum { BYTES_AN_ITEM = 64 }; /* bytes of a validated value that arena_count counts as one item */

static int bind_one(struct cql_execution *execution, const struct cql_column *marker,
                    const struct cql_value *given, struct cql_value *value)
{
    *value = *given;
    if (given->state != CQL_VALUE_SET)
        return 0;
    struct error err = {0};
    arena_count(execution->arena, 1 + given->data.size / BYTES_AN_ITEM);
    if (given->data.data == NULL)
        value->data = bytes_of("", 0);
    if (type_validate_given(marker->type, value->data, &err) != 0)
        return cql_fault_of(&execution->fault, &err);
    if (given->data.size > 0)
        value->data = type_normalize(marker->type, value->data, execution->arena);
    return 0;
}

/* Orders values by name, and values of one name as they were given. */
static int order_names(const void *a, const void *b)
{
    const struct cql_value *const *left = a;
    const struct cql_value *const *right = b;
    int order = bytes_compare((*left)->name, (*right)->name);
    return order != 0 ? order : (*left > *right) - (*left < *right);
}

static const struct cql_value **sort_names(struct arena *arena, const struct cql_value *values,
                                           uint32_t count)
{
    const struct cql_value **sorted = arena_array(arena, count + 1, sizeof(*sorted));
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &values[i];
    if (count > 1)
        qsort(sorted, count, sizeof(*sorted), order_names);
    return sorted;
}

static const struct cql_value *value_named(const struct cql_value *const *sorted, uint32_t count,
                                           struct bytes name)
{
    uint32_t from = 0;
    uint32_t until = count;
    while (from < until) {
        uint32_t middle = from + (until - from) / 2;
        if (bytes_compare(sorted[middle]->name, name) < 0)
            from = middle + 1;
        else
            until = middle;
    }
    return from < count && bytes_equal(sorted[from]->name, name) ? sorted[from] : NULL;
}

/* As in Cassandra, the text depends on the kind of request. */
static int refuse_count(struct cql_execution *execution, uint32_t wanted, uint32_t count)
{
    if (execution->request.kind == CQL_QUERY)
        return cql_invalid(&execution->fault, "Invalid amount of bind variables");
    return cql_invalid(&execution->fault, "%chere were %u markers(?) in CQL but %u bound variables",
                       execution->request.kind == CQL_BATCH ? 'T' : 't', wanted, count);
}

struct binding {
    struct cql_execution *execution;
    const struct cql_compiled *compiled;
    const struct cql_value *values;
    uint32_t value_count;
    bool are_named;
    const struct cql_value **values_out;
};

static int bind_values(void *context)
{
    const struct binding *binding = context;
    struct cql_execution *execution = binding->execution;
    uint32_t count = binding->compiled->marker_count;
    if (!binding->are_named && binding->value_count != count)
        return refuse_count(execution, count, binding->value_count);
    struct cql_value *bound = arena_array(execution->arena, count + 1, sizeof(*bound));
    *binding->values_out = bound;
    const struct cql_value **sorted =
        binding->are_named ? sort_names(execution->arena, binding->values, binding->value_count)
                           : NULL;
    const struct cql_value *last = NULL; /* the value given for the previous marker */
    for (uint32_t i = 0; i < count; i++) {
        const struct cql_column *marker = &binding->compiled->markers[i];
        const struct cql_value *given =
            binding->are_named ? value_named(sorted, binding->value_count, bytes_text(marker->name))
                               : &binding->values[i];
        if (given == NULL) {
            return cql_invalid(&execution->fault, "Invalid amount of bind variables: %s is missing",
                               marker->name);
        }
        bool is_last = given == last && type_equal(marker->type, marker[-1].type);
        int rc = is_last ? 0 : bind_one(execution, marker, given, &bound[i]);
        if (is_last)
            bound[i] = bound[i - 1];
        if (rc != 0)
            return rc;
        last = given;
    }
    return 0;
}

int cql_bind(struct cql_execution *execution, const struct cql_compiled *compiled,
             const struct cql_value *values, uint32_t value_count, bool are_named,
             const struct cql_value **values_out)
{
    struct binding binding = {execution, compiled, values, value_count, are_named, values_out};
    return cql_guard(execution, bind_values, &binding);
}
