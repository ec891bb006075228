/* batch_hash: the hash by which a repeated numbered batch is told from another of its number. */
#ifndef DAYBOOK_INGEST_PARSE_BATCH_HASH_H
#define DAYBOOK_INGEST_PARSE_BATCH_HASH_H

#include "base/hash128.h"
#include "ingest/parse/stream_map.h"

/* A new hash, to which the caller adds the batch's content.  It begins with the stream's name and
 * `form`, so that contents in different forms never have the same hash.  Any thread. */
struct hash128_stream *batch_hash_new(const struct ingest_stream *stream, struct bytes form);
#endif
