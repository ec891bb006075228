/* frame_reader: reads the server's answers, which are frames, from pieces of bytes of any size.
 *
 * A line of text may continue in the next frame. */
#ifndef DAYBOOK_CLIENT_FRAME_READER_H
#define DAYBOOK_CLIENT_FRAME_READER_H

#include <stddef.h>
#include <stdint.h>

/* All-zero is an empty reader. */
struct frame_reader {
    /* private */
    uint8_t *bytes;
    size_t size, capacity;
    size_t taken;
};

enum frame_reader_result {
    FRAME_READER_NONE = 0,
    FRAME_READER_TEXT = 1,
    FRAME_READER_DAMAGED = -1,
    FRAME_READER_FOREIGN = -2          /* not a frame of answers */
};

void frame_reader_release(struct frame_reader *reader);
void frame_reader_clear(struct frame_reader *reader);          /* keeps the memory */

/* After an error no bytes were added. */
int frame_reader_add(struct frame_reader *reader, const void *bytes, size_t size);

/* The text is valid until the next frame_reader_add.  After a negative result the reader must be
 * cleared. */
enum frame_reader_result frame_reader_next(struct frame_reader *reader, const char **text_out,
                                           size_t *size_out);
#endif
