/* frame_decoder: the decoder of binary frames (ingest_decoder.h).
 *
 * Producers, streams, answers and commits are the same as for lines.  Only the input differs:
 * frames in place of lines, columns in place of records.  The protocol is docs/PROTOCOL.md "Binary
 * door". */
#ifndef DAYBOOK_INGEST_CONNECTION_FRAME_DECODER_H
#define DAYBOOK_INGEST_CONNECTION_FRAME_DECODER_H

#include "ingest/connection/ingest_connection_private.h"

enum frame_decoder_begin { FRAME_DECODER_NO, FRAME_DECODER_MAYBE, FRAME_DECODER_YES };

/* Whether a connection's input is frames, by its first bytes `input`, which are not empty.  MAYBE:
 * more bytes are needed to decide. */
enum frame_decoder_begin frame_decoder_looks(struct bytes input);

/* Decode the connection's input as frames; frame_decoder_looks has returned YES. */
void frame_decoder_open(struct ingest_connection *connection);
/* Free the decoder's state; fine for a connection whose input is lines. */
void frame_decoder_close(struct ingest_connection *connection);
#endif
