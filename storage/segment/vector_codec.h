/* vector_codec: encodes a vector of integers in little more than its information content, and
 * decodes it fast enough for scans.
 *
 * A value is split into a *bucket* (its magnitude and first bits, one byte) and *raw bits*, which
 * are nearly random.  Buckets are Huffman-coded by zstd; raw bits are stored as they are.
 * docs/FORMATS.md "Vector" has the layout. */
#ifndef DAYBOOK_STORAGE_SEGMENT_VECTOR_CODEC_H
#define DAYBOOK_STORAGE_SEGMENT_VECTOR_CODEC_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/decompressor.h"
#include "base/reader.h"

enum { VECTOR_COUNT_MAX = 1 << 20 };

/* One thread at a time may use an encoder or decoder. */
struct vector_encoder;
struct vector_encoder *vector_codec_encoder_new(void);
void vector_codec_encoder_free(struct vector_encoder *encoder); /* NULL is fine */
/* Append `count` values, at most VECTOR_COUNT_MAX.  One repeated value takes 2 to 11 bytes, an
 * empty vector none. */
void vector_codec_encode(struct vector_encoder *encoder, const int64_t *values, uint32_t count,
                         struct buffer *target);
/* Append text as the last part of a page or block: a byte for its form, and then the bytes,
 * compressed where that is shorter. */
void vector_codec_put_text(struct vector_encoder *encoder, struct bytes text,
                           struct buffer *target);

/* All-zero is a new decoder. */
struct vector_decoder {
    struct decompressor *decompressor; /* NULL before it is needed */
    struct buffer buckets;
    struct buffer raw;
};
void vector_codec_decoder_release(struct vector_decoder *decoder); /* it is a new one again */
/* Read `count` values (at most VECTOR_COUNT_MAX, else ERROR_CORRUPT).  ERROR_CORRUPT also if the
 * bytes hold no such vector. */
must_check int vector_codec_decode(struct vector_decoder *decoder, struct reader *reader,
                                   uint32_t count, int64_t *values_out);
/* False: the vector is not one repeated value, or is damaged; the reader has not moved. */
bool vector_codec_get_constant(struct reader *reader, uint32_t count, int64_t *value_out);
/* ERROR_CORRUPT: the bytes of the vector are not all there. */
must_check int vector_codec_skip(struct reader *reader, uint32_t count);
/* Append to `text` what vector_codec_put_text wrote, which must be all that `reader` has left.  The
 * caller must have checked the text's `size` against a limit.  ERROR_CORRUPT. */
must_check int vector_codec_get_text(struct vector_decoder *decoder, struct reader *reader,
                                     size_t size, struct buffer *text);
struct decompressor *vector_codec_decompressor(struct vector_decoder *decoder);
#endif
