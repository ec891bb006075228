/* ingest_connection: the connections on which clicks arrive, as lines or as frames.
 *
 * The protocol is docs/PROTOCOL.md "Text door" and "Binary door". */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_CONNECTION_H

#include "ingest/connection/ingest_connection_private.h"

void ingest_connection_open(struct ingest *ingest);

/* Take ownership of `network` and start to read from it.  If `door` gives it no place (door_enter),
 * refuse and close the connection. */
void ingest_connection_attach(struct ingest *ingest, struct door *door, struct connection *network);
/* Close the connection without waiting for its answers.  Applied batches still become durable. */
void ingest_connection_close(struct ingest_connection *connection);

void ingest_connection_retry(struct ingest_connection *connection);
/* The callback for ingest_memory_open: serve the connection of `waiter`. */
void ingest_connection_resume(void *context, struct input_waiter *waiter);
#endif
