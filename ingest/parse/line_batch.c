/* line_batch: see line_batch.h. */
#include "ingest/parse/line_batch.h"

size_t line_batch_run(struct line_parser *parser, struct ndjson *ndjson,
                      struct row_builder *builder, struct bytes text, uint64_t lines_max)
{
    size_t at = 0;

    if (ndjson == NULL)
        return line_parser_run(parser, builder, text, lines_max);
    while (at < text.size && text.data[at] != '#' && lines_max-- > 0) {
        const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
        if (end == NULL)
            break;
        size_t size = (size_t)(end - text.data) - at;
        ndjson_line(ndjson, builder, bytes_of(text.data + at, size), parser->line++);
        at += size + 1;
    }
    return at;
}

void line_batch_parse(struct line_parser *parser, struct ndjson *ndjson,
                      struct row_builder *builder, struct bytes text)
{
    while (text.size > 0) {
        size_t taken = line_batch_run(parser, ndjson, builder, text, BLOCK_ROWS_MAX);

        if (taken == 0) {
            const uint8_t *end = memchr(text.data, '\n', text.size);

            check(end != NULL);
            taken = (size_t)(end - text.data) + 1;
            struct bytes line = row_builder_without_cr(bytes_of(text.data, taken - 1));
            reject_list_add(&builder->rejects, parser->line++, REJECT_UNKNOWN_CONTROL, line, line);
        }
        text = bytes_of(text.data + taken, text.size - taken);
    }
}
