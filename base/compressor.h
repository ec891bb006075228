/* compressor: compresses whole blocks of bytes by zstd.
 *
 * A block is one zstd frame without a checksum.  The code that stores the block also stores its
 * plain size and a checksum (as storage/segment/ does for pages).  A compressor has working memory
 * that is worth keeping between blocks; it serves one thread at a time. */
#ifndef DAYBOOK_BASE_COMPRESSOR_H
#define DAYBOOK_BASE_COMPRESSOR_H

#include "base/buffer.h"

/* The level for data that is written once and merged later.  Segments store columns in forms that
 * are small already: higher levels take 20 times as long and save less than 1 % (measured by
 * bench/wide.c). */
enum { COMPRESS_LEVEL = 1 };

struct compressor;
struct compressor *compressor_new(int level);                  /* 1..19 */
void compressor_free(struct compressor *compressor);           /* NULL is fine */
/* Append the compressed form of `plain` to `target`.  Returns its size in bytes, which may exceed
 * that of `plain`. */
size_t compressor_append(struct compressor *compressor, struct bytes plain, struct buffer *target);
#endif
