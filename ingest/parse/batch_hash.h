/* batch_hash: the hash that distinguishes a repeated batch from another batch with the same
 * number. */
#ifndef DAYBOOK_INGEST_PARSE_BATCH_HASH_H
#define DAYBOOK_INGEST_PARSE_BATCH_HASH_H

#include "base/hash128.h"
#include "ingest/parse/stream_map.h"

/* A new hash of the stream's name and `form`, to which the caller adds the batch's content.  `form`
 * names how the content is written.  May be called on any thread. */
struct hash128_stream *batch_hash_new(const struct ingest_stream *stream, struct bytes form);
#endif
