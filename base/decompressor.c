/* decompressor: a zstd context, cast so that the header need not include zstd.h.
 *
 * What must hold: zstd never writes more than `plain_size` bytes. */
#include "base/decompressor.h"

#include <zstd.h>

struct decompressor *decompressor_new(void)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    check(context != NULL);
    return (struct decompressor *)context;
}

void decompressor_free(struct decompressor *decompressor)
{
    ZSTD_freeDCtx((ZSTD_DCtx *)decompressor);
}

int decompressor_append(struct decompressor *decompressor, struct bytes compressed,
                        size_t plain_size, struct buffer *target)
{
    /* zstd needs a valid pointer even where it writes nothing. */
    buffer_reserve(target, plain_size > 0 ? plain_size : 1);
    size_t size = ZSTD_decompressDCtx((ZSTD_DCtx *)decompressor, target->data + target->size,
                                      plain_size, compressed.data, compressed.size);
    if (ZSTD_isError(size) || size != plain_size)
        return ERROR_CORRUPT;
    target->size += size;
    return 0;
}
