/* line_batch: several lines of either format, CSV or NDJSON, to rows of a row_builder. */
#ifndef DAYBOOK_INGEST_PARSE_LINE_BATCH_H
#define DAYBOOK_INGEST_PARSE_LINE_BATCH_H

#include "ingest/parse/ndjson.h"

/* Parse whole lines from the start of `text` on, at most `lines_max`, up to the first that begins
 * with '#' or has no end yet; returns their bytes and adds their number to parser->line.
 * LINE_PARSER_PADDING bytes are readable behind `text`.  `ndjson` NULL: they are CSV. */
size_t line_batch_run(struct line_parser *parser, struct ndjson *ndjson,
                      struct row_builder *builder, struct bytes text, uint64_t lines_max);

/* The same of a batch that is there as a whole: every line of `text` has its LF.  Lines that begin
 * with '#' are records like others, and rejected. */
void line_batch_parse(struct line_parser *parser, struct ndjson *ndjson,
                      struct row_builder *builder, struct bytes text);
#endif
