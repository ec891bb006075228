/* source_gzip: decodes gzip with zlib; the only adapter for zlib. */
#include "ingest/load/source.h"

#include <zlib.h>

#include "base/memory.h"

enum { WINDOW_BITS_GZIP = 15 + 16 }; /* the largest window; 16 more selects the gzip format */

struct source_gzip {
    struct source_decoder decoder;
    z_stream stream;
};

static int64_t gzip_decode(struct source_decoder *decoder, struct bytes *input, uint8_t *to,
                           size_t size)
{
    struct source_gzip *gzip = (struct source_gzip *)decoder;
    size_t made = 0;

    while (made == 0 && input->size > 0) {
        if (decoder->is_between && inflateReset(&gzip->stream) != Z_OK)
            return ERROR_CORRUPT;
        decoder->is_between = false;
        gzip->stream.next_in = (Bytef *)(uintptr_t)input->data;
        gzip->stream.avail_in = (uInt)input->size;
        gzip->stream.next_out = to;
        gzip->stream.avail_out = (uInt)size;
        int rc = inflate(&gzip->stream, Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            return ERROR_CORRUPT;
        made = size - gzip->stream.avail_out;
        *input =
            bytes_of(input->data + (input->size - gzip->stream.avail_in), gzip->stream.avail_in);
        decoder->is_between = rc == Z_STREAM_END;
    }
    return (int64_t)made;
}

static void gzip_free(struct source_decoder *decoder)
{
    struct source_gzip *gzip = (struct source_gzip *)decoder;

    inflateEnd(&gzip->stream);
    memory_free(gzip);
}

struct source_decoder *source_gzip_new(void)
{
    struct source_gzip *gzip = memory_zeroed(1, sizeof *gzip);

    gzip->decoder.decode = gzip_decode;
    gzip->decoder.free = gzip_free;
    check(inflateInit2(&gzip->stream, WINDOW_BITS_GZIP) == Z_OK);
    return &gzip->decoder;
}
