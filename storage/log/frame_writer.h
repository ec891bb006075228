/* frame_writer: what makes a frame of the log durable, behind two calls: write this frame, and tell
 * when it is durable.
 *
 * The log numbers frames, chooses their places in its files and acknowledges them; it does not know
 * who holds them.  Today that is the local disk (frame_writer_disk.c).  A writer that has frames
 * held by other machines, too, stands behind the same two calls, in front of the local one.
 *
 * Correct means: a frame of which the writer says that it is durable is there after any crash, and
 * so are all before it.  The log gives the writer one frame at a time: the next one comes after the
 * writer has told about the one before.  After a failure none comes any more. */
#ifndef DAYBOOK_STORAGE_LOG_FRAME_WRITER_H
#define DAYBOOK_STORAGE_LOG_FRAME_WRITER_H

#include "storage/log/commit_log_private.h"

/* A record of the log, and where it goes on the local disk. */
struct frame_writer_record {
    struct commit_log_header header;     /* sizes and checksums are set by the writer */
    struct bytes payload;
    struct disk_file *file;
    uint64_t offset;
    struct disk_file *opening_file;      /* ends in a closing record, and needs an opening one
                                          * first; NULL: none does */
    uint64_t opening_offset;
    uint32_t opening_file_id;
};

/* On the engine thread: the frame is durable (0), or it is not known what became of it. */
typedef void (*frame_writer_durable)(void *context, int status);

/* Engine thread only. */
struct frame_writer {
    /* Begin to write a frame.  The record is the caller's, and stays until the writer tells. */
    void (*write)(struct frame_writer *writer, struct frame_writer_record *record);
    /* What the writer calls, with `context`, once for each frame after `write` has returned; set by
     * the log before the first frame. */
    frame_writer_durable durable;
    void *context;
};

/* ---- frame_writer_disk.c: the local disk ---- */

struct frame_writer *frame_writer_disk_new(struct world *world);
void frame_writer_disk_free(struct frame_writer *writer);      /* no frame is under way; NULL is
                                                                * fine */
/* Write a record and sync it before this returns: the closing one, which is no frame, and concerns
 * the local disk alone. */
must_check int frame_writer_disk_write(struct frame_writer *writer,
                                       struct frame_writer_record *record);
#endif
