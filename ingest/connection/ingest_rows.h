/* ingest_rows: sets a connection's stream and row builder; a failure refuses the connection. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_ROWS_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_ROWS_H

#include "ingest/connection/ingest_connection_private.h"

/* Make a row builder if there is none.  False: the connection was REFUSED. */
bool ingest_rows_prepare(struct ingest_connection *connection);
/* Set the stream of later records; all earlier rows must be applied.  The connection may be REFUSED
 * afterwards. */
void ingest_rows_choose(struct ingest_connection *connection, const struct ingest_stream *stream);
#endif
