/* frame_batches: the write batches of one log frame.
 *
 * All are parsed before the first is applied, because all of them decide whether the frame must
 * begin a new memtable: when one has a schema, or overwrites. */
#ifndef DAYBOOK_STORAGE_LOG_FRAME_BATCHES_H
#define DAYBOOK_STORAGE_LOG_FRAME_BATCHES_H

#include "storage/cell/write_batch.h"

struct frame_batches {
    struct write_batch **batches;
    int64_t *timestamps_us;            /* the first write timestamp of each batch */
    uint32_t count;
};

/* Parse a payload (FORMATS.md "Frame payload").  A schema in it replaces *schema, of which the
 * caller has a reference.  `salvage`: mutation.h; may be NULL.  `frame` must be released also after
 * an error. */
must_check int frame_batches_parse(struct bytes payload, struct schema **schema,
                                   const struct cell_salvage *salvage,
                                   struct frame_batches *frame, struct error *err);
/* Whether a payload is one batch that has a schema and nothing else; gives a view of its bytes. */
bool frame_batches_is_schema(struct bytes payload, struct bytes *serialized_out);
void frame_batches_release(struct frame_batches *frame);
#endif
