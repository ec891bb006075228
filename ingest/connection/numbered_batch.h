/* numbered_batch: the numbered batch that is open: what it announced, and what of it has come. */
#ifndef DAYBOOK_INGEST_CONNECTION_NUMBERED_BATCH_H
#define DAYBOOK_INGEST_CONNECTION_NUMBERED_BATCH_H

#include "counters/producer.h"

enum { NUMBERED_BATCH_BYTES_MAX = 8 << 20 };           /* as sent */

/* All-zero is one that is not open. */
struct numbered_batch {
    bool is_open;
    uint64_t sequence;
    uint64_t lines;                    /* as announced */
    uint64_t lines_left;
    uint64_t bytes;                    /* as sent, so far */
    enum producer_verdict verdict;
    struct hash128_stream *hash;       /* owned; of the stream, the form and the content */
    bool is_kept_waiting;              /* it is complete and not applied yet */
};

/* Batch `sequence` begins, which announces `lines`; `hash` is owned from here on. */
void numbered_batch_open(struct numbered_batch *batch, uint64_t sequence, uint64_t lines,
                         enum producer_verdict verdict, struct hash128_stream *hash);
/* Close it, whether it was applied or not; one that is not open is fine. */
void numbered_batch_close(struct numbered_batch *batch);

/* `lines` whole lines have come, or a part of one (0); `data` is their bytes as sent. */
void numbered_batch_add(struct numbered_batch *batch, struct bytes data, uint64_t lines);

static inline bool numbered_batch_is_too_large(const struct numbered_batch *batch)
{
    return batch->bytes > NUMBERED_BATCH_BYTES_MAX;
}
#endif
