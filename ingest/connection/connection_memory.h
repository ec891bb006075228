/* connection_memory: keeps a connection within its memory account (ingest_account.h).
 *
 * It decides when a connection may take and read more input, and frees memory when memory is
 * scarce. */
#ifndef DAYBOOK_INGEST_CONNECTION_CONNECTION_MEMORY_H
#define DAYBOOK_INGEST_CONNECTION_CONNECTION_MEMORY_H

#include "ingest/connection/ingest_connection_private.h"

/* Bytes of answers that wait for the disk or are not sent yet. */
size_t connection_memory_answers(const struct ingest_connection *connection);

/* Whether another piece of the input may be taken now, of at most *lines_max_out lines. */
bool connection_memory_may_take(struct ingest_connection *connection, uint64_t *lines_max_out);
/* Whether the memory limits allow reading from the network; `has_space`: the input has space to
 * read into. */
bool connection_memory_may_read(const struct ingest_connection *connection, bool has_space);

/* Charge the connection's account for the memory that it keeps now.  If memory is scarce, free
 * memory that can be allocated again, and mark the connection as waiting if it needs more than its
 * account allows.  True: memory is scarce or waited for, so all connections must be checked for
 * progress (connection_memory_look).  Not called while the connection is being served. */
bool connection_memory_update(struct ingest_connection *connection, bool has_space);
/* Refuse the connection if others wait for memory that it holds without progress. */
void connection_memory_look(struct ingest_connection *connection);
#endif
