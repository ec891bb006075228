/* frame_reader: reads the server's answers from bytes that come in pieces of any size.
 *
 * The text of the frames, joined, is lines; a line may go on in the next frame. */
#ifndef DAYBOOK_CLIENT_FRAME_READER_H
#define DAYBOOK_CLIENT_FRAME_READER_H

#include <stddef.h>
#include <stdint.h>

/* Begins as zeros. */
struct frame_reader {
    /* private */
    uint8_t *bytes;
    size_t size, capacity;
    size_t taken;                      /* bytes of frames that were returned */
};

enum frame_reader_result {
    FRAME_READER_NONE = 0,             /* no whole frame is there */
    FRAME_READER_TEXT = 1,
    FRAME_READER_DAMAGED = -1,         /* the checksum is wrong */
    FRAME_READER_FOREIGN = -2          /* the bytes are no answer of the binary protocol */
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
