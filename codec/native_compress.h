/* native_compress: LZ4 and snappy as the native protocol uses them.
 *
 * There are two forms.  A *block* is LZ4's raw block, whose uncompressed size the caller has
 * (segments of version 5).  A *body* contains its uncompressed size (envelopes of versions 3 and
 * 4):
 *
 *     LZ4      uncompressed size, 4 bytes big-endian | raw block
 *     snappy   raw snappy, which begins with the size
 *
 * Input is not trusted: a size over the limit is refused, and so is one that differs from the bytes
 * that are decompressed; nothing is written past it.
 *
 * Its specification is tests/unit/test_native_codec.c. */
#ifndef DAYBOOK_CODEC_NATIVE_COMPRESS_H
#define DAYBOOK_CODEC_NATIVE_COMPRESS_H

#include "base/buffer.h"
#include "codec/native.h"

/* Append the raw LZ4 block of `plain` (at most 128 KiB); returns its size. */
size_t native_compress_block(struct bytes plain, struct buffer *block);
/* Write exactly `size` bytes to `plain`, or return ERROR_CORRUPT. */
must_check int native_compress_undo_block(struct bytes block, uint8_t *plain, size_t size);

/* Whether the machine has snappy's library; without it clients may not choose snappy. */
bool native_compress_has_snappy(void);

/* Append `plain` as a body; `compression` is not NATIVE_PLAIN. */
void native_compress_body(enum native_compression compression, struct bytes plain,
                          struct buffer *body);
/* Decompress `body` and append the plain bytes.  ERROR_CORRUPT when it is damaged, ERROR_LIMIT when
 * its uncompressed size is over `size_max`; nothing is appended then. */
must_check int native_compress_undo_body(enum native_compression compression, struct bytes body,
                                         size_t size_max, struct buffer *plain);
#endif
