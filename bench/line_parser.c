/* line_parser: measures how many lines per second one core parses to blocks.
 *
 *     build/release-gcc/bench/line_parser [LINES [LINES PER BATCH]]
 *
 * The input is that of bench/results.md: 1,000 resellers with 200 ads each, both drawn with weights
 * 1/n, over three days, 55 bytes per line. */
#include "ingest/parse/line_parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "tests/unit/clicks_fixture.h"

enum { RESELLERS = 1000, ADS = 200, LINE_SIZE_MAX = 80 };

/* CPU time of this process, so that other work on the machine does not count. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* Draw an index below `count` with the weight 1/(index + 1). */
static unsigned zipf(uint64_t *state, const double *sums, unsigned count)
{
    double at = (double)(random_next(state) >> 11) * 0x1p-53 * sums[count - 1];
    unsigned low = 0;
    unsigned high = count - 1;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (sums[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void write_lines(struct buffer *text, size_t lines)
{
    double reseller_sums[RESELLERS];
    double ad_sums[ADS];
    uint64_t state = 1;
    double sum = 0;

    for (unsigned i = 0; i < RESELLERS; i++)
        reseller_sums[i] = sum += 1.0 / (i + 1);
    sum = 0;
    for (unsigned i = 0; i < ADS; i++)
        ad_sums[i] = sum += 1.0 / (i + 1);
    buffer_reserve(text, lines * LINE_SIZE_MAX);
    for (size_t i = 0; i < lines; i++) {
        unsigned reseller = zipf(&state, reseller_sums, RESELLERS);
        unsigned ad = (reseller * 7919 + zipf(&state, ad_sums, ADS) * 31) % 50000;
        unsigned day = (unsigned)(random_next(&state) % 3);
        int64_t time = INT64_C(1785542400000) + day * DAY_MS +
                       (int64_t)((double)DAY_MS * (double)i / (double)lines);

        buffer_printf(text, "reseller-%04u,2026-08-%02u,%lld,ad-%07u,%u.%02u\n", reseller, day + 1,
                      (long long)time, ad, (unsigned)(random_next(&state) >> 40) % 3,
                      (unsigned)(random_next(&state) >> 40) % 100);
    }
}

/* Parse all of `text` in batches.  Returns the number of rows, so that the compiler cannot remove
 * the work. */
static uint64_t parse_all(struct line_parser *parser, struct row_builder *builder,
                          struct bytes text, uint64_t batch)
{
    uint64_t rows = 0;

    while (text.size > 0) {
        size_t taken = line_parser_run(parser, builder, text, batch);

        text = bytes_of(text.data + taken, text.size - taken);
        row_builder_finish(builder);
        rows += builder->block->rows;
        row_builder_clear(builder);
    }
    return rows;
}

static void measure(const char *name, struct line_parser *parser, struct row_builder *builder,
                    struct bytes text, uint64_t batch)
{
    double best = 0;

    for (int round = 0; round < 5; round++) {
        double start = seconds();
        uint64_t rows = parse_all(parser, builder, text, batch);
        double rate = (double)rows / (seconds() - start);

        best = rate > best ? rate : best;
    }
    printf("%-10s %7.2f M lines/s\n", name, best / 1e6);
}

int main(int argc, char **argv)
{
    size_t lines = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000000;
    uint64_t batch = argc > 2 ? strtoul(argv[2], NULL, 10) : 4096;
    struct schema *schema = schema_new();
    struct buffer text = {0};
    struct row_builder *builder;
    struct line_parser parser;
    struct error err = {0};

    if (schema_add_keyspace(schema, "daybook", &err) != 0 ||
        schema_add_table(schema, &clicks_definition, &err) != 0 ||
        row_builder_new(&clicks_stream, schema_table(schema, CLICKS_TABLE), 1, &builder, &err) !=
            0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    write_lines(&text, lines);
    buffer_reserve(&text, LINE_PARSER_PADDING);
    line_parser_init(&parser);
    measure("best", &parser, builder, buffer_view(&text), batch);
    parser.index = delimiter_index_portable;
    measure("portable", &parser, builder, buffer_view(&text), batch);
    parser.is_exact = true;
    measure("full way", &parser, builder, buffer_view(&text), batch);
    line_parser_release(&parser);
    row_builder_free(builder);
    buffer_release(&text);
    schema_unref(schema);
    return 0;
}
