/* part_pool: keeps empty row parts (a block and its rejects) for reuse, and makes row builders.
 *
 * All functions run on the engine thread; after part_pool_take, another thread may fill the
 * part. */
#ifndef DAYBOOK_INGEST_PARSE_PART_POOL_H
#define DAYBOOK_INGEST_PARSE_PART_POOL_H

#include "base/world/world.h"
#include "ingest/parse/row_builder.h"
#include "storage/engine/store.h"

enum {
    PART_POOL_MAX = 128,               /* empty parts that are kept */
    PART_POOL_BYTES_MAX = 512 << 10    /* bytes of a part that is kept */
};

struct part_pool {
    struct store *store;               /* outlives the pool, as does the world */
    const struct world *world;
    uint64_t seed;                     /* clients cannot know it */
    uint64_t builders;
    struct schema *schema;             /* from row_builder_schema; NULL until a stream with click
                                        * ids has a builder */
    struct row_part **parts;           /* owned */
    uint32_t count;
};

void part_pool_open(struct part_pool *pool, struct store *store, const struct world *world,
                    uint64_t seed);
/* All parts must have been given back.  Builders may be freed after this. */
void part_pool_close(struct part_pool *pool);

/* An empty part for the stream's table; NULL: the table does not exist. */
struct row_part *part_pool_take(struct part_pool *pool, const struct ingest_stream *stream);
void part_pool_give(struct part_pool *pool, struct row_part *part);            /* NULL is fine */

/* A new builder for the stream's table, owned by the caller.  ERROR_INVALID: the table does not
 * exist, or lacks a column. */
must_check int part_pool_builder(struct part_pool *pool, const struct ingest_stream *stream,
                                 struct row_builder **builder_out, struct error *err);
#endif
