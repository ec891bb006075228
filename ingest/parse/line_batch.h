/* line_batch: parses several lines of CSV or NDJSON into rows of a row_builder. */
#ifndef DAYBOOK_INGEST_PARSE_LINE_BATCH_H
#define DAYBOOK_INGEST_PARSE_LINE_BATCH_H

#include "ingest/parse/ndjson.h"

/* Parse whole lines from the start of `text` on, at most `lines_max`, up to a line that begins with
 * '#' or has no end.  Returns their bytes, and adds their number to parser->line.
 * LINE_PARSER_PADDING bytes behind `text` must be readable.  `ndjson` NULL: the lines are CSV. */
size_t line_batch_run(struct line_parser *parser, struct ndjson *ndjson,
                      struct row_builder *builder, struct bytes text, uint64_t lines_max);

/* Do the same for a whole batch, each line of which has its LF.  Here a line that begins with '#'
 * becomes a reject. */
void line_batch_parse(struct line_parser *parser, struct ndjson *ndjson,
                      struct row_builder *builder, struct bytes text);
#endif
