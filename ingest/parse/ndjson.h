/* ndjson: parses lines that are JSON objects into rows of a row_builder; the adapter for yajl.
 *
 *     {"reseller_id":"r1","time":1385654400123,"ad_id":"ad42","amount":0.005}
 *
 * An object's names are those of the stream's columns, in any order.  Values are strings or
 * numbers; a number is kept as written.  null is an absent field. */
#ifndef DAYBOOK_INGEST_PARSE_NDJSON_H
#define DAYBOOK_INGEST_PARSE_NDJSON_H

#include "ingest/parse/line_parser.h"

struct ndjson;

/* `columns` outlive the parser. */
struct ndjson *ndjson_new(const struct line_columns *columns);
void ndjson_free(struct ndjson *ndjson);               /* NULL is fine */

/* Parse one line, without its end, into a row, or into a reject of line `number`. */
void ndjson_line(struct ndjson *ndjson, struct row_builder *builder, struct bytes line,
                 uint64_t number);
#endif
