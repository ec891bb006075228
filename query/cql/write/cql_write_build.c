/* Makes the mutations, blocks and counter increments of a statement.
 *
 * There is one mutation per partition, with rows in clustering order, and cells by column and path.
 *
 *   SET c = v            a cell, or a tombstone for null
 *   SET s = {..}         a deletion of the column's older cells, 1 us below the new cells'
 *                        timestamp (below *now* if it is the server's), and the new cells
 *   SET l = l + [..]     cells whose paths are the present time (take_ticks)
 *   SET l = [..] + l     cells whose paths are mirrored times (PREPEND_REFERENCE_TICKS)
 *   SET l[i] = v         a cell with the path of element i of the list, as the statement's
 *                        earlier operations left it
 *   DELETE FROM t WHERE  a partition, row or range deletion
 *   UPDATE of counters   increments; for SET c = v, COUNTER_SET
 *   DELETE of counters   one deletion for each counter that was read: a deletion names one counter,
 *                        never a range
 *   INSERT of a click    without its rank: a block of one row
 *
 * An INSERT makes a row marker, so the row exists even without cells.  An UPDATE makes none: the
 * row exists only while it has cells. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/murmur3.h"
#include "query/cql/expression/cql_value_set.h"
#include "query/cql/write/cql_live_list.h"
#include "query/cql/write/cql_write.h"
#include "storage/engine/store.h"
#include "base/calendar.h"

#define UUID_EPOCH_TICKS INT64_C(0x01B21DD213814000) /* 100 ns from 1582-10-15 to 1970 */
/* 2010-01-01.  The path of a prepended item has the present time mirrored at this time, so that
 * later prepends sort earlier. */
#define PREPEND_REFERENCE_TICKS (INT64_C(1262304000000) * 10000)

struct row_builder {
    struct cql_execution *execution;
    const struct cql_write_statement *statement;
    struct write_batch *batch;
    struct cql_context context;
    const struct cql_row *before; /* the row as it was read; NULL: it was not read */
    struct cell *cells;
    uint32_t cell_count, cell_capacity;
    struct complex_deletion *complex;
    uint32_t complex_count, complex_capacity;
    struct cql_live_list *lists;
};

static struct row_builder builder_of(struct cql_execution *execution,
                                     const struct cql_write_statement *statement,
                                     struct write_batch *batch)
{
    struct row_builder builder = {.execution = execution,
                                  .statement = statement,
                                  .batch = batch,
                                  .context = cql_expression_context(execution, batch->arena)};
    builder.context.values = statement->values;
    return builder;
}

static void add_cell(struct row_builder *builder, const struct column *column, struct bytes path,
                     struct bytes value, bool is_tombstone)
{
    if (builder->cell_count == builder->cell_capacity) {
        uint32_t first = builder->statement->plan->operation_count;
        builder->cell_capacity = builder->cell_capacity == 0 ? first : builder->cell_capacity * 2;
        builder->cells = arena_resize(builder->batch->arena, builder->cells,
                                      builder->cell_count * sizeof(struct cell),
                                      builder->cell_capacity * sizeof(struct cell));
    }
    int32_t ttl_s = is_tombstone ? 0 : builder->statement->ttl_s;
    int64_t expiry_s = is_tombstone ? builder->execution->now_s : EXPIRY_NONE;
    builder->cells[builder->cell_count++] =
        (struct cell){.column_id = column->id,
                      .flags = is_tombstone ? CELL_TOMBSTONE : 0,
                      .timestamp_us = builder->statement->timestamp_us,
                      .ttl_s = ttl_s,
                      .expiry_s = ttl_s > 0 ? builder->execution->now_s + ttl_s : expiry_s,
                      .path = path,
                      .value = is_tombstone ? (struct bytes){0} : value};
}

static void delete_complex(struct row_builder *builder, const struct column *column,
                           int64_t timestamp_us)
{
    builder->complex =
        arena_make_room(builder->batch->arena, builder->complex, builder->complex_count,
                        &builder->complex_capacity, sizeof(*builder->complex));
    builder->complex[builder->complex_count++] =
        (struct complex_deletion){column->id, {timestamp_us, builder->execution->now_s}};
}

/* ---- paths ---- */

static struct bytes list_path(struct row_builder *builder, uint64_t ticks)
{
    struct random *random = builder->execution->cql->options.world->random;
    uint8_t rest[8];
    struct buffer uuid = {.arena = builder->batch->arena};
    ticks += (uint64_t)UUID_EPOCH_TICKS;
    buffer_put_u32_be(&uuid, (uint32_t)ticks);
    buffer_put_u16_be(&uuid, (uint16_t)(ticks >> 32));
    buffer_put_u16_be(&uuid, (uint16_t)((ticks >> 48 & 0x0FFF) | 0x1000));
    random->fill(random, rest, sizeof(rest));
    rest[0] = (uint8_t)((rest[0] & 0x3F) | 0x80);
    buffer_append(&uuid, rest, sizeof(rest));
    return buffer_view(&uuid);
}

/* Take `count` consecutive times, in 100 ns, later than all that were taken since the server
 * started. */
static uint64_t take_ticks(struct row_builder *builder, uint32_t count)
{
    struct cql *cql = builder->execution->cql;
    int64_t first = store_now_us(cql->options.store) * 10;
    first = first > cql->list_ticks ? first : cql->list_ticks + 1;
    cql->list_ticks = first + count;
    return (uint64_t)first;
}

/* ---- collections ---- */

static int add_list(struct row_builder *builder, const struct column *column, struct bytes value,
                    bool is_prepended)
{
    struct type_items items;
    if (!type_items_open(column->type, value, &items))
        return cql_invalid(builder->context.fault, "Invalid list for %s", column->name);
    uint64_t first = take_ticks(builder, items.count);
    if (is_prepended)
        first = 2 * (uint64_t)PREPEND_REFERENCE_TICKS - (first + items.count);
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes item;
        if (!type_items_next(&items, &item) || item.data == NULL)
            return cql_invalid(builder->context.fault, "null is not supported inside collections");
        add_cell(builder, column, list_path(builder, first + i), item, false);
    }
    return 0;
}

static int add_items(struct row_builder *builder, const struct column *column, struct bytes value)
{
    struct type_items items;
    if (!type_items_open(column->type, value, &items))
        return cql_invalid(builder->context.fault, "Invalid value for %s", column->name);
    bool is_map = column->type->kind == TYPE_MAP;
    for (uint32_t i = 0; i < items.count; i += is_map ? 2 : 1) {
        struct bytes path;
        struct bytes item = CQL_NULL;
        bool is_there = type_items_next(&items, &path) && path.data != NULL;
        if (is_there && is_map)
            is_there = type_items_next(&items, &item) && item.data != NULL;
        if (!is_there)
            return cql_invalid(builder->context.fault, "null is not supported inside collections");
        add_cell(builder, column, path, is_map ? item : bytes_of("", 0), false);
    }
    return 0;
}

static struct bytes field_path(struct row_builder *builder, uint32_t field)
{
    uint8_t path[2] = {(uint8_t)(field >> 8), (uint8_t)field};
    return arena_copy(builder->batch->arena, bytes_of(path, sizeof(path)));
}

static int add_fields(struct row_builder *builder, const struct column *column, struct bytes value)
{
    struct type_items items;
    if (!type_items_open(column->type, value, &items))
        return cql_invalid(builder->context.fault, "Invalid value for %s", column->name);
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes item;
        if (type_items_next(&items, &item) && item.data != NULL)
            add_cell(builder, column, field_path(builder, i), item, false);
    }
    return 0;
}

static int add_whole(struct row_builder *builder, const struct column *column, struct bytes value)
{
    if (column->type->kind == TYPE_LIST)
        return add_list(builder, column, value, false);
    return column->type->kind == TYPE_UDT ? add_fields(builder, column, value)
                                          : add_items(builder, column, value);
}

/* ---- operations ---- */

static int set_column(struct row_builder *builder, const struct column *column, struct bytes value)
{
    if (!type_is_complex(column->type)) {
        add_cell(builder, column, (struct bytes){0}, value, value.data == NULL);
        return 0;
    }
    int64_t timestamp_us = builder->statement->timestamp_us;
    if (timestamp_us == TIMESTAMP_SERVER && value.data != NULL)
        timestamp_us = store_now_us(builder->execution->cql->options.store);
    delete_complex(builder, column, value.data == NULL ? timestamp_us : timestamp_us - 1);
    return value.data == NULL ? 0 : add_whole(builder, column, value);
}

static struct cql_live_list *live_list(struct row_builder *builder, const struct column *column)
{
    struct arena *arena = builder->batch->arena;
    struct cql_live_list *list = builder->lists;
    while (list != NULL && list->column != column)
        list = list->next;
    if (list == NULL) {
        uint32_t count = 0;
        const struct cell *read =
            builder->before == NULL ? NULL : cql_row_cells(builder->before, column, &count);
        list = arena_alloc(arena, sizeof(*list), 16);
        *list = cql_live_list_of(column, read, count);
        list->next = builder->lists;
        builder->lists = list;
    }
    cql_live_list_take(list, builder->cells, builder->cell_count, arena);
    return list;
}

static int list_element(struct row_builder *builder, const struct column *column,
                        struct bytes index, bool is_deletion, struct bytes *path_out)
{
    const struct cql_live_list *list = live_list(builder, column);
    int32_t at = index.size == 4 ? type_value_int(index) : -1;
    if (list->count == 0) {
        return cql_invalid(builder->context.fault,
                           is_deletion ? "Attempted to delete an element from a list which is null"
                                       : "Attempted to set an element on a list which is null");
    }
    if (at < 0 || (uint32_t)at >= list->count) {
        return cql_invalid(builder->context.fault, "List index %d out of bound, list has size %u",
                           at, list->count);
    }
    *path_out = cql_live_list_cell(list, builder->cells, (uint32_t)at)->path;
    return 0;
}

static int refuse_key(struct row_builder *builder, const struct column *column, bool is_unset)
{
    static const char *const words[][2] = {
        {"Invalid null value for list index", "Invalid unset value for list index"},
        {"Invalid null set element", "Invalid unset set element"},
        {"Invalid null map key", "Invalid unset map key"}};
    size_t kind = column->type->kind == TYPE_LIST ? 0 : column->type->kind == TYPE_SET ? 1 : 2;
    return cql_invalid(builder->context.fault, "%s", words[kind][is_unset]);
}

static int set_element(struct row_builder *builder, const struct cql_operation *operation,
                       struct bytes value)
{
    const struct column *column = operation->column;
    bool is_deletion = operation->kind == CQL_DELETE_ELEMENT;
    struct bytes key;
    int rc = cql_expression_value(operation->key, &builder->context, &key);
    if (rc == CQL_UNSET && is_deletion && column->type->kind != TYPE_MAP)
        return 0;
    if (rc == CQL_UNSET || (rc == 0 && key.data == NULL))
        return refuse_key(builder, column, rc == CQL_UNSET);
    if (rc != 0)
        return rc;
    if (column->type->kind == TYPE_LIST) {
        rc = list_element(builder, column, key, is_deletion, &key);
        if (rc != 0)
            return rc;
    }
    bool is_set = column->type->kind == TYPE_SET;
    add_cell(builder, column, key, value, is_deletion || (!is_set && value.data == NULL));
    return 0;
}

static int subtract_from_list(struct row_builder *builder, const struct column *column,
                              struct type_items *items)
{
    struct arena *arena = builder->batch->arena;
    const struct type *type = column->type->arguments[0];
    struct cql_value_set values = cql_value_set_of(type, items, arena);
    const struct cql_live_list *list = live_list(builder, column);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct cell *cell = cql_live_list_cell(list, builder->cells, i);
        arena_count(arena, 1);
        if (cql_value_set_has(&values, cell->value))
            add_cell(builder, column, cell->path, CQL_NULL, true);
    }
    return 0;
}

static int subtract(struct row_builder *builder, const struct cql_operation *operation,
                    struct bytes value)
{
    const struct column *column = operation->column;
    struct type_items items;
    if (!type_items_open(operation->value->type, value, &items))
        return cql_invalid(builder->context.fault, "Invalid value for %s", column->name);
    if (column->type->kind == TYPE_LIST)
        return subtract_from_list(builder, column, &items);
    for (uint32_t i = 0; i < items.count; i++) {
        struct bytes item;
        if (!type_items_next(&items, &item))
            break;
        add_cell(builder, column, item, CQL_NULL, true);
    }
    return 0;
}

static int apply_operation(struct row_builder *builder, const struct cql_operation *operation)
{
    const struct column *column = operation->column;
    struct bytes value = CQL_NULL;
    if (operation->value != NULL) {
        int rc = cql_expression_value(operation->value, &builder->context, &value);
        if (rc != 0)
            return rc == CQL_UNSET ? 0 : rc;
    }
    bool changes = operation->kind == CQL_ADD || operation->kind == CQL_PREPEND ||
                   operation->kind == CQL_SUBTRACT;
    if (changes && value.data == NULL)
        return 0;
    switch (operation->kind) {
    case CQL_SET:
        return set_column(builder, column, value);
    case CQL_SET_ELEMENT:
    case CQL_DELETE_ELEMENT:
        return set_element(builder, operation, value);
    case CQL_SET_FIELD:
        add_cell(builder, column, field_path(builder, operation->field), value, value.data == NULL);
        return 0;
    case CQL_ADD:
        return add_whole(builder, column, value);
    case CQL_PREPEND:
        return add_list(builder, column, value, true);
    case CQL_SUBTRACT:
        return subtract(builder, operation, value);
    }
    return 0;
}

/* ---- rows ---- */

static int order_cells(const void *a, const void *b, void *table)
{
    const struct cell *left = a;
    const struct cell *right = b;
    if (left->column_id != right->column_id)
        return left->column_id < right->column_id ? -1 : 1;
    const struct column *column = schema_column(table, left->column_id);
    return left->path.data == NULL ? 0
                                   : type_compare(type_path(column->type), left->path, right->path);
}

static int order_complex(const void *a, const void *b)
{
    const struct complex_deletion *left = a;
    const struct complex_deletion *right = b;
    return (left->column_id > right->column_id) - (left->column_id < right->column_id);
}

/* Of several cells with the same column and path, keep the one that the store would keep. */
static void finish_cells(struct row_builder *builder, struct row *row)
{
    const struct table *table = builder->statement->plan->table;
    if (builder->cell_count > 1) {
        qsort_r(builder->cells, builder->cell_count, sizeof(struct cell), order_cells,
                (void *)(uintptr_t)table);
    }
    if (builder->complex_count > 1) {
        qsort(builder->complex, builder->complex_count, sizeof(struct complex_deletion),
              order_complex);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < builder->cell_count; i++) {
        if (kept > 0 && order_cells(&builder->cells[kept - 1], &builder->cells[i],
                                    (void *)(uintptr_t)table) == 0) {
            if (row_cell_reconcile(&builder->cells[kept - 1], &builder->cells[i]) <= 0)
                continue;
            kept--;
        }
        builder->cells[kept++] = builder->cells[i];
    }
    row->cells = builder->cells;
    row->cell_count = kept;
    row->complex = builder->complex;
    row->complex_count = builder->complex_count;
}

/* Makes the static row if `clustering` is NULL.  *made_out is false if the statement writes nothing
 * to the row. */
static int make_row(struct row_builder *builder, const struct clustering *clustering,
                    const struct cql_row *before, struct row *row, bool *made_out)
{
    const struct cql_write_statement *statement = builder->statement;
    const struct cql_write_plan *plan = statement->plan;
    bool is_static = clustering == NULL;
    *builder = builder_of(builder->execution, statement, builder->batch);
    builder->before = before;
    *row = (struct row){.is_static = is_static, .marker = LIVENESS_NONE, .deletion = DELETION_NONE};
    if (!is_static)
        row->clustering = row_clustering_copy(clustering, builder->batch->arena);
    int rc = 0;
    for (uint32_t i = 0; i < plan->operation_count && rc == 0; i++)
        if ((plan->operations[i].column->kind == COLUMN_STATIC) == is_static)
            rc = apply_operation(builder, &plan->operations[i]);
    if (rc == 0)
        finish_cells(builder, row);
    bool has_marker = plan->kind == CQL_INSERT && !is_static;
    if (has_marker) {
        row->marker = (struct liveness){
            statement->timestamp_us, statement->ttl_s,
            statement->ttl_s > 0 ? builder->execution->now_s + statement->ttl_s : EXPIRY_NONE};
    }
    *made_out = has_marker || row->cell_count > 0 || row->complex_count > 0;
    return rc;
}

static const struct cql_read_row *read_of(const struct cql_write_statement *statement, uint32_t key,
                                          uint32_t slice)
{
    uint32_t at = key * statement->bound.slice_count + slice;
    return at < statement->read_count ? &statement->reads[at] : NULL;
}

static int build_cells(struct row_builder *builder, uint32_t key, struct mutation *mutation)
{
    const struct cql_write_statement *statement = builder->statement;
    const struct cql_write_plan *plan = statement->plan;
    const struct cql_restrict_bound *bound = &statement->bound;
    uint32_t rows = plan->is_static ? 0 : bound->slice_count;
    struct unfiltered *items = arena_array(builder->batch->arena, rows + 1, sizeof(*items));
    mutation->items = items;
    for (uint32_t i = 0; i <= rows; i++) {
        bool is_static = i == 0;
        uint32_t slice = is_static ? 0 : i - 1;
        const struct cql_read_row *read = read_of(statement, key, slice);
        struct cql_row before = {.table = plan->table, .key = bound->keys[key]};
        if (read != NULL) {
            before.static_row = read->static_row;
            before.row = read->row_count > 0 ? &read->rows[0] : NULL;
        }
        bool made;
        struct unfiltered *item = &items[mutation->item_count];
        *item = (struct unfiltered){.kind = UNFILTERED_ROW};
        int rc = make_row(builder, is_static ? NULL : &bound->slices[slice].start.prefix,
                          read == NULL ? NULL : &before, &item->row, &made);
        if (rc != 0)
            return rc;
        mutation->item_count += made;
    }
    return 0;
}

static struct bytes click_value(const struct row *row, const struct column *column)
{
    if (column->kind == COLUMN_CLUSTERING)
        return row->clustering.values[column->position];
    for (uint32_t i = 0; i < row->cell_count; i++)
        if (row->cells[i].column_id == column->id && (row->cells[i].flags & CELL_TOMBSTONE) == 0)
            return row->cells[i].value;
    return CQL_NULL;
}

/* A click without a rank is written as a block of one row. */
static int build_click(struct row_builder *builder, uint32_t key)
{
    const struct cql_restrict_bound *bound = &builder->statement->bound;
    const struct table *table = builder->statement->plan->table;
    struct row row;
    bool made;
    int rc = make_row(builder, &bound->slices[0].start.prefix, NULL, &row, &made);
    if (rc != 0)
        return rc;
    struct block *block = block_new(table, 1);
    write_batch_add_block(builder->batch, block);
    block->rows = 1;
    block->partition_codes[0] = block_dictionary_add(&block->partitions, bound->keys[key]);
    for (uint32_t i = 0; i < block->column_count; i++) {
        struct block_column *to = &block->columns[i];
        const struct column *column = block_column_of(table, i);
        struct bytes value = click_value(&row, column);
        uint8_t scale = 0;
        if (value.data == NULL)
            block_set_absent(block, to, 0);
        else if (to->kind == VECTOR_CODE && value.size > BLOCK_STRING_MAX)
            return cql_invalid(builder->context.fault,
                               "%s has over %d bytes, which a click cannot have", column->name,
                               BLOCK_STRING_MAX);
        else if (to->kind == VECTOR_CODE)
            to->codes[0] = block_dictionary_add(&to->dictionary, value);
        else if (block_vector_get(column->type, value, &to->integers[0], &scale) != 0)
            return cql_invalid(builder->context.fault, "%s is no value that a click can have",
                               column->name);
        if (to->kind == VECTOR_DECIMAL)
            to->scales[0] = scale;
    }
    return 0;
}

bool cql_write_deletes_range(const struct cql_write_plan *plan)
{
    bool names_rows = plan->where.clustering_used == plan->table->clustering_count;
    for (uint32_t i = 0; i < plan->where.clustering_used; i++)
        names_rows = names_rows && cql_restrict_is_equal(plan->where.clustering[i]);
    return plan->kind == CQL_DELETE && plan->operation_count == 0 && !names_rows;
}

static void build_deletion(const struct row_builder *builder, struct mutation *mutation)
{
    const struct cql_write_statement *statement = builder->statement;
    const struct table *table = statement->plan->table;
    const struct cql_restrict_bound *bound = &statement->bound;
    struct arena *arena = builder->batch->arena;
    struct deletion deletion = {statement->timestamp_us, builder->execution->now_s};
    if (!statement->plan->where.has_clustering) {
        mutation->deletion = deletion;
        return;
    }
    struct unfiltered *items =
        arena_array(arena, (2 * (size_t)bound->slice_count + 1), sizeof(*items));
    mutation->items = items;
    for (uint32_t i = 0; i < bound->slice_count; i++) {
        struct bound start = bound->slices[i].start;
        struct bound end = bound->slices[i].end;
        start.prefix = row_clustering_copy(&start.prefix, arena);
        if (start.prefix.count == table->clustering_count &&
            row_clustering_compare(table, &start.prefix, &end.prefix) == 0) {
            items[mutation->item_count++] = (struct unfiltered){
                .kind = UNFILTERED_ROW,
                .row = {.clustering = start.prefix, .marker = LIVENESS_NONE, .deletion = deletion}};
            continue;
        }
        end.prefix = row_clustering_copy(&end.prefix, arena);
        items[mutation->item_count++] = (struct unfiltered){
            .kind = UNFILTERED_BOUND, .bound = start, .before = DELETION_NONE, .after = deletion};
        items[mutation->item_count++] = (struct unfiltered){
            .kind = UNFILTERED_BOUND, .bound = end, .before = deletion, .after = DELETION_NONE};
    }
}

/* ---- counters ---- */

/* `clustering` is NULL for a static column, and ignored in a table without clustering columns. */
static void add_increment(const struct row_builder *builder, struct bytes key, uint32_t column_id,
                          const struct clustering *clustering, enum counter_change change,
                          int64_t value)
{
    const struct table *table = builder->statement->plan->table;
    struct arena *arena = builder->batch->arena;
    struct buffer packed = {.arena = arena};
    if (clustering != NULL && table->clustering_count > 0)
        row_clustering_pack(clustering, &packed);
    const struct counter_increment increment = {.table_id = table->id,
                                                .column_id = column_id,
                                                .key = arena_copy(arena, key),
                                                .clustering = buffer_view(&packed),
                                                .change = change,
                                                .value = value};
    write_batch_add_increment(builder->batch, &increment);
}

/* Compute the number that the operation adds to a counter, or for CQL_SET the counter's new value.
 * CQL_UNSET: the operation does not change the counter. */
static int count_operation(const struct row_builder *builder, const struct cql_operation *operation,
                           int64_t *value_out)
{
    const struct cql_context *context = &builder->context;
    struct bytes value = CQL_NULL;
    int rc = operation->value == NULL ? 0 : cql_expression_value(operation->value, context, &value);
    if (rc != 0)
        return rc;
    if (value.size != 8) {
        bool is_marker =
            operation->value != NULL && operation->value->kind == CQL_EXPRESSION_MARKER;
        return cql_invalid(context->fault, "Invalid null value for counter increment%s",
                           is_marker ? "" : "/decrement");
    }
    *value_out = type_value_bigint(value);
    if (operation->kind != CQL_SUBTRACT)
        return 0;
    if (*value_out == INT64_MIN) {
        return cql_invalid(context->fault,
                           "The negation of %" PRId64 " overflows supported counter "
                           "precision (signed 8 bytes integer)",
                           *value_out);
    }
    *value_out = -*value_out;
    return 0;
}

static int build_counts(const struct row_builder *builder, uint32_t key)
{
    const struct cql_write_plan *plan = builder->statement->plan;
    const struct cql_restrict_bound *bound = &builder->statement->bound;
    for (uint32_t i = 0; i < plan->operation_count; i++) {
        const struct cql_operation *operation = &plan->operations[i];
        const struct column *column = operation->column;
        bool is_set = operation->kind == CQL_SET;
        int64_t value;
        int rc = count_operation(builder, operation, &value);
        if (rc == CQL_UNSET)
            continue;
        if (rc != 0)
            return rc;
        if (is_set) {
            cql_execution_warn(
                builder->execution,
                "Counter %s is set: Cassandra refuses this (Cannot set the value of counter "
                "column %s)",
                column->name, column->name);
        }
        bool is_one = column->kind == COLUMN_STATIC || plan->table->clustering_count == 0;
        for (uint32_t row = 0; row < (is_one ? 1 : bound->slice_count); row++) {
            add_increment(builder, bound->keys[key], column->id,
                          is_one ? NULL : &bound->slices[row].start.prefix,
                          is_set ? COUNTER_SET : COUNTER_ADD, value);
        }
    }
    return 0;
}

static bool deletes_column(const struct row_builder *builder, uint32_t column_id)
{
    const struct cql_write_plan *plan = builder->statement->plan;
    arena_count(builder->execution->arena, plan->operation_count);
    for (uint32_t i = 0; i < plan->operation_count; i++)
        if (plan->operations[i].column->id == column_id)
            return true;
    return plan->operation_count == 0;
}

static void delete_counts(const struct row_builder *builder, struct bytes key,
                          const struct row *row)
{
    for (uint32_t i = 0; row != NULL && i < row->cell_count; i++)
        if (deletes_column(builder, row->cells[i].column_id))
            add_increment(builder, key, row->cells[i].column_id,
                          row->is_static ? NULL : &row->clustering, COUNTER_DELETE, 0);
}

static void build_count_deletion(const struct row_builder *builder, uint32_t key)
{
    const struct cql_write_statement *statement = builder->statement;
    for (uint32_t s = 0; s < statement->bound.slice_count; s++) {
        const struct cql_read_row *read = read_of(statement, key, s);
        if (s == 0 && !statement->plan->where.has_clustering)
            delete_counts(builder, read->key, read->static_row);
        for (uint32_t r = 0; r < read->row_count; r++)
            delete_counts(builder, read->key, &read->rows[r]);
    }
}

/* ---- the statement ---- */

static int build_mutation(struct row_builder *builder, uint32_t key)
{
    const struct cql_write_plan *plan = builder->statement->plan;
    struct bytes bytes = arena_copy(builder->batch->arena, builder->statement->bound.keys[key]);
    struct mutation mutation = {.table_id = plan->table->id,
                                .token = murmur3_token(bytes.data, bytes.size),
                                .key = bytes,
                                .deletion = DELETION_NONE};
    int rc = 0;
    if (plan->kind == CQL_DELETE && plan->operation_count == 0)
        build_deletion(builder, &mutation);
    else
        rc = build_cells(builder, key, &mutation);
    if (rc == 0 && (mutation.item_count > 0 || mutation.deletion.timestamp_us != TIMESTAMP_NONE))
        write_batch_add_mutation(builder->batch, &mutation);
    for (uint32_t i = 0; rc == 0 && i < mutation.item_count && plan->index_count > 0; i++)
        if (mutation.items[i].kind == UNFILTERED_ROW)
            rc = cql_index_add(plan->indexes, plan->index_count, bytes, &mutation.items[i].row,
                               builder->batch, builder->context.fault);
    return rc;
}

int cql_write_build(struct cql_execution *execution, const struct cql_write_statement *statement,
                    struct write_batch *batch)
{
    const struct cql_write_plan *plan = statement->plan;
    struct row_builder builder = builder_of(execution, statement, batch);
    int rc = 0;
    for (uint32_t key = 0; key < statement->bound.key_count && rc == 0; key++)
        if (plan->is_counter && plan->kind == CQL_DELETE)
            build_count_deletion(&builder, key);
        else if (plan->is_counter)
            rc = build_counts(&builder, key);
        else if (plan->is_ranked)
            rc = build_click(&builder, key);
        else
            rc = build_mutation(&builder, key);
    return rc;
}
