/* Over all pages, the answer has each of its rows once.  A client's page ends only when a further
 * row has been found, so that no page but the first is empty.  The paging state has the position
 * before that row. */
#include <stdlib.h>
#include <string.h>

#include "base/hash64.h"
#include "query/cql/common/cql_compiled.h"
#include "query/cql/expression/cql_accumulator.h"
#include "query/cql/expression/cql_json.h"
#include "query/cql/read/cql_filter.h"
#include "query/cql/read/cql_page.h"
#include "query/cql/read/cql_select_private.h"
#include "storage/engine/store.h"
#include "storage/schema/type.h"

void cql_select_stop(struct select *select, int status)
{
    select->is_done = true;
    select->status = status;
}

/* ---- ORDER BY over several partitions ---- */

static int order_sorted(const void *a, const void *b, void *context)
{
    const struct select *select = context;
    const struct sorted_row *left = a;
    const struct sorted_row *right = b;
    int order = row_clustering_compare(select->plan->table, &left->clustering, &right->clustering);
    if (order == 0)
        return (left->number > right->number) - (left->number < right->number);
    return select->plan->is_reversed ? -order : order;
}

bool cql_select_sorts(const struct select *select)
{
    return select->plan->has_order && select->bound.key_count > 1 &&
           (!select->plan->is_aggregate || select->plan->has_group_by);
}

int cql_select_sort_rows(void *context)
{
    struct select *select = context;
    if (!cql_select_sorts(select) || select->row_count == 0)
        return 0;
    qsort_r(select->sorted, select->row_count, sizeof(struct sorted_row), order_sorted, select);
    struct buffer cells = {.arena = select->execution->arena};
    uint64_t kept = select->row_count < select->limit_left ? select->row_count : select->limit_left;
    for (uint64_t i = 0; i < kept; i++)
        buffer_append(&cells, select->cells.data + select->sorted[i].start, select->sorted[i].size);
    select->cells = cells;
    select->row_count = (uint32_t)kept;
    return 0;
}

/* ---- output ---- */

static void put_cell(struct buffer *cells, struct bytes value)
{
    buffer_reserve(cells, 4 + value.size);
    uint8_t *to = cells->data + cells->size;
    store_u32_be(to, value.data == NULL ? UINT32_MAX : (uint32_t)value.size);
    if (value.size > 0)
        memcpy(to + 4, value.data, value.size);
    cells->size += 4 + value.size;
}

static int put_row(struct select *select, const struct cql_context *context)
{
    const struct cql_select_plan *plan = select->plan;
    struct buffer json = {.arena = context->arena};
    int rc = 0;
    for (uint32_t i = 0; i < plan->selector_count && rc == 0; i++) {
        struct bytes value;
        rc = cql_expression_value(plan->selectors[i], context, &value);
        if (rc == CQL_UNSET)
            rc = cql_invalid(context->fault, "Invalid unset value for a selected term");
        if (rc == 0 && !plan->is_json) {
            put_cell(&select->cells, value);
        } else if (rc == 0) {
            buffer_append_text(&json, i == 0 ? "{" : ", ");
            cql_json_format_name(plan->names[i], &json);
            buffer_append_text(&json, ": ");
            cql_json_format(plan->selectors[i]->type, value, &json);
        }
    }
    if (rc == 0 && plan->is_json) {
        buffer_put_u8(&json, '}');
        put_cell(&select->cells, buffer_view(&json));
    }
    return rc;
}

static void note_sorted(struct select *select, const struct row *row, size_t start)
{
    select->sorted = arena_make_room(select->execution->arena, select->sorted, select->row_count,
                                     &select->sorted_capacity, sizeof(*select->sorted));
    struct clustering ordered = row != NULL ? row->clustering : (struct clustering){.count = 0};
    uint32_t most = select->plan->order_columns;
    ordered.count = ordered.count < most ? ordered.count : most;
    select->sorted[select->row_count] =
        (struct sorted_row){.clustering = row_clustering_copy(&ordered, select->execution->arena),
                            .start = start,
                            .size = select->cells.size - start,
                            .number = select->row_count};
}

static bool page_is_full(const struct select *select)
{
    const struct cql *cql = select->execution->cql;
    size_t most = cql->options.work_bytes_max / 4;
    most = most < CQL_PAGE_BYTES_MAX ? most : CQL_PAGE_BYTES_MAX;
    most = cql->is_crowded || select->execution->request.is_short ? CQL_PAGE_BYTES_SHORT : most;
    bool is_long = select->is_paged && select->row_count > 0 && select->cells.size >= most;
    return select->row_count >= select->page_rows || is_long;
}

static int count_row(struct select *select)
{
    select->row_count++;
    select->partition_rows++;
    if (!cql_select_sorts(select) && select->limit_left != CQL_PAGE_NO_LIMIT &&
        --select->limit_left == 0) {
        cql_select_stop(select, 0);
    }
    if (select->cells.size > CQL_RESULT_BYTES_MAX) {
        return cql_refuse(&select->execution->fault, CQL_INVALID,
                          "the answer has over %d bytes; ask for it in pages",
                          CQL_RESULT_BYTES_MAX);
    }
    return 0;
}

/* ORDER BY sorts the new row by the clustering of `row`; NULL: there is no stored row. */
static int add_row(struct select *select, const struct cql_context *context, const struct row *row)
{
    size_t start = select->cells.size;
    int rc = put_row(select, context);
    if (rc == 0 && cql_select_sorts(select))
        note_sorted(select, row, start);
    return rc == 0 ? count_row(select) : rc;
}

/* ---- groups ---- */

int cql_select_group_end(struct select *select)
{
    struct cql_context context = cql_expression_context(select->execution, select->scratch);
    const struct cql_select_plan *plan = select->plan;
    struct bytes *results =
        arena_array(select->scratch, plan->aggregate_count + 1, sizeof(struct bytes));
    for (uint32_t i = 0; i < plan->aggregate_count; i++)
        cql_accumulator_result(select->accumulators[i], select->scratch, &results[i]);
    struct cql_row_memo memo = {0};
    select->group.memo = &memo;
    context.row = select->has_group ? &select->group : NULL;
    context.aggregates = results;
    int rc = add_row(select, &context, select->group.row);
    arena_reset(select->group_arena);
    select->has_group = false;
    return rc;
}

static int group_key_of(struct select *select, const struct cql_row *row,
                        const struct cql_context *context, struct buffer *key)
{
    const struct cql_select_plan *plan = select->plan;
    buffer_clear(key);
    if (!plan->has_group_by)
        return 0;
    buffer_put_sized(key, row->key);
    for (uint32_t i = 0; i < plan->group_clustering && row->row != NULL; i++)
        buffer_put_sized(key, row->row->clustering.values[i]);
    if (plan->group_function != NULL && row->row != NULL) {
        struct bytes value;
        int rc = cql_expression_value(plan->group_function, context, &value);
        if (rc != 0)
            return rc < 0 ? rc : cql_invalid(context->fault, "Invalid unset value in GROUP BY");
        buffer_put_sized(key, value);
    }
    return 0;
}

static void group_begin(struct select *select, const struct cql_row *row)
{
    select->has_group = true;
    select->group = *row;
    select->group.key = arena_copy(select->group_arena, row->key);
    if (row->row != NULL) {
        row_copy(row->row, select->group_arena, &select->group_row);
        select->group.row = &select->group_row;
    }
    if (row->static_row != NULL) {
        row_copy(row->static_row, select->group_arena, &select->group_static);
        select->group.static_row = &select->group_static;
    }
}

/* Returns 1 if the row begins a group, but the client's page is full. */
static int group_row(struct select *select, const struct cql_row *row, bool partition_is_new)
{
    const struct cql_select_plan *plan = select->plan;
    struct cql_context context = cql_expression_context(select->execution, select->scratch);
    struct buffer key = {.arena = select->scratch};
    context.row = row;
    int rc = group_key_of(select, row, &context, &key);
    bool is_same =
        select->has_group && bytes_equal(buffer_view(&key), buffer_view(&select->group_key));
    if (rc == 0 && select->has_group && !is_same) {
        rc = cql_select_group_end(select);
        if (partition_is_new)
            select->partition_rows = 0;
    }
    if (rc == 0 && !select->is_done && !select->has_group && plan->has_group_by &&
        page_is_full(select)) {
        rc = 1;
    }
    if (rc == 0 && !select->is_done && select->partition_rows < select->partition_limit) {
        if (!select->has_group) {
            group_begin(select, row);
            buffer_set(&select->group_key, buffer_view(&key));
        }
        for (uint32_t i = 0; i < plan->aggregate_count && rc == 0; i++) {
            struct bytes value = CQL_NULL;
            if (plan->aggregates[i].argument != NULL)
                rc = cql_expression_value(plan->aggregates[i].argument, &context, &value);
            if (rc == 0)
                rc = cql_accumulator_add(select->accumulators[i], value, context.fault);
        }
    }
    return rc;
}

/* ---- rows ---- */

static bool passes(struct select *select, const struct cql_row *row)
{
    for (uint32_t i = 0; i < select->bound.filter_count; i++)
        if (!cql_filter_matches(&select->bound.filters[i], row, select->scratch))
            return false;
    return true;
}

/* Returns 1 if the client's page is full. */
static int take_row(struct select *select, struct cql_row *row)
{
    struct cql_row_memo memo = {0};
    row->memo = &memo;
    arena_reset(select->scratch);
    if (!passes(select, row))
        return 0;
    bool partition_is_new = !select->partition_is_taken;
    select->partition_is_taken = true;
    if (select->plan->is_aggregate && select->plan->is_distinct && !partition_is_new)
        return 0;
    if (select->plan->is_aggregate)
        return group_row(select, row, partition_is_new);
    if (select->partition_rows >= select->partition_limit)
        return 0;
    if (page_is_full(select))
        return 1;
    struct cql_context context = cql_expression_context(select->execution, select->scratch);
    context.row = row;
    return add_row(select, &context, row->row);
}

bool cql_select_reads_partition(const struct select *select)
{
    return select->by_index && cql_index_is_wide(select->use.index);
}

uint64_t cql_select_key_hash(const struct select *select)
{
    const struct table *table = select->plan->table;
    struct buffer keys = {.arena = select->execution->arena};
    for (uint32_t i = 0; i < table->partition_count + table->clustering_count; i++) {
        const struct column *column = &table->columns[i];
        buffer_put_u8(&keys, (uint8_t)column->kind);
        buffer_put_u8(&keys, column->descending);
        type_print(column->type, &keys);
    }
    return hash64(keys.data, keys.size);
}

/* End the client's page before the row at `position`.  If index entries stand for partitions, the
 * state has a position of the index and one in the partition. */
static void save_state(struct select *select, uint64_t unit, struct bytes position,
                       uint64_t partition_rows)
{
    struct buffer both = {.arena = select->execution->arena};
    if (cql_select_reads_partition(select)) {
        buffer_put_sized(&both, buffer_view(&select->before_entry));
        buffer_append_bytes(&both, position);
        position = buffer_view(&both);
    }
    struct cql_page_state state = {.statement_hash = select->execution->compiled->hash,
                                   .key_hash = cql_select_key_hash(select),
                                   .by_index = select->by_index,
                                   .unit = unit,
                                   .limit_left = select->limit_left,
                                   .partition_rows = partition_rows,
                                   .partition_key = buffer_view(&select->partition_key),
                                   .position = position};
    if (select->by_index) {
        state.index_column_id = select->use.index->column->id;
        state.index_of = (uint8_t)select->use.index->of;
    }
    cql_page_write(&state, &select->paging_state);
    cql_select_stop(select, 0);
}

int cql_select_end_partition(struct select *select)
{
    if (!select->static_is_pending)
        return 0;
    select->static_is_pending = false;
    if (!select->plan->where.has_static_only)
        return 0;
    struct cql_row row = {.table = select->plan->table,
                          .key = buffer_view(&select->partition_key),
                          .static_row = &select->static_row};
    int rc = take_row(select, &row);
    if (rc != 1)
        return rc;
    save_state(select, select->static_unit, buffer_view(&select->static_position), 0);
    return 0;
}

int cql_select_enter_partition(struct select *select, struct bytes key)
{
    if (select->has_partition && bytes_equal(key, buffer_view(&select->partition_key)))
        return 0;
    int rc = cql_select_end_partition(select);
    if (rc == 0 && !select->is_done) {
        buffer_set(&select->partition_key, key);
        select->has_partition = true;
        select->has_static = false;
        select->partition_is_taken = false;
        if (!select->has_group)
            select->partition_rows = 0;
    }
    return rc;
}

void cql_select_keep_static(struct select *select, const struct page_row *row)
{
    arena_reset(select->static_arena);
    row_copy(&row->row, select->static_arena, &select->static_row);
    select->has_static = true;
}

void cql_select_place_before(const struct select *select, const struct page_row *rows, uint32_t i,
                             struct buffer *position)
{
    buffer_clear(position);
    if (i > 0)
        store_position_after(&rows[i - 1], false, position);
    else
        buffer_append_bytes(position, buffer_view(&select->position));
}

int cql_select_take_stored(struct select *select, const struct table *table,
                           const struct page_row *row, const struct page_row *rows, uint32_t i)
{
    struct cql_row seen = {.table = table,
                           .key = row->key,
                           .row = &row->row,
                           .static_row = select->has_static ? &select->static_row : NULL};
    int rc = take_row(select, &seen);
    if (rc != 1)
        return rc;
    struct buffer position = {.arena = select->execution->arena};
    cql_select_place_before(select, rows, i, &position);
    save_state(select, select->unit, buffer_view(&position), select->partition_rows);
    return 0;
}

bool cql_select_in_slices(const struct select *select, const struct row *row)
{
    bool inside = !select->checks_slices;
    for (uint32_t i = 0; i < select->bound.slice_count && !inside; i++)
        inside =
            stream_slice_contains(select->plan->table, &select->bound.slices[i], &row->clustering);
    return inside;
}

int cql_select_page_row(struct select *select, const struct read_page *page, uint32_t i)
{
    const struct page_row *row = &page->rows[i];
    int rc = cql_select_enter_partition(select, row->key);
    if (rc != 0 || select->is_done)
        return rc;
    if (row->row.is_static) {
        cql_select_keep_static(select, row);
        select->static_is_pending = true;
        select->static_unit = select->unit;
        cql_select_place_before(select, page->rows, i, &select->static_position);
        return 0;
    }
    if (!cql_select_in_slices(select, &row->row))
        return 0;
    select->static_is_pending = false;
    return cql_select_take_stored(select, page->table, row, page->rows, i);
}
