/* frame_batches: see the header. */
#include "storage/log/frame_batches.h"

#include "base/memory.h"

int frame_batches_parse(struct bytes payload, struct schema **schema,
                        const struct cell_salvage *salvage, struct frame_batches *frame,
                        struct error *err)
{
    struct reader reader = reader_of(payload);
    int rc = 0;
    *frame = (struct frame_batches){0};
    while (rc == 0 && reader_left(&reader) > 0) {
        uint32_t count = frame->count + 1;
        frame->batches = memory_resize(frame->batches, count * sizeof(struct write_batch *));
        frame->timestamps_us = memory_resize(frame->timestamps_us, count * sizeof(int64_t));
        frame->batches[frame->count] = write_batch_new();
        frame->timestamps_us[frame->count] = (int64_t)reader_u64(&reader);
        rc = write_batch_deserialize(&reader, schema, salvage, frame->batches[frame->count], err);
        frame->count = count;
    }
    return rc;
}

bool frame_batches_is_schema(struct bytes payload, struct bytes *serialized_out)
{
    struct reader reader = reader_of(payload);
    (void)reader_u64(&reader);
    return write_batch_is_schema(&reader, serialized_out) && reader_left(&reader) == 0;
}

void frame_batches_release(struct frame_batches *frame)
{
    for (uint32_t i = 0; i < frame->count; i++) {
        write_batch_free_blocks(frame->batches[i]);
        write_batch_free(frame->batches[i]);
    }
    memory_free(frame->batches);
    memory_free(frame->timestamps_us);
}
