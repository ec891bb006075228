/* frame_decoder: the decoder of binary frames (ingest_decoder.h).
 *
 * Producers, streams, answers and commits are the same as for lines.  Only the input differs:
 * frames in place of lines, columns in place of records.  The protocol is docs/PROTOCOL.md "Binary
 * door". */
#ifndef DAYBOOK_INGEST_CONNECTION_FRAME_DECODER_H
#define DAYBOOK_INGEST_CONNECTION_FRAME_DECODER_H

#include "ingest/connection/ingest_connection_private.h"

/* Choose the decoder of lines or of frames by the first bytes of the input, which is not empty.
 * False: more bytes are needed to decide. */
bool frame_decoder_choose(struct ingest_connection *connection);
/* Free the decoder's state; fine for a connection whose input is lines. */
void frame_decoder_close(struct ingest_connection *connection);
#endif
