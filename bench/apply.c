/* apply: how many clicks a second one thread parses and the engine makes durable, without sockets.
 *
 *     build/release-gcc/bench/apply DIRECTORY [CLICKS [CLICKS PER BATCH]]
 *
 * The reference data of click_generator.h, in order; counters kept; the log synced.  Prints the
 * rate of the whole, then flushes and merges and prints bytes a click on disk. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/click_generator.h"
#include "ingest/line_parser.h"
#include "rollup/tables.h"
#include "storage/engine.h"

enum { LINES_AT_ONCE = 100000 };

struct bench {
    struct world *world;
    struct store *store;
    struct write_batch *batch;
    struct row_builder *builder;
    struct line_parser parser;
    uint64_t waiting;                  /* batches not yet durable */
    double generating_s;
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(int rc, const char *what, const struct error *err)
{
    if (rc != 0) {
        fprintf(stderr, "%s: %s\n", what, err->text);
        exit(1);
    }
}

static void step(struct bench *bench)
{
    bench->world->executor->step(bench->world->executor);
}

static void count(void *context, struct write_batch *batch)
{
    struct counting_rule ads = {.column_id = AD_CLICK_AD_ID,
                                .counter_table_id = TABLE_CLICKS_PER_AD,
                                .counter_column_id = COUNTER_CLICKS};
    struct counting_rule resellers = {.counter_table_id = TABLE_CLICKS_PER_RESELLER,
                                      .counter_column_id = COUNTER_CLICKS};
    (void)context;
    write_batch_add_rule(batch, &ads);
    write_batch_add_rule(batch, &resellers);
}

static void open_store(struct bench *bench, const char *path)
{
    struct engine_options options = {0};
    struct error err = {0};
    uint32_t table_count;
    const struct table_definition *const *tables = rollup_tables(&table_count);
    struct schema *schema = schema_new();
    must(world_uv_open(path, true, NULL, &bench->world, &err), path, &err);
    must(schema_add_keyspace(schema, "daybook", &err), "schema", &err);
    must(schema_add_keyspace(schema, "daybook_system", &err), "schema", &err);
    must(engine_create(bench->world, schema, (struct bytes){0}, &err), path, &err);
    must(engine_open(bench->world, &options, tables, table_count, &bench->store, &err), path,
         &err);
    schema_unref(schema);
    store_set_commit_hook(bench->store, count, NULL);
}

static void durable(void *context, int status, const struct error *err)
{
    must(status, "apply", err);
    ((struct bench *)context)->waiting--;
}

static void apply(struct bench *bench)
{
    struct error err = {0};
    int rc;
    row_builder_finish(bench->builder);
    write_batch_clear(bench->batch);
    write_batch_add_block(bench->batch, bench->builder->block);
    while ((rc = store_apply(bench->store, bench->batch, durable, bench, &err)) == ERROR_FULL) {
        step(bench);
    }
    must(rc, "apply", &err);
    bench->waiting++;
    row_builder_clear(bench->builder);
    while (bench->waiting > 64) {
        step(bench);
    }
}

static void run(struct bench *bench, uint64_t clicks, uint64_t per_batch)
{
    struct click_options options = click_options_default();
    options.clicks = clicks;
    struct click_generator *generator = click_generator_new(&options);
    struct buffer lines = {0};
    for (uint64_t at = 0; at < clicks; at += LINES_AT_ONCE) {
        double started = now_s();
        buffer_clear(&lines);
        click_generator_append(generator, at,
                               clicks - at < LINES_AT_ONCE ? clicks - at : LINES_AT_ONCE, &lines);
        buffer_reserve(&lines, LINE_PARSER_PADDING);
        bench->generating_s += now_s() - started;
        for (struct bytes left = buffer_view(&lines); left.size > 0;) {
            size_t taken = line_parser_run(&bench->parser, bench->builder, left, per_batch);
            left = bytes_of(left.data + taken, left.size - taken);
            apply(bench);
        }
    }
    while (bench->waiting > 0) {
        step(bench);
    }
    buffer_release(&lines);
    click_generator_free(generator);
}

static void set_done(void *context, int status, const struct error *err)
{
    must(status, "close", err);
    *(bool *)context = true;
}

static void report_disk(struct bench *bench, uint64_t clicks)
{
    struct store_table_status tables[32];
    struct error err = {0};
    bool done = false;
    double started = now_s();
    must(store_compact(bench->store, set_done, &done, &err), "compact", &err);
    while (!done) {
        step(bench);
    }
    uint32_t table_count = store_table_status(bench->store, tables, 32);
    for (uint32_t i = 0; i < table_count; i++) {
        if (tables[i].table_id == TABLE_AD_CLICK) {
            printf("flush and merge %.2f s, %.3f bytes a click\n", now_s() - started,
                   (double)tables[i].segment_bytes / (double)clicks);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: apply DIRECTORY [CLICKS [CLICKS PER BATCH]]\n");
        return 2;
    }
    uint64_t clicks = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
    uint64_t per_batch = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
    static const struct ingest_stream stream = {
        .name = "clicks",
        .table_id = TABLE_AD_CLICK,
        .column_ids = {AD_CLICK_RESELLER_ID, AD_CLICK_DAY, AD_CLICK_TIME, AD_CLICK_AD_ID,
                       AD_CLICK_AMOUNT},
        .day_derived_column_id = AD_CLICK_DAY_DERIVED};
    struct bench bench = {0};
    struct error err = {0};
    open_store(&bench, argv[1]);
    bench.batch = write_batch_new();
    line_parser_init(&bench.parser);
    must(row_builder_new(&stream, schema_table(store_schema(bench.store), TABLE_AD_CLICK), 1,
                         &bench.builder, &err),
         "stream", &err);
    double started = now_s();
    run(&bench, clicks, per_batch);
    double took = now_s() - started - bench.generating_s;
    printf("%" PRIu64 " clicks in batches of %" PRIu64 ": %.2f M clicks/s\n", clicks, per_batch,
           (double)clicks / took / 1e6);
    report_disk(&bench, clicks);
    bool closed = false;
    store_close(bench.store, set_done, &closed);
    while (!closed) {
        step(&bench);
    }
    line_parser_release(&bench.parser);
    row_builder_free(bench.builder);
    write_batch_free(bench.batch);
    world_uv_close(bench.world);
    return 0;
}
