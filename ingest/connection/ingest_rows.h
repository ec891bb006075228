/* ingest_rows: a connection's rows, with the answer where there can be none. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_ROWS_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_ROWS_H

#include "ingest/connection/ingest_connection_private.h"

/* A row builder for the connection's stream; false: it was REFUSED. */
bool ingest_rows_prepare(struct ingest_connection *connection);
/* Records are for `stream` from here on; all before were committed.  It may be REFUSED. */
void ingest_rows_choose(struct ingest_connection *connection, const struct ingest_stream *stream);
#endif
