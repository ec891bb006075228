/* Gives counts and sums of a table's partitions, without reading rows where that is possible.
 *
 * The stats of append-only runs add up (appended_stats.h).  If a partition has anything in an
 * overwrite run, its figure is counted from its live rows instead, because sums cannot say which
 * write of a row is the last.  Rows are also read for tables other than event tables, and for sums
 * of a column other than reads_summed_column. */
#include "base/murmur3.h"
#include "base/memory.h"
#include "storage/engine/appended_stats.h"
#include "storage/engine/partition_reader.h"
#include "storage/engine/reads.h"
#include "storage/engine/store_rows.h"

/* ---- one partition ---- */

static bool may_have_overwrites(const struct reads *reads, const struct table *table)
{
    return run_set_may_have_overwrites(reads->runs, table) ||
           memtable_set_may_have_overwrites(reads->memtables, table);
}

static bool has_overwrites(const struct reads *reads, const struct table *table, int64_t token,
                           struct bytes key)
{
    return run_set_has_overwrites(reads->runs, table, token, key) ||
           memtable_set_has_overwrites(reads->memtables, table, token, key);
}

uint32_t reads_summed_column(const struct table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].kind == COLUMN_REGULAR &&
            table->columns[i].type->kind == TYPE_DECIMAL) {
            return table->columns[i].id;
        }
    }
    return 0;
}

static bool is_kept(const struct table *table, uint32_t column_id)
{
    return (table->flags & TABLE_OF_EVENTS) != 0 && column_id == reads_summed_column(table);
}

int reads_sum_row(const struct table *table, const struct page_row *row, uint32_t summed,
                  struct partition_stats *stats, struct error *err)
{
    struct bytes value;
    int64_t first = 0;
    if (row->row.clustering.count > 0 && row->row.clustering.values[0].size == 8)
        first = type_value_bigint(row->row.clustering.values[0]);
    stats_add_row(stats, first);
    if (summed == 0 || !store_row_value(table, row, summed, &value))
        return 0;
    struct decimal decimal;
    int64_t unscaled;
    uint8_t scale;
    const struct column *column = schema_column(table, summed);
    if (type_decimal(column->type, value, &decimal) != 0 ||
        !decimal_split(decimal, STATS_SCALES_MAX - 1, &unscaled, &scale)) {
        return error_set(err, ERROR_LIMIT,
                         "table %s.%s: %s has a value that cannot be summed: no number, or one "
                         "beyond 18 digits",
                         table->keyspace, table->name, column->name);
    }
    stats_add_value(stats, unscaled, scale);
    return 0;
}

/* ---- figures from live rows, read as any rows are ---- */

struct recount {
    const struct table *table;
    struct schema *schema; /* referenced: the table's */
    struct buffer key;
    uint32_t column_id;
    struct partition_stats stats;
    store_figures figures;
    void *context;
};

static int recount_row(void *context, const struct table *table, const struct page_row *row,
                       struct error *err)
{
    struct recount *recount = context;
    (void)table; /* its schema may be newer */
    return reads_sum_row(recount->table, row, recount->column_id, &recount->stats, err);
}

static void recount_finish(void *context, int status, const struct error *err)
{
    struct recount *recount = context;
    struct partition_figure figure = {.key = buffer_view(&recount->key), .stats = recount->stats};
    uint32_t count = status == 0 && recount->stats.rows > 0 ? 1 : 0;
    recount->figures(recount->context, status, err, &figure, count, (struct bytes){0});
    stats_release(&recount->stats);
    buffer_release(&recount->key);
    schema_unref(recount->schema);
    memory_free(recount);
}

static void recount_start(struct reads *reads, const struct table *table, uint32_t column_id,
                          struct bytes key, enum read_view view, store_figures figures,
                          void *context)
{
    struct recount *recount = memory_zeroed(1, sizeof(*recount));
    struct read_request request = store_rows_request(table->id, &key, view);
    *recount = (struct recount){.table = table,
                                .schema = schema_ref(reads->memtables->schema),
                                .column_id = column_id,
                                .figures = figures,
                                .context = context};
    buffer_append_bytes(&recount->key, key);
    request.slice.with_static = false;
    request.row_limit = READ_ROWS_MAX;
    store_rows_read(reads->store, &request, recount_row, recount_finish, recount);
}

const struct table *reads_table_of_rows(const struct reads *reads, uint32_t table_id,
                                        uint32_t column_id, struct error *err)
{
    const struct table *table = schema_table(reads->memtables->schema, table_id);
    if (table == NULL || (table->flags & TABLE_COUNTER) != 0) {
        error_set(err, ERROR_INVALID, "table %u has no rows to count", table_id);
        return NULL;
    }
    if (column_id != 0 && schema_column(table, column_id) == NULL) {
        error_set(err, ERROR_INVALID, "table %s.%s has no column %u", table->keyspace, table->name,
                  column_id);
        return NULL;
    }
    return table;
}

int reads_stats(struct reads *reads, uint32_t table_id, uint32_t column_id, struct bytes key,
                enum read_view view, store_figures figures, void *context, struct error *err)
{
    const struct table *table = reads_table_of_rows(reads, table_id, column_id, err);
    if (table == NULL)
        return ERROR_INVALID;
    column_id = column_id != 0 ? column_id : reads_summed_column(table);
    int64_t token = murmur3_token(key.data, key.size);
    if (!is_kept(table, column_id) || has_overwrites(reads, table, token, key)) {
        recount_start(reads, table, column_id, key, view, figures, context);
        return 0;
    }
    struct partition_figure figure = {.key = key};
    appended_stats_add(reads->runs, reads->memtables, table_id, token, key,
                       reads_frame(reads, view), &figure.stats);
    figures(context, 0, NULL, &figure, figure.stats.rows > 0 ? 1 : 0, (struct bytes){0});
    stats_release(&figure.stats);
    return 0;
}

/* ---- all partitions ---- */

struct stats_scan {
    struct freeze_waiter waiter;
    struct reads *reads;
    const struct table *table;
    uint32_t column_id;
    struct view view; /* without columnar segments, whose partitions are in the index */
    struct partition_reader *reader;
    enum read_view read_view;
    bool has_last; /* token and key are those of the last partition */
    int64_t token;
    struct buffer key;
    bool at_end;
    struct arena *keys;
    struct partition_figure *figures;
    uint32_t count;
    uint32_t limit;
    store_figures done;
    void *context;
};

static void scan_free(struct stats_scan *scan)
{
    struct reads *reads = scan->reads;
    for (uint32_t i = 0; i < scan->count; i++)
        stats_release(&scan->figures[i].stats);
    if (scan->reader != NULL) {
        partition_reader_free(scan->reader);
        view_release(&scan->view);
    }
    memory_free(scan->figures);
    buffer_release(&scan->key);
    arena_free(scan->keys);
    memory_free(scan);
    engine_env_job_done(reads->env);
}

static void scan_finish(struct stats_scan *scan, int status, const struct error *err)
{
    struct buffer position = {0};
    if (!scan->at_end && status == 0) {
        buffer_put_u64(&position, (uint64_t)scan->token);
        buffer_append_bytes(&position, buffer_view(&scan->key));
    }
    scan->done(scan->context, status, err, scan->figures, status == 0 ? scan->count : 0,
               buffer_view(&position));
    buffer_release(&position);
    scan_free(scan);
}

static void scan_add(struct stats_scan *scan, const struct partition_stats *stats)
{
    if (stats->rows == 0)
        return;
    struct partition_figure *figure = &scan->figures[scan->count++];
    *figure = (struct partition_figure){.key = arena_copy(scan->keys, buffer_view(&scan->key))};
    stats_copy(&figure->stats, stats);
}

static void scan_step(struct stats_scan *scan);

static void scan_recounted(void *context, int status, const struct error *err,
                           const struct partition_figure *figures, uint32_t count,
                           struct bytes position)
{
    struct stats_scan *scan = context;
    (void)position;
    if (status != 0) {
        scan_finish(scan, status, err);
        return;
    }
    if (count > 0)
        scan_add(scan, &figures[0].stats);
    scan_step(scan);
}

/* The entry has the stats of append-only segments, or no rows if no such segment has the
 * partition. */
static bool scan_seek(struct stats_scan *scan, struct partition_index_entry *entry_out)
{
    struct partition_index *index = run_set_index(scan->reads->runs, scan->table->id);
    int64_t token = scan->has_last ? scan->token : INT64_MIN;
    struct bytes key = buffer_view(&scan->key);
    struct partition_index_entry other = {0};
    bool found =
        partition_reader_seek(scan->reader, token, key, scan->has_last, &other.token, &other.key);
    if (index != NULL && partition_index_seek(index, token, key, scan->has_last, entry_out) &&
        (!found ||
         partition_index_order(other.token, other.key, entry_out->token, entry_out->key) >= 0))
        return true;
    *entry_out = other;
    return found;
}

static void scan_step(struct stats_scan *scan)
{
    struct partition_index_entry entry;
    bool is_summed = is_kept(scan->table, scan->column_id);
    bool may_be_changed = may_have_overwrites(scan->reads, scan->table);
    uint64_t frame = reads_frame(scan->reads, scan->read_view);
    while (scan->count < scan->limit) {
        if (!scan_seek(scan, &entry)) {
            scan->at_end = true;
            break;
        }
        scan->has_last = true;
        scan->token = entry.token;
        buffer_clear(&scan->key);
        buffer_append_bytes(&scan->key, entry.key);
        if (!is_summed || (may_be_changed && has_overwrites(scan->reads, scan->table, entry.token,
                                                            buffer_view(&scan->key)))) {
            recount_start(scan->reads, scan->table, scan->column_id, buffer_view(&scan->key),
                          scan->read_view, scan_recounted, scan);
            return;
        }
        struct partition_stats stats = {0};
        stats_add(&stats, &entry.stats);
        appended_stats_add_memtables(scan->reads->memtables, scan->table->id,
                                     buffer_view(&scan->key), frame, &stats);
        scan_add(scan, &stats);
        stats_release(&stats);
    }
    scan_finish(scan, 0, NULL);
}

static void scan_begin(struct freeze_waiter *waiter, int status)
{
    struct stats_scan *scan = (struct stats_scan *)waiter;
    struct reads *reads = scan->reads;
    if (status != 0) {
        scan_finish(scan, status, &reads->env->failure);
        return;
    }
    view_take(reads->memtables, reads->runs, scan->table->id, false,
              reads_frame(reads, scan->read_view), &scan->view);
    scan->table = schema_table(scan->view.schema, scan->table->id);
    scan->reader = partition_reader_new(&scan->view, scan->table);
    scan_step(scan);
}

int reads_stats_scan(struct reads *reads, uint32_t table_id, uint32_t column_id,
                     struct bytes position, uint32_t limit, enum read_view view,
                     store_figures figures, void *context, struct error *err)
{
    const struct table *table = reads_table_of_rows(reads, table_id, column_id, err);
    if (table == NULL || (position.size > 0 && position.size < 8)) {
        return table == NULL ? ERROR_INVALID
                             : error_set(err, ERROR_INVALID, "a damaged position to go on from");
    }
    struct stats_scan *scan = memory_zeroed(1, sizeof(*scan));
    scan->waiter.resume = scan_begin;
    scan->reads = reads;
    scan->table = table;
    scan->column_id = column_id != 0 ? column_id : reads_summed_column(table);
    scan->read_view = view;
    scan->limit = limit;
    scan->done = figures;
    scan->context = context;
    scan->keys = arena_new(64 * 1024);
    scan->figures = memory_alloc(limit * sizeof(struct partition_figure));
    if (position.size > 0) {
        scan->has_last = true;
        scan->token = (int64_t)load_u64(position.data);
        buffer_append_bytes(&scan->key, bytes_of(position.data + 8, position.size - 8));
    }
    reads->env->jobs++;
    sequencer_freeze_table_then(reads->sequencer, table_id, &scan->waiter);
    return 0;
}
