/* The answer of a conditional write: [applied], and of a refused one the row its condition met.
 *
 * It is names and cells and no types, so that it can be kept under the request's id and told again:
 * a column's type is looked up when it is told. */
#include <string.h>

#include "query/cql/cql_write.h"

#define APPLIED "[applied]"

static void add_cell(struct cql_once_answer *answer, const char *name, struct buffer *cells,
                     struct bytes value)
{
    answer->names[answer->count++] = name;
    buffer_put_u32_be(cells, value.data == NULL ? UINT32_MAX : (uint32_t)value.size);
    buffer_append_bytes(cells, value);
}

static void begin(struct cql_work *work, bool is_applied, uint32_t columns_max,
                  struct buffer *cells, struct cql_once_answer *answer_out)
{
    uint8_t value = is_applied;
    *answer_out = (struct cql_once_answer){
        .names = arena_alloc(work->arena, columns_max * sizeof(*answer_out->names), 16)};
    add_cell(answer_out, APPLIED, cells, bytes_of(&value, 1));
}

static void finish(struct cql_work *work, struct buffer *cells, struct cql_once_answer *answer)
{
    answer->cells = arena_copy(work->arena, buffer_view(cells));
    buffer_release(cells);
}

void cql_write_keep_applied(struct cql_work *work, struct cql_once_answer *answer_out)
{
    struct buffer cells = {0};
    begin(work, true, 1, &cells, answer_out);
    finish(work, &cells, answer_out);
}

static bool is_in(const struct cql_metadata *columns, const char *name)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        if (strcmp(columns->columns[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* All of the row after IF NOT EXISTS, else the conditions' columns; in a batch with the key. */
void cql_write_keep_refused(struct cql_work *work, const struct cql_write_statement *statement,
                            bool is_batch, struct cql_once_answer *answer_out)
{
    const struct cql_write_plan *plan = statement->plan;
    const struct table *table = plan->table;
    const struct cql_read_row *read = &statement->reads[0];
    struct cql_row row = {.table = table,
                          .key = read->key,
                          .row = read->row_count > 0 ? &read->rows[0] : NULL,
                          .static_row = read->static_row};
    struct buffer cells = {0};
    begin(work, false, table->column_count + 1, &cells, answer_out);
    bool shows_row =
        (row.row != NULL || (row.static_row != NULL && plan->is_static)) && !plan->if_exists;
    for (uint32_t i = 0; i < table->column_count && shows_row; i++) {
        const struct column *column = &table->columns[i];
        bool is_key = column->kind == COLUMN_PARTITION || column->kind == COLUMN_CLUSTERING;
        if (plan->if_not_exists || is_in(&plan->condition_columns, column->name) ||
            (is_batch && is_key)) {
            add_cell(answer_out, column->name, &cells, cql_row_value(&row, column, work->arena));
        }
    }
    finish(work, &cells, answer_out);
}

/* A column of the answer; one that was dropped since the first answer shows its bytes. */
static struct cql_column column_of(const struct table *table, const char *name)
{
    const struct column *column = table_column_named(table, bytes_text(name));
    const struct type *type = column != NULL ? column->type : type_builtin(TYPE_BLOB);
    if (strcmp(name, APPLIED) == 0) {
        type = type_builtin(TYPE_BOOLEAN);
    }
    return (struct cql_column){table->keyspace, table->name, name, type};
}

void cql_write_answer(struct cql_work *work, const struct table *table,
                      const struct cql_once_answer *answer)
{
    struct cql_result result = {.kind = CQL_RESULT_ROWS};
    if (answer->count == 0) {
        cql_finish_void(work);
        return;
    }
    struct cql_column *columns = arena_alloc(work->arena, answer->count * sizeof(*columns), 16);
    for (uint32_t i = 0; i < answer->count; i++) {
        columns[i] = column_of(table, answer->names[i]);
    }
    result.rows = (struct cql_rows){
        .metadata = {columns, answer->count}, .row_count = 1, .cells = answer->cells};
    cql_metadata_id(&result.rows.metadata, result.rows.metadata_id);
    cql_finish(work, &result);
}
