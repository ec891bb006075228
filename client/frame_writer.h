/* frame_writer: writes what a client sends on one connection, in the binary protocol.
 *
 * Its dictionary has the strings that were sent on this connection, so that each is sent once; when
 * it is full, it is cleared on both sides.  Bytes are appended to `out` until the caller has sent
 * them.  Calls return 0, DAYBOOK_INVALID (more than a frame holds) or DAYBOOK_NO_MEMORY,
 * and then `out` ends where it did before. */
#ifndef DAYBOOK_CLIENT_FRAME_WRITER_H
#define DAYBOOK_CLIENT_FRAME_WRITER_H

#include <stdbool.h>

#include "client/click_batch.h"

/* Begins as zeros. */
struct frame_writer {
    uint8_t *out;
    size_t out_size;
    /* private */
    size_t out_capacity;
    struct string_map strings;         /* the connection's dictionary */
    bool is_stale;                     /* the server's may differ: the next batch clears both */
    uint32_t *codes;                   /* of the batch's resellers, then of its ads */
    size_t code_capacity;
};

void frame_writer_release(struct frame_writer *writer);

/* Begin a connection: nothing is in `out` but the magic and the first frame. */
int frame_writer_hello(struct frame_writer *writer);
/* A control line of the text door, without its LF. */
int frame_writer_control(struct frame_writer *writer, const char *line);
/* Lines of text as a batch: WIRE_LINES_HEADER bytes of header, and the lines, each with its LF. */
int frame_writer_lines(struct frame_writer *writer, const uint8_t *header, const void *lines,
                       size_t size);
/* `sequence` 0: rows outside of batches. */
int frame_writer_batch(struct frame_writer *writer, const struct click_columns *columns,
                       uint64_t sequence);
#endif
