/* row_text: what is found in rows that were printed one a line, "name|value\n". */
#ifndef DAYBOOK_TESTS_ROW_TEXT_H
#define DAYBOOK_TESTS_ROW_TEXT_H

#include "base/buffer.h"

/* `text` ends in a zero byte. */
uint32_t row_text_times(const struct buffer *text, const char *needle);
/* The number behind the first "name|"; 0 when there is none.  `name` has at most 30 bytes. */
int64_t row_text_number(const struct buffer *text, const char *name);
#endif
