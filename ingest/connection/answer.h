/* answer: answers that do not wait for the store, errors that end a connection, and sending. */
#ifndef DAYBOOK_INGEST_CONNECTION_ANSWER_H
#define DAYBOOK_INGEST_CONNECTION_ANSWER_H

#include "ingest/connection/ingest_connection_private.h"

/* The connection that the reply is for; NULL: it is closed. */
static inline struct ingest_connection *answer_connection(const struct reply *reply)
{
    return reply->queue == NULL ? NULL : reply->queue->context;
}

/* Answer a line, which is sent after the answers that are still to come. */
void answer_say(struct ingest_connection *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Answer "error SEQUENCE word [text]", after which the connection is REFUSED: its input is
 * discarded from here on.  `sequence` 0: of no batch; `text` may be NULL. */
void answer_refuse(struct ingest_connection *connection, uint64_t sequence, const char *word,
                   const char *text);
/* The same, the answer quoting `line` as JSON. */
void answer_refuse_quoting(struct ingest_connection *connection, const char *word,
                           struct bytes line);
/* The same as the text of `reply`, which waited for the store. */
void answer_fail(struct reply *reply, uint64_t sequence, const char *word, const char *text);

/* Send what is ready, as one write. */
void answer_flush(struct ingest_connection *connection);
#endif
