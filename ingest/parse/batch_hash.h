/* batch_hash: what a numbered batch is recognised by when it comes again. */
#ifndef DAYBOOK_INGEST_PARSE_BATCH_HASH_H
#define DAYBOOK_INGEST_PARSE_BATCH_HASH_H

#include "base/hash128.h"
#include "ingest/parse/stream_map.h"

/* A new hash, to which the batch's content is to be added: it starts with the stream's name and
 * `form`, which keeps apart what is written in different ways.  Any thread. */
struct hash128_stream *batch_hash_new(const struct ingest_stream *stream, struct bytes form);
#endif
