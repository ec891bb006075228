/* frame_decoder: a connection whose client speaks in frames.
 *
 * Producers, streams, answers and commits are those of lines; here only the input differs: frames
 * for lines, columns for records.  The protocol is docs/PROTOCOL.md "Binary door". */
#ifndef DAYBOOK_INGEST_CONNECTION_FRAME_DECODER_H
#define DAYBOOK_INGEST_CONNECTION_FRAME_DECODER_H

#include "ingest/connection/ingest_connection_private.h"

enum frame_decoder_begin { FRAME_DECODER_NO, FRAME_DECODER_MAYBE, FRAME_DECODER_YES };

/* Whether a connection that begins with `input` (not empty) speaks in frames; MAYBE: more must come
 * before that is known. */
enum frame_decoder_begin frame_decoder_looks(struct bytes input);

/* Its input, which looks so, is frames from here on. */
void frame_decoder_open(struct ingest_connection *connection);
void frame_decoder_close(struct ingest_connection *connection);        /* without frames: nothing */
#endif
