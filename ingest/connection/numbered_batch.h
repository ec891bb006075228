/* numbered_batch: the numbered batch that is open on a connection. */
#ifndef DAYBOOK_INGEST_CONNECTION_NUMBERED_BATCH_H
#define DAYBOOK_INGEST_CONNECTION_NUMBERED_BATCH_H

#include "counters/producer.h"

enum { NUMBERED_BATCH_BYTES_MAX = 8 << 20 };

/* All-zero is a batch that is not open. */
struct numbered_batch {
    bool is_open;
    uint64_t sequence;
    uint64_t lines;                    /* as announced */
    uint64_t lines_left;
    uint64_t bytes;
    enum producer_verdict verdict;
    struct hash128_stream *hash;       /* owned; covers stream, form and content (batch_hash.h) */
    bool is_kept_waiting;              /* the batch is complete, but could not be applied yet */
};

/* Takes ownership of `hash`. */
void numbered_batch_open(struct numbered_batch *batch, uint64_t sequence, uint64_t lines,
                         enum producer_verdict verdict, struct hash128_stream *hash);
/* No effect on a batch that is not open. */
void numbered_batch_close(struct numbered_batch *batch);

/* Count `lines` whole lines (0: a part of a line), and hash `data`, their bytes as sent. */
void numbered_batch_add(struct numbered_batch *batch, struct bytes data, uint64_t lines);

static inline bool numbered_batch_is_too_large(const struct numbered_batch *batch)
{
    return batch->bytes > NUMBERED_BATCH_BYTES_MAX;
}
#endif
