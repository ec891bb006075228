/* keyed: see keyed.h.
 *
 * What decides correctness: the rows are judged against everything that is applied, durable or not,
 * and are written only if no mutation has come to one of their days since; so of two connections
 * that bring one id one finds the other's row.  Rows, increments and the producer's position are
 * one batch.  Two rows of one batch with one id: the first line is the click.
 *
 * The rows of a batch are sorted by day and by the table's own order, and each day is read once,
 * from its first row of the batch to its last: clicks that come in order cost a read of what came
 * beside them, clicks out of order one of the days' parts that they span. */
#include "ingest/parse/keyed.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/murmur3.h"
#include "storage/cell/block.h"

enum { READ_ROWS = 5000, ARENA_CHUNK = 64 * 1024 };

enum row_verdict { ROW_NEW, ROW_DUPLICATE, ROW_DIFFERENT };

struct keyed_row {
    uint32_t row; /* of the block */
    uint32_t partition;
    struct clustering clustering;
    enum row_verdict verdict;
};

struct keyed {
    struct store *store;
    const struct ingest_stream *stream;
    enum keyed_state state;
    struct error err;
    const struct block *block;
    struct schema *schema; /* the table's, while something is judged */
    const struct table *table;
    struct arena *arena;    /* what rows and expectations point to */
    struct keyed_row *rows; /* by partition, clustering and line */
    uint32_t row_count;
    struct store_expectation *expectations; /* one for each partition */
    uint32_t expectation_count;
    uint32_t begin, end; /* the partition that is being read: its rows, */
    uint32_t next;       /* and the first that no page has passed yet */
    void (*done)(void *context);
    void *context;
};

/* ---- the builder's table ---- */

struct schema *keyed_schema(const struct ingest_stream *stream)
{
    const uint32_t *ids = stream->column_ids;
    const struct column_definition columns[] = {
        {ids[FIELD_RESELLER], "reseller", "text", COLUMN_PARTITION, false},
        {ids[FIELD_DAY], "day", "text", COLUMN_PARTITION, false},
        {ids[FIELD_TIME], "time", "timestamp", COLUMN_CLUSTERING, true},
        {ids[FIELD_AD], "ad", "text", COLUMN_CLUSTERING, false},
        {KEYED_RANK, "rank", "bigint", COLUMN_CLUSTERING, false},
        {ids[FIELD_AMOUNT], "amount", "decimal", COLUMN_REGULAR, false},
        {KEYED_CLICK_ID, "click_id", "blob", COLUMN_REGULAR, false},
        {KEYED_LINE, "line", "bigint", COLUMN_REGULAR, false},
        {KEYED_CONTENT, "content", "blob", COLUMN_REGULAR, false},
        {stream->day_derived_column_id, "day_derived", "boolean", COLUMN_REGULAR, false},
    };
    const struct table_definition table = {
        .id = KEYED_TABLE,
        .keyspace = "ingest",
        .name = "keyed",
        .flags = TABLE_RANKED,
        .columns = columns,
        .column_count = sizeof columns / sizeof columns[0] - (stream->day_derived_column_id == 0),
    };
    struct schema *schema = schema_new();

    check(schema_add_keyspace(schema, table.keyspace, NULL) == 0 &&
          schema_add_table(schema, &table, NULL) == 0);
    return schema;
}

/* A column of the block, which the builder has filled. */
static const struct block_column *column_of(const struct keyed *keyed, uint32_t column_id)
{
    return block_column_at((struct block *)(uintptr_t)keyed->block, column_id);
}

static struct bytes string_of(const struct block_column *column, uint32_t row)
{
    return block_dictionary_get(&column->dictionary, column->codes[row]);
}

/* ---- life ---- */

struct keyed *keyed_new(struct store *store, const struct ingest_stream *stream)
{
    struct keyed *keyed = memory_zeroed(1, sizeof *keyed);

    keyed->store = store;
    keyed->stream = stream;
    keyed->arena = arena_new(ARENA_CHUNK);
    return keyed;
}

void keyed_clear(struct keyed *keyed)
{
    check(keyed->state != KEYED_READING);
    memory_free(keyed->rows);
    keyed->rows = NULL;
    keyed->row_count = 0;
    keyed->expectation_count = 0;
    schema_unref(keyed->schema);
    keyed->schema = NULL;
    arena_reset(keyed->arena);
    keyed->state = KEYED_EMPTY;
}

void keyed_free(struct keyed *keyed)
{
    if (keyed == NULL)
        return;
    keyed_clear(keyed);
    arena_free(keyed->arena);
    memory_free(keyed);
}

enum keyed_state keyed_state(const struct keyed *keyed)
{
    return keyed->state;
}

const struct error *keyed_error(const struct keyed *keyed)
{
    return &keyed->err;
}

/* ---- the rows, sorted ---- */

static struct bytes time_value(struct keyed *keyed, int64_t time_ms)
{
    uint8_t value[8];

    store_u64_be(value, (uint64_t)time_ms);
    return arena_copy(keyed->arena, bytes_of(value, sizeof value));
}

static int order_rows(const void *a, const void *b, void *table)
{
    const struct keyed_row *left = a;
    const struct keyed_row *right = b;
    int order;

    if (left->partition != right->partition)
        return left->partition < right->partition ? -1 : 1;
    order = row_clustering_compare(table, &left->clustering, &right->clustering);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

static void take_rows(struct keyed *keyed)
{
    const struct block *block = keyed->block;
    const struct block_column *time = column_of(keyed, keyed->stream->column_ids[FIELD_TIME]);
    const struct block_column *ad = column_of(keyed, keyed->stream->column_ids[FIELD_AD]);
    const struct block_column *click_id = column_of(keyed, KEYED_CLICK_ID);

    keyed->row_count = block->rows;
    keyed->rows = memory_zeroed(block->rows + 1, sizeof *keyed->rows);
    for (uint32_t row = 0; row < block->rows; row++) {
        keyed->rows[row] = (struct keyed_row){
            .row = row,
            .partition = block->partition_codes[row],
            .clustering = {.count = 3,
                           .values = {time_value(keyed, time->integers[row]), string_of(ad, row),
                                      string_of(click_id, row)}},
        };
    }
    qsort_r(keyed->rows, keyed->row_count, sizeof *keyed->rows, order_rows,
            (void *)(uintptr_t)keyed->table);
}

static struct decimal amount_of(const struct keyed *keyed, const struct keyed_row *row)
{
    const struct block_column *amount = column_of(keyed, keyed->stream->column_ids[FIELD_AMOUNT]);

    return decimal_from(amount->integers[row->row], amount->scales[row->row]);
}

/* What a row is beside a click of its id that has `amount`. */
static enum row_verdict verdict_of(const struct keyed *keyed, const struct keyed_row *row,
                                   struct decimal amount)
{
    return decimal_compare(amount_of(keyed, row), amount) == 0 ? ROW_DUPLICATE : ROW_DIFFERENT;
}

/* Rows of one id within the batch: the first line's is the click. */
static void judge_among_themselves(struct keyed *keyed)
{
    uint32_t first = 0;

    for (uint32_t i = 1; i < keyed->row_count; i++) {
        struct keyed_row *row = &keyed->rows[i];

        if (row->partition != keyed->rows[first].partition ||
            row_clustering_compare(keyed->table, &row->clustering,
                                   &keyed->rows[first].clustering) != 0)
            first = i;
        else
            row->verdict = verdict_of(keyed, row, amount_of(keyed, &keyed->rows[first]));
    }
}

/* ---- what is there ---- */

static void keyed_finish(struct keyed *keyed, int status, const struct error *err)
{
    keyed->state = status == 0 ? KEYED_JUDGED : KEYED_FAILED;
    if (status != 0)
        (void)error_set(&keyed->err, status, "%s", err == NULL ? error_text(status) : err->text);
    keyed->done(keyed->context);
}

/* The rows of an id that is there, all of them, whatever they are among themselves. */
static int judge_found(struct keyed *keyed, const struct table *table, const struct page_row *found,
                       struct error *err)
{
    struct decimal amount = decimal_from(0, 0);
    struct bytes value;
    int order = -1;

    while (keyed->next < keyed->end &&
           (order = row_clustering_compare(table, &keyed->rows[keyed->next].clustering,
                                           &found->row.clustering)) < 0)
        keyed->next++;
    if (keyed->next == keyed->end || order > 0)
        return 0;
    if (page_row_value(table, found, keyed->stream->column_ids[FIELD_AMOUNT], &value) &&
        decimal_deserialize(value, &amount) != 0)
        return error_set(err, ERROR_CORRUPT, "a click's amount is damaged");
    for (; keyed->next < keyed->end &&
           row_clustering_compare(table, &keyed->rows[keyed->next].clustering,
                                  &found->row.clustering) == 0;
         keyed->next++)
        keyed->rows[keyed->next].verdict = verdict_of(keyed, &keyed->rows[keyed->next], amount);
    return 0;
}

static void read_partition(struct keyed *keyed);
static int read_page(struct keyed *keyed, struct bytes position, struct error *err);

static void take_page(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct keyed *keyed = context;
    struct store_expectation *expectation = &keyed->expectations[keyed->expectation_count];
    struct error own = {0};

    if (status != 0) {
        keyed_finish(keyed, status, err);
        return;
    }
    /* The first page's version is that of the whole read. */
    if (expectation->key.data == NULL)
        *expectation = (struct store_expectation){
            .table_id = keyed->table->id,
            .key = block_dictionary_get(&keyed->block->partitions,
                                        keyed->rows[keyed->begin].partition),
            .version = page->version,
        };
    for (uint32_t i = 0; status == 0 && i < page->row_count; i++)
        status = judge_found(keyed, page->table, &page->rows[i], &own);
    if (status == 0 && page->position.size > 0 && keyed->next < keyed->end) {
        status = read_page(keyed, page->position, &own);
        if (status == 0)
            return;
    }
    if (status != 0) {
        keyed_finish(keyed, status, &own);
        return;
    }
    keyed->expectation_count++;
    keyed->begin = keyed->end;
    read_partition(keyed);
}

static int read_page(struct keyed *keyed, struct bytes position, struct error *err)
{
    struct read_request request = {
        .table_id = keyed->table->id,
        .key = block_dictionary_get(&keyed->block->partitions, keyed->rows[keyed->begin].partition),
        .slice = {.start = {keyed->rows[keyed->begin].clustering, BOUND_BEFORE},
                  .end = {keyed->rows[keyed->end - 1].clustering, BOUND_AFTER}},
        .position = position,
        .row_limit = READ_ROWS,
        .view = READ_APPLIED,
    };

    return store_read(keyed->store, &request, take_page, keyed, err);
}

/* The next partition of the batch; after the last one all is judged. */
static void read_partition(struct keyed *keyed)
{
    struct error err = {0};
    int rc;

    if (keyed->begin == keyed->row_count) {
        keyed_finish(keyed, 0, NULL);
        return;
    }
    keyed->next = keyed->begin;
    keyed->end = keyed->begin + 1;
    while (keyed->end < keyed->row_count &&
           keyed->rows[keyed->end].partition == keyed->rows[keyed->begin].partition)
        keyed->end++;
    keyed->expectations[keyed->expectation_count].key = (struct bytes){0};
    rc = read_page(keyed, (struct bytes){0}, &err);
    if (rc != 0)
        keyed_finish(keyed, rc, &err);
}

void keyed_judge(struct keyed *keyed, const struct block *block, void (*done)(void *context),
                 void *context)
{
    check(keyed->state == KEYED_EMPTY);
    keyed->state = KEYED_READING;
    keyed->block = block;
    keyed->done = done;
    keyed->context = context;
    keyed->schema = schema_ref((struct schema *)(uintptr_t)store_schema(keyed->store));
    keyed->table = schema_table(keyed->schema, keyed->stream->table_id);
    keyed->begin = 0;
    take_rows(keyed);
    keyed->expectations =
        arena_alloc(keyed->arena, (block->partitions.count + 1) * sizeof *keyed->expectations, 16);
    judge_among_themselves(keyed);
    read_partition(keyed);
}

/* ---- what was judged ---- */

static uint64_t count_of(const struct keyed *keyed, enum row_verdict verdict)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < keyed->row_count; i++)
        count += keyed->rows[i].verdict == verdict;
    return count;
}

uint64_t keyed_duplicates(const struct keyed *keyed)
{
    return count_of(keyed, ROW_DUPLICATE);
}

uint64_t keyed_different(const struct keyed *keyed)
{
    return count_of(keyed, ROW_DIFFERENT);
}

const struct store_expectation *keyed_expectations(const struct keyed *keyed, uint32_t *count_out)
{
    *count_out = keyed->expectation_count;
    return keyed->expectations;
}

static int order_lines(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

void keyed_add_rejects(const struct keyed *keyed, struct reject_list *rejects)
{
    const struct block_column *click_id = column_of(keyed, KEYED_CLICK_ID);
    const struct block_column *line = column_of(keyed, KEYED_LINE);
    const struct block_column *content = column_of(keyed, KEYED_CONTENT);
    uint32_t *different = memory_alloc((keyed->row_count + 1) * sizeof *different);
    uint32_t count = 0;
    struct buffer id = {0};

    for (uint32_t i = 0; i < keyed->row_count; i++)
        if (keyed->rows[i].verdict == ROW_DIFFERENT)
            different[count++] = keyed->rows[i].row;
    qsort(different, count, sizeof *different, order_lines);
    for (uint32_t i = 0; i < count; i++) {
        buffer_clear(&id);
        type_format(keyed->stream->click_id_type, string_of(click_id, different[i]), &id);
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

/* A new click as a row: its marker, its amount, and whether its day followed from its time. */
static void make_row(const struct keyed *keyed, const struct keyed_row *row,
                     struct write_batch *batch, struct unfiltered *item)
{
    const struct ingest_stream *stream = keyed->stream;
    struct cell *cells = arena_alloc(batch->arena, 2 * sizeof *cells, 16);
    uint32_t count = 0;

    cells[count++] = (struct cell){.column_id = stream->column_ids[FIELD_AMOUNT],
                                   .timestamp_us = TIMESTAMP_SERVER,
                                   .expiry_s = EXPIRY_NONE,
                                   .value = write_batch_decimal(batch, amount_of(keyed, row))};
    if (stream->day_derived_column_id != 0) {
        const struct block_column *derived = column_of(keyed, stream->day_derived_column_id);

        if (derived->absent == NULL || derived->absent[row->row] == 0)
            cells[count++] = (struct cell){.column_id = stream->day_derived_column_id,
                                           .timestamp_us = TIMESTAMP_SERVER,
                                           .expiry_s = EXPIRY_NONE,
                                           .value = write_batch_boolean(batch, true)};
    }
    /* A row's cells are in the order of their columns' numbers. */
    if (count == 2 && cells[0].column_id > cells[1].column_id) {
        struct cell first = cells[0];

        cells[0] = cells[1];
        cells[1] = first;
    }
    *item = (struct unfiltered){
        .kind = UNFILTERED_ROW,
        .row = {.clustering = row_clustering_copy(&row->clustering, batch->arena),
                .marker = {TIMESTAMP_SERVER, 0, EXPIRY_NONE},
                .deletion = DELETION_NONE,
                .cells = cells,
                .cell_count = count},
        .before = DELETION_NONE,
        .after = DELETION_NONE,
    };
}

/* The new rows from `begin` on that are of one partition, as one mutation; returns where the next
 * partition begins. */
static uint32_t add_partition(const struct keyed *keyed, uint32_t begin, struct write_batch *batch)
{
    uint32_t partition = keyed->rows[begin].partition;
    uint32_t end = begin;
    uint32_t count = 0;

    for (; end < keyed->row_count && keyed->rows[end].partition == partition; end++)
        count += keyed->rows[end].verdict == ROW_NEW;
    if (count == 0)
        return end;

    struct unfiltered *items = arena_alloc(batch->arena, count * sizeof *items, 16);
    struct bytes key =
        arena_copy(batch->arena, block_dictionary_get(&keyed->block->partitions, partition));
    const struct mutation mutation = {.table_id = keyed->table->id,
                                      .token = murmur3_token(key.data, key.size),
                                      .key = key,
                                      .deletion = DELETION_NONE,
                                      .items = items,
                                      .item_count = count};
    struct bytes reseller;

    count = 0;
    for (uint32_t i = begin; i < end; i++)
        if (keyed->rows[i].verdict == ROW_NEW)
            make_row(keyed, &keyed->rows[i], batch, &items[count++]);
    write_batch_add_mutation(batch, &mutation);
    if (type_key_component(key, 2, 0, &reseller) == 0)
        add_increment(batch, keyed->stream->per_reseller, reseller, count);
    return end;
}

void keyed_add_rows(const struct keyed *keyed, struct write_batch *batch)
{
    const struct block_column *ad = column_of(keyed, keyed->stream->column_ids[FIELD_AD]);
    int64_t *clicks = memory_zeroed(ad->dictionary.count + 1, sizeof *clicks);

    for (uint32_t i = 0; i < keyed->row_count;)
        i = add_partition(keyed, i, batch);
    for (uint32_t i = 0; i < keyed->row_count; i++)
        clicks[ad->codes[keyed->rows[i].row]] += keyed->rows[i].verdict == ROW_NEW;
    for (uint32_t code = 0; code < ad->dictionary.count; code++)
        add_increment(batch, keyed->stream->per_ad, block_dictionary_get(&ad->dictionary, code),
                      clicks[code]);
    memory_free(clicks);
}
