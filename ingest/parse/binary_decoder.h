/* binary_decoder: decodes frames of the binary protocol into rows of a row_builder.
 *
 * A decoder keeps the dictionary of a connection: the strings that its STRINGS frames numbered.  A
 * frame is accepted or refused as a whole.  ERROR_CORRUPT: the frame is not formed as client/wire.h
 * says.  ERROR_LIMIT: the frame exceeds a limit.  A single invalid row becomes a reject. */
#ifndef DAYBOOK_INGEST_PARSE_BINARY_DECODER_H
#define DAYBOOK_INGEST_PARSE_BINARY_DECODER_H

#include "base/hash128.h"
#include "ingest/parse/row_builder.h"

struct binary_decoder;
struct hash128_stream;

struct binary_decoder *binary_decoder_new(uint64_t seed);
void binary_decoder_free(struct binary_decoder *decoder);      /* NULL is fine */

size_t binary_decoder_strings_bytes(const struct binary_decoder *decoder);

/* Add the strings of a STRINGS frame to the dictionary.  After a failure the dictionary must not be
 * used. */
must_check int binary_decoder_strings(struct binary_decoder *decoder, struct bytes payload);

/* A BATCH frame: its checked header, and views of the parts of its payload. */
struct binary_batch {
    uint64_t sequence;
    uint32_t rows;
    /* private */
    uint32_t partition_count, ad_count;
    uint8_t partition_width, ad_width, time_width, amount_width;
    uint8_t scale;
    uint64_t time_base, amount_base;
    struct bytes shape;                /* the header behind the batch's number */
    const uint8_t *resellers, *days, *ads;
    const uint8_t *partition_codes, *ad_codes, *times, *amounts, *scales;
    struct bytes columns;
};
must_check int binary_decoder_read_batch(struct bytes payload, struct binary_batch *batch_out);

/* Check the batch's tables against the dictionary, before the calls below.  `is_next`: the rows
 * will be joined to the rows of the batch before, which are in the builder. */
must_check int binary_decoder_begin(struct binary_decoder *decoder,
                                    const struct binary_batch *batch, bool is_next);

/* Add the batch to `hash`, without its number, and with strings in place of their numbers. */
void binary_decoder_hash(struct binary_decoder *decoder, const struct binary_batch *batch,
                         struct hash128_stream *hash);

/* Add the rows to `builder`, behind those of the batches that were joined before.  Returns 1: all
 * were added; 0: none, because they must be checked one by one or the dictionary was emptied.  The
 * caller then uses binary_decoder_rows, for which the batch is begun without `is_next`. */
must_check int binary_decoder_join(struct binary_decoder *decoder, const struct binary_batch *batch,
                                   struct row_builder *builder);

/* Add the rows of a batch that was begun without `is_next` to `builder`, which has no rows.  Line
 * numbers of rejects count from `first_row`.  After a failure the caller clears the builder. */
must_check int binary_decoder_rows(struct binary_decoder *decoder, const struct binary_batch *batch,
                                   struct row_builder *builder, uint64_t first_row);
#endif
