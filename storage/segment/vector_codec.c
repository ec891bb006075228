/* vector_codec: values become numbers, and numbers become buckets and raw bits.
 *
 * A value becomes an unsigned number in one of three forms: its offset from the least value, its
 * difference from the value before, or the value itself.  A difference or a value has its sign in
 * the lowest bit (zigzag).  The encoder chooses the form that takes least space, by the entropy of
 * a sample.  The form with the smallest numbers would be a wrong choice: an amount is close to the
 * amount before, but the differences have more entropy.  A number n with m mantissa bits:
 *
 *     n < 2^(m+1)                 bucket n, no raw bits
 *     else e = bits(n) - 1 - m    bucket (e << m) + (n >> e), e raw bits: n's lowest
 *
 * Example, m = 2: 0..7 are their own buckets; 8 and 9 are bucket 8 with 1 raw bit, 1000 is
 * 1111101000: e = 7, n >> 7 = 7, bucket 4 * 7 + 7 = 35, raw bits 1101000.  m is the largest from 2
 * to 7 for which the greatest number's bucket fits a byte, so that small numbers have a bucket
 * each.  With m = 2 every 64-bit number has a bucket.
 *
 * The decoder must accept or refuse any bytes without undefined behaviour.  The number of raw bits
 * follows from the buckets, and is checked before any raw bit is read.  All arithmetic on values
 * wraps. */
#include "storage/segment/vector_codec.h"

#include <string.h>

#include "base/compressor.h"
#include "base/memory.h"
#include "storage/segment/vector_join.h"

enum vector_form { FORM_CONSTANT = 0, FORM_OFFSETS = 1, FORM_DIFFERENCES = 2, FORM_SIGNED = 3 };
enum stored_form { STORED_PLAIN = 0, STORED_COMPRESSED = 1 };

enum {
    SAMPLE_MAX = 2048,    /* values by which the form is chosen */
    BUCKET_SIZE = 4 * 256 /* space of a bucket in Huffman's table, in 256ths of a bit */
};

struct vector_encoder {
    struct compressor *compressor;
    uint64_t *numbers;
    uint32_t capacity;
    struct buffer buckets;
    struct buffer raw;
};

/* ---- encoding ---- */

struct vector_encoder *vector_codec_encoder_new(void)
{
    struct vector_encoder *encoder = memory_zeroed(1, sizeof *encoder);
    encoder->compressor = compressor_new(COMPRESS_LEVEL);
    return encoder;
}

void vector_codec_encoder_free(struct vector_encoder *encoder)
{
    if (encoder == NULL)
        return;
    compressor_free(encoder->compressor);
    memory_free(encoder->numbers);
    buffer_release(&encoder->buckets);
    buffer_release(&encoder->raw);
    memory_free(encoder);
}

static uint64_t number_from(int64_t value, int64_t before, enum vector_form form, uint64_t least)
{
    return form == FORM_OFFSETS  ? (uint64_t)value - least
           : form == FORM_SIGNED ? zigzag(value)
                                 : zigzag((int64_t)((uint64_t)value - (uint64_t)before));
}

/* Returns the bits that occur in any of the numbers. */
static uint64_t numbers_from(const int64_t *values, uint32_t count, enum vector_form form,
                             uint64_t least, uint64_t *numbers)
{
    uint64_t bits = 0;
    int64_t before = values[0];
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = number_from(values[i], before, form, least);
        before = values[i];
        bits |= numbers[i];
    }
    return bits;
}

/* The mantissa bits for numbers that are at most `greatest`. */
static uint32_t mantissa_for(uint64_t greatest)
{
    uint32_t bits = bit_length(greatest);
    for (uint32_t mantissa = VECTOR_MANTISSA_MAX; mantissa > VECTOR_MANTISSA_MIN; mantissa--) {
        uint32_t exponent = bits > mantissa + 1 ? bits - 1 - mantissa : 0;
        if (((uint64_t)exponent << mantissa) + (greatest >> exponent) < VECTOR_BUCKETS)
            return mantissa;
    }
    return VECTOR_MANTISSA_MIN;
}

static uint32_t exponent_of(uint64_t number, uint32_t mantissa)
{
    return 63 - (uint32_t)__builtin_clzll(number | UINT64_C(1) << mantissa) - mantissa;
}

static uint8_t bucket_of(uint64_t number, uint32_t exponent, uint32_t mantissa)
{
    return (uint8_t)(((uint64_t)exponent << mantissa) + (number >> exponent));
}

/* ---- encoding: which form ---- */

/* 256 times the logarithm of base 2, interpolated between powers of two, so that every machine
 * computes the same. */
static uint64_t log2_scaled(uint32_t number)
{
    uint32_t bits = 31 - (uint32_t)__builtin_clz(number);
    return bits * UINT64_C(256) + ((uint64_t)number << 8 >> bits) - 256;
}

/* The space in 256ths of a bit for a sample of `count` of `of` numbers: raw bits, buckets by their
 * entropy, and a share of Huffman's table. */
static uint64_t size_expected(const uint64_t *numbers, uint32_t count, uint64_t bits, uint32_t of)
{
    uint32_t mantissa = mantissa_for(bits);
    uint32_t counts[VECTOR_BUCKETS] = {0};
    uint64_t size = 0;
    uint64_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t exponent = exponent_of(numbers[i], mantissa);
        counts[bucket_of(numbers[i], exponent, mantissa)]++;
        size += exponent * UINT64_C(256);
    }
    for (uint32_t bucket = 0; bucket < VECTOR_BUCKETS; bucket++) {
        if (counts[bucket] == 0)
            continue;
        size += counts[bucket] * (log2_scaled(count) - log2_scaled(counts[bucket]));
        distinct++;
    }
    return size + distinct * BUCKET_SIZE * count / of;
}

static enum vector_form choose_form(const int64_t *values, uint32_t count, uint64_t least)
{
    uint32_t step = (count - 2) / SAMPLE_MAX + 1;
    enum vector_form best = FORM_OFFSETS;
    uint64_t best_size = UINT64_MAX;
    for (enum vector_form form = FORM_OFFSETS; form <= FORM_SIGNED; form++) {
        uint64_t numbers[SAMPLE_MAX];
        uint64_t bits = 0;
        uint32_t sampled = 0;
        for (uint32_t i = 1; i < count; i += step) {
            numbers[sampled] = number_from(values[i], values[i - 1], form, least);
            bits |= numbers[sampled++];
        }
        uint64_t size = size_expected(numbers, sampled, bits, count);
        best = size < best_size ? form : best;
        best_size = size < best_size ? size : best_size;
    }
    return best;
}

/* ---- encoding: a vector ---- */

/* `raw` must be empty; the least significant raw bit comes first. */
static void split(const uint64_t *numbers, uint32_t count, uint32_t mantissa, uint8_t *buckets,
                  struct buffer *raw)
{
    buffer_reserve(raw, ((size_t)count + 1) * sizeof(uint64_t));
    uint8_t *to = raw->data;
    uint64_t pending = 0;
    uint32_t pending_bits = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t number = numbers[i];
        uint32_t exponent = exponent_of(number, mantissa);
        buckets[i] = bucket_of(number, exponent, mantissa);
        uint64_t low = number & ((UINT64_C(1) << exponent) - 1);
        pending |= low << pending_bits;
        pending_bits += exponent;
        if (pending_bits >= 64) {
            store_u64(to, pending);
            to += sizeof pending;
            pending_bits -= 64;
            /* The bits of `low` that did not fit.  `exponent` is above pending_bits and at most 61,
             * so the shift is defined. */
            pending = low >> (exponent - pending_bits);
        }
    }
    store_u64(to, pending);
    raw->size = (size_t)(to - raw->data) + (pending_bits + 7) / 8;
}

static void put_buckets(struct vector_encoder *encoder, struct buffer *target)
{
    struct bytes plain = buffer_view(&encoder->buckets);
    buffer_clear(&encoder->raw);
    size_t size = compressor_append(encoder->compressor, plain, &encoder->raw);
    if (size < plain.size) {
        buffer_put_u8(target, STORED_COMPRESSED);
        buffer_put_sized(target, buffer_view(&encoder->raw));
    } else {
        buffer_put_u8(target, STORED_PLAIN);
        buffer_append_bytes(target, plain);
    }
}

static void encoder_reserve(struct vector_encoder *encoder, uint32_t count)
{
    buffer_clear(&encoder->buckets);
    buffer_clear(&encoder->raw);
    buffer_reserve(&encoder->buckets, count);
    if (count <= encoder->capacity)
        return;
    encoder->numbers = memory_resize(encoder->numbers, count * sizeof *encoder->numbers);
    encoder->capacity = count;
}

void vector_codec_encode(struct vector_encoder *encoder, const int64_t *values, uint32_t count,
                         struct buffer *target)
{
    check(count <= VECTOR_COUNT_MAX);
    if (count == 0)
        return;
    int64_t least = values[0];
    int64_t most = values[0];
    for (uint32_t i = 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    if (least == most) {
        buffer_put_u8(target, FORM_CONSTANT);
        buffer_put_signed(target, least);
        return;
    }
    encoder_reserve(encoder, count);
    enum vector_form form = choose_form(values, count, (uint64_t)least);
    uint32_t mantissa =
        mantissa_for(numbers_from(values, count, form, (uint64_t)least, encoder->numbers));
    split(encoder->numbers, count, mantissa, encoder->buckets.data, &encoder->raw);
    encoder->buckets.size = count;
    buffer_put_u8(target, (uint8_t)form);
    buffer_put_u8(target, (uint8_t)mantissa);
    buffer_put_signed(target, form == FORM_DIFFERENCES ? values[0]
                              : form == FORM_OFFSETS   ? least
                                                       : 0);
    buffer_put_sized(target, buffer_view(&encoder->raw));
    put_buckets(encoder, target);
}

void vector_codec_put_text(struct vector_encoder *encoder, struct bytes text, struct buffer *target)
{
    size_t form_at = target->size;
    buffer_put_u8(target, STORED_COMPRESSED);
    if (compressor_append(encoder->compressor, text, target) < text.size)
        return;
    target->size = form_at;
    buffer_put_u8(target, STORED_PLAIN);
    buffer_append_bytes(target, text);
}

/* ---- decoding ---- */

void vector_codec_decoder_release(struct vector_decoder *decoder)
{
    decompressor_free(decoder->decompressor);
    decoder->decompressor = NULL;
    buffer_release(&decoder->buckets);
    buffer_release(&decoder->raw);
}

struct decompressor *vector_codec_decompressor(struct vector_decoder *decoder)
{
    if (decoder->decompressor == NULL)
        decoder->decompressor = decompressor_new();
    return decoder->decompressor;
}

/* The buckets as stored, or decompressed; NULL: corrupt. */
static const uint8_t *get_buckets(struct vector_decoder *decoder, struct reader *reader,
                                  uint32_t count)
{
    uint8_t form = reader_u8(reader);
    if (form == STORED_PLAIN) {
        struct bytes plain = reader_bytes(reader, count);
        return reader->failed ? NULL : plain.data;
    }
    struct bytes compressed = reader_sized(reader);
    buffer_clear(&decoder->buckets);
    if (reader->failed || form != STORED_COMPRESSED ||
        decompressor_append(vector_codec_decompressor(decoder), compressed, count,
                            &decoder->buckets) != 0)
        return NULL;
    return decoder->buckets.data;
}

/* Not called for FORM_OFFSETS, because there the base is added before. */
static void values_from(int64_t *values, uint32_t count, uint8_t form, int64_t base)
{
    uint64_t value = (uint64_t)base;
    if (form == FORM_SIGNED) {
        for (uint32_t i = 0; i < count; i++)
            values[i] = (int64_t)((uint64_t)zigzag_back((uint64_t)values[i]) + value);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        value += (uint64_t)zigzag_back((uint64_t)values[i]);
        values[i] = (int64_t)value;
    }
}

static int decode_buckets(struct vector_decoder *decoder, struct reader *reader, uint32_t count,
                          uint8_t form, int64_t *values_out)
{
    uint8_t mantissa = reader_u8(reader);
    int64_t base = reader_signed(reader);
    struct bytes raw = reader_sized(reader);
    if (reader->failed || mantissa < VECTOR_MANTISSA_MIN || mantissa > VECTOR_MANTISSA_MAX)
        return ERROR_CORRUPT;
    const uint8_t *buckets = get_buckets(decoder, reader, count);
    uint64_t offset = form == FORM_OFFSETS ? (uint64_t)base : 0;
    uint64_t bits;
    if (buckets == NULL || !vector_join_count_bits(buckets, count, mantissa, &bits) ||
        raw.size != (bits + 7) / 8)
        return ERROR_CORRUPT;
    if (bits == 0) {
        /* Without raw bits each bucket is its number. */
        for (uint32_t i = 0; i < count; i++)
            values_out[i] = (int64_t)(offset + buckets[i]);
    } else {
        buffer_clear(&decoder->raw);
        buffer_append_bytes(&decoder->raw, raw);
        buffer_put_zeros(&decoder->raw, VECTOR_RAW_READ);
        vector_join(buckets, count, mantissa, decoder->raw.data, offset, (uint64_t *)values_out);
    }
    if (form != FORM_OFFSETS)
        values_from(values_out, count, form, base);
    return 0;
}

int vector_codec_decode(struct vector_decoder *decoder, struct reader *reader, uint32_t count,
                        int64_t *values_out)
{
    if (count == 0)
        return 0;
    int64_t value;
    if (vector_codec_get_constant(reader, count, &value)) {
        for (uint32_t i = 0; i < count; i++)
            values_out[i] = value;
        return 0;
    }
    uint8_t form = reader_u8(reader);
    if (count > VECTOR_COUNT_MAX || reader->failed || form < FORM_OFFSETS || form > FORM_SIGNED)
        return ERROR_CORRUPT;
    return decode_buckets(decoder, reader, count, form, values_out);
}

bool vector_codec_get_constant(struct reader *reader, uint32_t count, int64_t *value_out)
{
    struct reader ahead = *reader;
    if (count == 0 || count > VECTOR_COUNT_MAX || reader_u8(&ahead) != FORM_CONSTANT)
        return false;
    *value_out = reader_signed(&ahead);
    if (ahead.failed)
        return false;
    *reader = ahead;
    return true;
}

int vector_codec_skip(struct reader *reader, uint32_t count)
{
    int64_t value;
    if (count == 0 || vector_codec_get_constant(reader, count, &value))
        return 0;
    uint8_t form = reader_u8(reader);
    (void)reader_u8(reader);
    (void)reader_signed(reader);
    (void)reader_sized(reader);
    uint8_t buckets = reader_u8(reader);
    (void)(buckets == STORED_PLAIN ? reader_bytes(reader, count) : reader_sized(reader));
    return reader->failed || count > VECTOR_COUNT_MAX || form < FORM_OFFSETS ||
                   form > FORM_SIGNED || buckets > STORED_COMPRESSED
               ? ERROR_CORRUPT
               : 0;
}

int vector_codec_get_text(struct vector_decoder *decoder, struct reader *reader, size_t size,
                          struct buffer *text)
{
    uint8_t form = reader_u8(reader);
    struct bytes stored = reader_bytes(reader, reader_left(reader));
    if (reader->failed)
        return ERROR_CORRUPT;
    if (form == STORED_COMPRESSED)
        return decompressor_append(vector_codec_decompressor(decoder), stored, size, text);
    if (form != STORED_PLAIN || stored.size != size)
        return ERROR_CORRUPT;
    buffer_append_bytes(text, stored);
    return 0;
}
