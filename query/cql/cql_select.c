/* SELECT, carried out: reads pages of the store, asks filters, makes rows or groups, stops at a
 * limit or a page's end.
 *
 *   unit      a key and one of its slices, or a scan; one after the other
 *   page      of the store: rows of a unit; a static row comes first in its partition
 *   position  right before the row at which the client's page ended
 *
 * What decides correctness: a row is looked at once over all pages of an answer.  The client's page
 * ends only when a further row has been met that belongs into the answer, so there is no empty last
 * page; the state then names the place before that row.  A partition's static row is read again
 * when a page begins within the partition.
 *
 * Reads may be answered at once or later: select_go is a loop, so that a statement with thousands
 * of keys does not nest. */
#include <stdlib.h>
#include <string.h>

#include "query/cql/cql_function.h"
#include "query/cql/cql_json.h"
#include "query/cql/cql_page.h"
#include "query/cql/cql_select_plan.h"
#include "query/cql/cql_trace.h"
#include "rollup/tables.h"
#include "storage/base/memory.h"

enum {
    READ_ROWS = 2000,                    /* of a store's page where nothing says how many */
    RESULT_BYTES_MAX = 64 << 20,         /* of an answer that the client wants in one page */
    INDEX_ROWS = 100                     /* entries of an index read at once */
};

/* A row that ORDER BY over several partitions sorts. */
struct sorted_row {
    struct clustering clustering;
    size_t start;                        /* in the cells */
    size_t size;
    uint64_t number;                     /* as they came: what is equal stays in this order */
};

struct select {
    struct cql_work *work;
    const struct cql_select_plan *plan;
    struct cql_restrict_bound bound;
    struct arena *scratch;               /* of one row */
    struct arena *group_arena;           /* of the group's first row */
    struct arena *static_arena;
    bool checks_slices;                  /* a scan with several slices */
    bool is_going, goes_again, is_done;
    int status;

    uint64_t unit;
    uint64_t unit_count;
    struct buffer position;              /* the store's, of the next read */
    bool unit_ended;
    bool reads_static_only;              /* the next read fetches the static row of a resumed
                                          * partition */
    uint64_t limit_left;
    uint64_t partition_limit;
    uint64_t page_rows;                  /* rows that the page may have */

    struct buffer partition_key;         /* of the rows that come now */
    bool has_partition;
    uint64_t partition_rows;             /* given of it */
    struct row static_row;               /* in static_arena */
    bool has_static;
    bool static_is_pending;              /* no row of the partition was met yet */
    struct buffer static_position;       /* the place before it */
    uint64_t static_unit;

    struct cql_accumulator **accumulators;
    bool has_group;
    struct buffer group_key;
    struct page_row group_row;           /* its first one, in group_arena */
    bool group_is_static_only;
    struct row group_static;
    bool group_has_static;

    struct buffer cells;
    uint32_t row_count;
    struct sorted_row *sorted;
    uint32_t sorted_capacity;
    struct buffer paging_state;
    bool is_virtual;                     /* all rows are there */
    const struct page_row *virtual_rows;
    bool by_index;                       /* rows are looked up from an index's entries */
    struct arena *entry_arena;
    struct page_row *entries;            /* of the index's page, in entry_arena */
    uint32_t entry_count, entry;
    bool reads_row;                      /* the next answer is the row of `entry` */
    struct buffer after_entries;         /* the index's position after its page */
    /* An entry that stands for a partition, whose rows come in pages of their own at `position`. */
    struct buffer before_entry;          /* the index's position */
    struct buffer resumed;               /* where a paging state goes on in the first entry's */
    uint32_t virtual_count;
};

/* ---- the end ---- */

static void select_release(struct cql_work *work)
{
    struct select *select = work->state;
    for (uint32_t i = 0; i < select->plan->aggregate_count; i++) {
        cql_accumulator_free(select->accumulators[i]);
    }
    cql_arena_give(work->cql, select->scratch);
    cql_arena_give(work->cql, select->group_arena);
    cql_arena_give(work->cql, select->static_arena);
    cql_arena_give(work->cql, select->entry_arena);
    buffer_release(&select->after_entries);
    buffer_release(&select->before_entry);
    buffer_release(&select->resumed);
    buffer_release(&select->position);
    buffer_release(&select->partition_key);
    buffer_release(&select->static_position);
    buffer_release(&select->group_key);
    buffer_release(&select->cells);
    buffer_release(&select->paging_state);
    memory_free(select->sorted);
    memory_free(select->accumulators);
}

static int order_sorted(const void *a, const void *b, void *context)
{
    const struct select *select = context;
    const struct sorted_row *left = a;
    const struct sorted_row *right = b;
    int order = clustering_compare(select->plan->table, &left->clustering, &right->clustering);
    if (order == 0) {
        return (left->number > right->number) - (left->number < right->number);
    }
    return select->plan->is_reversed ? -order : order;
}

static bool sorts(const struct select *select)
{
    return select->plan->has_order && select->bound.key_count > 1 && !select->plan->is_aggregate;
}

/* ORDER BY over several partitions: in memory, so all rows must have come. */
static void sort_rows(struct select *select)
{
    if (!sorts(select) || select->row_count == 0) {
        return;
    }
    qsort_r(select->sorted, select->row_count, sizeof(struct sorted_row), order_sorted, select);
    struct buffer cells = {0};
    uint64_t kept = select->row_count;
    kept = kept < select->limit_left ? kept : select->limit_left;
    for (uint64_t i = 0; i < kept; i++) {
        buffer_append(&cells, select->cells.data + select->sorted[i].start,
                      select->sorted[i].size);
    }
    buffer_release(&select->cells);
    select->cells = cells;
    select->row_count = (uint32_t)kept;
}

static void select_finish(struct select *select)
{
    struct cql_work *work = select->work;
    if (select->status != 0) {
        cql_finish_fault(work);
        return;
    }
    sort_rows(select);
    struct cql_result result = {.kind = CQL_RESULT_ROWS,
                                .rows = {.metadata = select->plan->metadata,
                                         .row_count = select->row_count,
                                         .cells = buffer_view(&select->cells),
                                         .paging_state = buffer_view(&select->paging_state)}};
    cql_metadata_id(&result.rows.metadata, result.rows.metadata_id);
    cql_finish(work, &result);
}

static void stop(struct select *select, int status)
{
    select->is_done = true;
    select->status = status;
}

/* ---- output ---- */

static void put_cell(struct buffer *cells, struct bytes value)
{
    buffer_put_u32_be(cells, value.data == NULL ? UINT32_MAX : (uint32_t)value.size);
    buffer_append_bytes(cells, value);
}

static int put_row(struct select *select, const struct cql_context *context)
{
    const struct cql_select_plan *plan = select->plan;
    struct buffer json = {0};
    int rc = 0;
    for (uint32_t i = 0; i < plan->selector_count && rc == 0; i++) {
        struct bytes value;
        rc = cql_expression_value(plan->selectors[i], context, &value);
        if (rc == CQL_UNSET) {
            rc = cql_invalid(context->fault, "Invalid unset value for a selected term");
        }
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
    buffer_release(&json);
    return rc;
}

static void note_sorted(struct select *select, const struct clustering *clustering, size_t start)
{
    if (select->row_count == select->sorted_capacity) {
        select->sorted_capacity = select->sorted_capacity == 0 ? 64 : select->sorted_capacity * 2;
        select->sorted =
            memory_resize(select->sorted, select->sorted_capacity * sizeof(struct sorted_row));
    }
    select->sorted[select->row_count] =
        (struct sorted_row){.clustering = clustering_copy(clustering, select->work->arena),
                            .start = start,
                            .size = select->cells.size - start,
                            .number = select->row_count};
}

/* Whether the answer has no room for a further row; then the client's page is at its end. */
static bool page_is_full(const struct select *select)
{
    bool is_long = select->work->request.page_size > 0 && select->row_count > 0 &&
                   select->cells.size >= CQL_PAGE_BYTES_MAX;
    return select->row_count >= select->page_rows || is_long;
}

static int count_row(struct select *select)
{
    select->row_count++;
    select->partition_rows++;
    if (!sorts(select) && select->limit_left != CQL_PAGE_NO_LIMIT && --select->limit_left == 0) {
        stop(select, 0);
    }
    if (select->cells.size > RESULT_BYTES_MAX) {
        return cql_refuse(&select->work->fault, CQL_INVALID,
                          "the answer has over %d bytes; ask for it in pages", RESULT_BYTES_MAX);
    }
    return 0;
}

/* ---- groups ---- */

static int group_end(struct select *select)
{
    struct cql_context context = cql_context_of(select->work, select->scratch);
    const struct cql_select_plan *plan = select->plan;
    struct bytes *results =
        arena_alloc(select->scratch, (plan->aggregate_count + 1) * sizeof(struct bytes), 16);
    for (uint32_t i = 0; i < plan->aggregate_count; i++) {
        cql_accumulator_result(select->accumulators[i], select->scratch, &results[i]);
    }
    struct cql_row row = {.table = plan->table,
                          .key = select->group_row.key,
                          .row = select->group_is_static_only ? NULL : &select->group_row.row,
                          .static_row = select->group_has_static ? &select->group_static : NULL};
    context.row = select->has_group ? &row : NULL;
    context.aggregates = results;
    int rc = put_row(select, &context);
    arena_reset(select->group_arena);
    select->has_group = false;
    return rc == 0 ? count_row(select) : rc;
}

/* What all rows of a group have in common. */
static int group_key_of(struct select *select, const struct cql_row *row,
                        const struct cql_context *context, struct buffer *key)
{
    const struct cql_select_plan *plan = select->plan;
    buffer_clear(key);
    if (!plan->has_group_by) {
        return 0;
    }
    buffer_put_sized(key, row->key);
    for (uint32_t i = 0; i < plan->group_clustering && row->row != NULL; i++) {
        buffer_put_sized(key, row->row->clustering.values[i]);
    }
    if (plan->group_function != NULL && row->row != NULL) {
        struct bytes value;
        int rc = cql_expression_value(plan->group_function, context, &value);
        if (rc != 0) {
            return rc < 0 ? rc : cql_invalid(context->fault, "Invalid unset value in GROUP BY");
        }
        buffer_put_sized(key, value);
    }
    return 0;
}

static void group_begin(struct select *select, const struct cql_row *row)
{
    select->has_group = true;
    select->group_row.key = arena_copy(select->group_arena, row->key);
    select->group_is_static_only = row->row == NULL;
    if (row->row != NULL) {
        select->group_row.row = row_copy(row->row, select->group_arena);
    }
    select->group_has_static = row->static_row != NULL;
    if (row->static_row != NULL) {
        select->group_static = row_copy(row->static_row, select->group_arena);
    }
}

/* 1: the row begins a group that the page has no room for. */
static int group_row(struct select *select, const struct cql_row *row, bool partition_is_new)
{
    const struct cql_select_plan *plan = select->plan;
    struct cql_context context = cql_context_of(select->work, select->scratch);
    struct buffer key = {0};
    context.row = row;
    int rc = group_key_of(select, row, &context, &key);
    bool is_same = select->has_group &&
                   bytes_equal(buffer_view(&key), buffer_view(&select->group_key));
    if (rc == 0 && select->has_group && !is_same) {
        rc = group_end(select);
        if (partition_is_new) {
            select->partition_rows = 0;
        }
    }
    if (rc == 0 && !select->is_done && !select->has_group && plan->has_group_by &&
        page_is_full(select)) {
        rc = 1;
    }
    if (rc == 0 && !select->is_done && select->partition_rows < select->partition_limit) {
        if (!select->has_group) {
            group_begin(select, row);
            buffer_clear(&select->group_key);
            buffer_append_bytes(&select->group_key, buffer_view(&key));
        }
        for (uint32_t i = 0; i < plan->aggregate_count && rc == 0; i++) {
            struct bytes value = CQL_NULL;
            if (plan->aggregates[i].argument != NULL) {
                rc = cql_expression_value(plan->aggregates[i].argument, &context, &value);
            }
            if (rc == 0) {
                rc = cql_accumulator_add(select->accumulators[i], value, context.fault);
            }
        }
    }
    buffer_release(&key);
    return rc;
}

/* ---- rows ---- */

static bool passes(struct select *select, const struct cql_row *row)
{
    for (uint32_t i = 0; i < select->bound.filter_count; i++) {
        if (!cql_filter_matches(&select->bound.filters[i], row, select->scratch)) {
            return false;
        }
    }
    return true;
}

/* A row that belongs into the answer if its filters say so.  1: the page has no room for it. */
static int take_row(struct select *select, const struct cql_row *row, bool partition_is_new)
{
    arena_reset(select->scratch);
    if (!passes(select, row)) {
        return 0;
    }
    if (select->plan->is_aggregate) {
        return group_row(select, row, partition_is_new);
    }
    if (select->partition_rows >= select->partition_limit) {
        return 0;
    }
    if (page_is_full(select)) {
        return 1;
    }
    struct cql_context context = cql_context_of(select->work, select->scratch);
    context.row = row;
    size_t start = select->cells.size;
    int rc = put_row(select, &context);
    if (rc == 0 && sorts(select)) {
        struct clustering none = {.count = 0};
        note_sorted(select, row->row != NULL ? &row->row->clustering : &none, start);
    }
    return rc == 0 ? count_row(select) : rc;
}

static bool reads_partition(const struct select *select)
{
    return select->by_index && cql_index_is_wide(select->plan->where.index);
}

/* Of a partition that an entry of an index stands for, a position is the entry's and its own. */
static void save_state(struct select *select, uint64_t unit, struct bytes position,
                       uint64_t partition_rows)
{
    struct buffer both = {0};
    if (reads_partition(select)) {
        buffer_put_sized(&both, buffer_view(&select->before_entry));
        buffer_append_bytes(&both, position);
        position = buffer_view(&both);
    }
    struct cql_page_state state = {.statement_hash = select->work->compiled->hash,
                                   .unit = unit,
                                   .limit_left = select->limit_left,
                                   .partition_rows = partition_rows,
                                   .partition_key = buffer_view(&select->partition_key),
                                   .position = position};
    cql_page_write(&state, &select->paging_state);
    buffer_release(&both);
    stop(select, 0);
}

/* The partition whose static row waited has no other row: it is a row of its own, unless the
 * statement asked for rows by their clustering. */
static int end_partition(struct select *select)
{
    if (!select->static_is_pending) {
        return 0;
    }
    select->static_is_pending = false;
    if (select->plan->where.has_clustering ||
        (!select->plan->where.has_static_only && select->plan->where.all != NULL)) {
        return 0;
    }
    struct cql_row row = {.table = select->plan->table,
                          .key = buffer_view(&select->partition_key),
                          .static_row = &select->static_row};
    int rc = take_row(select, &row, true);
    if (rc == 1) {
        save_state(select, select->static_unit, buffer_view(&select->static_position), 0);
        rc = 0;
    }
    return rc;
}

static int begin_partition(struct select *select, struct bytes key)
{
    int rc = end_partition(select);
    if (rc == 0 && !select->is_done) {
        buffer_clear(&select->partition_key);
        buffer_append_bytes(&select->partition_key, key);
        select->has_partition = true;
        select->has_static = false;
        if (!select->has_group) {
            select->partition_rows = 0;
        }
    }
    return rc;
}

static void keep_static(struct select *select, const struct page_row *row)
{
    arena_reset(select->static_arena);
    select->static_row = row_copy(&row->row, select->static_arena);
    select->has_static = true;
}

/* The place right before row `i` of a page. */
static void place_before(const struct select *select, const struct read_page *page, uint32_t i,
                         struct buffer *position)
{
    buffer_clear(position);
    if (i > 0) {
        store_position_after(&page->rows[i - 1], false, position);
    } else {
        buffer_append_bytes(position, buffer_view(&select->position));
    }
}

static bool in_slices(const struct select *select, const struct row *row)
{
    bool inside = !select->checks_slices;
    for (uint32_t i = 0; i < select->bound.slice_count && !inside; i++) {
        inside = slice_contains(select->plan->table, &select->bound.slices[i], &row->clustering);
    }
    return inside;
}

static int page_row(struct select *select, const struct read_page *page, uint32_t i)
{
    const struct page_row *row = &page->rows[i];
    bool is_new = !select->has_partition ||
                  !bytes_equal(row->key, buffer_view(&select->partition_key));
    int rc = is_new ? begin_partition(select, row->key) : 0;
    if (rc != 0 || select->is_done) {
        return rc;
    }
    if (row->row.is_static) {
        keep_static(select, row);
        select->static_is_pending = true;
        select->static_unit = select->unit;
        place_before(select, page, i, &select->static_position);
        return 0;
    }
    if (!in_slices(select, &row->row)) {
        return 0;
    }
    struct cql_row seen = {.table = page->table,
                           .key = row->key,
                           .row = &row->row,
                           .static_row = select->has_static ? &select->static_row : NULL};
    select->static_is_pending = false;
    rc = take_row(select, &seen, is_new);
    if (rc == 1) {
        struct buffer position = {0};
        place_before(select, page, i, &position);
        save_state(select, select->unit, buffer_view(&position), select->partition_rows);
        buffer_release(&position);
        rc = 0;
    }
    return rc;
}

/* ---- reading ---- */

static void select_go(struct select *select);

/* Rows of a partition that are past its limit are not looked at: the next read goes on after it. */
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

/* How many rows the next page of the store should have: what may be wanted, and one to see whether
 * there is more. */
static uint32_t rows_wanted(const struct select *select)
{
    const struct cql_select_plan *plan = select->plan;
    uint64_t wanted = select->page_rows - select->row_count;
    wanted = wanted < select->limit_left ? wanted : select->limit_left;
    if (plan->is_aggregate || select->bound.filter_count > 0 || select->checks_slices ||
        sorts(select)) {
        wanted = READ_ROWS;
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
    arena_reset(select->entry_arena);
    select->entries =
        arena_alloc(select->entry_arena, (page->row_count + 1) * sizeof(struct page_row), 16);
    for (uint32_t i = 0; i < page->row_count; i++) {
        const struct page_row *from = &page->rows[i];
        select->entries[i] = (struct page_row){.token = from->token,
                                               .key = arena_copy(select->entry_arena, from->key),
                                               .row = row_copy(&from->row, select->entry_arena)};
    }
    select->entry_count = page->row_count;
    select->entry = 0;
    buffer_clear(&select->after_entries);
    buffer_append_bytes(&select->after_entries, page->position);
}

static void place_before_entry(const struct select *select, struct buffer *position)
{
    if (select->entry > 0) {
        store_position_after(&select->entries[select->entry - 1], false, position);
    } else {
        buffer_append_bytes(position, buffer_view(&select->position));
    }
}

/* The row that an entry stands for, if it is still there and is what the entry says: the indexed
 * relation is a filter as well. */
static int entry_row(struct select *select, const struct read_page *page)
{
    const struct page_row *found = NULL;
    for (uint32_t i = 0; i < page->row_count; i++) {
        found = page->rows[i].row.is_static ? found : &page->rows[i];
    }
    if (found == NULL || !in_slices(select, &found->row)) {
        return 0;
    }
    bool is_new = !select->has_partition ||
                  !bytes_equal(found->key, buffer_view(&select->partition_key));
    int rc = is_new ? begin_partition(select, found->key) : 0;
    select->has_static = false;
    if (rc == 0 && page->rows[0].row.is_static) {
        keep_static(select, &page->rows[0]);
    }
    struct cql_row seen = {.table = page->table,
                           .key = found->key,
                           .row = &found->row,
                           .static_row = select->has_static ? &select->static_row : NULL};
    rc = rc == 0 && !select->is_done ? take_row(select, &seen, is_new) : rc;
    if (rc == 1) {
        struct buffer position = {0};
        place_before_entry(select, &position);
        save_state(select, 0, buffer_view(&position), select->partition_rows);
        buffer_release(&position);
        rc = 0;
    }
    return rc;
}

/* The partition of the entry is read from its start, or from where the last page of the answer
 * ended; then its static row is fetched first. */
static void partition_begin(struct select *select)
{
    struct bytes key;
    struct clustering none;
    buffer_clear(&select->before_entry);
    place_before_entry(select, &select->before_entry);
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
        buffer_clear(&select->position);
        buffer_append_bytes(&select->position, buffer_view(&select->after_entries));
        select->unit_ended = select->position.size == 0;
    } else if (reads_partition(select)) {
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

/* A page of an entry's partition was taken. */
static int partition_answer(struct select *select)
{
    int rc = 0;
    if (!select->is_done && select->position.size == 0) {
        rc = end_partition(select);
    }
    if (rc == 0 && !select->is_done && select->position.size == 0) {
        select->entry++;
        next_entry(select);
    }
    return rc;
}

static struct read_request index_request(const struct select *select)
{
    struct read_request request = {.table_id = select->plan->where.index->hidden->id,
                                   .key = select->bound.index_key,
                                   .slice = slice_all(),
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
        if (reads_partition(select)) {
            request.row_limit = rows_wanted(select);
        } else {
            request.position = (struct bytes){0};
            request.row_limit = 2;
        }
    }
    return request;
}

static void page_arrived(void *context, int status, const struct error *err,
                         const struct read_page *page)
{
    struct select *select = context;
    int rc = status == 0 ? 0 : cql_fault_of(&select->work->fault, err);
    if (status == 0) {
        cql_trace(select->work, "Read %u rows", page->row_count);
    }
    if (status == 0 && select->reads_static_only) {
        select->reads_static_only = false;
        if (page->row_count > 0 && page->rows[0].row.is_static) {
            keep_static(select, &page->rows[0]);
        }
    } else if (status == 0 && select->by_index &&
               !(select->reads_row && reads_partition(select))) {
        rc = index_answer(select, page);
    } else if (status == 0) {
        for (uint32_t i = 0; rc == 0 && i < page->row_count && !select->is_done; i++) {
            rc = page_row(select, page, i);
        }
        if (!select->is_done && !skip_partition(select, page)) {
            buffer_clear(&select->position);
            buffer_append_bytes(&select->position, page->position);
        }
        if (select->by_index) {
            rc = rc == 0 ? partition_answer(select) : rc;
        } else {
            select->unit_ended = select->position.size == 0;
        }
    }
    if (rc != 0) {
        stop(select, rc);
    }
    select_go(select);
}

static struct read_request unit_request(const struct select *select)
{
    const struct cql_restrict_bound *bound = &select->bound;
    struct read_request request = {.table_id = select->plan->table->id,
                                   .is_scan = bound->is_scan,
                                   .has_tokens = bound->is_scan,
                                   .token_first = bound->token_first,
                                   .token_last = bound->token_last,
                                   .slice = slice_all(),
                                   .position = buffer_view(&select->position),
                                   .row_limit = rows_wanted(select),
                                   .view = READ_DURABLE};
    if (bound->is_scan) {
        request.slice = select->checks_slices ? slice_all() : bound->slices[0];
        request.slice.with_static = select->plan->reads_statics;
    } else {
        uint64_t slice = select->unit % bound->slice_count;
        request.key = bound->keys[select->unit / bound->slice_count];
        request.slice = bound->slices[select->plan->is_reversed ? bound->slice_count - 1 - slice
                                                                : slice];
        request.slice.with_static = select->plan->reads_statics && slice == 0;
    }
    request.slice.reversed = select->plan->is_reversed;
    if (select->reads_static_only) {
        request.is_scan = false;
        request.key = buffer_view(&select->partition_key);
        request.position = (struct bytes){0};
        request.slice = slice_all();
        request.slice.end.side = BOUND_BEFORE;
        request.slice.with_static = true;
        request.row_limit = 1;
    }
    return request;
}

/* A page of a virtual table, whose rows are all there. */
static int virtual_read(struct select *select, const struct read_request *request)
{
    struct page_row *rows =
        arena_alloc(select->work->arena, (select->virtual_count + 1) * sizeof(*rows), 16);
    struct read_page page = {.table = select->plan->table, .rows = rows};
    struct buffer position = {0};
    bool is_after = request->position.size == 0;
    for (uint32_t i = 0; i < select->virtual_count; i++) {
        uint32_t at = request->slice.reversed ? select->virtual_count - 1 - i : i;
        const struct page_row *row = &select->virtual_rows[at];
        if (request->is_scan ? row->token < request->token_first ||
                                   row->token > request->token_last
                             : !bytes_equal(row->key, request->key)) {
            continue;
        }
        if (!slice_contains(page.table, &request->slice, &row->row.clustering)) {
            continue;
        }
        if (is_after) {
            rows[page.row_count++] = *row;
            continue;
        }
        buffer_clear(&position);
        store_position_after(row, false, &position);
        is_after = bytes_equal(buffer_view(&position), request->position);
    }
    buffer_release(&position);
    page_arrived(select, 0, NULL, &page);
    return 0;
}

static void figures_arrived(void *context, int status, const struct error *err,
                            const struct partition_figure *figures, uint32_t count,
                            struct bytes position)
{
    struct select *select = context;
    struct cql_fault *fault = &select->work->fault;
    int rc = status == 0 ? 0 : cql_fault_of(fault, err);
    (void)position;
    for (uint32_t i = 0; rc == 0 && i < select->plan->aggregate_count && count > 0; i++) {
        rc = cql_accumulator_add_stats(select->accumulators[i], &figures[0].stats, fault);
    }
    select->unit_ended = true;
    if (rc != 0) {
        stop(select, rc);
    }
    select_go(select);
}

static void trace_read(struct select *select)
{
    const char *table = select->plan->table->name;
    if (select->plan->by_stats) {
        cql_trace(select->work, "Executing query on the kept sums of a partition of %s", table);
    } else if (select->by_index && select->reads_row) {
        cql_trace(select->work, "Reading the row of an index's entry from %s", table);
    } else if (select->by_index) {
        cql_trace(select->work, "Executing indexed query on %s using %s", table,
                  select->plan->where.index->name);
    } else {
        cql_trace(select->work, "Executing %s query on %s",
                  select->bound.is_scan ? "range" : "single-partition", table);
    }
}

static void read_unit(struct select *select)
{
    struct store *store = select->work->cql->options.store;
    struct error err = {0};
    trace_read(select);
    if (select->plan->by_stats) {
        struct bytes key = select->bound.keys[select->unit / select->bound.slice_count];
        if (store_stats(store, select->plan->table->id, key, READ_DURABLE, figures_arrived, select,
                        &err) != 0) {
            stop(select, cql_fault_of(&select->work->fault, &err));
        }
        return;
    }
    struct read_request request = select->by_index && !select->reads_static_only
                                      ? index_request(select)
                                      : unit_request(select);
    if (select->is_virtual) {
        virtual_read(select, &request);
    } else if (store_read(store, &request, page_arrived, select, &err) != 0) {
        stop(select, cql_fault_of(&select->work->fault, &err));
    }
}

static void select_next(struct select *select)
{
    if (select->unit_ended) {
        select->unit_ended = false;
        select->unit++;
    }
    if (select->unit >= select->unit_count) {
        int rc = end_partition(select);
        bool has_last = select->plan->is_aggregate &&
                        (select->has_group || !select->plan->has_group_by);
        if (rc == 0 && !select->is_done && has_last) {
            rc = group_end(select);
        }
        if (!select->is_done || rc != 0) {
            stop(select, rc);
        }
        return;
    }
    read_unit(select);
}

static void select_go(struct select *select)
{
    if (select->is_going) {
        select->goes_again = true;
        return;
    }
    select->is_going = true;
    do {
        select->goes_again = false;
        if (!select->is_done) {
            select_next(select);
        }
    } while (select->goes_again && !select->is_done);
    select->is_going = false;
    if (select->is_done) {
        select_finish(select);
    }
}

/* ---- the beginning ---- */

/* A row count from LIMIT; none where it is left unset. */
static int bind_limit(struct select *select, const struct cql_expression *limit, uint64_t *out)
{
    struct cql_context context = cql_context_of(select->work, select->work->arena);
    struct bytes value;
    *out = CQL_PAGE_NO_LIMIT;
    if (limit == NULL) {
        return 0;
    }
    int rc = cql_expression_value(limit, &context, &value);
    if (rc == CQL_UNSET) {
        return 0;
    }
    if (rc == 0 && value.size != 4) {
        return cql_invalid(context.fault, "Invalid null value of limit");
    }
    if (rc == 0 && value_int(value) <= 0) {
        return cql_invalid(context.fault, "LIMIT must be strictly positive");
    }
    *out = rc == 0 ? (uint64_t)value_int(value) : 0;
    return rc;
}

static void warn_of_aggregates(struct select *select)
{
    const struct cql_select_plan *plan = select->plan;
    if (plan->aggregate_count == 0 || cql_is_virtual(select->work->cql, plan->table)) {
        return;
    }
    if (!plan->where.has_keys) {
        cql_warn(select->work, "Aggregation query used without partition key");
    } else if (plan->where.is_multi_key) {
        cql_warn(select->work,
                 "Aggregation query used on multiple partition keys (IN restriction)");
    }
}

static int go_on_from(struct select *select, struct bytes paging_state)
{
    struct cql_page_state state;
    if (cql_page_read(paging_state, select->work->compiled->hash, &state) != 0 ||
        state.unit >= select->unit_count) {
        return cql_refuse(&select->work->fault, CQL_PROTOCOL_ERROR,
                          "Invalid value for the paging state");
    }
    select->unit = state.unit;
    select->limit_left = state.limit_left;
    select->partition_rows = state.partition_rows;
    buffer_append_bytes(&select->partition_key, state.partition_key);
    if (reads_partition(select)) {
        struct reader reader = reader_of(state.position);
        buffer_append_bytes(&select->position, reader_sized(&reader));
        state.position = reader_bytes(&reader, reader_left(&reader));
        buffer_append_bytes(&select->resumed, state.position);
    } else {
        buffer_append_bytes(&select->position, state.position);
    }
    select->has_partition = state.position.size > 0 && state.partition_key.size > 0;
    select->reads_static_only =
        select->plan->reads_statics && select->has_partition && !select->is_virtual &&
        !select->by_index;
    return 0;
}

static int select_begin(struct select *select)
{
    struct cql_work *work = select->work;
    struct cql_context context = cql_context_of(work, work->arena);
    int rc = cql_restrict_bind(&select->plan->where, &context, &select->bound);
    if (rc == 0) {
        rc = bind_limit(select, select->plan->limit, &select->limit_left);
    }
    if (rc == 0) {
        rc = bind_limit(select, select->plan->partition_limit, &select->partition_limit);
    }
    if (rc != 0) {
        return rc;
    }
    if (select->plan->is_distinct) {
        select->partition_limit = 1;
    }
    select->by_index = select->bound.index_key.data != NULL;
    select->checks_slices =
        select->bound.is_scan && (select->bound.slice_count != 1 || select->by_index);
    select->unit_count = select->bound.is_scan
                             ? 1
                             : (uint64_t)select->bound.key_count * select->bound.slice_count;
    /* What is sorted comes whole. */
    select->page_rows = work->request.page_size > 0 && !sorts(select)
                            ? (uint64_t)work->request.page_size
                            : UINT32_MAX;
    if (work->request.page_size > CQL_PAGE_ROWS_MAX) {
        select->page_rows = CQL_PAGE_ROWS_MAX;
    }
    if (cql_is_virtual(work->cql, select->plan->table)) {
        select->is_virtual = true;
        select->virtual_count = cql_system_rows(work, select->plan->table, &select->virtual_rows);
    }
    return work->request.paging_state.size > 0 ? go_on_from(select, work->request.paging_state)
                                               : 0;
}

static void select_start(struct select *select)
{
    int rc = select_begin(select);
    if (rc != 0) {
        stop(select, rc);
    } else {
        warn_of_aggregates(select);
    }
    select_go(select);
}

static void rows_made(void *context, int status, const struct page_row *rows, uint32_t count)
{
    struct select *select = context;
    if (status != 0) {
        cql_finish_fault(select->work);
        return;
    }
    select->virtual_rows = rows;
    select->virtual_count = count;
    select_start(select);
}

void cql_select_run(struct cql_work *work)
{
    struct select *select = arena_alloc(work->arena, sizeof(*select), 16);
    *select = (struct select){.work = work, .plan = work->compiled->select};
    select->scratch = cql_arena_take(work->cql);
    select->group_arena = cql_arena_take(work->cql);
    select->static_arena = cql_arena_take(work->cql);
    select->entry_arena = cql_arena_take(work->cql);
    select->accumulators =
        memory_zeroed(select->plan->aggregate_count + 1, sizeof(*select->accumulators));
    for (uint32_t i = 0; i < select->plan->aggregate_count; i++) {
        select->accumulators[i] = cql_accumulator_new(&select->plan->aggregates[i]);
    }
    work->state = select;
    work->release = select_release;
    if (select->plan->table->id == TABLE_CLICKS_PER_RESELLER_PER_DAY &&
        !cql_is_virtual(work->cql, select->plan->table)) {
        select->is_virtual = true;
        cql_per_day_rows(work, rows_made, select);
        return;
    }
    select_start(select);
}
