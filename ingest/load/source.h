/* source: reads the content of a plain or compressed file.
 *
 * gzip and zstd are recognized by the file's first bytes.  gzip members or zstd frames that follow
 * each other are one content. */
#ifndef DAYBOOK_INGEST_LOAD_SOURCE_H
#define DAYBOOK_INGEST_LOAD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct source;

/* `path` "-" is standard input.  Returns 0 or a negative errno. */
must_check int source_open(const char *path, struct source **source_out, struct error *err);
void source_close(struct source *source);              /* NULL is fine */

/* Read up to `size` bytes of the content; returns their number, 0 at the end.  ERROR_CORRUPT: the
 * compressed content is damaged or cut off.  A negative errno: the file cannot be read. */
int64_t source_read(struct source *source, void *to, size_t size, struct error *err);

/* The share of the file that is decoded, from 0 to 1; negative: unknown. */
double source_fraction(const struct source *source);

/* ---- decoders (source_gzip.c, source_zstd.c) ---- */

struct source_decoder {
    /* Decode from `*input` to `to`, and remove the used bytes from `*input`.  Returns the number of
     * bytes written, 0 if more input is needed, or ERROR_CORRUPT. */
    int64_t (*decode)(struct source_decoder *decoder, struct bytes *input, uint8_t *to,
                      size_t size);
    void (*free)(struct source_decoder *decoder);
    bool is_between;                   /* no gzip member or zstd frame is open, so the input may
                                        * end */
};
struct source_decoder *source_gzip_new(void);
struct source_decoder *source_zstd_new(void);
#endif
