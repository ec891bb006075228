#include "query/cql/read/cql_select_plan.h"

#include <string.h>

#include "query/cql/common/cql_scope.h"
#include "query/cql/expression/cql_function.h"
#include "query/cql/read/cql_select.h"
#include "query/cql/syntax/cql_print.h"
#include "storage/schema/type.h"

/* ---- selectors ---- */

static const char *term_name(struct cql_scope *scope, const struct cql_selector *selector,
                             const struct cql_expression *expression)
{
    if (selector->alias.size > 0)
        return cql_text(scope->arena, selector->alias);
    struct buffer name = {.arena = scope->arena};
    cql_print_header(expression->named != NULL ? expression->named : selector->term, &name);
    return cql_text(scope->arena, buffer_view(&name));
}

static int resolve_all(struct cql_scope *scope, struct cql_select_plan *plan)
{
    const struct table *table = plan->table;
    const char **names = cql_scope_array(scope, table->column_count, sizeof(*names));
    plan->selectors = cql_scope_array(scope, table->column_count, sizeof(*plan->selectors));
    for (uint32_t i = 0; i < table->column_count; i++) {
        struct cql_term term = {.kind = CQL_TERM_NAME, .text = bytes_text(table->columns[i].name)};
        struct cql_place place = {.receiver = table->columns[i].name, .table = table};
        int rc = cql_expression_resolve(scope, &term, &place, &plan->selectors[i]);
        if (rc != 0)
            return rc;
        names[i] = table->columns[i].name;
    }
    plan->selector_count = table->column_count;
    plan->names = names;
    return 0;
}

static int resolve_selectors(struct cql_scope *scope, const struct cql_select *select,
                             struct cql_select_plan *plan)
{
    if (select->selectors == NULL)
        return resolve_all(scope, plan);
    uint32_t count = 0;
    for (const struct cql_selector *s = select->selectors; s != NULL; s = s->next)
        count++;
    const char **names = cql_scope_array(scope, count, sizeof(*names));
    plan->names = names;
    plan->selectors = cql_scope_array(scope, count, sizeof(*plan->selectors));
    plan->aggregates = cql_scope_array(scope, CQL_AGGREGATES_MAX, sizeof(*plan->aggregates));
    for (const struct cql_selector *s = select->selectors; s != NULL; s = s->next) {
        struct cql_place place = {.receiver = "[selection]",
                                  .table = plan->table,
                                  .aggregates = plan->aggregates,
                                  .aggregate_count = &plan->aggregate_count};
        struct cql_expression **selector = &plan->selectors[plan->selector_count];
        int rc = cql_expression_resolve(scope, s->term, &place, selector);
        if (rc != 0)
            return rc;
        names[plan->selector_count++] = term_name(scope, s, *selector);
    }
    plan->is_aggregate = plan->aggregate_count > 0;
    return 0;
}

static void describe_columns(struct cql_scope *scope, struct cql_select_plan *plan)
{
    struct cql_column *columns = cql_scope_array(scope, plan->selector_count, sizeof(*columns));
    uint32_t count = plan->is_json ? 1 : plan->selector_count;
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = (struct cql_column){
            plan->table->keyspace, plan->table->name, plan->is_json ? "[json]" : plan->names[i],
            plan->is_json ? type_builtin(TYPE_TEXT) : plan->selectors[i]->type};
    }
    plan->metadata = (struct cql_metadata){columns, count};
}

/* ---- DISTINCT, ORDER BY, GROUP BY, LIMIT ---- */

/* Returns a column of the expression whose kind is in `kinds`, a set of bits.  NULL: there is
 * none. */
static const struct column *column_of_kind(const struct cql_expression *expression, uint32_t kinds)
{
    const struct column *found = NULL;
    if (expression == NULL)
        return NULL;
    if (expression->column != NULL && (kinds & UINT32_C(1) << expression->column->kind) != 0)
        return expression->column;
    for (uint32_t i = 0; i < expression->argument_count && found == NULL; i++)
        found = column_of_kind(expression->arguments[i], kinds);
    return found;
}

static const struct column *selected_of_kind(const struct cql_select_plan *plan, uint32_t kinds)
{
    const struct column *found = NULL;
    for (uint32_t i = 0; i < plan->selector_count && found == NULL; i++)
        found = column_of_kind(plan->selectors[i], kinds);
    return found;
}

static bool uses_column(const struct cql_expression *expression, const struct column *column)
{
    bool found = expression != NULL && expression->column == column;
    for (uint32_t i = 0; expression != NULL && i < expression->argument_count && !found; i++)
        found = uses_column(expression->arguments[i], column);
    return found;
}

static const uint32_t row_kinds = 1U << COLUMN_CLUSTERING | 1U << COLUMN_REGULAR;

static int check_distinct(struct cql_scope *scope, struct cql_select_plan *plan)
{
    const struct column *column = selected_of_kind(plan, row_kinds);
    if (column != NULL) {
        return cql_invalid(scope->fault,
                           "SELECT DISTINCT queries must only request partition key columns and/or "
                           "static columns (not %s)",
                           column->name);
    }
    for (uint32_t p = 0; p < plan->table->partition_count; p++) {
        bool is_there = false;
        for (uint32_t i = 0; i < plan->selector_count; i++)
            is_there |= uses_column(plan->selectors[i], &plan->table->columns[p]);
        if (!is_there) {
            return cql_invalid(scope->fault,
                               "SELECT DISTINCT queries must request all the partition key columns "
                               "(missing %s)",
                               plan->table->columns[p].name);
        }
    }
    if (!plan->where.has_static_only) {
        return cql_invalid(scope->fault, "SELECT DISTINCT with WHERE clause only supports "
                                         "restriction by partition key and/or static columns.");
    }
    return 0;
}

static int check_statics(struct cql_scope *scope, const struct cql_select *select,
                         const struct cql_select_plan *plan)
{
    if (plan->where.has_clustering && select->selectors != NULL &&
        selected_of_kind(plan, 1U << COLUMN_STATIC) != NULL &&
        selected_of_kind(plan, row_kinds) == NULL) {
        return cql_invalid(scope->fault, "Cannot restrict clustering columns when selecting only "
                                         "static columns");
    }
    return 0;
}

static int resolve_order(struct cql_scope *scope, const struct cql_select *select,
                         struct cql_select_plan *plan)
{
    const struct column *clustering = plan->table->columns + plan->table->partition_count;
    uint32_t position = 0;
    if (select->order_by != NULL && plan->where.use.index != NULL) {
        return cql_invalid(scope->fault, "ORDER BY with 2ndary indexes is not supported, "
                                         "except for ANN queries.");
    }
    for (const struct cql_ordering *o = select->order_by; o != NULL; o = o->next, position++) {
        if (o->ann_of != NULL) {
            return cql_invalid(scope->fault, "ANN ordering needs a vector index, which daybook "
                                             "does not have");
        }
        const struct column *column = cql_scope_column(scope, plan->table, o->column);
        if (column == NULL)
            return ERROR_INVALID;
        if (!plan->where.has_keys) {
            return cql_invalid(scope->fault, "ORDER BY is only supported when the partition key is "
                                             "restricted by an EQ or an IN.");
        }
        if (column->kind != COLUMN_CLUSTERING) {
            return cql_invalid(scope->fault,
                               "Order by is currently only supported on the clustered columns of "
                               "the PRIMARY KEY, got %s",
                               column->name);
        }
        if (plan->has_order && column->position < position) {
            position--; /* the column was named before, or = restricts it to one value */
            continue;
        }
        /* ORDER BY may leave out columns that = restricts to one value. */
        while (position < column->position && plan->where.clustering[position] != NULL &&
               plan->where.clustering[position]->operator== CQL_EQ) {
            position++;
        }
        if (column->position != position) {
            return cql_invalid(scope->fault,
                               "Order by currently only supports the ordering of columns following "
                               "their declared order in the PRIMARY KEY");
        }
        bool reversed = o->descending != clustering[position].descending;
        if (plan->has_order && reversed != plan->is_reversed)
            return cql_invalid(scope->fault, "Unsupported order by relation");
        plan->has_order = true;
        plan->is_reversed = reversed;
        plan->order_columns = position + 1;
    }
    return 0;
}

static bool is_fixed(const struct cql_select_plan *plan, const struct column *column)
{
    const struct cql_restriction *restriction = column->kind == COLUMN_PARTITION
                                                    ? plan->where.partition[column->position]
                                                    : plan->where.clustering[column->position];
    return restriction != NULL && restriction->operator== CQL_EQ;
}

/* Whether a larger argument never gives a smaller result. */
static bool is_monotonic(const struct cql_function *function)
{
    static const char *const names[] = {
        "floor",        "todate",          "to_date",          "totimestamp",
        "to_timestamp", "tounixtimestamp", "to_unix_timestamp"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(function->name, names[i]) == 0)
            return true;
    return false;
}

static int group_by_function(struct cql_scope *scope, const struct cql_term *term,
                             struct cql_select_plan *plan, const struct column **column_out)
{
    struct cql_place place = {.receiver = "[group]", .table = plan->table};
    int rc = cql_expression_resolve(scope, term, &place, &plan->group_function);
    if (rc != 0)
        return rc;
    const struct cql_expression *call = plan->group_function;
    bool is_call = call->kind == CQL_EXPRESSION_CALL && call->argument_count > 0;
    const struct column *column = is_call ? call->arguments[0]->column : NULL;
    if (column == NULL || column->kind != COLUMN_CLUSTERING) {
        return cql_invalid(scope->fault,
                           "Group by functions are only supported on clustering columns, got %s",
                           column != NULL ? column->name : "none");
    }
    if (!is_monotonic(call->function)) {
        return cql_invalid(scope->fault,
                           "Only monotonic functions are supported in the GROUP BY clause. Got: "
                           "system.%s : (%s) -> %s ",
                           call->function->name, cql_type_name(scope, column->type),
                           cql_type_name(scope, call->type));
    }
    *column_out = column;
    return term->next == NULL
               ? 0
               : cql_invalid(scope->fault, "Functions are only supported on the last element of "
                                           "the GROUP BY clause");
}

static int resolve_group(struct cql_scope *scope, const struct cql_select *select,
                         struct cql_select_plan *plan)
{
    uint32_t next = 0;
    for (const struct cql_term *term = select->group_by; term != NULL; term = term->next) {
        const struct column *column = NULL;
        plan->has_group_by = true;
        if (term->kind == CQL_TERM_NAME) {
            column = cql_scope_column(scope, plan->table, term->text);
            if (column == NULL)
                return ERROR_INVALID;
        } else {
            int rc = group_by_function(scope, term, plan, &column);
            if (rc != 0)
                return rc;
        }
        if (column->kind != COLUMN_PARTITION && column->kind != COLUMN_CLUSTERING) {
            return cql_invalid(scope->fault,
                               "Group by is currently only supported on the columns of the PRIMARY "
                               "KEY, got %s",
                               column->name);
        }
        uint32_t place = (uint32_t)(column - plan->table->columns);
        while (next < place && is_fixed(plan, &plan->table->columns[next]))
            next++;
        if (place != next) {
            return cql_invalid(scope->fault,
                               "Group by currently only support groups of columns following their "
                               "declared order in the PRIMARY KEY");
        }
        next++;
    }
    while (plan->has_group_by && next < plan->table->partition_count &&
           is_fixed(plan, &plan->table->columns[next])) {
        next++;
    }
    if (plan->has_group_by && next < plan->table->partition_count) {
        return cql_invalid(scope->fault,
                           "Group by is not supported on only a part of the partition key");
    }
    if (plan->is_distinct && next > plan->table->partition_count) {
        return cql_invalid(scope->fault, "Grouping on clustering columns is not allowed for SELECT "
                                         "DISTINCT queries");
    }
    if (plan->has_group_by) {
        plan->group_clustering =
            next - plan->table->partition_count - (plan->group_function != NULL ? 1 : 0);
        plan->is_aggregate = true;
    }
    return 0;
}

static int resolve_limits(struct cql_scope *scope, const struct cql_select *select,
                          struct cql_select_plan *plan)
{
    int rc = 0;
    if (select->limit != NULL) {
        rc = cql_expression_resolve_value(scope, select->limit, type_builtin(TYPE_INT), "[limit]",
                                          &plan->limit);
    }
    if (rc == 0 && select->per_partition_limit != NULL) {
        rc =
            cql_expression_resolve_value(scope, select->per_partition_limit, type_builtin(TYPE_INT),
                                         "[per_partition_limit]", &plan->partition_limit);
    }
    if (rc == 0 && plan->partition_limit != NULL && plan->is_distinct) {
        rc = cql_invalid(scope->fault,
                         "PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries");
    }
    if (rc == 0 && plan->partition_limit != NULL && plan->is_aggregate && !plan->has_group_by) {
        rc =
            cql_invalid(scope->fault, "PER PARTITION LIMIT is not allowed with aggregate queries.");
    }
    return rc;
}

static const struct column *stats_column(const struct table *table)
{
    const struct column *found = NULL;
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        if (column->kind == COLUMN_REGULAR && column->type->kind == TYPE_DECIMAL)
            found = found == NULL || column->id < found->id ? column : found;
    }
    return found;
}

static bool stats_answer(const struct cql_select_plan *plan, const struct cql_aggregate *aggregate)
{
    bool is_count = strcmp(aggregate->function->name, "count") == 0;
    bool is_sum = strcmp(aggregate->function->name, "sum") == 0;
    if (aggregate->argument == NULL)
        return true;
    return (is_count || is_sum) && aggregate->argument->kind == CQL_EXPRESSION_COLUMN &&
           aggregate->argument->column == stats_column(plan->table);
}

/* The aggregates may be answered by statistics, which have exact counts and sums of the partitions
 * of event tables. */
static void use_stats(struct cql_select_plan *plan)
{
    plan->by_stats = (plan->table->flags & TABLE_OF_EVENTS) != 0 && plan->where.has_keys &&
                     !plan->where.has_clustering && !plan->where.needs_filtering &&
                     plan->aggregate_count > 0 && !plan->has_group_by;
    for (uint32_t i = 0; i < plan->aggregate_count && plan->by_stats; i++)
        plan->by_stats = stats_answer(plan, &plan->aggregates[i]);
    for (uint32_t i = 0; i < plan->selector_count && plan->by_stats; i++)
        plan->by_stats = plan->selectors[i]->kind == CQL_EXPRESSION_AGGREGATE;
}

int cql_select_compile(struct cql_scope *scope, const struct cql_select *select,
                       struct cql_select_plan **plan_out)
{
    struct cql_select_plan *plan = cql_scope_array(scope, 1, sizeof(*plan));
    *plan_out = plan;
    int rc = cql_scope_table(scope, &select->table, &plan->table);
    if (rc != 0)
        return rc;
    plan->is_virtual = cql_scope_is_virtual(scope->cql, plan->table);
    scope->table = plan->table;
    plan->is_json = select->is_json;
    plan->is_distinct = select->is_distinct;
    plan->reads_statics = plan->table->static_count > 0;
    rc = resolve_selectors(scope, select, plan);
    if (rc == 0) {
        rc = cql_restrict_compile(scope, plan->table, select->where, CQL_FOR_SELECT,
                                  select->allow_filtering, &plan->where);
    }
    if (rc == 0)
        rc = check_statics(scope, select, plan);
    if (rc == 0 && plan->is_distinct)
        rc = check_distinct(scope, plan);
    if (rc == 0)
        rc = resolve_order(scope, select, plan);
    if (rc == 0)
        rc = resolve_group(scope, select, plan);
    if (rc == 0)
        rc = resolve_limits(scope, select, plan);
    if (rc == 0) {
        describe_columns(scope, plan);
        use_stats(plan);
    }
    return rc;
}
