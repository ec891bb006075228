/* ingest_control: carries out control lines, which begin with '#' and say what the lines after them
 * are. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_CONTROL_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_CONTROL_H

#include "ingest/connection/ingest_connection_private.h"

enum ingest_control_result {
    INGEST_CONTROL_DONE,
    INGEST_CONTROL_LATER,              /* lines before it wait for the store: ask again */
    INGEST_CONTROL_UNKNOWN             /* no control line: refuse it as a record */
};

/* Obey `line` (without its end); the connection may be REFUSED afterwards. */
enum ingest_control_result ingest_control_line(struct ingest_connection *connection,
                                               struct bytes line);

/* Whether a batch of this number may come now; false: the connection was REFUSED. */
bool ingest_control_admits(struct ingest_connection *connection, uint64_t sequence);

/* The store takes writes again: make the producer known that waits for that.  The connection may be
 * BLOCKED again afterwards. */
void ingest_control_retry(struct ingest_connection *connection);

/* Give up the producer the connection speaks for. */
void ingest_control_leave(struct ingest_connection *connection);
#endif
