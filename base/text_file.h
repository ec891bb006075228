/* text_file: a small file that an operator or the system wrote, read whole. */
#ifndef DAYBOOK_BASE_TEXT_FILE_H
#define DAYBOOK_BASE_TEXT_FILE_H

#include "base/buffer.h"

/* Append all of the file at `path` to `text`.  Where that fails nothing is appended, and `err`
 * names the path: the system's error when it cannot be read, ERROR_LIMIT when it has more than
 * `size_max` bytes. */
must_check int text_file_read(const char *path, size_t size_max, struct buffer *text,
                              struct error *err);
#endif
