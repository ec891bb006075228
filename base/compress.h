/* compress: zstd, the one adapter for it: whole blocks of bytes in, whole blocks out.
 *
 * A block is one zstd frame without a checksum of its own: whoever stores it keeps the plain size
 * beside it and checks the stored bytes (segment.h does, for pages).  A compressor and a
 * decompressor hold working memory that is worth keeping between blocks; each serves one thread at
 * a time. */
#ifndef DAYBOOK_BASE_COMPRESS_H
#define DAYBOOK_BASE_COMPRESS_H

#include "base/buffer.h"

/* What data that is written once and merged later takes: with the columns laid out well, higher
 * levels cost 20 times the time and give less than 1 % (bench/wide.c measures it). */
enum { COMPRESS_LEVEL = 1 };

struct compressor;
struct compressor *compressor_new(int level);                  /* 1..19 */
void compressor_free(struct compressor *compressor);           /* NULL is fine */
/* Append the compressed form of `plain` to `target`; returns its size, which may be larger than the
 * plain one. */
size_t compressor_append(struct compressor *compressor, struct bytes plain, struct buffer *target);

struct decompressor;
struct decompressor *decompressor_new(void);
void decompressor_free(struct decompressor *decompressor);     /* NULL is fine */
/* Append the `plain_size` bytes that `compressed` holds to `target`.  Memory for them is allocated
 * here: the caller has checked `plain_size` against a limit.  ERROR_CORRUPT, with `target` as it
 * was, when it does not hold exactly so many. */
must_check int decompressor_append(struct decompressor *decompressor, struct bytes compressed,
                                   size_t plain_size, struct buffer *target);
#endif
