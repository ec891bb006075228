/* test_decompressor: a block that is not exactly what it is said to be is refused as damaged. */
#include "base/decompressor.h"

#include <criterion/criterion.h>

#include "base/compressor.h"

Test(decompressor, a_block_of_another_size_or_cut_short_is_refused_and_leaves_nothing)
{
    struct compressor *compressor = compressor_new(COMPRESS_LEVEL);
    struct decompressor *decompressor = decompressor_new();
    struct buffer packed = {0};
    struct buffer back = {0};
    (void)compressor_append(compressor, bytes_text("one click, two clicks"), &packed);
    for (size_t plain_size = 0; plain_size < 40; plain_size++) {
        int expected = plain_size == 21 ? 0 : ERROR_CORRUPT;
        buffer_clear(&back);
        int rc = decompressor_append(decompressor, buffer_view(&packed), plain_size, &back);
        cr_assert_eq(rc, expected, "%zu", plain_size);
        cr_assert_eq(back.size, rc == 0 ? plain_size : 0);
    }
    buffer_clear(&back);
    for (size_t cut = 0; cut < packed.size; cut++)
        cr_assert_eq(decompressor_append(decompressor, bytes_of(packed.data, cut), 21, &back),
                     ERROR_CORRUPT);
    cr_assert_eq(back.size, 0);
    buffer_release(&packed);
    buffer_release(&back);
    compressor_free(compressor);
    decompressor_free(decompressor);
}
