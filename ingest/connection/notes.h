/* notes: lines that report to clients that the store stops or resumes writes; they answer no
 * request.
 *
 *     note waiting disk_full 67108864
 *     note goes_on
 *
 * Notes are sent only to clients that request them, by `#notes` or by version 2 of the binary
 * protocol, because an older client would take a note for an error.  A client ignores notes that it
 * does not know. */
#ifndef DAYBOOK_INGEST_CONNECTION_NOTES_H
#define DAYBOOK_INGEST_CONNECTION_NOTES_H

#include "ingest/connection/ingest_connection_private.h"
#include "storage/engine/store.h"

/* Send notes on this connection from now on, and one now if writes are stopped. */
void notes_begin(struct ingest_connection *connection);
/* The callback for store_on_waiting. */
void notes_waiting(void *context, const struct store_waiting *waiting);
#endif
