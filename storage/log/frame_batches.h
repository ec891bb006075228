/* frame_batches: parses all write batches of a log frame before the first one is applied. */
#ifndef DAYBOOK_STORAGE_LOG_FRAME_BATCHES_H
#define DAYBOOK_STORAGE_LOG_FRAME_BATCHES_H

#include "storage/cell/write_batch.h"

struct frame_batches {
    struct write_batch **batches;
    int64_t *timestamps_us;
    uint32_t count;
};

/* Parse a payload (docs/FORMATS.md "Frame payload").  A schema in the payload replaces *schema, to
 * which the caller holds a reference.  `salvage` (mutation.h) may be NULL.  The caller releases
 * `frame`, also after an error. */
must_check int frame_batches_parse(struct bytes payload, struct schema **schema,
                                   const struct cell_salvage *salvage,
                                   struct frame_batches *frame, struct error *err);
/* Whether a payload is one batch that has only a schema; `serialized_out` is a view of its
 * bytes. */
bool frame_batches_is_schema(struct bytes payload, struct bytes *serialized_out);
void frame_batches_release(struct frame_batches *frame);
#endif
