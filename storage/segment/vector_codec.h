/* vector_codec: a vector of integers as bytes, near its information content, decoded at scan speed.
 *
 * Every column of a columnar page is such vectors: gaps between times, places of ids, amounts.
 * Their distributions are smooth but skewed, and no pattern repeats.  So a value is split into a
 * *bucket* (its magnitude and first bits, one byte) and the bits below, which are nearly random.
 * zstd at level 1 then only Huffman-codes the buckets; the bits below, called raw bits, are stored
 * as they are.  Layout: FORMATS.md "Vector". */
#ifndef DAYBOOK_STORAGE_SEGMENT_VECTOR_CODEC_H
#define DAYBOOK_STORAGE_SEGMENT_VECTOR_CODEC_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/decompressor.h"
#include "base/reader.h"

enum { VECTOR_COUNT_MAX = 1 << 20 };

/* An encoder or decoder is working memory that is kept between vectors; it serves one thread at a
 * time. */
struct vector_encoder;
struct vector_encoder *vector_codec_encoder_new(void);
void vector_codec_encoder_free(struct vector_encoder *encoder); /* NULL is fine */
/* Append the coded form of `count` (at most VECTOR_COUNT_MAX) values.  A vector of one repeated
 * value takes 2 to 11 bytes, an empty vector none. */
void vector_codec_encode(struct vector_encoder *encoder, const int64_t *values, uint32_t count,
                         struct buffer *target);
/* Append text as the last part of a page or block, behind its vectors: a byte for its form, and
 * then the bytes as they are, or compressed where that is shorter. */
void vector_codec_put_text(struct vector_encoder *encoder, struct bytes text,
                           struct buffer *target);

/* All-zero is a new decoder. */
struct vector_decoder {
    struct decompressor *decompressor; /* NULL before it is needed */
    struct buffer buckets;
    struct buffer raw;
};
void vector_codec_decoder_release(struct vector_decoder *decoder);
/* Read `count` values (at most VECTOR_COUNT_MAX, else ERROR_CORRUPT).  ERROR_CORRUPT when the bytes
 * hold no such vector. */
must_check int vector_codec_decode(struct vector_decoder *decoder, struct reader *reader,
                                   uint32_t count, int64_t *values_out);
/* Read a vector of one repeated value.  False: the vector has several values or none, or its bytes
 * are damaged; the reader has not moved. */
bool vector_codec_get_constant(struct reader *reader, uint32_t count, int64_t *value_out);
/* Read past a vector of `count` values without decoding it; ERROR_CORRUPT when its bytes are not
 * all there. */
must_check int vector_codec_skip(struct reader *reader, uint32_t count);
/* Read the text that vector_codec_put_text wrote, which is all that `reader` has left, and append
 * it to `text`.  The text has `size` bytes; the caller has checked `size` against a limit.
 * ERROR_CORRUPT. */
must_check int vector_codec_get_text(struct vector_decoder *decoder, struct reader *reader,
                                     size_t size, struct buffer *text);
/* The decompressor of the decoder, for other bytes that are stored compressed. */
struct decompressor *vector_codec_decompressor(struct vector_decoder *decoder);
#endif
