/* ingest_connection: the connections on which clicks arrive, as lines or as frames.
 *
 * The protocol, with every exchange and every error, is docs/PROTOCOL.md "Text door" and "Binary
 * door".  ingest_connection_private.h has the state of a connection. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_H

#include "ingest/connection/ingest_connection_private.h"

/* Open the instance's two doors, without listening, and the queue of connections to serve. */
void ingest_connection_open(struct ingest *ingest);

/* Take ownership of `network` and start to read from it, or refuse and close it if `door` gives it
 * no slot. */
void ingest_connection_attach(struct ingest *ingest, struct door *door, struct connection *network);
/* Close the connection without waiting for its answers.  Batches that were applied still become
 * durable. */
void ingest_connection_close(struct ingest_connection *connection);

/* If the connection is BLOCKED, retry the operation that had to wait, and continue if it
 * succeeds. */
void ingest_connection_retry(struct ingest_connection *connection);
/* Serve the connection whose account has this waiter: it no longer waits for memory.  A callback
 * for ingest_memory_open. */
void ingest_connection_resume(void *context, struct input_waiter *waiter);
#endif
