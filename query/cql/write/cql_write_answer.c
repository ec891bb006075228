/* The answer of a conditional write has the column [applied].  If a condition failed, the answer
 * also has the values that were compared:
 *
 *   columns   with IF [NOT] EXISTS, all columns; otherwise the columns of each statement's
 *             conditions in their order, but statics last; in a batch the key columns come first
 *   rows      the rows that have conditions and exist; if all conditions are on statics, the
 *             partition's first row; if there is no such row, the statics, or [applied] alone
 *
 * The answer has no types, so that it can be stored under the request's id. */
#include <stdlib.h>
#include <string.h>

#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_metadata.h"
#include "query/cql/write/cql_condition.h"

#define APPLIED "[applied]"

static void add_cell(struct buffer *cells, struct bytes value)
{
    buffer_put_u32_be(cells, value.data == NULL ? UINT32_MAX : (uint32_t)value.size);
    buffer_append_bytes(cells, value);
}

static void add_applied(struct buffer *cells, bool is_applied)
{
    uint8_t value = is_applied;
    add_cell(cells, bytes_of(&value, 1));
}

static void begin(struct cql_execution *execution, uint32_t columns_max,
                  struct cql_idempotency_answer *answer_out)
{
    *answer_out = (struct cql_idempotency_answer){
        .names = arena_array(execution->arena, columns_max, sizeof(*answer_out->names)),
        .count = 1};
    answer_out->names[0] = APPLIED;
}

void cql_write_keep_applied(struct cql_execution *execution,
                            struct cql_idempotency_answer *answer_out)
{
    struct buffer cells = {.arena = execution->arena};
    begin(execution, 1, answer_out);
    answer_out->row_count = 1;
    add_applied(&cells, true);
    answer_out->cells = buffer_view(&cells);
}

/* ---- the rows of a refusal ---- */

struct refusal {
    const struct cql_write_statement *statements;
    uint32_t count;
    const struct table *table;
    const struct row **rows;
    uint32_t row_count;
    const struct row *static_row;
    bool has_exists;                /* some condition is IF [NOT] EXISTS */
    bool reads_rows, reads_statics; /* regular columns, or static ones, are shown with values */
    const struct column **columns;  /* those after [applied] */
    uint32_t column_count;
    bool *is_shown; /* by column of the table */
};

static void look_at_plans(struct refusal *refusal)
{
    bool updates_rows = false;
    bool updates_statics = false;
    for (uint32_t i = 0; i < refusal->count; i++) {
        const struct cql_write_plan *plan = refusal->statements[i].plan;
        refusal->has_exists |= plan->if_exists || plan->if_not_exists;
        refusal->reads_statics |= cql_condition_is_of(plan, true);
        updates_rows |= !plan->is_static && !cql_write_deletes_range(plan);
        for (uint32_t o = 0; o < plan->operation_count; o++)
            updates_statics |= plan->operations[o].column->kind == COLUMN_STATIC;
    }
    refusal->reads_rows = true;
    if (refusal->has_exists) {
        refusal->reads_rows = updates_rows;
        refusal->reads_statics = updates_statics;
    }
}

static int order_rows(const void *a, const void *b, void *table)
{
    const struct row *const *left = a;
    const struct row *const *right = b;
    return row_clustering_compare(table, &(*left)->clustering, &(*right)->clustering);
}

static void find_rows(struct refusal *refusal)
{
    for (uint32_t i = 0; i < refusal->count; i++) {
        const struct cql_write_statement *statement = &refusal->statements[i];
        const struct cql_read_row *read =
            statement->first != NULL ? statement->first : &statement->reads[0];
        if (!statement->plan->is_conditional)
            continue;
        refusal->static_row = read->static_row;
        bool is_shown = statement->first != NULL || cql_condition_is_of(statement->plan, false);
        if (is_shown && read->row_count > 0)
            refusal->rows[refusal->row_count++] = &read->rows[0];
    }
    if (refusal->row_count > 1) {
        qsort_r(refusal->rows, refusal->row_count, sizeof(*refusal->rows), order_rows,
                (void *)(uintptr_t)refusal->table);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < refusal->row_count; i++) {
        if (kept == 0 ||
            row_clustering_compare(refusal->table, &refusal->rows[kept - 1]->clustering,
                                   &refusal->rows[i]->clustering) != 0) {
            refusal->rows[kept++] = refusal->rows[i];
        }
    }
    refusal->row_count = kept;
}

static void add_column(struct refusal *refusal, const struct column *column)
{
    bool *is_shown = &refusal->is_shown[column - refusal->table->columns];
    if (!*is_shown && strcmp(column->name, APPLIED) != 0)
        refusal->columns[refusal->column_count++] = column;
    *is_shown = true;
}

static void add_condition_columns(struct refusal *refusal, bool is_batch, struct arena *arena)
{
    const struct table *table = refusal->table;
    uint32_t keys = is_batch ? table->partition_count + table->clustering_count : 0;
    for (uint32_t i = 0; i < keys; i++)
        add_column(refusal, &table->columns[i]);
    for (uint32_t i = 0; i < refusal->count; i++) {
        const struct cql_restriction *conditions = refusal->statements[i].plan->conditions;
        for (int is_static = 0; is_static < 2; is_static++) {
            for (const struct cql_restriction *r = conditions; r != NULL; r = r->next) {
                arena_count(arena, 1);
                if ((r->columns[0]->kind == COLUMN_STATIC) == is_static)
                    add_column(refusal, r->columns[0]);
            }
        }
    }
}

static void add_columns(struct refusal *refusal, bool is_batch, struct arena *arena)
{
    const struct table *table = refusal->table;
    refusal->columns = arena_array(arena, table->column_count, sizeof(*refusal->columns));
    refusal->is_shown = arena_alloc_zeroed(arena, table->column_count, 1);
    for (uint32_t i = 0; i < table->column_count && refusal->has_exists; i++)
        add_column(refusal, &table->columns[i]);
    if (!refusal->has_exists)
        add_condition_columns(refusal, is_batch, arena);
}

/* Append the cells of a row.  Returns whether a static column has a value. */
static bool add_cells(const struct refusal *refusal, const struct row *row, struct arena *arena,
                      struct buffer *cells)
{
    struct cql_row whole = {.table = refusal->table,
                            .key = refusal->statements[0].bound.keys[0],
                            .row = row,
                            .static_row = refusal->static_row};
    bool has_static = false;
    arena_count(arena, refusal->column_count);
    add_applied(cells, false);
    for (uint32_t i = 0; i < refusal->column_count; i++) {
        const struct column *column = refusal->columns[i];
        bool is_read = column->kind == COLUMN_STATIC    ? refusal->reads_statics
                       : column->kind == COLUMN_REGULAR ? refusal->reads_rows
                                                        : true;
        struct bytes value = is_read ? cql_row_value(&whole, column, arena) : CQL_NULL;
        has_static |= column->kind == COLUMN_STATIC && value.data != NULL;
        add_cell(cells, value);
    }
    return has_static;
}

/* A static column is repeated in each row, so the answer can be much larger than the rows that were
 * read. */
static int check_size(struct cql_execution *execution, const struct buffer *cells)
{
    if (cells->size <= CQL_RESULT_BYTES_MAX)
        return 0;
    return cql_invalid(&execution->fault,
                       "a condition does not hold, and the answer with the rows that have "
                       "conditions has over %d bytes; use a smaller batch, or conditions on "
                       "smaller columns",
                       CQL_RESULT_BYTES_MAX);
}

int cql_write_keep_refused(struct cql_execution *execution,
                           const struct cql_write_statement *statements, uint32_t count,
                           bool is_batch, struct cql_idempotency_answer *answer_out)
{
    check(count > 0);
    const struct table *table = statements[0].plan->table;
    struct refusal refusal = {.statements = statements, .count = count, .table = table};
    struct buffer cells = {.arena = execution->arena};
    refusal.rows = arena_array(execution->arena, count + 1, sizeof(*refusal.rows));
    look_at_plans(&refusal);
    find_rows(&refusal);
    add_columns(&refusal, is_batch, execution->arena);
    begin(execution, refusal.column_count + 1, answer_out);
    for (uint32_t i = 0; i < refusal.column_count; i++)
        answer_out->names[answer_out->count++] = refusal.columns[i]->name;
    int rc = 0;
    for (uint32_t i = 0; i < refusal.row_count && rc == 0; i++) {
        add_cells(&refusal, refusal.rows[i], execution->arena, &cells);
        rc = check_size(execution, &cells);
    }
    answer_out->row_count = refusal.row_count;
    if (refusal.row_count == 0) {
        bool has_static = add_cells(&refusal, NULL, execution->arena, &cells);
        answer_out->row_count = 1;
        rc = check_size(execution, &cells);
        if (!has_static) {
            answer_out->count = 1;
            buffer_clear(&cells);
            add_applied(&cells, false);
        }
    }
    answer_out->cells = buffer_view(&cells);
    return rc;
}

/* A column that was dropped after the answer was kept is described as a blob. */
static struct cql_column column_of(const struct table *table, const char *name)
{
    const struct column *column = schema_column_named(table, bytes_text(name));
    const struct type *type = column != NULL ? column->type : type_builtin(TYPE_BLOB);
    if (strcmp(name, APPLIED) == 0)
        type = type_builtin(TYPE_BOOLEAN);
    return (struct cql_column){table->keyspace, table->name, name, type};
}

struct description {
    struct cql_execution *execution;
    const struct table *table;
    const struct cql_idempotency_answer *answer;
    struct cql_rows *rows;
};

/* Called by cql_guard, unless [applied] is the only column: types may take much memory. */
static int describe_columns(void *context)
{
    const struct description *description = context;
    const struct cql_idempotency_answer *answer = description->answer;
    struct arena *arena = description->execution->arena;
    struct cql_column *columns = arena_array(arena, answer->count, sizeof(*columns));
    for (uint32_t i = 0; i < answer->count; i++)
        columns[i] = column_of(description->table, answer->names[i]);
    description->rows->metadata = (struct cql_metadata){columns, answer->count};
    cql_metadata_id(&description->rows->metadata, arena, description->rows->metadata_id);
    return 0;
}

void cql_write_answer(struct cql_execution *execution, const struct table *table,
                      const struct cql_idempotency_answer *answer)
{
    if (answer->count == 0) {
        cql_execution_finish_void(execution);
        return;
    }
    struct cql_result result = {.kind = CQL_RESULT_ROWS,
                                .rows = {.row_count = answer->row_count, .cells = answer->cells}};
    struct description description = {execution, table, answer, &result.rows};
    /* The answer of an applied write has only [applied], and must not be refused. */
    int rc = answer->count == 1 ? describe_columns(&description)
                                : cql_guard(execution, describe_columns, &description);
    if (rc != 0)
        cql_execution_finish_fault(execution);
    else
        cql_execution_finish(execution, &result);
}
