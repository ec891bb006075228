/* frame_writer: the interface by which a frame of the log is made durable.
 *
 * The only writer stores frames on the local disk (frame_writer_disk.c).
 *
 * A frame that was reported as durable must still be stored after any crash, with all frames before
 * it.  The log gives the writer one frame at a time, and no frame after a failure. */
#ifndef DAYBOOK_STORAGE_LOG_FRAME_WRITER_H
#define DAYBOOK_STORAGE_LOG_FRAME_WRITER_H

#include "storage/log/commit_log_private.h"

struct frame_writer_record {
    struct commit_log_header header;     /* the writer sets sizes and checksums */
    struct bytes payload;
    struct disk_file *file;
    uint64_t offset;
    struct disk_file *opening_file;      /* a file that ends with a closing record, and must first
                                          * get an opening record; NULL: none */
    uint64_t opening_offset;
    uint32_t opening_file_id;
};

/* 0: the frame is durable; negative: perhaps it is not. */
typedef void (*frame_writer_durable)(void *context, int status);

/* Engine thread only. */
struct frame_writer {
    /* The caller owns the record, and must keep it until `durable` is called. */
    void (*write)(struct frame_writer *writer, struct frame_writer_record *record);
    /* The log sets `durable` and `context`.  The writer calls `durable` once for each frame, after
     * `write` has returned. */
    frame_writer_durable durable;
    void *context;
};

/* ---- frame_writer_disk.c: the local disk ---- */

struct frame_writer *frame_writer_disk_new(struct world *world);
/* No write may be under way; `writer` may be NULL. */
void frame_writer_disk_free(struct frame_writer *writer);
/* Write and sync on the calling thread; only for the closing record. */
must_check int frame_writer_disk_write(struct frame_writer *writer,
                                       struct frame_writer_record *record);
#endif
