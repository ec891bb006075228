/* answer: makes and sends the answers of a connection, and refuses connections. */
#ifndef DAYBOOK_INGEST_CONNECTION_ANSWER_H
#define DAYBOOK_INGEST_CONNECTION_ANSWER_H

#include "ingest/connection/ingest_connection_private.h"

/* NULL: the connection is closed. */
static inline struct ingest_connection *answer_connection(const struct reply *reply)
{
    return reply->queue == NULL ? NULL : reply->queue->context;
}

/* The line is sent after all answers that were begun earlier. */
void answer_say(struct ingest_connection *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Answer "error SEQUENCE word [text]", and set the connection to REFUSED: its later input is
 * discarded.  `sequence` is 0 outside of batches; `text` may be NULL. */
void answer_refuse(struct ingest_connection *connection, uint64_t sequence, const char *word,
                   const char *text);
/* Call answer_refuse with sequence 0, and `line` as a JSON string for the text. */
void answer_refuse_quoting(struct ingest_connection *connection, const char *word,
                           struct bytes line);
/* Replace the text of `reply` by an error, and set its connection to REFUSED if it is not
 * closed. */
void answer_fail(struct reply *reply, uint64_t sequence, const char *word, const char *text);

void answer_flush(struct ingest_connection *connection);
#endif
