/* text_file: reads the whole of a small file that an operator or the system wrote. */
#ifndef DAYBOOK_BASE_TEXT_FILE_H
#define DAYBOOK_BASE_TEXT_FILE_H

#include "base/buffer.h"

/* Append the whole file at `path` to `text`.  Returns the system's error (a negative errno) when
 * the file cannot be read, and ERROR_LIMIT when it has more than `size_max` bytes.  After an error
 * `text` has the bytes that it had before, and `err` names the path. */
must_check int text_file_read(const char *path, size_t size_max, struct buffer *text,
                              struct error *err);
#endif
