/* A comparison must not jump out of its guarded step (cql_guard.h), because qsort_r's memory would
 * leak. */
#include "query/cql/expression/cql_value_set.h"

#include <stdlib.h>

static int order_values(const void *a, const void *b, void *type)
{
    const struct bytes *left = a;
    const struct bytes *right = b;
    if (left->data == NULL || right->data == NULL)
        return (left->data != NULL) - (right->data != NULL);
    return type_compare(type, *left, *right);
}

struct cql_value_set cql_value_set_sort(const struct type *type, struct bytes *values,
                                        uint32_t count)
{
    struct type order = *type; /* qsort_r takes no pointer to const */
    if (count > 1)
        qsort_r(values, count, sizeof(struct bytes), order_values, &order);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || order_values(&values[kept - 1], &values[i], &order) != 0)
            values[kept++] = values[i];
    return (struct cql_value_set){type, values, kept};
}

struct cql_value_set cql_value_set_of(const struct type *type, struct type_items *items,
                                      struct arena *arena)
{
    struct bytes *values = arena_alloc(arena, (items->count + 1) * sizeof(struct bytes), 16);
    uint32_t count = 0;
    for (uint32_t i = 0; i < items->count && type_items_next(items, &values[count]); i++)
        count += values[count].data != NULL;
    return cql_value_set_sort(type, values, count);
}

uint32_t cql_value_set_place(const struct type *type, const void *values, size_t stride,
                             uint32_t count, struct bytes value)
{
    uint32_t from = 0;
    while (from < count) {
        uint32_t middle = from + (count - from) / 2;
        const struct bytes *there = (const void *)((const char *)values + middle * stride);
        if (there->data == NULL || type_compare(type, *there, value) < 0)
            from = middle + 1;
        else
            count = middle;
    }
    return from;
}

bool cql_value_set_has(const struct cql_value_set *set, struct bytes value)
{
    if (value.data == NULL)
        return set->count > 0 && set->values[0].data == NULL;
    uint32_t place =
        cql_value_set_place(set->type, set->values, sizeof(struct bytes), set->count, value);
    return place < set->count && type_compare(set->type, set->values[place], value) == 0;
}
