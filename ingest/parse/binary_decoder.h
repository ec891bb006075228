/* binary_decoder: decodes frames of the binary protocol into rows of a row_builder.
 *
 * A decoder keeps the dictionary of a connection; it uses neither sockets nor the engine.  The
 * bytes come from outside and may be anything: a frame is taken whole or refused whole.
 * ERROR_CORRUPT: a frame is not formed as client/wire.h says.  ERROR_LIMIT: it exceeds a limit.
 * Single rows that are not valid become rejects, as they would as lines of text. */
#ifndef DAYBOOK_INGEST_PARSE_BINARY_DECODER_H
#define DAYBOOK_INGEST_PARSE_BINARY_DECODER_H

#include "base/hash128.h"
#include "ingest/parse/row_builder.h"

struct binary_decoder;
struct hash128_stream;

/* `seed` is random. */
struct binary_decoder *binary_decoder_new(uint64_t seed);
void binary_decoder_free(struct binary_decoder *decoder);      /* NULL is fine */

/* Add the payload of a STRINGS frame to the dictionary, which must not be used after a failure. */
size_t binary_decoder_strings_bytes(const struct binary_decoder *decoder);     /* of memory */
must_check int binary_decoder_strings(struct binary_decoder *decoder, struct bytes payload);

/* The payload of a BATCH frame, its header checked and its parts found; views into it. */
struct binary_batch {
    uint64_t sequence;
    uint32_t rows;
    /* private */
    uint32_t partition_count, ad_count;
    uint8_t partition_width, ad_width, time_width, amount_width;
    uint8_t scale;
    uint64_t time_base, amount_base;
    struct bytes shape;                /* the header without the number */
    const uint8_t *resellers, *days, *ads;
    const uint8_t *partition_codes, *ad_codes, *times, *amounts, *scales;
    struct bytes columns;              /* all of them */
};
must_check int binary_decoder_read_batch(struct bytes payload, struct binary_batch *batch_out);

/* Check the batch's tables against the dictionary, before the calls below.  `is_next`: its rows are
 * to be joined to those of the batch before it, which the builder still has. */
must_check int binary_decoder_begin(struct binary_decoder *decoder,
                                    const struct binary_batch *batch, bool is_next);

/* Add the batch's content to `hash`: the same for the same strings, days and columns, whatever
 * numbers the strings have on this connection. */
void binary_decoder_hash(struct binary_decoder *decoder, const struct binary_batch *batch,
                         struct hash128_stream *hash);

/* Add the rows to `builder`, behind those of the batches that were joined before.  1: done.  0: not
 * all rows are plainly valid, or the dictionary has changed since those batches; nothing was added,
 * and the batch is to be begun anew for a builder without rows. */
must_check int binary_decoder_join(struct binary_decoder *decoder, const struct binary_batch *batch,
                                   struct row_builder *builder);

/* Add the rows to `builder`, which has none, of a batch that is no other's next; rejects count from
 * `first_row` on.  After a failure the builder is to be cleared. */
must_check int binary_decoder_rows(struct binary_decoder *decoder, const struct binary_batch *batch,
                                   struct row_builder *builder, uint64_t first_row);
#endif
