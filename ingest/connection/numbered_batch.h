/* numbered_batch: the numbered batch that is open on a connection, with the lines that it announces
 * and those that have come. */
#ifndef DAYBOOK_INGEST_CONNECTION_NUMBERED_BATCH_H
#define DAYBOOK_INGEST_CONNECTION_NUMBERED_BATCH_H

#include "counters/producer.h"

enum { NUMBERED_BATCH_BYTES_MAX = 8 << 20 };           /* as sent */

/* All-zero is a batch that is not open. */
struct numbered_batch {
    bool is_open;
    uint64_t sequence;
    uint64_t lines;                    /* as announced */
    uint64_t lines_left;
    uint64_t bytes;                    /* as sent, so far */
    enum producer_verdict verdict;
    struct hash128_stream *hash;       /* owned; of stream, form and content (batch_hash.h) */
    bool is_kept_waiting;              /* complete, but could not be applied yet */
};

/* Open batch `sequence`, which announces `lines` lines; takes ownership of `hash`. */
void numbered_batch_open(struct numbered_batch *batch, uint64_t sequence, uint64_t lines,
                         enum producer_verdict verdict, struct hash128_stream *hash);
/* Close the batch, whether it was applied or not; a batch that is not open is fine. */
void numbered_batch_close(struct numbered_batch *batch);

/* Count `lines` whole lines, or 0 for a part of a line, and hash `data`, their bytes as sent. */
void numbered_batch_add(struct numbered_batch *batch, struct bytes data, uint64_t lines);

static inline bool numbered_batch_is_too_large(const struct numbered_batch *batch)
{
    return batch->bytes > NUMBERED_BATCH_BYTES_MAX;
}
#endif
