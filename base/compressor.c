/* compressor: a zstd context kept between blocks.
 *
 * zstd fails only when memory is out or a parameter is wrong, which are no conditions that a caller
 * could handle. */
#include "base/compressor.h"

#include <zstd.h>

#include "base/memory.h"

struct compressor {
    ZSTD_CCtx *context;
};

struct compressor *compressor_new(int level)
{
    struct compressor *compressor = memory_alloc(sizeof *compressor);
    compressor->context = ZSTD_createCCtx();
    check(compressor->context != NULL);
    check(
        !ZSTD_isError(ZSTD_CCtx_setParameter(compressor->context, ZSTD_c_compressionLevel, level)));
    return compressor;
}

void compressor_free(struct compressor *compressor)
{
    if (compressor == NULL)
        return;
    ZSTD_freeCCtx(compressor->context);
    memory_free(compressor);
}

size_t compressor_append(struct compressor *compressor, struct bytes plain, struct buffer *target)
{
    size_t bound = ZSTD_compressBound(plain.size);
    buffer_reserve(target, bound);
    size_t size = ZSTD_compress2(compressor->context, target->data + target->size, bound,
                                 plain.data, plain.size);
    check(!ZSTD_isError(size));
    target->size += size;
    return size;
}
