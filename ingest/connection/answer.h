/* answer: makes and sends the answers of a connection, and refuses connections. */
#ifndef DAYBOOK_INGEST_CONNECTION_ANSWER_H
#define DAYBOOK_INGEST_CONNECTION_ANSWER_H

#include "ingest/connection/ingest_connection_private.h"

/* The connection that `reply` answers; NULL: it is closed. */
static inline struct ingest_connection *answer_connection(const struct reply *reply)
{
    return reply->queue == NULL ? NULL : reply->queue->context;
}

/* Answer a line.  The answer is sent after all answers that were begun before it. */
void answer_say(struct ingest_connection *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Answer "error SEQUENCE word [text]", and set the connection to REFUSED: its later input is
 * discarded.  `sequence` is 0 outside of batches; `text` may be NULL. */
void answer_refuse(struct ingest_connection *connection, uint64_t sequence, const char *word,
                   const char *text);
/* Do the same for sequence 0, with `line` as a JSON string for the text. */
void answer_refuse_quoting(struct ingest_connection *connection, const char *word,
                           struct bytes line);
/* Make `reply` an error that is ready to be sent, and set its open connection to REFUSED. */
void answer_fail(struct reply *reply, uint64_t sequence, const char *word, const char *text);

void answer_flush(struct ingest_connection *connection);
#endif
