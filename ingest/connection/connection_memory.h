/* connection_memory: keeps a connection within its memory account: when it may take and read more,
 * and what it gives back where memory is scarce. */
#ifndef DAYBOOK_INGEST_CONNECTION_CONNECTION_MEMORY_H
#define DAYBOOK_INGEST_CONNECTION_CONNECTION_MEMORY_H

#include "ingest/connection/ingest_connection_private.h"

/* Bytes of answers that are with the network, or still wait for the disk. */
size_t connection_memory_answers(const struct ingest_connection *connection);

/* Whether another piece of the input may be taken now, and at most how many lines. */
bool connection_memory_may_take(struct ingest_connection *connection, uint64_t *lines_max_out);
/* Whether memory allows to read from it; `has_space`: the input has space to read into. */
bool connection_memory_may_read(const struct ingest_connection *connection, bool has_space);

/* Charge its account for what it keeps now; where memory is scarce, give back what can be made
 * again, and wait if it needs more than it may have.  True: memory is scarce, so that all
 * connections must be checked for progress (connection_memory_look).  Not while it is being served.
 */
bool connection_memory_update(struct ingest_connection *connection, bool has_space);
/* Refuse it if others wait for memory that it holds without progress. */
void connection_memory_look(struct ingest_connection *connection);
#endif
