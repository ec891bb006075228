/* text_file: reads the whole of a small file that an operator or the system wrote. */
#ifndef DAYBOOK_BASE_TEXT_FILE_H
#define DAYBOOK_BASE_TEXT_FILE_H

#include "base/buffer.h"

/* Append the whole file to `text`.  A failure leaves `text` unchanged and returns a negative errno,
 * or ERROR_LIMIT when the file has more than `size_max` bytes. */
must_check int text_file_read(const char *path, size_t size_max, struct buffer *text,
                              struct error *err);
#endif
