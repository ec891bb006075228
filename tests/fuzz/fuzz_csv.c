/* fuzz_csv: the CSV line parser: the quick way and the full way give the same rows and rejects.
 *
 * Input: a byte (1: the first line is a header), then lines. */
#include "ingest/parse/line_parser.h"
#include "rollup/tables.h"
#include "base/memory.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_stream.h"

struct parsed {
    struct row_builder *builder;
    struct line_parser parser;
    size_t taken;
};

/* From memory of exactly its size and the padding, so that a read past it shows. */
static void parse(struct parsed *parsed, struct bytes text, bool has_header, bool is_exact)
{
    const struct line_columns columns = fuzz_columns();
    uint8_t *copy = memory_alloc(text.size + LINE_PARSER_PADDING);
    size_t at = 0;
    memcpy(copy, text.data, text.size);
    memset(copy + text.size, ',', LINE_PARSER_PADDING);
    parsed->builder = fuzz_builder();
    line_parser_init(&parsed->parser);
    parsed->parser.is_exact = is_exact;
    const uint8_t *end = has_header ? memchr(copy, '\n', text.size) : NULL;
    if (end != NULL) {
        at = (size_t)(end - copy) + 1;
        if (line_parser_header(&parsed->parser, bytes_of(copy, at - 1), &columns, NULL) != 0) {
            line_parser_release(&parsed->parser);
            line_parser_init(&parsed->parser);
            parsed->parser.is_exact = is_exact;
        }
    }
    parsed->taken = line_parser_run(&parsed->parser, parsed->builder,
                                    bytes_of(copy + at, text.size - at), 1000);
    row_builder_finish(parsed->builder);
    memory_free(copy);
}

static void parsed_release(struct parsed *parsed)
{
    line_parser_release(&parsed->parser);
    row_builder_free(parsed->builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(data, size);
    bool has_header = fuzz_take_byte(&input) % 2 == 1;
    if (input.size == 0)
        return 0;
    struct parsed quick, exact;
    parse(&quick, input, has_header, false);
    parse(&exact, input, has_header, true);
    check(quick.taken == exact.taken && quick.parser.line == exact.parser.line);
    fuzz_check_same_rows(quick.builder, exact.builder);
    parsed_release(&quick);
    parsed_release(&exact);
    return 0;
}
