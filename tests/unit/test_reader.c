/* test_reader: what a buffer was given is read back, and a reader stays inside what it was given.
 */
#include "base/reader.h"

#include <criterion/criterion.h>

#include "base/buffer.h"
#include "base/memory.h"

static void write_everything(struct buffer *buffer)
{
    buffer_put_u8(buffer, 0x01);
    buffer_put_u16(buffer, 0x0203);
    buffer_put_u32(buffer, 0x04050607);
    buffer_put_u64(buffer, UINT64_C(0x08090a0b0c0d0e0f));
    buffer_put_varint(buffer, 300);
    buffer_put_varint(buffer, UINT64_MAX);
    buffer_put_signed(buffer, -1);
    buffer_put_signed(buffer, INT64_MIN);
    buffer_put_sized(buffer, bytes_text("abc"));
    buffer_put_varint(buffer, 2);
    buffer_put_u32(buffer, 7);
    buffer_put_u32(buffer, 8);
}

/* True when every value came back and nothing failed. */
static bool read_everything(struct bytes bytes)
{
    struct reader reader = reader_of(bytes);
    bool same = reader_u8(&reader) == 0x01;
    same &= reader_u16(&reader) == 0x0203;
    same &= reader_u32(&reader) == 0x04050607;
    same &= reader_u64(&reader) == UINT64_C(0x08090a0b0c0d0e0f);
    same &= reader_varint(&reader) == 300;
    same &= reader_varint(&reader) == UINT64_MAX;
    same &= reader_signed(&reader) == -1;
    same &= reader_signed(&reader) == INT64_MIN;
    same &= bytes_equal(reader_sized(&reader), bytes_text("abc"));
    uint64_t count = reader_count(&reader, sizeof(uint32_t));
    same &= count == 2;
    same &= reader_u32(&reader) == 7;
    same &= reader_u32(&reader) == 8;
    cr_assert_leq(reader.offset, bytes.size);
    return same && !reader.failed && reader_left(&reader) == 0;
}

Test(reader, what_is_written_is_read_back)
{
    struct buffer buffer = {0};
    write_everything(&buffer);
    cr_assert(read_everything(buffer_view(&buffer)));
    cr_assert_eq(memcmp(buffer.data, "\x01\x03\x02\x07\x06\x05\x04", 7), 0);
    buffer_release(&buffer);
}

/* Each cut is copied to memory of just its size, so that the sanitizer sees a byte too far. */
Test(reader, input_cut_at_any_byte_fails_without_overrun)
{
    struct buffer buffer = {0};
    write_everything(&buffer);
    for (size_t size = 0; size < buffer.size; size++) {
        uint8_t *cut = memory_copy(buffer.data, size);
        cr_assert_not(read_everything(bytes_of(cut, size)));
        memory_free(cut);
    }
    buffer_release(&buffer);
}

Test(reader, input_with_any_bit_flipped_does_not_overrun)
{
    struct buffer buffer = {0};
    write_everything(&buffer);
    for (size_t bit = 0; bit < 8 * buffer.size; bit++) {
        uint8_t *bad = memory_copy(buffer.data, buffer.size);
        bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
        cr_assert_not(read_everything(bytes_of(bad, buffer.size)));
        memory_free(bad);
    }
    buffer_release(&buffer);
}

Test(reader, a_failed_reader_gives_zeros_for_ever)
{
    struct reader reader = reader_of(bytes_of("\x05\x06\x07", 3));
    cr_assert_eq(reader_u32(&reader), 0);
    cr_assert(reader.failed);
    cr_assert_eq(reader_u8(&reader), 0);
    cr_assert_eq(reader_left(&reader), 0);
    cr_assert_eq(reader_bytes(&reader, 0).size, 0);
}

Test(reader, sizes_near_the_end_of_the_number_range_fail)
{
    struct reader reader = reader_of(bytes_text("abcdefgh"));
    cr_assert_eq(reader_u8(&reader), 'a');
    cr_assert_eq(reader_bytes(&reader, SIZE_MAX).size, 0);
    cr_assert(reader.failed);
    struct buffer buffer = {0};
    buffer_put_varint(&buffer, UINT64_MAX);
    reader = reader_of(buffer_view(&buffer));
    cr_assert_eq(reader_count(&reader, 1), 0);
    cr_assert(reader.failed);
    reader = reader_of(buffer_view(&buffer));
    cr_assert_eq(reader_sized(&reader).size, 0);
    cr_assert(reader.failed);
    buffer_release(&buffer);
}

Test(reader, a_varint_over_64_bits_fails)
{
    struct reader reader = reader_of(bytes_text("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    cr_assert_eq(reader_varint(&reader), 0);
    cr_assert(reader.failed);
    reader = reader_of(bytes_text("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x01"));
    cr_assert_eq(reader_varint(&reader), 0);
    cr_assert(reader.failed);
}

Test(reader, a_varint32_over_32_bits_fails)
{
    struct buffer buffer = {0};
    buffer_put_varint(&buffer, UINT32_MAX);
    buffer_put_varint(&buffer, (uint64_t)UINT32_MAX + 1);
    struct reader reader = reader_of(buffer_view(&buffer));
    cr_expect_eq(reader_varint32(&reader), UINT32_MAX);
    cr_expect_not(reader.failed);
    cr_expect_eq(reader_varint32(&reader), 0);
    cr_expect(reader.failed);
    buffer_release(&buffer);
}

Test(reader, signed_numbers_round_trip_at_their_edges)
{
    static const int64_t rows[] = {0, -1, 1, 63, -64, 64, -65, INT64_MAX, INT64_MIN};
    struct buffer buffer = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        buffer_put_signed(&buffer, rows[i]);
    struct reader reader = reader_of(buffer_view(&buffer));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_assert_eq(reader_signed(&reader), rows[i]);
    buffer_release(&buffer);
}

Test(reader, big_endian_is_the_other_way_round)
{
    struct buffer buffer = {0};
    buffer_put_u16_be(&buffer, 0x0102);
    buffer_put_u32_be(&buffer, 0x03040506);
    buffer_put_u64_be(&buffer, UINT64_C(0x0708090a0b0c0d0e));
    cr_assert_eq(memcmp(buffer.data, "\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 14), 0);
    cr_assert_eq(load_u16_be(buffer.data), 0x0102);
    cr_assert_eq(load_u32_be(buffer.data + 2), 0x03040506);
    cr_assert_eq(load_u64_be(buffer.data + 6), UINT64_C(0x0708090a0b0c0d0e));
    buffer_release(&buffer);
}
