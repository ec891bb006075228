/* text_control: the lines that begin with '#': what a client says about what follows. */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_CONTROL_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_CONTROL_H

#include "ingest/connection/text_connection.h"

enum text_control_result {
    TEXT_CONTROL_DONE,
    TEXT_CONTROL_LATER,                /* lines before it wait for the store: ask again */
    TEXT_CONTROL_UNKNOWN               /* no control line: refuse it as a record */
};

/* Obey `line` (without its end); the connection may be REFUSED afterwards. */
enum text_control_result text_control_line(struct text_connection *connection, struct bytes line);

/* Whether a batch of this number may come now; false: the connection was REFUSED. */
bool text_control_admits(struct text_connection *connection, uint64_t sequence);

/* The store takes writes again: make the producer known that waits for that. */
void text_control_retry(struct text_connection *connection);

/* Give up the producer the connection speaks for. */
void text_control_leave(struct text_connection *connection);
#endif
