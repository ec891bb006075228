/* row_parts: the rows and rejects of the batch or group that is coming in.
 *
 *     part ─ part ─ part ─ builder          in the order of their lines
 *
 * Lines that are parsed when their turn comes go to the builder, and usually that is all.  What was
 * parsed ahead (parse_ahead.h) comes as parts. */
#ifndef DAYBOOK_INGEST_PARSE_ROW_PARTS_H
#define DAYBOOK_INGEST_PARSE_ROW_PARTS_H

#include "ingest/parse/part_pool.h"
#include "storage/cell/write_batch.h"

struct row_parts {
    struct row_builder *builder;       /* owned; NULL before the first record of a stream */
    struct row_part **parts;           /* owned; their lines come before the builder's */
    uint32_t count, capacity;
};

/* All-zero is one without a builder. */
void row_parts_release(struct row_parts *rows, struct part_pool *pool);
void row_parts_clear(struct row_parts *rows, struct part_pool *pool);
size_t row_parts_bytes(const struct row_parts *rows);  /* of memory */
/* Rows of lines that follow all that are there; `part` is owned from here on. */
void row_parts_append(struct row_parts *rows, struct part_pool *pool, struct row_part *part);

/* Complete the builder's block, and bring all rejects into one list, which is returned: before a
 * commit. */
const struct reject_list *row_parts_finish(struct row_parts *rows);
uint64_t row_parts_accepted(const struct row_parts *rows);
void row_parts_add_blocks(const struct row_parts *rows, struct write_batch *batch);
#endif
