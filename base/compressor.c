/* compressor: a zstd context, cast so that the header need not include zstd.h.
 *
 * zstd fails only when memory is out or a parameter is wrong, so a failure is a failed check(). */
#include "base/compressor.h"

#include <zstd.h>

struct compressor *compressor_new(int level)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    check(context != NULL);
    check(!ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)));
    return (struct compressor *)context;
}

void compressor_free(struct compressor *compressor)
{
    ZSTD_freeCCtx((ZSTD_CCtx *)compressor);
}

size_t compressor_append(struct compressor *compressor, struct bytes plain, struct buffer *target)
{
    size_t bound = ZSTD_compressBound(plain.size);
    buffer_reserve(target, bound);
    size_t size = ZSTD_compress2((ZSTD_CCtx *)compressor, target->data + target->size, bound,
                                 plain.data, plain.size);
    check(!ZSTD_isError(size));
    target->size += size;
    return size;
}
