/* connection_memory: keeps a connection within its memory account (ingest_account.h), and frees
 * memory when it is scarce. */
#ifndef DAYBOOK_INGEST_CONNECTION_CONNECTION_MEMORY_H
#define DAYBOOK_INGEST_CONNECTION_CONNECTION_MEMORY_H

#include "ingest/connection/ingest_connection_private.h"

/* Bytes of answers that are not sent yet. */
size_t connection_memory_answers(const struct ingest_connection *connection);

/* Whether the connection may take another piece of its input now, of at most *lines_max_out
 * lines. */
bool connection_memory_may_take(struct ingest_connection *connection, uint64_t *lines_max_out);
/* Whether the connection may read from the network now.  `has_space`: its input has space. */
bool connection_memory_may_read(const struct ingest_connection *connection, bool has_space);

/* Charge the connection's account for the memory that it keeps now, and free memory if it is
 * scarce.  True: memory is scarce, or connections wait for it; the caller must then call
 * connection_memory_look for all connections.  Must not be called while the connection is being
 * served. */
bool connection_memory_update(struct ingest_connection *connection, bool has_space);
/* Refuse the connection if it holds memory without progress while others wait for memory. */
void connection_memory_look(struct ingest_connection *connection);
#endif
