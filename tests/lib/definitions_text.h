/* definitions_text: what is made of a file of old definitions, as one text to compare. */
#ifndef DAYBOOK_TESTS_DEFINITIONS_TEXT_H
#define DAYBOOK_TESTS_DEFINITIONS_TEXT_H

#include "base/buffer.h"
#include "query/model/definitions.h"

typedef int (*definitions_read)(struct bytes text, struct definitions *definitions,
                                struct error *err);

/* Statements one a line, then notes; or "! " and the error.  `taken` is a
 * keyspace that is there already; NULL: none is.  With a final NUL. */
void definitions_show(definitions_read read, struct bytes text,
                      const struct definitions_options *options, const char *taken,
                      struct buffer *shown);
/* They must be `wanted`. */
void definitions_expect(definitions_read read, const char *text,
                        const struct definitions_options *options, const char *wanted);
#endif
