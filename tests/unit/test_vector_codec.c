/* test_vector_codec: sequences of integers come back, and nothing else does. */
#include "storage/segment/vector_codec.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tests/unit/columnar_fixture.h"

enum { COUNT = 3000 };

struct shape {
    const char *name;
    int64_t (*value)(uint64_t *state, uint32_t i);
    double bytes_max; /* a value, coded */
};

static int64_t constant(uint64_t *state, uint32_t i)
{
    (void)state;
    (void)i;
    return INT64_MIN;
}

static int64_t small(uint64_t *state, uint32_t i)
{
    (void)i;
    return (int64_t)(click_random(state) % 4);
}

static int64_t sequence(uint64_t *state, uint32_t i)
{
    (void)state;
    return INT64_C(1) << 60 | (int64_t)i * 1000;
}

static int64_t extremes(uint64_t *state, uint32_t i)
{
    (void)i;
    return click_random(state) % 2 == 0 ? INT64_MIN : INT64_MAX;
}

static int64_t anything(uint64_t *state, uint32_t i)
{
    (void)i;
    return (int64_t)click_random(state);
}

static int64_t all_magnitudes(uint64_t *state, uint32_t i)
{
    (void)i;
    return (int64_t)(click_random(state) >> click_random(state) % 64);
}

static int64_t outlier(uint64_t *state, uint32_t i)
{
    return i == COUNT / 2 ? INT64_MAX : small(state, i);
}

/* As amounts lie around one: each is further from the least than from the one before, and says more
 * where it is told by the one before, by half a bit. */
static int64_t heap(uint64_t *state, uint32_t i)
{
    uint64_t bits = click_random(state);
    (void)i;
    return (int64_t)((bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24 & 255));
}

static const struct shape shapes[] = {
    {"constant", constant, 0.01},   {"small", small, 0.35},
    {"sequence", sequence, 0.7},    {"extremes", extremes, 8.5},
    {"anything", anything, 8.8},    {"all magnitudes", all_magnitudes, 5.0},
    {"one outlier", outlier, 0.35}, {"heap", heap, 1.19},
};

static void shape_fill(const struct shape *shape, int64_t *values, uint32_t count)
{
    uint64_t state = 1;
    for (uint32_t i = 0; i < count; i++)
        values[i] = shape->value(&state, i);
}

static void encode(const int64_t *values, uint32_t count, struct buffer *coded)
{
    struct vector_encoder *encoder = vector_codec_encoder_new();
    vector_codec_encode(encoder, values, count, coded);
    vector_codec_encoder_free(encoder);
}

Test(vector_codec, values_of_every_shape_come_back)
{
    int64_t values[COUNT];
    int64_t decoded[COUNT];
    static const uint32_t counts[] = {1, 2, 7, 64, 1000, COUNT};
    struct vector_decoder decoder = {0};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            struct buffer coded = {0};
            shape_fill(&shapes[s], values, counts[c]);
            encode(values, counts[c], &coded);
            struct reader reader = reader_of(buffer_view(&coded));
            cr_assert_eq(vector_codec_decode(&decoder, &reader, counts[c], decoded), 0, "%s",
                         shapes[s].name);
            cr_assert_eq(reader_left(&reader), 0);
            cr_assert_arr_eq(values, decoded, counts[c] * sizeof values[0], "%s of %u",
                             shapes[s].name, counts[c]);
            reader = reader_of(buffer_view(&coded));
            cr_assert_eq(vector_codec_skip(&reader, counts[c]), 0);
            cr_assert_eq(reader_left(&reader), 0, "%s of %u", shapes[s].name, counts[c]);
            buffer_release(&coded);
        }
    vector_codec_decoder_release(&decoder);
}

Test(vector_codec, each_shape_takes_few_bytes)
{
    int64_t values[COUNT];
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct buffer coded = {0};
        shape_fill(&shapes[s], values, COUNT);
        encode(values, COUNT, &coded);
        cr_expect_lt((double)coded.size / COUNT, shapes[s].bytes_max, "%s: %f", shapes[s].name,
                     (double)coded.size / COUNT);
        buffer_release(&coded);
    }
}

Test(vector_codec, a_repeated_value_is_told_without_decoding)
{
    static const int64_t repeated[] = {INT64_MIN, INT64_MIN, INT64_MIN};
    static const int64_t several[] = {1, 1, 2};
    int64_t value;
    struct buffer coded = {0};
    encode(repeated, 3, &coded);
    struct reader reader = reader_of(buffer_view(&coded));
    cr_assert(!vector_codec_get_constant(&reader, 0, &value));
    cr_assert(vector_codec_get_constant(&reader, 3, &value));
    cr_assert_eq(value, INT64_MIN);
    cr_assert_eq(reader_left(&reader), 0);
    reader = reader_of(bytes_of(coded.data, coded.size - 1));
    cr_assert(!vector_codec_get_constant(&reader, 3, &value));
    cr_assert(!reader.failed && reader.offset == 0);
    buffer_clear(&coded);
    encode(several, 3, &coded);
    reader = reader_of(buffer_view(&coded));
    cr_assert(!vector_codec_get_constant(&reader, 3, &value));
    cr_assert_eq(reader.offset, 0);
    buffer_release(&coded);
}

Test(vector_codec, an_empty_vector_takes_nothing)
{
    struct buffer coded = {0};
    struct vector_decoder decoder = {0};
    struct reader reader = reader_of((struct bytes){0});
    encode(NULL, 0, &coded);
    cr_assert_eq(coded.size, 0);
    cr_assert_eq(vector_codec_decode(&decoder, &reader, 0, NULL), 0);
    vector_codec_decoder_release(&decoder);
}

/* The example of FORMATS.md. */
Test(vector_codec, what_was_written_stays_readable)
{
    static const uint8_t coded[] = {0x01, 0x02, 0x00, 0x01, 0xd1, 0x00, 0x03, 0x08, 0x23};
    static const int64_t values[] = {3, 9, 1000};
    int64_t decoded[3];
    struct vector_decoder decoder = {0};
    struct reader reader = reader_of(bytes_of(coded, sizeof coded));
    cr_assert_eq(vector_codec_decode(&decoder, &reader, 3, decoded), 0);
    cr_assert_arr_eq(decoded, values, sizeof values);
    vector_codec_decoder_release(&decoder);
}

Test(vector_codec, truncated_at_every_byte_it_is_corrupt)
{
    int64_t values[200];
    int64_t decoded[200];
    struct vector_decoder decoder = {0};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct buffer coded = {0};
        shape_fill(&shapes[s], values, 200);
        encode(values, 200, &coded);
        for (size_t size = 0; size < coded.size; size++) {
            uint8_t *cut = memory_copy(coded.data, size);
            struct reader reader = reader_of(bytes_of(cut, size));
            cr_assert_eq(vector_codec_decode(&decoder, &reader, 200, decoded), ERROR_CORRUPT);
            reader = reader_of(bytes_of(cut, size));
            cr_assert_eq(vector_codec_skip(&reader, 200), ERROR_CORRUPT);
            memory_free(cut);
        }
        buffer_release(&coded);
    }
    vector_codec_decoder_release(&decoder);
}

/* Whatever it decodes to, it neither crashes nor reads past the end. */
Test(vector_codec, every_bit_may_be_flipped)
{
    int64_t values[200];
    int64_t decoded[200];
    struct vector_decoder decoder = {0};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        struct buffer coded = {0};
        shape_fill(&shapes[s], values, 200);
        encode(values, 200, &coded);
        for (size_t bit = 0; bit < coded.size * 8; bit++) {
            uint8_t *damaged = memory_copy(coded.data, coded.size);
            damaged[bit / 8] ^= (uint8_t)(1U << bit % 8);
            struct reader reader = reader_of(bytes_of(damaged, coded.size));
            int rc = vector_codec_decode(&decoder, &reader, 200, decoded);
            cr_assert(rc == 0 || rc == ERROR_CORRUPT);
            size_t decoded_to = reader.offset;
            reader = reader_of(bytes_of(damaged, coded.size));
            int skipped = vector_codec_skip(&reader, 200);
            cr_assert(skipped == 0 || skipped == ERROR_CORRUPT);
            /* What can be decoded can be read past, up to the same byte. */
            cr_assert(rc != 0 || (skipped == 0 && reader.offset == decoded_to));
            memory_free(damaged);
        }
        buffer_release(&coded);
    }
    vector_codec_decoder_release(&decoder);
}
