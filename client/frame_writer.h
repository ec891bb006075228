/* frame_writer: writes the frames that a client sends on one connection.
 *
 * A dictionary numbers the strings that were sent; a full one is cleared here and in the server.
 * The caller sends the bytes in `out` and removes them.  A call that fails with DAYBOOK_INVALID
 * (too large) or DAYBOOK_NO_MEMORY appends nothing. */
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
    struct string_map strings;
    bool is_stale;                     /* the next batch clears both dictionaries */
    uint32_t *codes;                   /* dictionary codes of the batch's resellers, then ads */
    size_t code_capacity;
};

void frame_writer_release(struct frame_writer *writer);

/* Clear `out`, and write the magic and the first frame. */
int frame_writer_hello(struct frame_writer *writer);
/* `line` has no LF. */
int frame_writer_control(struct frame_writer *writer, const char *line);
/* `header` has WIRE_LINES_HEADER bytes; each line ends with an LF. */
int frame_writer_lines(struct frame_writer *writer, const uint8_t *header, const void *lines,
                       size_t size);
/* `sequence` is the batch's number; 0: the rows do not belong to a numbered batch. */
int frame_writer_batch(struct frame_writer *writer, const struct click_columns *columns,
                       uint64_t sequence);
#endif
