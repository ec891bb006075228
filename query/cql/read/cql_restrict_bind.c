/* The values of IN, or the prefixes made of them, are sorted, and each occurs once.  So the order
 * of keys and of the answer does not depend on the order of values in the statement. */
#include <stdlib.h>
#include <string.h>

#include "base/murmur3.h"
#include "query/cql/expression/cql_key.h"
#include "query/cql/read/cql_filter.h"
#include "query/cql/read/cql_restrict.h"
#include "storage/schema/type.h"

enum { PRODUCT_MAX = 100000 }; /* keys or slices of one statement */

/* ---- partition keys ---- */

/* Make the key of this number among all combinations of values.  The value of the last column
 * changes fastest. */
static int choose_key(const struct table *table, const struct cql_filter *parts, size_t number,
                      const struct cql_context *context, struct bytes *key_out)
{
    struct bytes *chosen =
        arena_array(context->arena, table->partition_count, sizeof(struct bytes));
    for (uint32_t i = table->partition_count; i > 0; i--) {
        chosen[i - 1] = parts[i - 1].values[number % parts[i - 1].value_count];
        number /= parts[i - 1].value_count;
    }
    if (table->partition_count == 1 && chosen[0].size == 0)
        return cql_invalid(context->fault, "Key may not be empty");
    return cql_key_of(table->partition_count, chosen, context, key_out);
}

static int bind_keys(const struct cql_restrict_plan *plan, const struct cql_context *context,
                     struct cql_restrict_bound *bound)
{
    const struct table *table = plan->table;
    size_t count = 1;
    struct cql_filter *parts = arena_array(context->arena, table->partition_count, sizeof(*parts));
    for (uint32_t i = 0; i < table->partition_count; i++) {
        int rc = cql_filter_bind(plan->partition[i], context, false, &parts[i]);
        if (rc != 0)
            return rc;
        count *= parts[i].value_count;
        if (count > PRODUCT_MAX)
            return cql_invalid(context->fault, "IN names over %d partitions", PRODUCT_MAX);
    }
    bound->keys = arena_array(context->arena, count + 1, sizeof(struct bytes));
    for (size_t number = 0; number < count; number++) {
        int rc = choose_key(table, parts, number, context, &bound->keys[bound->key_count]);
        if (rc != 0)
            return rc;
        bound->key_count++;
    }
    return 0;
}

static int bind_tokens(const struct cql_restrict_plan *plan, const struct cql_context *context,
                       struct cql_restrict_bound *bound)
{
    bound->is_scan = true;
    bound->token_first = INT64_MIN;
    bound->token_last = INT64_MAX;
    for (int side = 0; side < 2; side++) {
        struct cql_filter filter;
        if (plan->tokens[side] == NULL)
            continue;
        int rc = cql_filter_bind(plan->tokens[side], context, false, &filter);
        if (rc != 0)
            return rc;
        if (filter.values[0].size != 8)
            return cql_invalid(context->fault, "Invalid empty value for a token");
        int64_t token = type_value_bigint(filter.values[0]);
        enum cql_operator operator= plan->tokens[side]->operator;
        if ((operator== CQL_GT && token == INT64_MAX) || (operator== CQL_LT && token == INT64_MIN))
            bound->is_scan = false;
        else if (side == 0)
            bound->token_first = operator== CQL_GT ? token + 1 : token;
        else
            bound->token_last = operator== CQL_LT ? token - 1 : token;
    }
    bound->is_scan = bound->is_scan && bound->token_first <= bound->token_last;
    return 0;
}

static int keep_keys_of_tokens(const struct cql_restrict_plan *plan,
                               const struct cql_context *context, struct cql_restrict_bound *bound)
{
    int rc = bind_tokens(plan, context, bound);
    bool has_range = bound->is_scan;
    uint32_t kept = 0;
    bound->is_scan = false;
    for (uint32_t i = 0; i < bound->key_count && rc == 0; i++) {
        int64_t token = murmur3_token(bound->keys[i].data, bound->keys[i].size);
        if (has_range && token >= bound->token_first && token <= bound->token_last)
            bound->keys[kept++] = bound->keys[i];
    }
    bound->key_count = kept;
    return rc;
}

/* ---- slices ---- */

struct prefixes {
    struct clustering *items;
    uint32_t count;
};

static int value_parts(const struct cql_restriction *restriction, const struct cql_context *context,
                       struct bytes value, struct bytes *parts)
{
    struct type_items items;
    parts[0] = value;
    if (restriction->kind != CQL_RELATION_TUPLE)
        return 0;
    if (!type_items_open(restriction->type, value, &items))
        return cql_invalid(context->fault, "Invalid tuple for %s", restriction->name);
    for (uint32_t i = 0; i < restriction->column_count; i++) {
        if (!type_items_next(&items, &parts[i]) || parts[i].data == NULL) {
            return cql_invalid(context->fault, "Invalid null value in condition for column %s",
                               restriction->columns[i]->name);
        }
    }
    return 0;
}

static int extend(const struct cql_restriction *restriction, const struct cql_context *context,
                  struct prefixes *prefixes)
{
    struct cql_filter filter;
    int rc = cql_filter_bind(restriction, context, false, &filter);
    if (rc != 0)
        return rc;
    size_t count = (size_t)prefixes->count * filter.value_count;
    if (count > PRODUCT_MAX)
        return cql_invalid(context->fault, "IN names over %d rows of a partition", PRODUCT_MAX);
    struct clustering *items = arena_array(context->arena, count + 1, sizeof(*items));
    uint32_t made = 0;
    for (uint32_t i = 0; i < prefixes->count; i++) {
        for (uint32_t v = 0; v < filter.value_count; v++) {
            struct clustering *item = &items[made++];
            *item = prefixes->items[i];
            rc = value_parts(restriction, context, filter.values[v], item->values + item->count);
            if (rc != 0)
                return rc;
            item->count += restriction->column_count;
        }
    }
    *prefixes = (struct prefixes){items, made};
    return 0;
}

static int order_prefixes(const void *a, const void *b, void *table)
{
    return row_clustering_compare(table, a, b);
}

static void sort_prefixes(const struct table *table, struct prefixes *prefixes)
{
    if (prefixes->count > 1) {
        qsort_r(prefixes->items, prefixes->count, sizeof(struct clustering), order_prefixes,
                (void *)(uintptr_t)table);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < prefixes->count; i++) {
        if (kept == 0 ||
            row_clustering_compare(table, &prefixes->items[kept - 1], &prefixes->items[i]) != 0) {
            prefixes->items[kept++] = prefixes->items[i];
        }
    }
    prefixes->count = kept;
}

struct limit {
    struct bytes values[CLUSTERING_MAX];
    uint32_t count;
    bool includes; /* rows with exactly `values` are inside */
};

/* A range over the clustering columns from `position` on, within a prefix. */
struct range {
    const struct table *table;
    uint32_t position;
    struct limit limits[2]; /* lower and upper; count 0: none */
    struct cql_restrict_bound *bound;
};

static int set_limit(const struct cql_restriction *restriction, const struct cql_context *context,
                     struct range *range)
{
    struct cql_filter filter;
    int rc = cql_filter_bind(restriction, context, false, &filter);
    if (rc != 0)
        return rc;
    enum cql_operator operator= restriction->operator;
    struct limit *limit = &range->limits[operator == CQL_LT || operator == CQL_LE];
    limit->count = restriction->column_count;
    limit->includes = operator== CQL_GE || operator== CQL_LE;
    return value_parts(restriction, context, filter.values[0], limit->values);
}

/* Append a slice unless it is empty.  If it begins where the last slice ends, extend that one. */
static void add_slice(const struct range *range, const struct bound *start, const struct bound *end)
{
    struct cql_restrict_bound *bound = range->bound;
    if (row_bound_compare(range->table, start, end) >= 0)
        return;
    if (bound->slice_count > 0 &&
        row_bound_compare(range->table, &bound->slices[bound->slice_count - 1].end, start) == 0) {
        bound->slices[bound->slice_count - 1].end = *end;
        return;
    }
    bound->slices[bound->slice_count++] = (struct slice){.start = *start, .end = *end};
}

/* Append the slices of the range's rows that begin with `prefix`.  `at_lower`: from range->position
 * on, the prefix equals the first values of the lower limit.  `at_upper`: the same for the upper
 * limit.  If all columns have the same direction, the slices join into one. */
static void add_slices(const struct range *range, const struct clustering *prefix, bool at_lower,
                       bool at_upper)
{
    uint32_t depth = prefix->count - range->position;
    const struct limit *lower = &range->limits[0];
    const struct limit *upper = &range->limits[1];
    if ((at_lower && depth == lower->count && !lower->includes) ||
        (at_upper && depth == upper->count && !upper->includes)) {
        return;
    }
    at_lower = at_lower && depth < lower->count;
    at_upper = at_upper && depth < upper->count;
    struct bound ends[2] = {{*prefix, BOUND_BEFORE}, {*prefix, BOUND_AFTER}};
    if (!at_lower && !at_upper) {
        add_slice(range, &ends[0], &ends[1]);
        return;
    }
    const struct column *column =
        &range->table->columns[range->table->partition_count + prefix->count];
    int order = at_lower && at_upper
                    ? type_compare(column->type, lower->values[depth], upper->values[depth])
                    : -1;
    if (order > 0)
        return;
    struct clustering inner[2] = {*prefix, *prefix};
    for (int side = 0; side < 2; side++) {
        if (side == 0 ? at_lower : at_upper) {
            bool is_end = (side == 1) != column->descending;
            inner[side].values[inner[side].count++] = range->limits[side].values[depth];
            ends[is_end] = (struct bound){inner[side], is_end ? BOUND_BEFORE : BOUND_AFTER};
        }
    }
    if (order == 0) {
        add_slices(range, &inner[0], true, true);
        return;
    }
    bool is_upper_first = column->descending;
    if (is_upper_first ? at_upper : at_lower)
        add_slices(range, &inner[is_upper_first], !is_upper_first, is_upper_first);
    add_slice(range, &ends[0], &ends[1]);
    if (is_upper_first ? at_lower : at_upper)
        add_slices(range, &inner[!is_upper_first], is_upper_first, !is_upper_first);
}

static int bind_range(const struct cql_restrict_plan *plan, const struct cql_context *context,
                      uint32_t position, const struct prefixes *prefixes,
                      struct cql_restrict_bound *bound)
{
    struct range range = {.table = plan->table, .position = position, .bound = bound};
    if (position < plan->clustering_used) {
        int rc = set_limit(plan->clustering[position], context, &range);
        if (rc == 0 && plan->clustering_end[position] != NULL)
            rc = set_limit(plan->clustering_end[position], context, &range);
        if (rc != 0)
            return rc;
    }
    /* Each column of each limit adds at most one slice, and one lies between the limits. */
    size_t most = (size_t)prefixes->count * (2 * (plan->table->clustering_count + 1));
    bound->slices = arena_array(context->arena, most + 1, sizeof(struct slice));
    for (uint32_t i = 0; i < prefixes->count; i++) {
        add_slices(&range, &prefixes->items[i], range.limits[0].count > 0,
                   range.limits[1].count > 0);
    }
    return 0;
}

static int bind_slices(const struct cql_restrict_plan *plan, const struct cql_context *context,
                       struct cql_restrict_bound *bound)
{
    struct clustering none = {.count = 0};
    struct prefixes prefixes = {&none, 1};
    uint32_t position = 0;
    while (position < plan->clustering_used && cql_restrict_is_equal(plan->clustering[position])) {
        int rc = extend(plan->clustering[position], context, &prefixes);
        if (rc != 0)
            return rc;
        position += plan->clustering[position]->column_count;
    }
    sort_prefixes(plan->table, &prefixes);
    return bind_range(plan, context, position, &prefixes, bound);
}

int cql_restrict_bind_index(const struct cql_index_use *use, const struct cql_context *context,
                            struct cql_restrict_bound *bound)
{
    struct cql_filter filter;
    int rc = cql_filter_bind(use->indexed, context, false, &filter);
    if (rc != 0)
        return rc;
    struct bytes value = filter.values[0];
    if (use->index->of == CQL_INDEX_OF_ENTRIES) {
        struct bytes pair[2] = {filter.key, value};
        const struct type *list =
            cql_type_collection_of(context->arena, TYPE_LIST, use->index->column->type);
        value = cql_row_collection(list, pair, 2, context->arena);
    }
    if (value.size > KEY_SIZE_MAX)
        return cql_invalid(context->fault, "Index expression values may not be larger than 64K");
    bound->index_key = cql_index_key(value, context->arena);
    return 0;
}

int cql_restrict_bind(const struct cql_restrict_plan *plan, const struct cql_context *context,
                      struct cql_restrict_bound *bound)
{
    *bound = (struct cql_restrict_bound){0};
    int rc = plan->has_keys ? bind_keys(plan, context, bound) : bind_tokens(plan, context, bound);
    if (rc == 0 && plan->has_keys && (plan->tokens[0] != NULL || plan->tokens[1] != NULL))
        rc = keep_keys_of_tokens(plan, context, bound);
    if (rc == 0)
        rc = bind_slices(plan, context, bound);
    uint32_t count = 0;
    for (const struct cql_restriction *r = plan->all; r != NULL; r = r->next)
        count += r->is_filter;
    bound->filters = arena_array(context->arena, count + 1, sizeof(struct cql_filter));
    for (const struct cql_restriction *r = plan->all; rc == 0 && r != NULL; r = r->next)
        if (r->is_filter)
            rc = cql_filter_bind(r, context, false, &bound->filters[bound->filter_count++]);
    return rc;
}
