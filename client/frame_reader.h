/* frame_reader: the server's answers out of the bytes that come, in whatever pieces.
 *
 * The text of the frames, joined, is lines; a line may go on in the next frame. */
#ifndef DAYBOOK_CLIENT_FRAME_READER_H
#define DAYBOOK_CLIENT_FRAME_READER_H

#include <stddef.h>
#include <stdint.h>

/* All-zero is one that has nothing yet. */
struct frame_reader {
    /* private */
    uint8_t *bytes;
    size_t size, capacity;
    size_t taken;                      /* of them, by frame_reader_next */
};

enum frame_reader_result {
    FRAME_READER_NONE = 0,             /* no whole frame is there */
    FRAME_READER_TEXT = 1,
    FRAME_READER_DAMAGED = -1,         /* its checksum is another */
    FRAME_READER_FOREIGN = -2          /* not what a binary door says */
};

void frame_reader_release(struct frame_reader *reader);
void frame_reader_clear(struct frame_reader *reader);          /* keeps the memory */

/* 0, or DAYBOOK_NO_MEMORY with nothing added. */
int frame_reader_add(struct frame_reader *reader, const void *bytes, size_t size);

/* The next frame's text, valid until the next frame_reader_add.  After a negative result there is
 * no next one. */
enum frame_reader_result frame_reader_next(struct frame_reader *reader, const char **text_out,
                                           size_t *size_out);
#endif
