/* decompressor: a zstd context kept between blocks.
 *
 * Correct means: what comes out is exactly as long as the caller knows it to be, and zstd never
 * writes past it, whatever the compressed bytes say. */
#include "base/decompressor.h"

#include <zstd.h>

#include "base/memory.h"

struct decompressor {
    ZSTD_DCtx *context;
};

struct decompressor *decompressor_new(void)
{
    struct decompressor *decompressor = memory_alloc(sizeof *decompressor);
    decompressor->context = ZSTD_createDCtx();
    check(decompressor->context != NULL);
    return decompressor;
}

void decompressor_free(struct decompressor *decompressor)
{
    if (decompressor == NULL)
        return;
    ZSTD_freeDCtx(decompressor->context);
    memory_free(decompressor);
}

int decompressor_append(struct decompressor *decompressor, struct bytes compressed,
                        size_t plain_size, struct buffer *target)
{
    /* Also for nothing there must be a place. */
    buffer_reserve(target, plain_size > 0 ? plain_size : 1);
    size_t size = ZSTD_decompressDCtx(decompressor->context, target->data + target->size,
                                      plain_size, compressed.data, compressed.size);
    if (ZSTD_isError(size) || size != plain_size)
        return ERROR_CORRUPT;
    target->size += size;
    return 0;
}
