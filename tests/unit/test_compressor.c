/* test_compressor: what one block holds is all that its decompressor gives back. */
#include "base/compressor.h"

#include <criterion/criterion.h>

#include "base/decompressor.h"

Test(compressor, a_block_comes_back_as_it_was_behind_what_was_there)
{
    struct compressor *compressor = compressor_new(COMPRESS_LEVEL);
    struct decompressor *decompressor = decompressor_new();
    for (size_t size = 0; size < 100000; size = size * 3 + 1) {
        struct buffer plain = {0};
        struct buffer packed = {0};
        struct buffer back = {0};
        for (size_t i = 0; i < size; i++)
            buffer_put_u8(&plain, (uint8_t)(i * i >> 3));
        buffer_put_u8(&packed, 'a');
        buffer_put_u8(&back, 'b');
        size_t packed_size = compressor_append(compressor, buffer_view(&plain), &packed);
        cr_assert_eq(packed.size, packed_size + 1);
        struct bytes block = bytes_of(packed.data + 1, packed_size);
        cr_assert_eq(decompressor_append(decompressor, block, size, &back), 0);
        cr_assert(bytes_equal(bytes_of(back.data + 1, back.size - 1), buffer_view(&plain)));
        buffer_release(&plain);
        buffer_release(&packed);
        buffer_release(&back);
    }
    compressor_free(compressor);
    decompressor_free(decompressor);
}
