/* In conditions, null equals null, differs from any value, and is neither less nor greater.  An
 * empty collection that is not frozen has no cells, so its value is null.
 *
 *   IF EXISTS   checks the row; the static row, if the statement names static columns only
 *   IF s = 1    checks the static row, whatever row the statement names
 *   IF v = 1    checks the row; if it does not exist, its values are null */
#include "query/cql/write/cql_condition.h"

#include <stdlib.h>

#include "query/cql/read/cql_filter.h"

/* ---- values ---- */

/* The texts of operators that cannot compare with null; NULL for all other operators. */
static const char *const operator_texts[] = {[CQL_LT] = "<",
                                             [CQL_LE] = "<=",
                                             [CQL_GT] = ">",
                                             [CQL_GE] = ">=",
                                             [CQL_CONTAINS] = "CONTAINS",
                                             [CQL_CONTAINS_KEY] = "CONTAINS KEY",
                                             [CQL_IS_NOT_NULL] = NULL};

static int check_key(struct cql_execution *execution, const struct cql_restriction *restriction,
                     const struct cql_context *context)
{
    struct bytes key;
    bool is_list = restriction->columns[0]->type->kind == TYPE_LIST;
    int rc = cql_expression_value(restriction->key, context, &key);
    if (rc < 0)
        return rc;
    if (rc == CQL_UNSET || key.data == NULL) {
        return cql_invalid(&execution->fault, "Invalid null value for %s element access",
                           is_list ? "list" : "map");
    }
    if (is_list && key.size == 4 && type_value_int(key) < 0)
        return cql_invalid(&execution->fault, "Invalid negative list index %d",
                           type_value_int(key));
    return 0;
}

static bool is_no_cells(const struct cql_restriction *restriction, struct bytes value)
{
    const struct type *type = restriction->columns[0]->type;
    return restriction->kind == CQL_RELATION_COLUMN && type_is_complex(type) &&
           type->kind != TYPE_UDT && value.size == 4 && type_value_int(value) == 0;
}

static int check_values(struct cql_execution *execution, struct cql_filter *filter)
{
    const struct cql_restriction *restriction = filter->restriction;
    const char *order = operator_texts[restriction->operator];
    for (uint32_t i = 0; i < filter->value_count; i++) {
        if (order != NULL && filter->values[i].data == NULL) {
            return cql_invalid(&execution->fault,
                               "Invalid comparison with null for operator \"%s\"", order);
        }
        if (is_no_cells(restriction, filter->values[i]))
            filter->values[i] = CQL_NULL;
    }
    return 0;
}

int cql_condition_bind(struct cql_execution *execution, const struct cql_context *context,
                       struct cql_write_statement *statement)
{
    uint32_t count = 0;
    for (const struct cql_restriction *r = statement->plan->conditions; r != NULL; r = r->next)
        count++;
    statement->conditions =
        arena_array(execution->arena, count + 1, sizeof(*statement->conditions));
    int rc = 0;
    for (const struct cql_restriction *r = statement->plan->conditions; rc == 0 && r != NULL;
         r = r->next) {
        struct cql_filter *filter = &statement->conditions[statement->condition_count++];
        rc = r->key != NULL ? check_key(execution, r, context) : 0;
        rc = rc == 0 ? cql_filter_bind(r, context, true, filter) : rc;
        rc = rc == 0 ? check_values(execution, filter) : rc;
    }
    return rc;
}

/* ---- batches ---- */

bool cql_condition_is_of(const struct cql_write_plan *plan, bool static_row)
{
    bool is_of = (plan->if_exists || plan->if_not_exists) && plan->is_static == static_row;
    for (const struct cql_restriction *r = plan->conditions; r != NULL; r = r->next)
        is_of |= (r->columns[0]->kind == COLUMN_STATIC) == static_row;
    return is_of;
}

bool cql_condition_shows_first(const struct cql_write_statement *statements, uint32_t count)
{
    bool has_static = false;
    for (uint32_t i = 0; i < count; i++) {
        if (cql_condition_is_of(statements[i].plan, false))
            return false;
        has_static |= cql_condition_is_of(statements[i].plan, true);
    }
    return has_static;
}

/* Refuse two statements on one row unless both have IF EXISTS, both have IF NOT EXISTS, or both
 * have conditions on columns.  If neighbours in order pass this check, all pairs do. */
static int check_pair(struct cql_execution *execution, const struct cql_write_statement *a,
                      const struct cql_write_statement *b)
{
    bool both_are_columns = a->plan->conditions != NULL && b->plan->conditions != NULL;
    bool is_same_sort = both_are_columns || (a->plan->if_exists && b->plan->if_exists) ||
                        (a->plan->if_not_exists && b->plan->if_not_exists);
    if (is_same_sort)
        return 0;
    if (a->plan->conditions == NULL && b->plan->conditions == NULL) {
        return cql_invalid(&execution->fault,
                           "Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row");
    }
    /* As in Cassandra, the text depends on `b` only, and has NOT even if `a` has IF EXISTS. */
    bool is_exists = b->plan->if_exists;
    return cql_invalid(&execution->fault,
                       "Cannot mix IF conditions and IF %sEXISTS for the same row",
                       is_exists ? "" : "NOT ");
}

static int order_statements(const void *a, const void *b)
{
    const struct cql_write_statement *const *left = a;
    const struct cql_write_statement *const *right = b;
    int order = row_clustering_compare((*left)->plan->table, &(*left)->bound.slices[0].start.prefix,
                                       &(*right)->bound.slices[0].start.prefix);
    return order != 0 ? order : (*left > *right) - (*left < *right);
}

static int check_sorts(struct cql_execution *execution,
                       const struct cql_write_statement *statements, uint32_t count)
{
    const struct cql_write_statement **rows =
        arena_array(execution->arena, count + 1, sizeof(struct cql_write_statement *));
    const struct cql_write_statement *of_static = NULL;
    uint32_t row_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (cql_condition_is_of(statements[i].plan, false))
            rows[row_count++] = &statements[i];
        if (!cql_condition_is_of(statements[i].plan, true))
            continue;
        int rc = of_static != NULL ? check_pair(execution, of_static, &statements[i]) : 0;
        if (rc != 0)
            return rc;
        of_static = &statements[i];
    }
    if (row_count > 1)
        qsort(rows, row_count, sizeof(struct cql_write_statement *), order_statements);
    for (uint32_t i = 1; i < row_count; i++) {
        bool is_same_row =
            row_clustering_compare(rows[i]->plan->table, &rows[i - 1]->bound.slices[0].start.prefix,
                                   &rows[i]->bound.slices[0].start.prefix) == 0;
        int rc = is_same_row ? check_pair(execution, rows[i - 1], rows[i]) : 0;
        if (rc != 0)
            return rc;
    }
    return 0;
}

static bool has_in(const struct cql_write_plan *plan)
{
    bool has = false;
    for (uint32_t i = 0; i < plan->where.clustering_used; i++)
        has |= plan->where.clustering[i]->operator== CQL_IN;
    return has;
}

int cql_condition_check_batch(struct cql_execution *execution,
                              const struct cql_write_statement *statements, uint32_t count)
{
    check(count > 0);
    const struct cql_write_statement *first = &statements[0];
    for (uint32_t i = 0; i < count; i++) {
        const struct cql_write_statement *statement = &statements[i];
        if (statement->plan->table != first->plan->table)
            return cql_invalid(&execution->fault,
                               "Batch with conditions cannot span multiple tables");
        if (statement->bound.key_count != 1 || first->bound.key_count != 1 ||
            !bytes_equal(statement->bound.keys[0], first->bound.keys[0])) {
            return cql_invalid(&execution->fault,
                               "Batch with conditions cannot span multiple partitions");
        }
        if (has_in(statement->plan)) {
            return cql_invalid(&execution->fault,
                               "IN on the clustering key columns is not supported with conditional "
                               "%s",
                               statement->plan->kind == CQL_DELETE ? "deletions" : "updates");
        }
    }
    return check_sorts(execution, statements, count);
}

/* ---- checking ---- */

bool cql_condition_holds(const struct cql_write_statement *statement, struct arena *arena)
{
    const struct cql_write_plan *plan = statement->plan;
    if (!plan->is_conditional)
        return true;
    const struct cql_read_row *read = &statement->reads[0];
    struct cql_row_memo memo = {0};
    struct cql_row row = {.table = plan->table,
                          .memo = &memo,
                          .key = read->key,
                          .row = read->row_count > 0 ? &read->rows[0] : NULL,
                          .static_row = read->static_row};
    bool exists = plan->is_static ? row.static_row != NULL : row.row != NULL;
    if (plan->if_exists || plan->if_not_exists)
        return exists == plan->if_exists;
    for (uint32_t i = 0; i < statement->condition_count; i++)
        if (!cql_filter_matches(&statement->conditions[i], &row, arena))
            return false;
    return true;
}
