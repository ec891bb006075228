/* apply: measures how many clicks per second one thread parses and the engine makes durable; no
 * sockets are used.
 *
 *     build/release-gcc/bench/apply --clicks 10000000 --compact DIRECTORY
 *
 * The clicks are those of click_generator.h; counters are updated, and the log is synced.  With
 * --until, batches skip the later steps, so that the cost of a step is the difference of two runs;
 * tests/e2e/test_costs.py counts instructions in this way.  Each line of output is a name and a
 * figure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_store.h"
#include "bench/click_arguments.h"
#include "ingest/parse/line_parser.h"
#include "storage/engine/engine.h"

enum { LINES_AT_ONCE = 100000 };

enum step { STEP_GENERATE, STEP_PARSE, STEP_APPLY };

struct arguments {
    struct click_options clicks;
    uint64_t batch_lines;
    uint64_t window; /* batches that may be applied and not yet durable */
    enum step until;
    bool is_compacted;
    const char *directory;
};

struct bench {
    struct arguments arguments;
    struct bench_store on;
    struct write_batch *batch;
    struct row_builder *builder;
    struct line_parser parser;
    uint64_t waiting; /* batches not yet durable */
    double generating_s;
};

/* ---- the store ---- */

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

static void open_store(struct bench *bench)
{
    static const struct ingest_stream stream = {.name = "clicks",
                                                .table_id = TABLE_AD_CLICK,
                                                .column_ids = {AD_CLICK_RESELLER_ID, AD_CLICK_DAY,
                                                               AD_CLICK_TIME, AD_CLICK_AD_ID,
                                                               AD_CLICK_AMOUNT},
                                                .day_derived_column_id = AD_CLICK_DAY_DERIVED};
    struct error err = {0};
    bench_store_create(&bench->on, bench->arguments.directory, NULL, 0);
    store_set_commit_hook(bench->on.store, count, NULL);
    bench->batch = write_batch_new();
    line_parser_init(&bench->parser);
    must(row_builder_new(&stream, schema_table(store_schema(bench->on.store), TABLE_AD_CLICK), 1,
                         &bench->builder, &err),
         "stream", &err);
}

static void close_store(struct bench *bench)
{
    bench_store_close(&bench->on);
    line_parser_release(&bench->parser);
    row_builder_free(bench->builder);
    write_batch_free(bench->batch);
}

/* ---- the way of a batch ---- */

static void durable(void *context, int status, const struct error *err)
{
    must(status, "apply", err);
    ((struct bench *)context)->waiting--;
}

static void apply(struct bench *bench)
{
    struct error err = {0};
    int rc;
    write_batch_clear(bench->batch);
    write_batch_add_block(bench->batch, bench->builder->block);
    while ((rc = store_apply(bench->on.store, bench->batch, durable, bench, &err)) == ERROR_FULL)
        bench_store_step(&bench->on);
    must(rc, "apply", &err);
    bench->waiting++;
    while (bench->waiting >= bench->arguments.window)
        bench_store_step(&bench->on);
}

static void parse_lines(struct bench *bench, struct bytes lines)
{
    while (lines.size > 0) {
        size_t taken =
            line_parser_run(&bench->parser, bench->builder, lines, bench->arguments.batch_lines);
        lines = bytes_of(lines.data + taken, lines.size - taken);
        row_builder_finish(bench->builder);
        if (bench->arguments.until == STEP_APPLY)
            apply(bench);
        row_builder_clear(bench->builder);
    }
}

static void run(struct bench *bench)
{
    uint64_t clicks = bench->arguments.clicks.clicks;
    struct click_generator *generator = click_generator_new(&bench->arguments.clicks);
    struct buffer lines = {0};
    for (uint64_t at = 0; at < clicks; at += LINES_AT_ONCE) {
        uint64_t lines_now = clicks - at < LINES_AT_ONCE ? clicks - at : LINES_AT_ONCE;
        double started = now_s();
        buffer_clear(&lines);
        click_generator_append(generator, at, lines_now, &lines);
        buffer_reserve(&lines, LINE_PARSER_PADDING);
        bench->generating_s += now_s() - started;
        if (bench->arguments.until >= STEP_PARSE)
            parse_lines(bench, buffer_view(&lines));
    }
    while (bench->waiting > 0)
        bench_store_step(&bench->on);
    buffer_release(&lines);
    click_generator_free(generator);
}

/* ---- figures ---- */

static void measure(struct bench *bench)
{
    double clicks = (double)bench->arguments.clicks.clicks;
    struct engine_status status;
    double started = now_s();
    run(bench);
    printf("clicks/s         %.0f\n", clicks / (now_s() - started - bench->generating_s));
    engine_status(bench->on.store, &status);
    printf("log_bytes        %" PRIu64 "\n", status.log_unflushed_bytes);
    if (bench->arguments.is_compacted) {
        started = now_s();
        bench_store_compact(&bench->on);
        printf("compact_s        %.3f\n", now_s() - started);
        printf("bytes/click      %.4f\n",
               (double)bench_store_bytes(&bench->on, TABLE_AD_CLICK) / clicks);
    }
}

/* ---- options ---- */

static bool step_parse(const char *text, enum step *step_out)
{
    static const char *const names[] = {"generate", "parse", "apply"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *step_out = (enum step)i;
            return true;
        }
    }
    return false;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    bool is_good = true;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->clicks;
        break;
    case 'b':
        is_good = click_number_parse(argument, 1, 65536, &arguments->batch_lines);
        break;
    case 'w':
        is_good = click_number_parse(argument, 1, 4096, &arguments->window);
        break;
    case 't':
        is_good = step_parse(argument, &arguments->until);
        break;
    case 'C':
        arguments->is_compacted = true;
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
    {"batch", 'b', "LINES", 0, "in a batch (1000)", 0},
    {"window", 'w', "BATCHES", 0, "not yet durable; 1 waits for each (64)", 0},
    {"until", 't', "STEP", 0, "generate, parse or apply, the last step a batch goes (apply)", 0},
    {"compact", 'C', NULL, 0, "merge all at the end, and print the bytes a click", 0},
    {0},
};

static const struct argp_child children[] = {{&click_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "DIRECTORY",
    .doc = "Parse generated clicks and make them durable in a new DIRECTORY.",
    .children = children,
};

int main(int argc, char **argv)
{
    struct bench bench = {.arguments = {.clicks = click_options_default(),
                                        .batch_lines = 1000,
                                        .window = 64,
                                        .until = STEP_APPLY}};
    argp_err_exit_status = 2;
    (void)argp_parse(&argp, argc, argv, 0, NULL, &bench.arguments);
    open_store(&bench);
    measure(&bench);
    close_store(&bench);
    return EXIT_SUCCESS;
}
