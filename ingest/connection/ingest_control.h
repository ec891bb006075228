/* ingest_control: executes control lines (ingest/parse/control_line.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_CONTROL_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_CONTROL_H

#include "ingest/connection/ingest_connection_private.h"

enum ingest_control_result {
    INGEST_CONTROL_DONE,
    INGEST_CONTROL_LATER,              /* not executed: the rows before the line could not be
                                        * applied, so the connection is BLOCKED or REFUSED.  After
                                        * BLOCKED, pass the line again */
    INGEST_CONTROL_UNKNOWN             /* not a control line */
};

/* `line` has no line end.  The connection may be BLOCKED or REFUSED afterwards. */
enum ingest_control_result ingest_control_line(struct ingest_connection *connection,
                                               struct bytes line);

/* Whether batch `sequence` may come now, as the producer's next or as a copy of an earlier one.
 * False: the connection was REFUSED. */
bool ingest_control_admits(struct ingest_connection *connection, uint64_t sequence);

/* Execute the #producer or #files that had to wait.  The connection may be BLOCKED again
 * afterwards. */
void ingest_control_retry(struct ingest_connection *connection);

void ingest_control_leave(struct ingest_connection *connection);
#endif
