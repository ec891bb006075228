/* decompressor: decompresses the blocks that a compressor made.
 *
 * A decompressor holds working memory that is worth keeping between blocks; it serves one thread at
 * a time. */
#ifndef DAYBOOK_BASE_DECOMPRESSOR_H
#define DAYBOOK_BASE_DECOMPRESSOR_H

#include "base/buffer.h"

struct decompressor;
struct decompressor *decompressor_new(void);
void decompressor_free(struct decompressor *decompressor);     /* NULL is fine */
/* Decompress `compressed` and append its `plain_size` bytes to `target`.  The call allocates memory
 * for so many bytes, so the caller has checked `plain_size` against a limit.  ERROR_CORRUPT when
 * `compressed` does not hold exactly `plain_size` bytes; `target` then stays as it was. */
must_check int decompressor_append(struct decompressor *decompressor, struct bytes compressed,
                                   size_t plain_size, struct buffer *target);
#endif
