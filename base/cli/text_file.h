/* text_file: a small file that an operator wrote, read whole. */
#ifndef DAYBOOK_BASE_CLI_TEXT_FILE_H
#define DAYBOOK_BASE_CLI_TEXT_FILE_H

#include "base/buffer.h"

/* All of the file at `path`, appended to `text`.  The system's error when it cannot be read,
 * ERROR_LIMIT when it has more than `size_max` bytes; the message names the path. */
must_check int text_file_read(const char *path, size_t size_max, struct buffer *text,
                              struct error *err);
#endif
