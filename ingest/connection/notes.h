/* notes: lines that answer nothing, by which senders learn that the server waits.
 *
 *     note waiting disk_full 67108864
 *     note goes_on
 *
 * They go only to connections that want them (`#notes`, or version 2 of the binary door): an older
 * client would take such a line for no daybook's.  A client passes over notes that it
 * does not know. */
#ifndef DAYBOOK_INGEST_CONNECTION_NOTES_H
#define DAYBOOK_INGEST_CONNECTION_NOTES_H

#include "ingest/connection/ingest_connection_private.h"
#include "storage/engine/store.h"

/* From now on the connection is told; at once, if the store waits already. */
void notes_begin(struct ingest_connection *connection);
/* A store_waiting_changed; `context` is the struct ingest. */
void notes_waiting(void *context, const struct store_waiting *waiting);
#endif
