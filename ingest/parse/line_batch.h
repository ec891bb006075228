/* line_batch: all lines of a batch that is there as a whole, to rows of a row_builder. */
#ifndef DAYBOOK_INGEST_PARSE_LINE_BATCH_H
#define DAYBOOK_INGEST_PARSE_LINE_BATCH_H

#include "ingest/parse/ndjson.h"

/* Parse `text`, whose every line has its LF, adding its lines to parser->line; LINE_PARSER_PADDING
 * bytes are readable behind it.  `ndjson` NULL: they are CSV.  Lines that begin with '#' are
 * records like others, and refused. */
void line_batch_parse(struct line_parser *parser, struct ndjson *ndjson,
                      struct row_builder *builder, struct bytes text);
#endif
