/* decompressor: decompresses the blocks that a compressor made.  Only one thread at a time may use
 * it. */
#ifndef DAYBOOK_BASE_DECOMPRESSOR_H
#define DAYBOOK_BASE_DECOMPRESSOR_H

#include "base/buffer.h"

struct decompressor;
struct decompressor *decompressor_new(void);
void decompressor_free(struct decompressor *decompressor);     /* NULL is fine */
/* Append the `plain_size` bytes that were compressed.  The caller must check `plain_size` against a
 * limit, because the call allocates that much.  ERROR_CORRUPT when `compressed` is damaged or
 * contains another number of bytes; `target` then stays as it was. */
must_check int decompressor_append(struct decompressor *decompressor, struct bytes compressed,
                                   size_t plain_size, struct buffer *target);
#endif
