/* line_batch: see line_batch.h. */
#include "ingest/parse/line_batch.h"

static void refuse(struct line_parser *parser, struct row_builder *builder, enum reject_code code,
                   struct bytes line)
{
    if (line.size > 0 && line.data[line.size - 1] == '\r')
        line.size--;
    row_builder_reject(builder, parser->line++, code, line, line);
}

void line_batch_parse(struct line_parser *parser, struct ndjson *ndjson,
                      struct row_builder *builder, struct bytes text)
{
    while (text.size > 0) {
        size_t taken = 0;

        if (ndjson == NULL)
            taken = line_parser_run(parser, builder, text, BLOCK_ROWS_MAX);
        if (taken == 0) {
            const uint8_t *end = memchr(text.data, '\n', text.size);
            struct bytes line = bytes_of(text.data, (size_t)(end - text.data));

            check(end != NULL);
            taken = line.size + 1;
            if (text.data[0] == '#')
                refuse(parser, builder, REJECT_UNKNOWN_CONTROL, line);
            else if (line.size > RECORD_LINE_MAX + 1)
                refuse(parser, builder, REJECT_LINE_TOO_LONG, line);
            else
                ndjson_line(ndjson, builder, line, parser->line++);
        }
        text = bytes_of(text.data + taken, text.size - taken);
    }
}
