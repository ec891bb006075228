/* frame_writer: writes the frames that a client sends on one connection.
 *
 * The dictionary has the strings that were sent on this connection, so that each string is sent
 * once.  When it is full, it is cleared on both sides.  Frames are appended to `out`; the caller
 * sends and removes them.  Calls return 0, DAYBOOK_INVALID (too much for a frame or the dictionary)
 * or DAYBOOK_NO_MEMORY; a call that fails appends nothing. */
#ifndef DAYBOOK_CLIENT_FRAME_WRITER_H
#define DAYBOOK_CLIENT_FRAME_WRITER_H

#include <stdbool.h>

#include "client/click_batch.h"

/* All-zero is an empty writer. */
struct frame_writer {
    uint8_t *out;
    size_t out_size;
    /* private */
    size_t out_capacity;
    struct string_map strings;         /* the connection's dictionary */
    bool is_stale;                     /* the server's dictionary may differ: the next batch clears
                                        * both */
    uint32_t *codes;                   /* codes of the batch's resellers, then of its ads */
    size_t code_capacity;
};

void frame_writer_release(struct frame_writer *writer);

/* Begin a connection: clear `out`, and write the magic and the first frame. */
int frame_writer_hello(struct frame_writer *writer);
/* Write a control line of the text protocol, given without its LF. */
int frame_writer_control(struct frame_writer *writer, const char *line);
/* Write a batch of lines of text: WIRE_LINES_HEADER bytes of header, and the lines, each with its
 * LF. */
int frame_writer_lines(struct frame_writer *writer, const uint8_t *header, const void *lines,
                       size_t size);
/* Write a batch of columns; `sequence` 0: the rows are outside of batches. */
int frame_writer_batch(struct frame_writer *writer, const struct click_columns *columns,
                       uint64_t sequence);
#endif
