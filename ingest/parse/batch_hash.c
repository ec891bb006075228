/* batch_hash: see the header. */
#include "ingest/parse/batch_hash.h"

#include <string.h>

struct hash128_stream *batch_hash_new(const struct ingest_stream *stream, struct bytes form)
{
    struct hash128_stream *hash = hash128_stream_new();

    hash128_stream_add(hash, stream->name, strlen(stream->name) + 1);
    hash128_stream_add(hash, form.data, form.size);
    return hash;
}
