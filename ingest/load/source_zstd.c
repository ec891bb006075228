/* source_zstd: decodes a zstd stream piece by piece. */
#include "ingest/load/source.h"

#include <zstd.h>

#include "base/memory.h"

struct source_zstd {
    struct source_decoder decoder;
    ZSTD_DStream *stream;
};

static int64_t zstd_decode(struct source_decoder *decoder, struct bytes *input, uint8_t *to,
                           size_t size)
{
    struct source_zstd *zstd = (struct source_zstd *)decoder;
    ZSTD_outBuffer out = {.dst = to, .size = size};
    ZSTD_inBuffer in = {.src = input->data, .size = input->size};
    size_t rc;

    /* Even without input, zstd may have output for which `to` had no space before. */
    do {
        size_t before = in.pos;

        rc = ZSTD_decompressStream(zstd->stream, &out, &in);
        if (ZSTD_isError(rc))
            return ERROR_CORRUPT;
        if (in.pos > before || out.pos > 0)
            decoder->is_between = rc == 0;
    } while (out.pos == 0 && in.pos < in.size);
    *input = bytes_of(input->data + in.pos, in.size - in.pos);
    return (int64_t)out.pos;
}

static void zstd_free(struct source_decoder *decoder)
{
    struct source_zstd *zstd = (struct source_zstd *)decoder;

    ZSTD_freeDStream(zstd->stream);
    memory_free(zstd);
}

struct source_decoder *source_zstd_new(void)
{
    struct source_zstd *zstd = memory_zeroed(1, sizeof *zstd);

    zstd->decoder.decode = zstd_decode;
    zstd->decoder.free = zstd_free;
    zstd->stream = ZSTD_createDStream();
    check(zstd->stream != NULL);
    return &zstd->decoder;
}
