/* connection_memory: how a connection lives within its memory account: when it may take and read
 * more, and what it gives back where memory is scarce. */
#ifndef DAYBOOK_INGEST_CONNECTION_CONNECTION_MEMORY_H
#define DAYBOOK_INGEST_CONNECTION_CONNECTION_MEMORY_H

#include "ingest/connection/ingest_connection_private.h"

/* Bytes of answers that are with the network, or still wait for the disk. */
size_t connection_memory_answers(const struct ingest_connection *connection);

/* Whether another piece of the input may be taken now, and at most how many lines. */
bool connection_memory_may_take(struct ingest_connection *connection, uint64_t *lines_max_out);
/* Whether it may be read from, as far as memory goes; has_space: there is where to. */
bool connection_memory_may_read(const struct ingest_connection *connection, bool has_space);

/* Count what it keeps by now, and give back what it can do without if that is scarce; it waits if
 * it cannot go on.  True: memory is scarce, and some of all connections must be looked at.  Not
 * while it is being served. */
bool connection_memory_update(struct ingest_connection *connection, bool has_space);
/* Refuse it if others wait for what it holds, and it does not go on. */
void connection_memory_look(struct ingest_connection *connection);
#endif
