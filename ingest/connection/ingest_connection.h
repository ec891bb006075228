/* ingest_connection: the connections on which clicks arrive, as lines or as frames.
 *
 * The protocol, with every exchange and every error, is docs/PROTOCOL.md "Text door" and "Binary
 * door".  What a connection consists of is ingest_connection_private.h. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_H

#include "ingest/connection/ingest_connection_private.h"

/* Open the doors of the instance, which do not listen yet, and the queue by which its connections
 * are served. */
void ingest_connection_open(struct ingest *ingest);

/* Own `network` and start to read from it, or refuse and close it where `door` has no slot for it.
 */
void ingest_connection_attach(struct ingest *ingest, struct door *door, struct connection *network);
/* Close the connection without waiting for its answers.  What was handed to the store is still
 * applied. */
void ingest_connection_close(struct ingest_connection *connection);

/* The store may have room again: a BLOCKED connection retries, and goes on where it succeeds. */
void ingest_connection_retry(struct ingest_connection *connection);
/* The connection whose account has this waiter does not wait for memory any more
 * (ingest_memory_open). */
void ingest_connection_resume(void *context, struct input_waiter *waiter);
#endif
