/* notes: lines that answer nothing, and report to clients that the store stops or resumes writes.
 *
 *     note waiting disk_full 67108864
 *     note goes_on
 *
 * They go only to connections that have asked for them (`#notes`, or version 2 of the binary
 * protocol), because an older client would take such a line for an error.  A client ignores notes
 * that it does not know. */
#ifndef DAYBOOK_INGEST_CONNECTION_NOTES_H
#define DAYBOOK_INGEST_CONNECTION_NOTES_H

#include "ingest/connection/ingest_connection_private.h"
#include "storage/engine/store.h"

/* Send notes to the connection from now on, the first one in this call where writes are stopped. */
void notes_begin(struct ingest_connection *connection);
/* A store_waiting_changed; `context` is the struct ingest. */
void notes_waiting(void *context, const struct store_waiting *waiting);
#endif
