/* rows: measures ordinary tables through the store: writes of one row, counters, and reads by key
 * and by slice.  This is the cost of a CQL statement without its protocol.
 *
 *     build/release-gcc/bench/rows --rows 200000 DIRECTORY
 *
 * `user` has partitions of one row, `event` has partitions of EVENTS_IN_ONE rows, and `hit` has
 * counters.  A write batch has one row (`hits_batched`: HITS_IN_BATCH), and up to `window` batches
 * are not yet durable.  Reads are made one after the other at random keys, first from memory, then
 * from segments; each must find the expected number of rows.  Each line of output is a name and a
 * figure. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_store.h"
#include "bench/click_arguments.h"
#include "base/memory.h"

enum {
    TABLE_USER = 900,
    TABLE_EVENT,
    TABLE_HIT,
    EVENTS_IN_ONE = 1000,
    SLICE_ROWS = 100,
    READS_MAX = 20000,
    HIT_KEYS = 100000,
    HITS_IN_BATCH = 1000
};

static const struct column_definition user_columns[] = {
    {1, "id", "text", COLUMN_PARTITION, false},
    {2, "name", "text", COLUMN_REGULAR, false},
    {3, "visits", "bigint", COLUMN_REGULAR, false},
};
static const struct column_definition event_columns[] = {
    {1, "source", "text", COLUMN_PARTITION, false},
    {2, "number", "bigint", COLUMN_CLUSTERING, false},
    {3, "what", "text", COLUMN_REGULAR, false},
};
static const struct column_definition hit_columns[] = {
    {1, "id", "text", COLUMN_PARTITION, false},
    {2, "hits", "counter", COLUMN_REGULAR, false},
};
static const struct table_definition user = {.id = TABLE_USER,
                                             .keyspace = "bench",
                                             .name = "user",
                                             .columns = user_columns,
                                             .column_count = 3};
static const struct table_definition event = {.id = TABLE_EVENT,
                                              .keyspace = "bench",
                                              .name = "event",
                                              .columns = event_columns,
                                              .column_count = 3};
static const struct table_definition hit = {.id = TABLE_HIT,
                                            .keyspace = "bench",
                                            .name = "hit",
                                            .flags = TABLE_COUNTER,
                                            .columns = hit_columns,
                                            .column_count = 2};
static const struct table_definition *const tables[] = {&user, &event, &hit};

struct arguments {
    uint64_t rows;
    uint64_t window;
    const char *directory;
};

struct bench {
    struct arguments arguments;
    struct bench_store on;
    struct write_batch *batch;
    uint64_t waiting; /* batches not yet durable */
    uint64_t random;
};

static uint64_t random_below(struct bench *bench, uint64_t limit)
{
    bench->random ^= bench->random >> 12;
    bench->random ^= bench->random << 25;
    bench->random ^= bench->random >> 27;
    return (bench->random * UINT64_C(2685821657736338717) >> 33) % limit;
}

/* Keys are scattered, so that rows written one after the other are not adjacent in the table. */
static const char *key_text(uint64_t number, char text[32])
{
    (void)snprintf(text, 32, "key-%016" PRIx64, number * UINT64_C(0x9e3779b97f4a7c15));
    return text;
}

/* ---- writes ---- */

static void durable(void *context, int status, const struct error *err)
{
    must(status, "apply", err);
    ((struct bench *)context)->waiting--;
}

static void apply(struct bench *bench)
{
    struct error err = {0};
    int rc;
    while ((rc = store_apply(bench->on.store, bench->batch, durable, bench, &err)) == ERROR_FULL)
        bench_store_step(&bench->on);
    must(rc, "apply", &err);
    write_batch_clear(bench->batch);
    bench->waiting++;
    while (bench->waiting >= bench->arguments.window)
        bench_store_step(&bench->on);
}

static void write_user(struct bench *bench, uint64_t number)
{
    char text[32];
    struct write_batch *batch = bench->batch;
    const struct column_value values[] = {
        {.column_id = 1, .value = bytes_text(key_text(number, text))},
        {.column_id = 2, .value = bytes_text("Ada, Countess of Lovelace")},
        {.column_id = 3, .value = write_batch_bigint(batch, (int64_t)number)},
    };
    write_batch_insert(batch, schema_table(store_schema(bench->on.store), TABLE_USER), values, 3);
    apply(bench);
}

static uint64_t event_sources(const struct bench *bench)
{
    uint64_t sources = bench->arguments.rows / EVENTS_IN_ONE;
    return sources > 0 ? sources : 1;
}

static void write_event(struct bench *bench, uint64_t number)
{
    char text[32];
    struct write_batch *batch = bench->batch;
    uint64_t sources = event_sources(bench);
    const struct column_value values[] = {
        {.column_id = 1, .value = bytes_text(key_text(number % sources, text))},
        {.column_id = 2, .value = write_batch_bigint(batch, (int64_t)(number / sources))},
        {.column_id = 3, .value = bytes_text("opened the door and looked outside")},
    };
    write_batch_insert(batch, schema_table(store_schema(bench->on.store), TABLE_EVENT), values, 3);
    apply(bench);
}

static void add_hit(struct bench *bench, uint64_t number)
{
    char text[32];
    struct counter_increment increment = {
        .table_id = TABLE_HIT,
        .column_id = 2,
        .key = arena_copy(bench->batch->arena, bytes_text(key_text(number, text))),
        .change = COUNTER_ADD,
        .value = 1,
    };
    write_batch_add_increment(bench->batch, &increment);
}

static void write_hot_hit(struct bench *bench, uint64_t number)
{
    (void)number;
    add_hit(bench, HIT_KEYS);
    apply(bench);
}

static void write_hit(struct bench *bench, uint64_t number)
{
    (void)number;
    add_hit(bench, random_below(bench, HIT_KEYS));
    apply(bench);
}

static void write_hits(struct bench *bench, uint64_t number)
{
    add_hit(bench, random_below(bench, HIT_KEYS));
    if ((number + 1) % HITS_IN_BATCH == 0)
        apply(bench);
}

static void measure_writes(struct bench *bench, const char *name, uint64_t count,
                           void (*write)(struct bench *bench, uint64_t number))
{
    double started = now_s();
    for (uint64_t i = 0; i < count; i++)
        write(bench, i);
    while (bench->waiting > 0)
        bench_store_step(&bench->on);
    printf("%-24s %.0f\n", name, (double)count / (now_s() - started));
}

/* ---- reads ---- */

struct reading {
    uint32_t rows;
    bool done;
};

static void page_read(void *context, int status, const struct error *err,
                      const struct read_page *page)
{
    struct reading *reading = context;
    must(status, "read", err);
    reading->rows = page->row_count;
    reading->done = true;
}

static void read_rows(struct bench *bench, uint32_t table_id, uint64_t key, struct slice slice,
                      uint32_t rows)
{
    char text[32];
    struct reading reading = {0};
    struct error err = {0};
    struct read_request request = {
        .table_id = table_id,
        .key = bytes_text(key_text(key, text)),
        .slice = slice,
        .row_limit = rows,
    };
    must(store_read(bench->on.store, &request, page_read, &reading, &err), "read", &err);
    bench_store_wait(&bench->on, &reading.done);
    if (reading.rows != rows) {
        fprintf(stderr, "rows: read %" PRIu32 " rows instead of %" PRIu32 "\n", reading.rows, rows);
        exit(EXIT_FAILURE);
    }
}

static void read_user(struct bench *bench)
{
    read_rows(bench, TABLE_USER, random_below(bench, bench->arguments.rows), stream_slice_all(), 1);
}

/* Read SLICE_ROWS rows from a random row on. */
static void read_slice(struct bench *bench)
{
    uint64_t sources = event_sources(bench);
    uint64_t rows = bench->arguments.rows / sources;
    uint64_t place = rows > SLICE_ROWS ? random_below(bench, rows - SLICE_ROWS) : 0;
    struct buffer number = {0};
    struct slice slice = stream_slice_all();
    type_value_put_bigint(&number, (int64_t)place);
    slice.start.prefix.values[0] = buffer_view(&number);
    slice.start.prefix.count = 1;
    read_rows(bench, TABLE_EVENT, random_below(bench, sources), slice,
              (uint32_t)(rows < SLICE_ROWS ? rows : SLICE_ROWS));
    buffer_release(&number);
}

static int compare_doubles(const void *a, const void *b)
{
    double first = *(const double *)a;
    double second = *(const double *)b;
    return (first > second) - (first < second);
}

static void measure_reads(struct bench *bench, const char *name, void (*read)(struct bench *bench))
{
    uint64_t count = bench->arguments.rows < READS_MAX ? bench->arguments.rows : READS_MAX;
    double *times = memory_alloc(count * sizeof *times);
    double started = now_s();
    double before = started;
    for (uint64_t i = 0; i < count; i++) {
        read(bench);
        double now = now_s();
        times[i] = now - before;
        before = now;
    }
    printf("%s/s%*s %.0f\n", name, (int)(22 - strlen(name)), "",
           (double)count / (now_s() - started));
    qsort(times, count, sizeof *times, compare_doubles);
    printf("%s_p99_us%*s %.1f\n", name, (int)(17 - strlen(name)), "",
           times[(count - 1) * 99 / 100] * 1e6);
    memory_free(times);
}

static void measure(struct bench *bench)
{
    uint64_t rows = bench->arguments.rows;
    measure_writes(bench, "user_writes/s", rows, write_user);
    measure_writes(bench, "event_writes/s", rows, write_event);
    measure_reads(bench, "user_reads_memory", read_user);
    measure_reads(bench, "slices_memory", read_slice);
    measure_writes(bench, "hits/s", rows, write_hit);
    measure_writes(bench, "hits_on_one_key/s", rows, write_hot_hit);
    measure_writes(bench, "hits_batched/s", rows * 10 / HITS_IN_BATCH * HITS_IN_BATCH, write_hits);
    bench_store_compact(&bench->on);
    printf("user_bytes/row           %.2f\n",
           (double)bench_store_bytes(&bench->on, TABLE_USER) / (double)rows);
    printf("event_bytes/row          %.2f\n",
           (double)bench_store_bytes(&bench->on, TABLE_EVENT) / (double)rows);
    measure_reads(bench, "user_reads_disk", read_user);
    measure_reads(bench, "slices_disk", read_slice);
}

/* ---- options ---- */

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    bool is_good = true;
    switch (key) {
    case 'n':
        is_good = click_number_parse(argument, 1, 100000000, &arguments->rows);
        break;
    case 'w':
        is_good = click_number_parse(argument, 1, 4096, &arguments->window);
        break;
    case ARGP_KEY_ARG:
        if (arguments->directory != NULL)
            argp_usage(state);
        arguments->directory = argument;
        break;
    case ARGP_KEY_NO_ARGS:
        argp_usage(state);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    if (!is_good)
        argp_error(state, "no such value: %s", argument);
    return 0;
}

static const struct argp_option options[] = {
    {"rows", 'n', "N", 0, "of each table (200000)", 0},
    {"window", 'w', "BATCHES", 0, "not yet durable (64)", 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "DIRECTORY",
    .doc = "Write and read rows of ordinary tables in a new DIRECTORY.",
};

int main(int argc, char **argv)
{
    struct bench bench = {.arguments = {.rows = 200000, .window = 64}, .random = 42};
    argp_err_exit_status = 2;
    (void)argp_parse(&argp, argc, argv, 0, NULL, &bench.arguments);
    bench_store_create(&bench.on, bench.arguments.directory, tables, 3);
    bench.batch = write_batch_new();
    measure(&bench);
    write_batch_free(bench.batch);
    bench_store_close(&bench.on);
    return EXIT_SUCCESS;
}
