/* frame_batches: the batches of one log frame, parsed before the first of them is applied: whether
 * the frame must begin a memtable (its schema, its overwrites) is known only from all of them. */
#ifndef DAYBOOK_STORAGE_LOG_FRAME_BATCHES_H
#define DAYBOOK_STORAGE_LOG_FRAME_BATCHES_H

#include "storage/cell/write_batch.h"

struct frame_batches {
    struct write_batch **batches;
    int64_t *timestamps_us;            /* of each batch: where its write timestamps begin */
    uint32_t count;
};

/* Parse a payload (FORMATS.md "Frame payload"); a schema in it replaces *schema (referenced).
 * `salvage`: mutation.h; may be NULL.  Release what was parsed after an error, too. */
must_check int frame_batches_parse(struct bytes payload, struct schema **schema,
                                   const struct cell_salvage *salvage,
                                   struct frame_batches *frame, struct error *err);
/* Whether a payload is one batch with nothing but a schema: a view of its bytes. */
bool frame_batches_is_schema(struct bytes payload, struct bytes *serialized_out);
void frame_batches_release(struct frame_batches *frame);
#endif
