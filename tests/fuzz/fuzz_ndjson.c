/* fuzz_ndjson: lines of JSON: each is a row or a reject, and leaves nothing behind for the next. */
#include "ingest/parse/ndjson.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_stream.h"

static void parse_line(struct ndjson *ndjson, struct row_builder *builder, struct bytes line)
{
    uint64_t before = builder->block->rows + (uint64_t)builder->rejects.count;
    ndjson_line(ndjson, builder, line, 1);
    check(builder->block->rows + (uint64_t)builder->rejects.count == before + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct line_columns columns = fuzz_columns();
    struct row_builder *together = fuzz_builder();
    struct row_builder *apart = fuzz_builder();
    struct ndjson *kept = ndjson_new(&columns);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        size_t length = end == NULL ? size : (size_t)(end - data);
        struct ndjson *fresh = ndjson_new(&columns);
        parse_line(kept, together, bytes_of(data, length));
        parse_line(fresh, apart, bytes_of(data, length));
        ndjson_free(fresh);
        length += end != NULL;
        data += length;
        size -= length;
    }
    row_builder_finish(together);
    row_builder_finish(apart);
    fuzz_check_same_rows(together, apart);
    ndjson_free(kept);
    row_builder_free(together);
    row_builder_free(apart);
    return 0;
}
