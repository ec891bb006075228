/* native_compress: LZ4 and snappy as the native protocol uses them.
 *
 * There are two forms.  A *block* (in segments of version 5) is LZ4's raw block; its uncompressed
 * size is in the segment's header.  A *body* (in envelopes of versions 3 and 4) contains its
 * uncompressed size:
 *
 *     LZ4      uncompressed size, 4 bytes big-endian | raw block
 *     snappy   raw snappy, which begins with the size
 *
 * Input is not trusted.  An uncompressed size over the limit is refused, and so is input that
 * decompresses to another size; no byte is written past the stated size.
 *
 * Its specification is tests/unit/test_native_codec.c. */
#ifndef DAYBOOK_CODEC_NATIVE_COMPRESS_H
#define DAYBOOK_CODEC_NATIVE_COMPRESS_H

#include "base/buffer.h"
#include "codec/native.h"

/* Append the raw LZ4 block of `plain`, at most LZ4_MAX_INPUT_SIZE bytes; returns its size. */
size_t native_compress_block(struct bytes plain, struct buffer *block);
/* Write exactly `size` bytes to `plain`, or return ERROR_CORRUPT. */
must_check int native_compress_undo_block(struct bytes block, uint8_t *plain, size_t size);

/* Whether the machine has snappy's library; without it clients may not choose snappy. */
bool native_compress_has_snappy(void);

/* Append `plain` as a body; `compression` is not NATIVE_PLAIN. */
void native_compress_body(enum native_compression compression, struct bytes plain,
                          struct buffer *body);
/* Decompress `body` and append the plain bytes to `plain`.  ERROR_CORRUPT when `body` is damaged or
 * has more than `size_max` bytes, ERROR_LIMIT when its uncompressed size is larger than `size_max`.
 * After an error nothing is appended. */
must_check int native_compress_undo_body(enum native_compression compression, struct bytes body,
                                         size_t size_max, struct buffer *plain);
#endif
