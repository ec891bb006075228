/* native_compress: LZ4 and snappy as the native protocol uses them.
 *
 * A *block* (in segments of version 5) is LZ4's raw block.  A *body* (in envelopes of versions 3
 * and 4) contains its uncompressed size:
 *
 *     LZ4      uncompressed size, 4 bytes big-endian | raw block
 *     snappy   raw snappy, which begins with the size
 *
 * Input is not trusted. */
#ifndef DAYBOOK_CODEC_NATIVE_COMPRESS_H
#define DAYBOOK_CODEC_NATIVE_COMPRESS_H

#include "base/buffer.h"
#include "codec/native.h"

/* `plain` has at most LZ4_MAX_INPUT_SIZE bytes.  Returns the size of the block. */
size_t native_compress_block(struct bytes plain, struct buffer *block);
/* Decompress exactly `size` bytes to `plain`, or return ERROR_CORRUPT. */
must_check int native_compress_undo_block(struct bytes block, uint8_t *plain, size_t size);

/* Whether the machine has snappy's library. */
bool native_compress_has_snappy(void);

void native_compress_body(enum native_compression compression, struct bytes plain,
                          struct buffer *body);
/* Append the uncompressed bytes of `body`, or nothing after an error.  ERROR_CORRUPT when `body` is
 * damaged or has more than `size_max` bytes, ERROR_LIMIT when there are more uncompressed bytes. */
must_check int native_compress_undo_body(enum native_compression compression, struct bytes body,
                                         size_t size_max, struct buffer *plain);
#endif
