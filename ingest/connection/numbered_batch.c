/* numbered_batch: see the header. */
#include "ingest/connection/numbered_batch.h"

#include "base/error.h"

void numbered_batch_open(struct numbered_batch *batch, uint64_t sequence, uint64_t lines,
                         enum producer_verdict verdict, struct hash128_stream *hash)
{
    check(!batch->is_open && sequence > 0);
    *batch = (struct numbered_batch){
        .is_open = true,
        .sequence = sequence,
        .lines = lines,
        .lines_left = lines,
        .verdict = verdict,
        .hash = hash,
    };
}

void numbered_batch_close(struct numbered_batch *batch)
{
    hash128_stream_free(batch->hash);
    *batch = (struct numbered_batch){0};
}

void numbered_batch_add(struct numbered_batch *batch, struct bytes data, uint64_t lines)
{
    check(batch->is_open && lines <= batch->lines_left);
    hash128_stream_add(batch->hash, data.data, data.size);
    batch->bytes += data.size;
    batch->lines_left -= lines;
}
