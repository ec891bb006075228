/* click_dedup: see click_dedup.h.
 *
 * What must hold: the rows are compared with all applied rows, durable or not.  They are applied
 * only if none of their days has changed since the comparison.  If two rows of a batch have the
 * same id, the earlier line is the click.
 *
 * Each day is read once, from the batch's first row of that day to its last. */
#include "ingest/parse/click_dedup.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/murmur3.h"
#include "storage/cell/block.h"

enum {
    READ_ROWS = 5000,
    SORTED_AT_ONCE = 1024,
    CONFLICTS_MAX = 3, /* conflicts after which the write lock is taken */
    ARENA_CHUNK = 64 * 1024
};

struct click_dedup_row {
    uint32_t row; /* of the block */
    uint32_t partition;
    enum click_dedup_verdict verdict;
};

struct click_key {
    uint8_t time_ms[8];
    struct clustering clustering;
};

struct click_dedup {
    struct job job; /* must be first: sorts the rows of a large batch */
    struct store *store;
    const struct world *world;
    const struct ingest_stream *stream;
    enum click_dedup_state state;
    struct error err;
    const struct block *block;
    struct schema *schema; /* owned reference: keeps `table` valid; NULL if EMPTY */
    const struct table *table;
    const struct block_column *time, *ad, *click_id;
    struct arena *arena;
    struct click_dedup_row *rows; /* sorted by partition, clustering and line */
    uint32_t row_count;
    struct store_expectation *expectations; /* one for each partition; has_changed: the partition
                                             * must be read */
    uint32_t expectation_count;
    uint32_t partition;
    uint32_t begin, end;
    struct click_key first, last;
    uint32_t next;
    uint32_t conflicts;
    bool has_write_lock; /* also true while it waits for the lock */
    struct store_write_lock write_lock;
    void (*done)(void *context);
    void *context;
};

static const struct block_column *column_of(const struct click_dedup *dedup, uint32_t column_id)
{
    return block_column_at((struct block *)(uintptr_t)dedup->block, column_id);
}

static struct bytes string_of(const struct block_column *column, uint32_t row)
{
    return block_dictionary_get(&column->dictionary, column->codes[row]);
}

static void key_of(const struct click_dedup *dedup, const struct click_dedup_row *row,
                   struct click_key *key)
{
    store_u64_be(key->time_ms, (uint64_t)dedup->time->integers[row->row]);
    key->clustering.count = 3;
    key->clustering.values[0] = bytes_of(key->time_ms, sizeof key->time_ms);
    key->clustering.values[1] = string_of(dedup->ad, row->row);
    key->clustering.values[2] = string_of(dedup->click_id, row->row);
}

static int compare_keys(const struct click_dedup *dedup, const struct click_dedup_row *left,
                        const struct click_dedup_row *right)
{
    struct click_key left_key, right_key;

    key_of(dedup, left, &left_key);
    key_of(dedup, right, &right_key);
    return row_clustering_compare(dedup->table, &left_key.clustering, &right_key.clustering);
}

/* ---- life ---- */

static void write_lock_end(struct click_dedup *dedup)
{
    if (!dedup->has_write_lock)
        return;
    dedup->has_write_lock = false;
    store_write_unlock(dedup->store, &dedup->write_lock);
}

struct click_dedup *click_dedup_new(struct store *store, const struct world *world,
                                    const struct ingest_stream *stream)
{
    struct click_dedup *dedup = memory_zeroed(1, sizeof *dedup);

    dedup->store = store;
    dedup->world = world;
    dedup->stream = stream;
    dedup->arena = arena_new(ARENA_CHUNK);
    return dedup;
}

void click_dedup_clear(struct click_dedup *dedup)
{
    check(dedup->state != CLICK_DEDUP_READING);
    write_lock_end(dedup);
    dedup->conflicts = 0;
    dedup->err = (struct error){0};
    memory_free(dedup->rows);
    dedup->rows = NULL;
    dedup->row_count = 0;
    dedup->expectation_count = 0;
    schema_unref(dedup->schema);
    dedup->schema = NULL;
    arena_reset(dedup->arena);
    dedup->state = CLICK_DEDUP_EMPTY;
}

void click_dedup_free(struct click_dedup *dedup)
{
    if (dedup == NULL)
        return;
    click_dedup_clear(dedup);
    arena_free(dedup->arena);
    memory_free(dedup);
}

size_t click_dedup_bytes(const struct click_dedup *dedup)
{
    return dedup->row_count * sizeof *dedup->rows + arena_used(dedup->arena);
}

enum click_dedup_state click_dedup_state(const struct click_dedup *dedup)
{
    return dedup->state;
}

const struct error *click_dedup_error(const struct click_dedup *dedup)
{
    return &dedup->err;
}

/* ---- the rows, sorted ---- */

static int order_rows(const void *a, const void *b, void *dedup)
{
    const struct click_dedup_row *left = a;
    const struct click_dedup_row *right = b;

    if (left->partition != right->partition)
        return left->partition < right->partition ? -1 : 1;
    int order = compare_keys(dedup, left, right);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

/* Runs on LANE_COMPUTE if the batch is large; block and schema do not change meanwhile. */
static void sort_rows(struct job *job)
{
    struct click_dedup *dedup = (struct click_dedup *)job;

    for (uint32_t row = 0; row < dedup->row_count; row++)
        dedup->rows[row] =
            (struct click_dedup_row){.row = row, .partition = dedup->block->partition_codes[row]};
    qsort_r(dedup->rows, dedup->row_count, sizeof *dedup->rows, order_rows, dedup);
}

static struct decimal amount_of(const struct click_dedup *dedup, const struct click_dedup_row *row)
{
    const struct block_column *amount = column_of(dedup, dedup->stream->column_ids[FIELD_AMOUNT]);

    return decimal_from(amount->integers[row->row], amount->scales[row->row]);
}

static enum click_dedup_verdict verdict_of(const struct click_dedup *dedup,
                                           const struct click_dedup_row *row, struct decimal amount)
{
    return decimal_compare(amount_of(dedup, row), amount) == 0 ? CLICK_DEDUP_DUPLICATE
                                                               : CLICK_DEDUP_DIFFERENT;
}

static void judge_among_themselves(struct click_dedup *dedup)
{
    uint32_t first = dedup->begin;

    for (uint32_t i = dedup->begin; i < dedup->end; i++) {
        struct click_dedup_row *row = &dedup->rows[i];

        if (i == first || compare_keys(dedup, row, &dedup->rows[first]) != 0) {
            first = i;
            row->verdict = CLICK_DEDUP_NEW;
        } else {
            row->verdict = verdict_of(dedup, row, amount_of(dedup, &dedup->rows[first]));
        }
    }
}

static void make_expectations(struct click_dedup *dedup)
{
    const struct block_dictionary *partitions = &dedup->block->partitions;

    dedup->expectations =
        arena_alloc(dedup->arena, (partitions->count + 1) * sizeof *dedup->expectations, 16);
    for (uint32_t i = 0; i < dedup->row_count; i++)
        if (i == 0 || dedup->rows[i].partition != dedup->rows[i - 1].partition)
            dedup->expectations[dedup->expectation_count++] = (struct store_expectation){
                .table_id = dedup->table->id,
                .key = block_dictionary_get(partitions, dedup->rows[i].partition),
                .has_changed = true,
            };
}

/* ---- the store's rows ---- */

static void click_dedup_finish(struct click_dedup *dedup, int status, const struct error *err)
{
    dedup->state = status == 0 ? CLICK_DEDUP_JUDGED : CLICK_DEDUP_FAILED;
    if (status != 0)
        write_lock_end(dedup);
    (void)error_keep(&dedup->err, status, err);
    dedup->done(dedup->context);
}

static int compare_next(const struct click_dedup *dedup, const struct table *table,
                        const struct page_row *found)
{
    struct click_key key;

    key_of(dedup, &dedup->rows[dedup->next], &key);
    return row_clustering_compare(table, &key.clustering, &found->row.clustering);
}

static int judge_found(struct click_dedup *dedup, const struct table *table,
                       const struct page_row *found, struct error *err)
{
    struct decimal amount = decimal_from(0, 0);
    struct bytes value;
    int order = -1;

    while (dedup->next < dedup->end && (order = compare_next(dedup, table, found)) < 0)
        dedup->next++;
    if (dedup->next == dedup->end || order > 0)
        return 0;
    if (store_row_value(table, found, dedup->stream->column_ids[FIELD_AMOUNT], &value) &&
        decimal_deserialize(value, &amount) != 0)
        return error_set(err, ERROR_CORRUPT, "a click's amount is damaged");
    for (; dedup->next < dedup->end && compare_next(dedup, table, found) == 0; dedup->next++)
        dedup->rows[dedup->next].verdict = verdict_of(dedup, &dedup->rows[dedup->next], amount);
    return 0;
}

static void read_partition(struct click_dedup *dedup);
static int read_page(struct click_dedup *dedup, struct bytes position, struct error *err);

static void take_page(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct click_dedup *dedup = context;
    struct store_expectation *expectation = &dedup->expectations[dedup->partition];
    struct error own = {0};

    if (status != 0) {
        click_dedup_finish(dedup, status, err);
        return;
    }
    /* The first page's version is expected, so a change during the read is a conflict, too. */
    if (expectation->has_changed)
        expectation->version = page->version;
    expectation->has_changed = false;
    for (uint32_t i = 0; status == 0 && i < page->row_count; i++)
        status = judge_found(dedup, page->table, &page->rows[i], &own);
    if (status == 0 && page->position.size > 0 && dedup->next < dedup->end) {
        status = read_page(dedup, page->position, &own);
        if (status == 0)
            return;
    }
    if (status != 0) {
        click_dedup_finish(dedup, status, &own);
        return;
    }
    dedup->partition++;
    dedup->begin = dedup->end;
    read_partition(dedup);
}

static int read_page(struct click_dedup *dedup, struct bytes position, struct error *err)
{
    struct read_request request = {
        .table_id = dedup->table->id,
        .key = dedup->expectations[dedup->partition].key,
        .slice = {.start = {dedup->first.clustering, BOUND_BEFORE},
                  .end = {dedup->last.clustering, BOUND_AFTER}},
        .position = position,
        .row_limit = READ_ROWS,
        .view = READ_APPLIED,
    };

    return store_read(dedup->store, &request, take_page, dedup, err);
}

static uint32_t end_of_partition(const struct click_dedup *dedup)
{
    uint32_t end = dedup->begin + 1;

    while (end < dedup->row_count &&
           dedup->rows[end].partition == dedup->rows[dedup->begin].partition)
        end++;
    return end;
}

static void read_partition(struct click_dedup *dedup)
{
    struct error err = {0};

    for (; dedup->partition < dedup->expectation_count; dedup->partition++) {
        dedup->end = end_of_partition(dedup);
        if (dedup->expectations[dedup->partition].has_changed)
            break;
        dedup->begin = dedup->end;
    }
    if (dedup->partition == dedup->expectation_count) {
        click_dedup_finish(dedup, 0, NULL);
        return;
    }
    dedup->next = dedup->begin;
    key_of(dedup, &dedup->rows[dedup->begin], &dedup->first);
    key_of(dedup, &dedup->rows[dedup->end - 1], &dedup->last);
    judge_among_themselves(dedup);
    int rc = read_page(dedup, (struct bytes){0}, &err);
    if (rc != 0)
        click_dedup_finish(dedup, rc, &err);
}

static void read_partitions(void *context)
{
    struct click_dedup *dedup = context;

    dedup->partition = 0;
    dedup->begin = 0;
    read_partition(dedup);
}

static void begin_reading(struct click_dedup *dedup)
{
    if (dedup->conflicts < CONFLICTS_MAX || dedup->has_write_lock) {
        read_partitions(dedup);
        return;
    }
    dedup->has_write_lock = true;
    dedup->write_lock = (struct store_write_lock){.granted = read_partitions, .context = dedup};
    store_write_lock(dedup->store, &dedup->write_lock);
}

static void rows_sorted(struct job *job)
{
    struct click_dedup *dedup = (struct click_dedup *)job;

    make_expectations(dedup);
    begin_reading(dedup);
}

void click_dedup_judge(struct click_dedup *dedup, const struct block *block,
                       void (*done)(void *context), void *context)
{
    bool is_first = dedup->state == CLICK_DEDUP_EMPTY;

    check(is_first || (dedup->state == CLICK_DEDUP_STALE && dedup->block == block));
    dedup->state = CLICK_DEDUP_READING;
    dedup->block = block;
    dedup->done = done;
    dedup->context = context;
    schema_unref(dedup->schema);
    dedup->schema = schema_ref((struct schema *)(uintptr_t)store_schema(dedup->store));
    dedup->table = schema_table(dedup->schema, dedup->stream->table_id);
    dedup->time = column_of(dedup, dedup->stream->column_ids[FIELD_TIME]);
    dedup->ad = column_of(dedup, dedup->stream->column_ids[FIELD_AD]);
    dedup->click_id = column_of(dedup, ROW_BUILDER_CLICK_ID);
    if (!is_first) {
        begin_reading(dedup);
        return;
    }
    dedup->row_count = block->rows;
    dedup->rows = memory_zeroed(block->rows + 1, sizeof *dedup->rows);
    if (block->rows > SORTED_AT_ONCE) {
        world_submit(dedup->world, LANE_COMPUTE, &dedup->job, sort_rows, rows_sorted);
        return;
    }
    sort_rows(&dedup->job);
    rows_sorted(&dedup->job);
}

/* ---- the results ---- */

uint64_t click_dedup_count(const struct click_dedup *dedup, enum click_dedup_verdict verdict)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < dedup->row_count; i++)
        count += dedup->rows[i].verdict == verdict;
    return count;
}

static int order_lines(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

void click_dedup_add_rejects(const struct click_dedup *dedup, struct reject_list *rejects)
{
    const struct block_column *line = column_of(dedup, ROW_BUILDER_LINE);
    const struct block_column *content = column_of(dedup, ROW_BUILDER_CONTENT);
    uint32_t *different = memory_alloc((dedup->row_count + 1) * sizeof *different);
    uint32_t count = 0;
    struct buffer id = {0};

    for (uint32_t i = 0; i < dedup->row_count; i++)
        if (dedup->rows[i].verdict == CLICK_DEDUP_DIFFERENT)
            different[count++] = dedup->rows[i].row;
    qsort(different, count, sizeof *different, order_lines);
    for (uint32_t i = 0; i < count; i++) {
        buffer_clear(&id);
        type_format(dedup->stream->click_id_type, string_of(dedup->click_id, different[i]), &id);
        reject_list_add(rejects, (uint64_t)line->integers[different[i]], REJECT_DIFFERS,
                        buffer_view(&id), string_of(content, different[i]));
    }
    buffer_release(&id);
    memory_free(different);
}

static void add_increment(struct write_batch *batch, struct ingest_counter counter,
                          struct bytes key, int64_t value)
{
    const struct counter_increment increment = {.table_id = counter.table_id,
                                                .column_id = counter.column_id,
                                                .key = arena_copy(batch->arena, key),
                                                .change = COUNTER_ADD,
                                                .value = value};

    if (value != 0 && counter.table_id != 0)
        write_batch_add_increment(batch, &increment);
}

static void make_row(const struct click_dedup *dedup, const struct click_dedup_row *row,
                     struct write_batch *batch, struct unfiltered *item)
{
    const struct ingest_stream *stream = dedup->stream;
    struct cell *cells = arena_alloc(batch->arena, 2 * sizeof *cells, 16);
    struct click_key key;
    uint32_t count = 0;

    key_of(dedup, row, &key);

    cells[count++] = (struct cell){.column_id = stream->column_ids[FIELD_AMOUNT],
                                   .timestamp_us = TIMESTAMP_SERVER,
                                   .expiry_s = EXPIRY_NONE,
                                   .value = write_batch_decimal(batch, amount_of(dedup, row))};
    if (stream->day_derived_column_id != 0) {
        const struct block_column *derived = column_of(dedup, stream->day_derived_column_id);

        if (derived->absent == NULL || derived->absent[row->row] == 0)
            cells[count++] = (struct cell){.column_id = stream->day_derived_column_id,
                                           .timestamp_us = TIMESTAMP_SERVER,
                                           .expiry_s = EXPIRY_NONE,
                                           .value = write_batch_boolean(batch, true)};
    }
    /* The cells of a row must be in the order of their column numbers. */
    if (count == 2 && cells[0].column_id > cells[1].column_id) {
        struct cell first = cells[0];

        cells[0] = cells[1];
        cells[1] = first;
    }
    *item = (struct unfiltered){
        .kind = UNFILTERED_ROW,
        .row = {.clustering = row_clustering_copy(&key.clustering, batch->arena),
                .marker = {TIMESTAMP_SERVER, 0, EXPIRY_NONE},
                .deletion = DELETION_NONE,
                .cells = cells,
                .cell_count = count},
        .before = DELETION_NONE,
        .after = DELETION_NONE,
    };
}

static uint32_t add_partition(const struct click_dedup *dedup, uint32_t begin,
                              struct write_batch *batch)
{
    uint32_t partition = dedup->rows[begin].partition;
    uint32_t end = begin;
    uint32_t count = 0;

    for (; end < dedup->row_count && dedup->rows[end].partition == partition; end++)
        count += dedup->rows[end].verdict == CLICK_DEDUP_NEW;
    if (count == 0)
        return end;

    struct unfiltered *items = arena_alloc(batch->arena, count * sizeof *items, 16);
    struct bytes key =
        arena_copy(batch->arena, block_dictionary_get(&dedup->block->partitions, partition));
    const struct mutation mutation = {.table_id = dedup->table->id,
                                      .token = murmur3_token(key.data, key.size),
                                      .key = key,
                                      .deletion = DELETION_NONE,
                                      .items = items,
                                      .item_count = count};
    struct bytes reseller;

    count = 0;
    for (uint32_t i = begin; i < end; i++)
        if (dedup->rows[i].verdict == CLICK_DEDUP_NEW)
            make_row(dedup, &dedup->rows[i], batch, &items[count++]);
    write_batch_add_mutation(batch, &mutation);
    if (type_key_component(key, 2, 0, &reseller) == 0)
        add_increment(batch, dedup->stream->per_reseller, reseller, count);
    return end;
}

void click_dedup_add_rows(const struct click_dedup *dedup, struct write_batch *batch)
{
    const struct block_column *ad = dedup->ad;
    int64_t *clicks = memory_zeroed(ad->dictionary.count + 1, sizeof *clicks);

    for (uint32_t i = 0; i < dedup->row_count;)
        i = add_partition(dedup, i, batch);
    for (uint32_t i = 0; i < dedup->row_count; i++)
        clicks[ad->codes[dedup->rows[i].row]] += dedup->rows[i].verdict == CLICK_DEDUP_NEW;
    for (uint32_t code = 0; code < ad->dictionary.count; code++)
        add_increment(batch, dedup->stream->per_ad, block_dictionary_get(&ad->dictionary, code),
                      clicks[code]);
    memory_free(clicks);
}

int click_dedup_apply(struct click_dedup *dedup, struct write_batch *batch, store_done done,
                      void *context, struct error *err)
{
    check(dedup->state == CLICK_DEDUP_JUDGED);
    batch->write_lock = dedup->has_write_lock ? &dedup->write_lock : NULL;
    int rc = store_apply_if(dedup->store, batch, dedup->expectations, dedup->expectation_count,
                            done, context, err);
    if (rc == ERROR_CONFLICT) {
        dedup->conflicts++;
        dedup->state = CLICK_DEDUP_STALE;
    } else if (rc != ERROR_FULL) {
        click_dedup_clear(dedup);
    }
    return rc;
}
