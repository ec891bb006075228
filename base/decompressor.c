/* decompressor: a zstd context kept between blocks.
 *
 * Correct means: what comes out is exactly as long as the caller knows it to be, and zstd never
 * writes past it, whatever the compressed bytes say. */
#include "base/decompressor.h"

#include <zstd.h>

/* A struct decompressor is zstd's context under another name: only this file knows of zstd. */
static ZSTD_DCtx *context_of(struct decompressor *decompressor)
{
    return (ZSTD_DCtx *)decompressor;
}

struct decompressor *decompressor_new(void)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    check(context != NULL);
    return (struct decompressor *)context;
}

void decompressor_free(struct decompressor *decompressor)
{
    ZSTD_freeDCtx(context_of(decompressor));
}

int decompressor_append(struct decompressor *decompressor, struct bytes compressed,
                        size_t plain_size, struct buffer *target)
{
    /* Also for nothing there must be a place. */
    buffer_reserve(target, plain_size > 0 ? plain_size : 1);
    size_t size = ZSTD_decompressDCtx(context_of(decompressor), target->data + target->size,
                                      plain_size, compressed.data, compressed.size);
    if (ZSTD_isError(size) || size != plain_size)
        return ERROR_CORRUPT;
    target->size += size;
    return 0;
}
