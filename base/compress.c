/* compress: zstd contexts kept between blocks.
 *
 * Correct means: what comes out is exactly as long as the caller knows it to be, and zstd never
 * writes past it, whatever the compressed bytes say.  zstd fails otherwise only when memory is out
 * or a parameter is wrong, which are no conditions a caller could handle. */
#include "base/compress.h"

#include <zstd.h>

#include "base/memory.h"

struct compressor {
    ZSTD_CCtx *context;
};

struct decompressor {
    ZSTD_DCtx *context;
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
