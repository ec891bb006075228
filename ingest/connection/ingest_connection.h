/* ingest_connection: the connections on which clicks arrive, as lines or as frames.
 *
 * The protocol, with every exchange and every error, is docs/PROTOCOL.md "Text door" and "Binary
 * door".  What a connection consists of is ingest_connection_private.h. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_H

#include "ingest/connection/ingest_connection_private.h"

/* The doors of the instance, which do not listen yet, and the turns of its connections. */
void ingest_connection_open(struct ingest *ingest);

/* Own `network`, for which `door` has a place, and start to read from it; or turn it away. */
void ingest_connection_attach(struct ingest *ingest, struct door *door, struct connection *network);
/* Hang up at once; what waits for the store happens all the same. */
void ingest_connection_close(struct ingest_connection *connection);

/* The store may have room again: a BLOCKED connection tries once more, and goes on. */
void ingest_connection_retry(struct ingest_connection *connection);
/* Whose account the member is does not wait for memory any more (ingest_memory_open). */
void ingest_connection_resume(void *context, struct input_waiter *waiter);
#endif
