/* frame_decoder: the decoder of binary frames (ingest_decoder.h).  The protocol is docs/PROTOCOL.md
 * "Binary door". */
#ifndef DAYBOOK_INGEST_CONNECTION_FRAME_DECODER_H
#define DAYBOOK_INGEST_CONNECTION_FRAME_DECODER_H

#include "ingest/connection/ingest_connection_private.h"

/* Choose the decoder by the first bytes of the input, which is not empty.  False: more bytes are
 * needed. */
bool frame_decoder_choose(struct ingest_connection *connection);
void frame_decoder_close(struct ingest_connection *connection);
#endif
