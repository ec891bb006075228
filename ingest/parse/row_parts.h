/* row_parts: the rows and rejects of a connection that are not applied yet.
 *
 *     part ─ part ─ part ─ builder          in the order of their lines
 *
 * Lines that the engine thread parses are added to the builder.  Lines that were parsed ahead
 * (parse_ahead.h) are appended as parts. */
#ifndef DAYBOOK_INGEST_PARSE_ROW_PARTS_H
#define DAYBOOK_INGEST_PARSE_ROW_PARTS_H

#include "ingest/parse/part_pool.h"
#include "storage/cell/write_batch.h"

struct row_parts {
    struct row_builder *builder;       /* owned; may be NULL */
    struct row_part **parts;           /* owned; their lines precede the builder's */
    uint32_t count, capacity;
};

/* All-zero is valid: there is no builder and no part. */
void row_parts_release(struct row_parts *rows, struct part_pool *pool);
void row_parts_clear(struct row_parts *rows, struct part_pool *pool);
size_t row_parts_bytes(const struct row_parts *rows);  /* of memory */
/* Append `part` and take ownership of it; its lines follow all others. */
void row_parts_append(struct row_parts *rows, struct part_pool *pool, struct row_part *part);

/* Complete the builder's block, and move all rejects to one list, which is returned.  Called before
 * a commit. */
const struct reject_list *row_parts_finish(struct row_parts *rows);
uint64_t row_parts_accepted(const struct row_parts *rows);
void row_parts_add_blocks(const struct row_parts *rows, struct write_batch *batch);
#endif
