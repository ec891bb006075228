/* binary_decoder: measures how fast one core encodes frames of the binary protocol, and how fast it
 * decodes them to blocks.
 *
 *     build/release-gcc/bench/binary_decoder [--clicks N --order ORDER ...] [ROWS A BATCH]
 *
 *     encode        the work of the client library
 *     decode        checksum, tables, hash of the content, and rows into a block: all work on a
 *                   batch before the engine gets it
 *     row by row    decode, with a row in each batch that is refused */
#include "ingest/parse/binary_decoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/crc32c.h"
#include "bench/click_arguments.h"
#include "client/frame_writer.h"
#include "client/wire.h"
#include "base/memory.h"
#include "tests/unit/clicks_fixture.h"

struct arguments {
    struct click_options clicks;
    uint64_t batch_rows;
};

/* CPU time of this process, so that other work on the machine does not count. */
static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Write the magic and all clicks as frames.  If `has_bad`, each batch also has a row that is
 * refused. */
static void encode(const struct arguments *arguments, bool has_bad, struct frame_writer *writer)
{
    struct click_generator *generator = click_generator_new(&arguments->clicks);
    struct click_batch batch = {0};
    struct daybook_click bad = {.reseller = "r", .ad = "a", .amount = -1};
    double generating = 0;
    double start = seconds();

    check(frame_writer_hello(writer) == 0);
    for (uint64_t at = 0; at < arguments->clicks.clicks; at += arguments->batch_rows) {
        struct click_columns columns;
        double began = seconds();

        click_batch_clear(&batch);
        click_generator_add(generator, at, arguments->batch_rows, &batch);
        generating += seconds() - began;
        check(!has_bad || click_batch_add(&batch, &bad) == 0);
        columns = click_batch_columns(&batch);
        check(frame_writer_batch(writer, &columns, 0) == 0);
    }
    if (!has_bad)
        printf("encode      %6.2f ns/click to generate and gather, %.2f to write; %.2f bytes\n",
               generating * 1e9 / (double)arguments->clicks.clicks,
               (seconds() - start - generating) * 1e9 / (double)arguments->clicks.clicks,
               (double)writer->out_size / (double)arguments->clicks.clicks);
    click_batch_release(&batch);
    click_generator_free(generator);
}

static void decode_batch(struct binary_decoder *decoder, struct bytes payload,
                         struct row_builder *builder)
{
    struct hash128_stream *hash = hash128_stream_new();
    struct binary_batch batch;

    check(binary_decoder_read_batch(payload, &batch) == 0);
    check(binary_decoder_begin(decoder, &batch, false) == 0);
    binary_decoder_hash(decoder, &batch, hash);
    check(binary_decoder_rows(decoder, &batch, builder, 1) == 0);
    check(hash128_stream_digest(hash).low != 0);
    hash128_stream_free(hash);
    row_builder_finish(builder);
    row_builder_clear(builder);
}

static void decode_all(const struct frame_writer *writer, struct row_builder *builder)
{
    struct binary_decoder *decoder = binary_decoder_new(1);
    const uint8_t *at = writer->out + WIRE_MAGIC_SIZE;

    while (at < writer->out + writer->out_size) {
        struct bytes payload = bytes_of(at + WIRE_HEADER_SIZE, load_u32(at));

        check(crc32c(crc32c(0, at, 8), payload.data, payload.size) == load_u32(at + 8));
        if (at[4] == WIRE_STRINGS)
            check(binary_decoder_strings(decoder, payload) == 0);
        else if (at[4] == WIRE_BATCH)
            decode_batch(decoder, payload, builder);
        at = payload.data + payload.size;
    }
    binary_decoder_free(decoder);
}

static void measure(const struct arguments *arguments, const char *name, bool has_bad,
                    struct row_builder *builder)
{
    struct frame_writer writer = {0};
    double best = 1e9;

    encode(arguments, has_bad, &writer);
    for (int round = 0; round < 5; round++) {
        double start = seconds();
        double spent;

        decode_all(&writer, builder);
        spent = seconds() - start;
        best = spent < best ? spent : best;
    }
    printf("%s %6.2f ns/click\n", name, best * 1e9 / (double)arguments->clicks.clicks);
    frame_writer_release(&writer);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->clicks;
        return 0;
    case ARGP_KEY_ARG:
        if (!click_number_parse(argument, 1, BLOCK_ROWS_MAX - 1, &arguments->batch_rows))
            argp_error(state, "no such number of rows: %s", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_child children[] = {{&click_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {.parser = parse,
                                     .children = children,
                                     .args_doc = "[ROWS A BATCH]",
                                     .doc = "Decode generated clicks as the binary door does."};
    struct arguments arguments = {.clicks = click_options_default(), .batch_rows = 1000};
    struct schema *schema = schema_new();
    struct row_builder *builder;

    arguments.clicks.clicks = 2000000;
    (void)argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    check(schema_add_keyspace(schema, "daybook", NULL) == 0 &&
          schema_add_table(schema, &clicks_definition, NULL) == 0);
    check(row_builder_new(&clicks_stream, schema_table(schema, CLICKS_TABLE), 1, &builder, NULL) ==
          0);
    measure(&arguments, "decode     ", false, builder);
    measure(&arguments, "row by row ", true, builder);
    row_builder_free(builder);
    schema_unref(schema);
    return 0;
}
