/* frame_writer: the interface by which a frame of the log is made durable: a call that writes it,
 * and a callback for when it is durable.
 *
 * The log numbers frames, chooses their places in its files and acknowledges them; where they are
 * stored is the writer's part.  Today that is the local disk (frame_writer_disk.c).  A writer that
 * also stores frames on other machines can have the same interface, and use the local one.
 *
 * What must hold: a frame that the writer reported as durable is there after any crash, and so are
 * all before it.  The log gives the writer one frame at a time: the next one after the writer has
 * reported the one before, and none after a failure. */
#ifndef DAYBOOK_STORAGE_LOG_FRAME_WRITER_H
#define DAYBOOK_STORAGE_LOG_FRAME_WRITER_H

#include "storage/log/commit_log_private.h"

/* A record of the log, and where it goes on the local disk. */
struct frame_writer_record {
    struct commit_log_header header;     /* sizes and checksums are set by the writer */
    struct bytes payload;
    struct disk_file *file;
    uint64_t offset;
    struct disk_file *opening_file;      /* a file that ends in a closing record, to which an
                                          * opening record must be written first; NULL: none */
    uint64_t opening_offset;
    uint32_t opening_file_id;
};

/* Called on the engine thread: the frame is durable (status 0), or it may not be (negative). */
typedef void (*frame_writer_durable)(void *context, int status);

/* Engine thread only. */
struct frame_writer {
    /* Begin to write a frame.  The record is the caller's and stays valid until `durable` is
     * called. */
    void (*write)(struct frame_writer *writer, struct frame_writer_record *record);
    /* Called with `context` once for each frame, after `write` has returned.  Set by the log before
     * the first frame. */
    frame_writer_durable durable;
    void *context;
};

/* ---- frame_writer_disk.c: the local disk ---- */

struct frame_writer *frame_writer_disk_new(struct world *world);
/* NULL is fine; no frame may be being written. */
void frame_writer_disk_free(struct frame_writer *writer);
/* Write a record and sync it before this returns: for the closing record, which is no frame and is
 * written to the local disk alone. */
must_check int frame_writer_disk_write(struct frame_writer *writer,
                                       struct frame_writer_record *record);
#endif
