/* text_rows: the rows and rejects of the batch or group that is coming in.
 *
 *     part ─ part ─ part ─ builder          in the order of their lines
 *
 * Lines that are parsed when their turn comes go to the builder, and usually that is all.  What was
 * parsed ahead (text_ahead.h) comes as parts. */
#ifndef DAYBOOK_INGEST_PARSE_TEXT_ROWS_H
#define DAYBOOK_INGEST_PARSE_TEXT_ROWS_H

#include "ingest/parse/row_builder.h"
#include "storage/cell/write_batch.h"

struct ingest;

/* Empty parts that nobody uses, of any streams: a block's memory is worth keeping. */
struct part_pool {
    struct row_part **parts;           /* owned */
    uint32_t count;
};
enum {
    PART_POOL_MAX = 128,               /* more are freed, */
    PART_POOL_BYTES_MAX = 512 << 10    /* and larger ones */
};

void part_pool_release(struct part_pool *pool);
/* An empty part for the stream's table; NULL: the table is not there. */
struct row_part *part_pool_take(struct ingest *ingest, const struct ingest_stream *stream);
void part_pool_give(struct part_pool *pool, struct row_part *part);            /* NULL is fine */

struct text_rows {
    struct row_builder *builder;       /* owned; NULL before the first record of a stream */
    struct row_part **parts;           /* owned; their lines come before the builder's */
    uint32_t count, capacity;
};

/* All-zero is one without a builder. */
void text_rows_release(struct text_rows *rows, struct part_pool *pool);
void text_rows_clear(struct text_rows *rows, struct part_pool *pool);
size_t text_rows_bytes(const struct text_rows *rows);  /* of memory */
/* Rows of lines that follow all that are there; `part` is owned from here on. */
void text_rows_append(struct text_rows *rows, struct ingest *ingest, struct row_part *part);

/* Complete the builder's block, and bring all rejects into one list, which is returned: before a
 * commit. */
const struct reject_list *text_rows_finish(struct text_rows *rows);
uint64_t text_rows_accepted(const struct text_rows *rows);
void text_rows_add_blocks(const struct text_rows *rows, struct write_batch *batch);
#endif
