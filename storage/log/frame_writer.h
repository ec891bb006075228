/* frame_writer: the interface by which a frame of the log is made durable: a call that writes the
 * frame, and a callback when the frame is durable.
 *
 * The log numbers frames, chooses their places in its files and acknowledges them.  The writer
 * stores them.  The only writer stores them on the local disk (frame_writer_disk.c).  A writer that
 * also stores frames on other machines could have the same interface, and call the local writer.
 *
 * After any crash a frame that the writer reported as durable must still be stored, with all frames
 * before it.  The log gives the writer one frame at a time: the next frame after the writer has
 * reported the previous one, and no frame after a failure. */
#ifndef DAYBOOK_STORAGE_LOG_FRAME_WRITER_H
#define DAYBOOK_STORAGE_LOG_FRAME_WRITER_H

#include "storage/log/commit_log_private.h"

/* A record of the log, and its place on the local disk. */
struct frame_writer_record {
    struct commit_log_header header;     /* sizes and checksums are set by the writer */
    struct bytes payload;
    struct disk_file *file;
    uint64_t offset;
    struct disk_file *opening_file;      /* a file that ends with a closing record: an opening
                                          * record must be added to it first.  NULL: none */
    uint64_t opening_offset;
    uint32_t opening_file_id;
};

/* Called on the engine thread.  Status 0: the frame is durable; negative: it may not be durable. */
typedef void (*frame_writer_durable)(void *context, int status);

/* Engine thread only. */
struct frame_writer {
    /* Begin to write a frame.  The caller owns the record, and keeps it until `durable` is
     * called. */
    void (*write)(struct frame_writer *writer, struct frame_writer_record *record);
    /* The log sets `durable` and `context` before the first frame.  The writer calls `durable` once
     * for each frame, after `write` has returned. */
    frame_writer_durable durable;
    void *context;
};

/* ---- frame_writer_disk.c: the local disk ---- */

struct frame_writer *frame_writer_disk_new(struct world *world);
/* No frame may be being written; `writer` may be NULL. */
void frame_writer_disk_free(struct frame_writer *writer);
/* Write and sync a record before this function returns.  The log calls this function only for the
 * closing record: that record is no frame, and is written to the local disk only. */
must_check int frame_writer_disk_write(struct frame_writer *writer,
                                       struct frame_writer_record *record);
#endif
