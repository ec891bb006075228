/* binary_door: a connection of the text door whose client speaks in frames.
 *
 * Producers, streams, answers and commits are the text door's own; here only the input differs:
 * frames for lines, columns for records.  The protocol is docs/PROTOCOL.md "Binary door". */
#ifndef DAYBOOK_INGEST_CONNECTION_BINARY_DOOR_H
#define DAYBOOK_INGEST_CONNECTION_BINARY_DOOR_H

#include "ingest/connection/text_connection.h"

/* Look at the connection's first bytes.  False: they may become the magic, wait for more.  True: it
 * is known what they are, and `connection->binary` is there if it is frames. */
bool binary_door_tell(struct text_connection *connection);
void binary_door_free(struct ingest *ingest, struct binary_door *door);    /* NULL is fine */

/* What its dictionary is in; one thread's at a time (parse_ahead.h). */
struct binary_decoder *binary_door_decoder(const struct binary_door *door);

/* text_door_run, and the room to read into and whether there is any, for such a connection. */
void binary_door_run(struct text_connection *connection);
bool binary_door_has_space(const struct text_connection *connection);
void binary_door_space(struct text_connection *connection, uint8_t **to_out, size_t *size_out);

/* `text`, lines of answers, as frames. */
void binary_door_wrap(struct bytes text, struct buffer *frames);
#endif
