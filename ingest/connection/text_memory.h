/* text_memory: what a connection of the ingest door keeps in memory, and whether it may keep more.
 *
 * Two accounts, both of all connections: of what has come in (input_room.h), and of answers that
 * wait, for the disk or their reader.  Of the latter each connection may have half of what is left:
 * the more wait unread the less of each, but whoever reads his is served. */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_MEMORY_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_MEMORY_H

#include "ingest/connection/text_connection.h"

/* The room's accounts, by its limits. */
void text_memory_open(struct ingest *ingest);
void text_memory_close(struct ingest *ingest);

/* Bytes of answers that are with the network, or still wait for the disk; and how many may be. */
size_t text_memory_answers(const struct text_connection *connection);
size_t text_memory_answers_max(const struct text_connection *connection);

/* Whether its input may grow. */
bool text_memory_may_grow(const struct text_connection *connection);
/* Whether another piece of the input may be taken now, and at most how many lines. */
bool text_memory_may_take(struct text_connection *connection, uint64_t *lines_max_out);
/* Whether it may be read from, as far as memory goes; has_space: there is where to. */
bool text_memory_may_read(const struct text_connection *connection, bool has_space);

/* Count what it keeps by now, and give back what it can do without if that is scarce; it waits if
 * it cannot go on.  Not while it is being served. */
void text_memory_update(struct text_connection *connection, bool has_space);
/* Bytes came. */
void text_memory_came(struct text_connection *connection, size_t size);
/* It is about to be freed: it keeps nothing and waits for nothing. */
void text_memory_leave(struct text_connection *connection);
#endif
