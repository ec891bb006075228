/* compressor: compresses whole blocks of bytes by zstd.
 *
 * A block is one zstd frame without a checksum; the caller stores its uncompressed size.  Only one
 * thread at a time may use a compressor. */
#ifndef DAYBOOK_BASE_COMPRESSOR_H
#define DAYBOOK_BASE_COMPRESSOR_H

#include "base/buffer.h"

/* Higher levels take 20 times as long and save less than 1 % of a segment (bench/wide.c). */
enum { COMPRESS_LEVEL = 1 };

struct compressor;
struct compressor *compressor_new(int level);                  /* 1..19 */
void compressor_free(struct compressor *compressor);           /* NULL is fine */
/* Append the compressed form of `plain`.  Returns its size, which may exceed that of `plain`. */
size_t compressor_append(struct compressor *compressor, struct bytes plain, struct buffer *target);
#endif
