/* fuzz_stream: the clicks stream as the fuzzers of ingest's parsers need it. */
#ifndef DAYBOOK_TESTS_FUZZ_STREAM_H
#define DAYBOOK_TESTS_FUZZ_STREAM_H

#include "ingest/parse/line_parser.h"

struct line_columns fuzz_columns(void);
struct row_builder *fuzz_builder(void);              /* the caller's to free */

/* The same rows (a block's serialized form) and rejects. */
void fuzz_check_same_rows(struct row_builder *a, struct row_builder *b);
#endif
