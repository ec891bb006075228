/* formats: the worked examples of docs/FORMATS.md, held against real bytes. */
#ifndef DAYBOOK_TESTS_LIB_FORMATS_H
#define DAYBOOK_TESTS_LIB_FORMATS_H

#include "base/bytes.h"

/* Every line of the first example of "## section" that begins with an offset (six hexadecimal
 * digits, else decimal) must show the file's bytes there.  Fails the test where one does not, or
 * when fewer than `least` bytes are shown. */
void formats_expect(const char *section, struct bytes file, size_t least);
#endif
