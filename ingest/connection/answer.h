/* answer: what a connection is answered at once, and its last words. */
#ifndef DAYBOOK_INGEST_CONNECTION_ANSWER_H
#define DAYBOOK_INGEST_CONNECTION_ANSWER_H

#include "ingest/connection/ingest_connection_private.h"

/* Whose answer it is; NULL: the connection is gone. */
static inline struct ingest_connection *answer_connection(const struct reply *reply)
{
    return reply->queue == NULL ? NULL : reply->queue->context;
}

/* A line, behind the answers that are still to come. */
void answer_say(struct ingest_connection *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* error SEQUENCE word [text]: the connection's last words; what comes in is discarded from here on.
 * `sequence` 0: of no batch; `text` may be NULL. */
void answer_refuse(struct ingest_connection *connection, uint64_t sequence, const char *word,
                   const char *text);
/* The same, the answer quoting `line` as JSON. */
void answer_refuse_quoting(struct ingest_connection *connection, const char *word,
                           struct bytes line);
/* The same in place of a reply that waited for the store. */
void answer_fail(struct reply *reply, uint64_t sequence, const char *word, const char *text);

/* Send what is ready, as one write. */
void answer_flush(struct ingest_connection *connection);
#endif
