/* source: the content of a file, plain or compressed, from its beginning to its end.
 *
 * gzip and zstd are known by their first bytes, not by the file's name; members and frames that
 * follow each other are one content. */
#ifndef DAYBOOK_INGEST_LOAD_SOURCE_H
#define DAYBOOK_INGEST_LOAD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

struct source;

/* `path` "-" is standard input. */
must_check int source_open(const char *path, struct source **source_out, struct error *err);
void source_close(struct source *source);              /* NULL is fine */

/* Up to `size` bytes of the content; 0 is its end.  ERROR_CORRUPT when what is compressed is
 * damaged or cut; a negative errno. */
int64_t source_read(struct source *source, void *to, size_t size, struct error *err);

/* How far it is, for progress: bytes of the file read, and its size (0: unknown). */
uint64_t source_position(const struct source *source);
uint64_t source_size(const struct source *source);

/* ---- decoders (source_gzip.c, source_zstd.c) ---- */

struct source_decoder {
    /* Decode from `*input`, which is moved on, into `to`; the number of bytes made, 0 when it needs
     * more input, ERROR_CORRUPT. */
    int64_t (*decode)(struct source_decoder *decoder, struct bytes *input, uint8_t *to,
                      size_t size);
    void (*free)(struct source_decoder *decoder);
    bool is_between;                   /* two members, or frames: the input may end here */
};
struct source_decoder *source_gzip_new(void);
struct source_decoder *source_zstd_new(void);
#endif
