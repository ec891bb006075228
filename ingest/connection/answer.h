/* answer: makes errors that end a connection, and all other answers that do not wait for the store;
 * sends the answers of a connection. */
#ifndef DAYBOOK_INGEST_CONNECTION_ANSWER_H
#define DAYBOOK_INGEST_CONNECTION_ANSWER_H

#include "ingest/connection/ingest_connection_private.h"

/* The connection that the reply is for; NULL: the connection is closed. */
static inline struct ingest_connection *answer_connection(const struct reply *reply)
{
    return reply->queue == NULL ? NULL : reply->queue->context;
}

/* Add a line to the answers; it is sent after all answers that were begun before. */
void answer_say(struct ingest_connection *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Answer "error SEQUENCE word [text]", and set the connection to REFUSED: its later input is
 * discarded.  `sequence` is 0 outside of batches; `text` may be NULL.  No effect if the connection
 * is REFUSED already. */
void answer_refuse(struct ingest_connection *connection, uint64_t sequence, const char *word,
                   const char *text);
/* Call answer_refuse with sequence 0, and `line` as a JSON string for the text. */
void answer_refuse_quoting(struct ingest_connection *connection, const char *word,
                           struct bytes line);
/* Make an error the text of `reply`, which waited for the store.  The reply's connection is set to
 * REFUSED, unless it is closed. */
void answer_fail(struct reply *reply, uint64_t sequence, const char *word, const char *text);

/* Send all answers that are ready, as one write. */
void answer_flush(struct ingest_connection *connection);
#endif
