/* text_door: the connections on which clicks arrive as text.
 *
 * The protocol, with every exchange and every error, is docs/PROTOCOL.md "Text door". */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_DOOR_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_DOOR_H

#include "ingest/connection/text_connection.h"

struct batch_group;

/* The doors of the room, which do not listen yet. */
void text_door_open(struct ingest *ingest);
/* Own `connection`, for which `door` has a place, and start to read from it; or turn it away. */
void text_door_attach(struct ingest *ingest, struct door *door, struct connection *connection);

/* Whether it came by the control socket, as `daybook load` does. */
bool text_door_is_load(const struct text_connection *connection);

/* Take what has come in, as far as it goes, but no more than a chunk, and than is left of the turn
 * (ingest_private.h): others want theirs. */
void text_door_run(struct text_connection *connection);

/* Send its answers and run it in the next turn of the loop, after all callbacks of this one: many
 * answers are then one write, and none waits for a run that another's callback began. */
void text_door_wake(struct text_connection *connection);
void text_door_turn(struct timer *timer);

/* Read, stop reading, or hang up, as its state now says. */
void text_door_update(struct text_connection *connection);

/* Free it, once the network is done with it and nothing is parsed ahead. */
void text_door_release(struct text_connection *connection);

/* Hang up at once; what waits for the store happens all the same. */
void text_door_close(struct text_connection *connection);

/* Apply the bundle, which begins at the front of the input, and take its bytes, each of which is
 * `cost` of the turn's.  False: nothing was taken. */
bool text_door_take_bundle(struct text_connection *connection, const struct batch_group *bundle,
                           size_t cost);

/* A row builder for the connection's stream; false: it was REFUSED. */
bool text_door_prepare(struct text_connection *connection);

/* Records go to `stream` from here on; all before were committed. */
void text_door_choose(struct text_connection *connection, const struct ingest_stream *stream);
#endif
