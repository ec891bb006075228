/* Which frames are decoded ahead: whole ones, up to any after which rows might mean something else.
 */
#include <criterion/criterion.h>

#include "base/crc32c.h"
#include "ingest/parse/decoded_frame.h"

/* A frame with a payload of `size` bytes, which are `text` and then zeros. */
static void put_frame(struct buffer *input, uint8_t kind, const char *text, size_t size)
{
    size_t start = input->size;
    size_t given = strlen(text) < size ? strlen(text) : size;

    buffer_put_u32(input, (uint32_t)size);
    buffer_put_u32(input, kind);
    buffer_put_u32(input, 0);
    buffer_append(input, text, given);
    for (size_t i = given; i < size; i++)
        buffer_put_u8(input, 0);
    store_u32(input->data + start + 8, crc32c(crc32c(0, input->data + start, 8),
                                              input->data + start + WIRE_HEADER_SIZE, size));
}

static void put_batch(struct buffer *input, uint32_t rows)
{
    size_t start = input->size;

    put_frame(input, WIRE_BATCH, "", WIRE_BATCH_HEADER);
    store_u32(input->data + start + WIRE_HEADER_SIZE + 8, rows);
}

static void expect_plan(const struct buffer *input, size_t size, uint32_t runs)
{
    uint32_t found;
    size_t planned = decoded_frame_plan(buffer_view(input), &found);

    cr_expect(planned == size && found == runs, "%zu bytes, %u runs", planned, found);
}

Test(decoded_frame, a_plan_ends_before_what_may_change_the_meaning_of_rows)
{
    static const struct {
        uint8_t kind;
        const char *text;
        bool is_passed;
    } table[] = {
        {WIRE_CONTROL, "#sync", true},     {WIRE_CONTROL, "#producer x 1 new", true},
        {WIRE_CONTROL, "#file x", true},   {WIRE_CONTROL, "#columns", true},
        {WIRE_CONTROL, "#stream", false},  {WIRE_CONTROL, "#stream nights", false},
        {WIRE_CONTROL, "#streams", false}, {WIRE_CONTROL, "", false},
        {WIRE_HELLO, "", false},           {WIRE_LINES, "", false},
        {WIRE_ANSWER, "", false},          {0, "", false},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct buffer input = {0};
        size_t before;

        put_frame(&input, WIRE_STRINGS, "", 30);
        put_batch(&input, 10);
        before = input.size;
        put_frame(&input, table[i].kind, table[i].text, strlen(table[i].text));
        put_batch(&input, 10);
        expect_plan(&input, table[i].is_passed ? input.size : before, table[i].is_passed ? 3 : 2);
        buffer_release(&input);
    }
}

Test(decoded_frame, a_plan_has_whole_frames_only_however_many_bytes_came)
{
    struct buffer input = {0};
    size_t end;

    put_batch(&input, 1);
    end = input.size;
    put_frame(&input, WIRE_STRINGS, "", 40);
    for (size_t size = 0; size <= input.size; size++) {
        uint32_t runs;
        size_t planned = decoded_frame_plan(bytes_of(input.data, size), &runs);

        cr_assert(planned == (size < end ? 0 : size < input.size ? end : input.size));
        cr_assert_eq(runs, (planned > 0) + (planned > end));
    }
    store_u32(input.data + end, WIRE_PAYLOAD_MAX + 1);
    expect_plan(&input, end, 1);
    buffer_release(&input);
}

Test(decoded_frame, a_plan_is_bounded_in_frames_and_in_rows_that_they_claim)
{
    struct buffer input = {0};
    size_t one;

    put_batch(&input, DECODED_FRAMES_ROWS_MAX + 1);
    one = input.size;
    put_batch(&input, 1);
    expect_plan(&input, one, 1);
    buffer_clear(&input);
    for (int i = 0; i < 5; i++)
        put_batch(&input, DECODED_FRAMES_ROWS_MAX / 4);
    expect_plan(&input, 4 * one, 4);
    buffer_clear(&input);
    for (int i = 0; i < DECODED_FRAMES_MAX + 5; i++)
        put_batch(&input, 1);
    expect_plan(&input, DECODED_FRAMES_MAX * one, DECODED_FRAMES_MAX);
    buffer_release(&input);
}

Test(decoded_frame, a_frame_is_sound_only_as_it_was_sent)
{
    struct buffer input = {0};

    put_frame(&input, WIRE_STRINGS, "some text", 20);
    cr_expect(decoded_frame_is_sound(buffer_view(&input)));
    for (size_t bit = 0; bit < 8 * input.size; bit++) {
        input.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_assert(!decoded_frame_is_sound(buffer_view(&input)), "bit %zu", bit);
        input.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buffer_release(&input);
}
