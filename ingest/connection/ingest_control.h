/* ingest_control: executes control lines (ingest/parse/control_line.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_CONTROL_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_CONTROL_H

#include "ingest/connection/ingest_connection_private.h"

enum ingest_control_result {
    INGEST_CONTROL_DONE,
    INGEST_CONTROL_LATER,              /* earlier lines wait for the store: call again later */
    INGEST_CONTROL_UNKNOWN             /* not a control line: refuse it as a record */
};

/* Execute `line`, given without its end.  The connection may be BLOCKED or REFUSED afterwards. */
enum ingest_control_result ingest_control_line(struct ingest_connection *connection,
                                               struct bytes line);

/* Whether a batch with this number may come now; false: the connection was REFUSED. */
bool ingest_control_admits(struct ingest_connection *connection, uint64_t sequence);

/* Execute the #producer that waited until the store takes writes, or the #files that waited for
 * batches in flight.  The connection may be BLOCKED again afterwards. */
void ingest_control_retry(struct ingest_connection *connection);

/* End the connection's ownership of its producer. */
void ingest_control_leave(struct ingest_connection *connection);
#endif
