/* Reads pages for a SELECT, and gives their rows to cql_select_rows.c.
 *
 *   unit      a key and one of its slices, or a scan; units are read one after the other
 *   page      of the store: rows of a unit; a static row comes first in its partition
 *   position  right before the first row of the client's next page
 *
 * The store may answer before a read returns.  Therefore select_continue is a loop: thousands of
 * keys must not nest as many calls. */
#include "query/cql/read/cql_select.h"

#include <string.h>

#include "query/cql/common/cql_arena.h"
#include "query/cql/common/cql_guard.h"
#include "query/cql/common/cql_slice.h"
#include "query/cql/common/cql_trace.h"
#include "query/cql/expression/cql_accumulator.h"
#include "query/cql/read/cql_page.h"
#include "query/cql/read/cql_per_day.h"
#include "query/cql/read/cql_select_private.h"
#include "query/cql/system/cql_system.h"
#include "rollup/tables.h"
#include "storage/engine/store.h"
#include "storage/schema/type.h"

enum {
    READ_ROWS = 2000,
    READ_ROWS_LEAST = 4,
    ROWS_A_LOOK = 32, /* rows between two readings of the clock */
    MANY_PARTS = 64,  /* with more selectors and filters, a row may take long */
    INDEX_ROWS = 100,
    CELL_LIKELY = 16,         /* bytes of a small value */
    CELLS_FIRST_MAX = 4 << 10 /* bytes reserved in one step */
};

/* ---- the end ---- */

static void select_release(struct cql_execution *execution)
{
    struct select *select = execution->state;
    cql_by_time_free(select->by_time);
    cql_arena_give(execution->cql, select->scratch);
    cql_arena_give(execution->cql, select->group_arena);
    cql_arena_give(execution->cql, select->static_arena);
    cql_arena_give(execution->cql, select->entry_arena);
    buffer_release(&select->after_entries);
    buffer_release(&select->before_entry);
    buffer_release(&select->resumed);
    buffer_release(&select->position);
    buffer_release(&select->partition_key);
    buffer_release(&select->static_position);
    buffer_release(&select->group_key);
}

static void select_finish(struct select *select)
{
    struct cql_execution *execution = select->execution;
    if (select->status != 0 || cql_guard(execution, cql_select_sort_rows, select) != 0) {
        cql_execution_finish_fault(execution);
        return;
    }
    struct cql_result result = {.kind = CQL_RESULT_ROWS,
                                .rows = {.metadata = select->plan->metadata,
                                         .row_count = select->row_count,
                                         .cells = buffer_view(&select->cells),
                                         .paging_state = buffer_view(&select->paging_state)}};
    memcpy(result.rows.metadata_id, execution->compiled->result_id, CQL_ID_SIZE);
    cql_execution_finish(execution, &result);
}

/* ---- reading ---- */

static void select_continue(struct select *select);

/* If the partition has given its PER PARTITION LIMIT of rows and no group is open, let the next
 * read begin after the partition. */
static bool skip_partition(struct select *select, const struct read_page *page)
{
    if (select->partition_rows < select->partition_limit || select->has_group ||
        page->row_count == 0 || page->position.size == 0) {
        return false;
    }
    buffer_clear(&select->position);
    store_position_after(&page->rows[page->row_count - 1], true, &select->position);
    return true;
}

/* Returns as many rows as the answer may still need, or read_rows if filters, groups or sorting
 * make that number unknown.  With PER PARTITION LIMIT the result may be lower, because the rest of
 * a partition is skipped.  Two rows are added: one for a static row, and one that shows whether
 * there is a further page. */
static uint32_t rows_wanted(const struct select *select)
{
    const struct cql_select_plan *plan = select->plan;
    uint64_t wanted = select->page_rows - select->row_count;
    wanted = wanted < select->limit_left ? wanted : select->limit_left;
    if (plan->is_aggregate || select->bound.filter_count > 0 || select->checks_slices ||
        cql_select_sorts(select)) {
        wanted = select->read_rows;
    }
    if (select->partition_limit != CQL_PAGE_NO_LIMIT) {
        uint64_t few = 2 * select->partition_limit + 16;
        wanted = wanted < few ? wanted : few;
    }
    return (uint32_t)(wanted < READ_ROWS_MAX - 2 ? wanted + 2 : READ_ROWS_MAX);
}

/* ---- by index ---- */

static void keep_entries(struct select *select, const struct read_page *page)
{
    uint32_t count = 0;
    arena_reset(select->entry_arena);
    select->entries =
        arena_array(select->entry_arena, page->row_count + 1, sizeof(struct page_row));
    for (uint32_t i = 0; i < page->row_count; i++) {
        const struct page_row *from = &page->rows[i];
        int64_t token = type_value_bigint(from->row.clustering.values[0]);
        if (token < select->bound.token_first || token > select->bound.token_last)
            continue;
        struct page_row *entry = &select->entries[count++];
        entry->token = from->token;
        entry->key = arena_copy(select->entry_arena, from->key);
        row_copy(&from->row, select->entry_arena, &entry->row);
    }
    select->entry_count = count;
    select->entry = 0;
    buffer_set(&select->after_entries, page->position);
}

/* Take the row of an entry.  The row may be gone or have another value by now; therefore the
 * indexed relation is also a filter or a slice. */
static int entry_row(struct select *select, const struct read_page *page)
{
    const struct page_row *found = NULL;
    for (uint32_t i = 0; i < page->row_count; i++)
        found = page->rows[i].row.is_static ? found : &page->rows[i];
    if (found == NULL || !cql_select_in_slices(select, &found->row))
        return 0;
    int rc = cql_select_enter_partition(select, found->key);
    select->has_static = false;
    if (rc == 0 && page->rows[0].row.is_static)
        cql_select_keep_static(select, &page->rows[0]);
    if (rc != 0 || select->is_done)
        return rc;
    return cql_select_take_stored(select, page->table, found, select->entries, select->entry);
}

/* Begin to read the entry's partition, at its start or where the client's last page ended, with the
 * static row first. */
static void partition_begin(struct select *select)
{
    struct bytes key;
    struct clustering none;
    cql_select_place_before(select, select->entries, select->entry, &select->before_entry);
    buffer_clear(&select->position);
    cql_index_row(&select->entries[select->entry], &key, &none);
    if (select->has_partition && select->resumed.size > 0 &&
        bytes_equal(key, buffer_view(&select->partition_key))) {
        buffer_append_bytes(&select->position, buffer_view(&select->resumed));
        select->reads_static_only = select->plan->reads_statics;
    } else if (select->resumed.size > 0) {
        select->has_partition = false;
    }
    buffer_clear(&select->resumed);
}

static void next_entry(struct select *select)
{
    select->reads_row = select->entry < select->entry_count;
    if (!select->reads_row) {
        buffer_set(&select->position, buffer_view(&select->after_entries));
        select->unit_ended = select->position.size == 0;
    } else if (cql_select_reads_partition(select)) {
        partition_begin(select);
    }
}

static int index_answer(struct select *select, const struct read_page *page)
{
    int rc = 0;
    if (select->reads_row) {
        rc = entry_row(select, page);
        select->entry++;
    } else {
        keep_entries(select, page);
    }
    next_entry(select);
    return rc;
}

static int partition_answer(struct select *select)
{
    int rc = 0;
    if (!select->is_done && select->position.size == 0)
        rc = cql_select_end_partition(select);
    if (rc == 0 && !select->is_done && select->position.size == 0) {
        select->entry++;
        next_entry(select);
    }
    return rc;
}

static struct read_request index_request(const struct select *select)
{
    struct read_request request = {.table_id = select->use.index->hidden->id,
                                   .key = select->bound.index_key,
                                   .slice = stream_slice_all(),
                                   .position = buffer_view(&select->position),
                                   .row_limit = INDEX_ROWS,
                                   .view = READ_DURABLE};
    if (select->reads_row) {
        struct clustering clustering;
        request.table_id = select->plan->table->id;
        cql_index_row(&select->entries[select->entry], &request.key, &clustering);
        request.slice = (struct slice){.start = {clustering, BOUND_BEFORE},
                                       .end = {clustering, BOUND_AFTER},
                                       .with_static = select->plan->reads_statics};
        if (cql_select_reads_partition(select)) {
            request.row_limit = rows_wanted(select);
        } else {
            request.position = (struct bytes){0};
            request.row_limit = 2;
        }
    }
    return request;
}

static void reserve_cells(struct select *select, uint32_t rows)
{
    size_t likely = (size_t)rows * select->plan->selector_count * CELL_LIKELY;
    if (!select->plan->is_aggregate)
        buffer_reserve(&select->cells, likely < CELLS_FIRST_MAX ? likely : CELLS_FIRST_MAX);
}

/* Whether the time slice is used up before row `i`.  If so, the rest of the page is read again, and
 * read_rows is lowered to the rows that there was time for. */
static bool is_cut_before(struct select *select, const struct read_page *page, uint32_t i)
{
    bool looks = i > 0 && (select->looks_each_row || i % ROWS_A_LOOK == 0);
    if (!looks || select->is_virtual || !cql_slice_is_over(select->execution->cql))
        return false;
    buffer_clear(&select->position);
    store_position_after(&page->rows[i - 1], false, &select->position);
    select->read_rows = i > READ_ROWS_LEAST ? i : READ_ROWS_LEAST;
    return true;
}

static int take_rows(struct select *select, const struct read_page *page)
{
    int rc = 0;
    bool is_cut = false;
    reserve_cells(select, page->row_count);
    for (uint32_t i = 0; rc == 0 && i < page->row_count && !select->is_done && !is_cut; i++) {
        is_cut = is_cut_before(select, page, i);
        if (!is_cut)
            rc = cql_select_page_row(select, page, i);
    }
    if (!select->is_done && !is_cut && !skip_partition(select, page))
        buffer_set(&select->position, page->position);
    if (select->by_index)
        return rc == 0 ? partition_answer(select) : rc;
    select->unit_ended = select->position.size == 0;
    return rc;
}

static int take_page(void *context)
{
    struct select *select = context;
    const struct read_page *page = select->page;
    cql_trace(select->execution, "Read %u rows", page->row_count);
    if (select->reads_static_only) {
        select->reads_static_only = false;
        if (page->row_count > 0 && page->rows[0].row.is_static)
            cql_select_keep_static(select, &page->rows[0]);
        return 0;
    }
    bool is_partition = select->reads_row && cql_select_reads_partition(select);
    return select->by_index && !is_partition ? index_answer(select, page) : take_rows(select, page);
}

static void page_arrived(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct select *select = context;
    struct cql *cql = select->execution->cql;
    struct cql_slice slice = cql_slice_begin(select->execution);
    select->page = page;
    int rc = status;
    if (status == 0)
        rc = cql_guard(select->execution, take_page, select);
    else if (err != NULL)
        rc = cql_fault_of(&select->execution->fault, err);
    if (rc != 0)
        cql_select_stop(select, rc);
    select_continue(select);
    cql_slice_end(cql, slice);
}

static struct read_request unit_request(const struct select *select)
{
    const struct cql_restrict_bound *bound = &select->bound;
    struct read_request request = {.table_id = select->plan->table->id,
                                   .is_scan = bound->is_scan,
                                   .has_tokens = bound->is_scan,
                                   .token_first = bound->token_first,
                                   .token_last = bound->token_last,
                                   .slice = stream_slice_all(),
                                   .position = buffer_view(&select->position),
                                   .row_limit = rows_wanted(select),
                                   .view = READ_DURABLE};
    if (bound->is_scan) {
        request.slice = select->checks_slices ? stream_slice_all() : bound->slices[0];
        request.slice.with_static = select->plan->reads_statics;
    } else {
        uint64_t slice = select->unit % bound->slice_count;
        request.key = bound->keys[select->unit / bound->slice_count];
        request.slice =
            bound->slices[select->plan->is_reversed ? bound->slice_count - 1 - slice : slice];
        request.slice.with_static = select->plan->reads_statics && slice == 0;
    }
    request.slice.reversed = select->plan->is_reversed;
    if (select->reads_static_only) {
        request.is_scan = false;
        request.key = buffer_view(&select->partition_key);
        request.position = (struct bytes){0};
        request.slice = stream_slice_all();
        request.slice.end.side = BOUND_BEFORE;
        request.slice.with_static = true;
        request.row_limit = 1;
    }
    return request;
}

/* All pages of the SELECT share one array, because there may be a page for each of 100,000 keys. */
static void virtual_read(struct select *select, const struct read_request *request)
{
    if (select->virtual_page == NULL) {
        select->virtual_page = arena_array(select->execution->arena, select->virtual_count + 1,
                                           sizeof(struct page_row));
    }
    struct page_row *rows = select->virtual_page;
    struct read_page page = {.table = select->plan->table, .rows = rows};
    struct buffer position = {.arena = select->execution->arena};
    bool is_after = request->position.size == 0;
    for (uint32_t i = 0; i < select->virtual_count; i++) {
        uint32_t at = request->slice.reversed ? select->virtual_count - 1 - i : i;
        const struct page_row *row = &select->virtual_rows[at];
        if (request->is_scan ? row->token < request->token_first || row->token > request->token_last
                             : !bytes_equal(row->key, request->key)) {
            continue;
        }
        if (!stream_slice_contains(page.table, &request->slice, &row->row.clustering))
            continue;
        if (is_after) {
            rows[page.row_count++] = *row;
            continue;
        }
        buffer_clear(&position);
        store_position_after(row, false, &position);
        is_after = bytes_equal(buffer_view(&position), request->position);
    }
    page_arrived(select, 0, NULL, &page);
}

static void figures_arrived(void *context, int status, const struct error *err,
                            const struct partition_figure *figures, uint32_t count,
                            struct bytes position)
{
    struct select *select = context;
    struct cql *cql = select->execution->cql;
    struct cql_slice slice = cql_slice_begin(select->execution);
    struct cql_fault *fault = &select->execution->fault;
    int rc = status == 0 ? 0 : cql_fault_of(fault, err);
    (void)position;
    for (uint32_t i = 0; rc == 0 && i < select->plan->aggregate_count && count > 0; i++)
        rc = cql_accumulator_add_stats(select->accumulators[i], &figures[0].stats, fault);
    select->unit_ended = true;
    if (rc != 0)
        cql_select_stop(select, rc);
    select_continue(select);
    cql_slice_end(cql, slice);
}

static void trace_read(struct select *select)
{
    const char *table = select->plan->table->name;
    if (select->plan->by_stats) {
        cql_trace(select->execution, "Executing query on the kept sums of a partition of %s",
                  table);
    } else if (select->by_index && select->reads_row) {
        cql_trace(select->execution, "Reading the row of an index's entry from %s", table);
    } else if (select->by_index) {
        cql_trace(select->execution, "Executing indexed query on %s using %s", table,
                  select->use.index->name);
    } else {
        cql_trace(select->execution, "Executing %s query on %s",
                  select->bound.is_scan ? "range" : "single-partition", table);
    }
}

static void read_unit(struct select *select)
{
    trace_read(select);
    if (select->plan->by_stats) {
        struct store *store = select->execution->cql->options.store;
        struct bytes key = select->bound.keys[select->unit / select->bound.slice_count];
        struct error err = {0};
        if (store_stats(store, select->plan->table->id, 0, key, READ_DURABLE, figures_arrived,
                        select, &err) != 0) {
            cql_select_stop(select, cql_fault_of(&select->execution->fault, &err));
        }
        return;
    }
    struct read_request request = select->by_index && !select->reads_static_only
                                      ? index_request(select)
                                      : unit_request(select);
    if (select->is_virtual)
        virtual_read(select, &request);
    else if (select->by_time != NULL)
        cql_by_time_read(select->by_time, &request, page_arrived, select);
    else
        cql_execution_read(select->execution, &request, page_arrived, select);
}

static int take_last(void *context)
{
    struct select *select = context;
    int rc = cql_select_end_partition(select);
    bool has_last =
        select->plan->is_aggregate && (select->has_group || !select->plan->has_group_by);
    if (rc == 0 && !select->is_done && has_last)
        rc = cql_select_group_end(select);
    return rc;
}

static void select_next(struct select *select)
{
    if (select->unit_ended) {
        select->unit_ended = false;
        select->unit++;
    }
    if (select->unit < select->unit_count)
        read_unit(select);
    else
        cql_select_stop(select, cql_guard(select->execution, take_last, select));
}

static void select_resume(struct cql_execution *execution)
{
    select_continue(execution->state);
}

static void select_continue(struct select *select)
{
    struct cql_execution *execution = select->execution;
    if (select->is_going) {
        select->goes_again = true;
        return;
    }
    select->is_going = true;
    do {
        select->goes_again = false;
        int rc = select->is_done ? 0 : cql_guard_look(execution);
        if (rc != 0)
            cql_select_stop(select, rc);
        if (!select->is_done && cql_slice_is_over(execution->cql)) {
            select->is_going = false;
            cql_slice_yield(execution, select_resume);
            return;
        }
        if (!select->is_done)
            select_next(select);
    } while (select->goes_again && !select->is_done);
    select->is_going = false;
    if (select->is_done)
        select_finish(select);
}

/* ---- the beginning ---- */

/* Sets `*out` to the limit, or to CQL_PAGE_NO_LIMIT if there is none or its marker is unset. */
static int bind_limit(struct select *select, const struct cql_expression *limit, uint64_t *out)
{
    struct cql_context context =
        cql_expression_context(select->execution, select->execution->arena);
    struct bytes value;
    *out = CQL_PAGE_NO_LIMIT;
    if (limit == NULL)
        return 0;
    int rc = cql_expression_value(limit, &context, &value);
    if (rc == CQL_UNSET)
        return 0;
    if (rc == 0 && value.size != 4)
        return cql_invalid(context.fault, "Invalid null value of limit");
    if (rc == 0 && type_value_int(value) <= 0)
        return cql_invalid(context.fault, "LIMIT must be strictly positive");
    *out = rc == 0 ? (uint64_t)type_value_int(value) : 0;
    return rc;
}

static bool has_key_relation(const struct cql_select_plan *plan)
{
    for (const struct cql_restriction *r = plan->where.all; r != NULL; r = r->next)
        if (r->columns[0]->kind == COLUMN_PARTITION)
            return true;
    return false;
}

static void warn_of_aggregates(struct select *select)
{
    const struct cql_select_plan *plan = select->plan;
    if (!plan->is_aggregate || plan->is_virtual)
        return;
    if (!has_key_relation(plan)) {
        cql_execution_warn(select->execution, "Aggregation query used without partition key");
    } else if (plan->where.is_multi_key) {
        cql_execution_warn(select->execution,
                           "Aggregation query used on multiple partition keys (IN restriction)");
    }
}

static bool has_complex(const struct table *table)
{
    bool has = false;
    for (uint32_t i = 0; i < table->column_count; i++)
        has |= type_is_complex(table->columns[i].type);
    return has;
}

static int read_state(struct select *select, struct bytes paging_state,
                      struct cql_page_state *state)
{
    struct cql_fault *fault = &select->execution->fault;
    int rc = cql_page_read(paging_state, select->execution->compiled->hash, state);
    if (rc == ERROR_UNSUPPORTED) {
        return cql_invalid(fault, "The paging state is of another version of daybook; begin the "
                                  "query anew");
    }
    if (rc != 0)
        return cql_refuse(fault, CQL_PROTOCOL_ERROR, "Invalid value for the paging state");
    return state->key_hash == cql_select_key_hash(select)
               ? 0
               : cql_invalid(fault, "The paging state is of a table of this name that had other "
                                    "keys; begin the query anew");
}

/* A further page uses the same index as the page before. */
static int choose_use(struct select *select, const struct cql_page_state *state)
{
    const struct cql_restrict_plan *where = &select->plan->where;
    struct cql_context context =
        cql_expression_context(select->execution, select->execution->arena);
    bool names_index = state != NULL && state->by_index;
    if (names_index) {
        select->use =
            cql_restrict_use_of(where, state->index_column_id, (enum cql_index_of)state->index_of);
    } else if (state == NULL) {
        select->use = where->use;
    }
    select->by_index = select->use.index != NULL && !where->has_keys && select->bound.is_scan;
    if (names_index && !select->by_index) {
        return cql_invalid(context.fault, "The paging state is of an index that is gone; begin the "
                                          "query anew");
    }
    return select->by_index ? cql_restrict_bind_index(&select->use, &context, &select->bound) : 0;
}

static int resume_from(struct select *select, const struct cql_page_state *state)
{
    struct bytes position = state->position;
    if (state->unit >= select->unit_count) {
        return cql_refuse(&select->execution->fault, CQL_PROTOCOL_ERROR,
                          "Invalid value for the paging state");
    }
    select->unit = state->unit;
    select->limit_left = state->limit_left;
    select->partition_rows = state->partition_rows;
    select->partition_is_taken = state->partition_rows > 0;
    buffer_append_bytes(&select->partition_key, state->partition_key);
    if (cql_select_reads_partition(select)) {
        struct reader reader = reader_of(position);
        buffer_append_bytes(&select->position, reader_sized(&reader));
        position = reader_bytes(&reader, reader_left(&reader));
        buffer_append_bytes(&select->resumed, position);
    } else {
        buffer_append_bytes(&select->position, position);
    }
    bool is_first_slice = select->bound.is_scan || state->unit % select->bound.slice_count == 0;
    bool is_within = position.size > 0 || !is_first_slice;
    select->has_partition = is_within && state->partition_key.size > 0;
    select->reads_static_only = select->plan->reads_statics && select->has_partition &&
                                !select->is_virtual && !select->by_index;
    return 0;
}

static int select_begin(void *context_of_step)
{
    struct select *select = context_of_step;
    struct cql_execution *execution = select->execution;
    struct cql_context context = cql_expression_context(execution, execution->arena);
    struct cql_page_state state;
    bool is_resumed = execution->request.paging_state.size > 0;
    int rc = cql_restrict_bind(&select->plan->where, &context, &select->bound);
    if (rc == 0)
        rc = bind_limit(select, select->plan->limit, &select->limit_left);
    if (rc == 0)
        rc = bind_limit(select, select->plan->partition_limit, &select->partition_limit);
    if (rc == 0 && is_resumed)
        rc = read_state(select, execution->request.paging_state, &state);
    if (rc == 0)
        rc = choose_use(select, is_resumed ? &state : NULL);
    if (rc != 0)
        return rc;
    if (select->plan->is_distinct)
        select->partition_limit = 1;
    select->looks_each_row =
        select->plan->selector_count + select->bound.filter_count > MANY_PARTS ||
        has_complex(select->plan->table);
    select->checks_slices =
        select->bound.is_scan && (select->bound.slice_count != 1 || select->by_index);
    select->unit_count =
        select->bound.is_scan ? 1 : (uint64_t)select->bound.key_count * select->bound.slice_count;
    /* A SELECT that sorts has no pages, because it must sort all rows together. */
    select->is_paged = execution->request.page_size > 0 && !cql_select_sorts(select);
    select->page_rows = select->is_paged ? (uint64_t)execution->request.page_size : UINT32_MAX;
    if (select->is_paged && select->page_rows > CQL_PAGE_ROWS_MAX)
        select->page_rows = CQL_PAGE_ROWS_MAX;
    if (select->plan->is_virtual) {
        select->is_virtual = true;
        select->virtual_count =
            cql_system_rows(execution, select->plan->table, &select->virtual_rows);
    }
    return is_resumed ? resume_from(select, &state) : 0;
}

static void select_start(struct select *select)
{
    int rc = cql_guard(select->execution, select_begin, select);
    if (rc != 0)
        cql_select_stop(select, rc);
    else
        warn_of_aggregates(select);
    select_continue(select);
}

static void virtual_rows_made(void *context, int status, const struct page_row *rows,
                              uint32_t count)
{
    struct select *select = context;
    if (status != 0) {
        cql_execution_finish_fault(select->execution);
        return;
    }
    struct cql *cql = select->execution->cql;
    struct cql_slice slice = cql_slice_begin(select->execution);
    select->virtual_rows = rows;
    select->virtual_count = count;
    select_start(select);
    cql_slice_end(cql, slice);
}

void cql_select_run(struct cql_execution *execution)
{
    struct select *select = arena_alloc(execution->arena, sizeof(*select), 16);
    const struct cql_select_plan *plan = execution->compiled->select;
    *select = (struct select){.execution = execution,
                              .read_rows = READ_ROWS,
                              .plan = plan,
                              .cells = {.arena = execution->arena},
                              .paging_state = {.arena = execution->arena}};
    select->scratch = cql_guard_arena(execution);
    select->group_arena = cql_guard_arena(execution);
    select->static_arena = cql_guard_arena(execution);
    select->entry_arena = cql_guard_arena(execution);
    select->accumulators =
        arena_array(execution->arena, plan->aggregate_count + 1, sizeof(*select->accumulators));
    for (uint32_t i = 0; i < plan->aggregate_count; i++)
        select->accumulators[i] = cql_accumulator_new(&plan->aggregates[i], execution->arena);
    execution->state = select;
    execution->release = select_release;
    uint32_t id = plan->is_virtual ? 0 : plan->table->id;
    if (id == TABLE_CLICKS_PER_RESELLER_PER_DAY) {
        select->is_virtual = true;
        cql_per_day_rows(execution, virtual_rows_made, select);
        return;
    }
    if (id == TABLE_CLICKS_BY_HOUR || id == TABLE_CLICKS_BY_MINUTE)
        select->by_time = cql_by_time_new(execution, plan->table);
    select_start(select);
}
