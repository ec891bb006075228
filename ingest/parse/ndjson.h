/* ndjson: parses lines that are JSON objects into rows of a row_builder; the adapter for yajl.
 *
 *     {"reseller_id":"r1","time":1385654400123,"ad_id":"ad42","amount":0.005}
 *
 * An object has the names of the stream's columns, in any order; values are strings or numbers,
 * and a number is taken as it is written, never through a double.  null is an absent field. */
#ifndef DAYBOOK_INGEST_PARSE_NDJSON_H
#define DAYBOOK_INGEST_PARSE_NDJSON_H

#include "ingest/parse/line_parser.h"

struct ndjson;

/* `columns` outlive it. */
struct ndjson *ndjson_new(const struct line_columns *columns);
void ndjson_free(struct ndjson *ndjson);               /* NULL is fine */

/* One line without its end: a row, or a reject of `number`. */
void ndjson_line(struct ndjson *ndjson, struct row_builder *builder, struct bytes line,
                 uint64_t number);
#endif
