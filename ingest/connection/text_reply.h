/* text_reply: answers in the order of what they answer, each sent once it is true.
 *
 * A reply joins its connection's queue when its batch is applied and leaves when it is ready and
 * all before it have left.  A connection that closes gives up its replies: those that the store
 * still holds are freed when it lets go of them. */
#ifndef DAYBOOK_INGEST_CONNECTION_TEXT_REPLY_H
#define DAYBOOK_INGEST_CONNECTION_TEXT_REPLY_H

#include "ingest/connection/text_connection.h"

struct text_reply {
    struct text_reply *next;
    struct text_reply *next_waiting;   /* others that wait for the same batch */
    struct text_reply *next_applied;   /* of the next batch that was applied together with this */
    struct ingest *ingest;
    struct text_connection *connection;            /* NULL: it is gone */
    struct buffer text;
    size_t counted;                    /* bytes, in the connection's reply_bytes */
    bool is_ready;
    bool is_last;                      /* half-close after it */
    /* of a batch or group: what it adds to the metrics, and the batch that becomes durable */
    bool is_group;
    uint8_t key[16];                   /* of a #files */
    struct producer *producer;         /* NULL: none */
    uint64_t sequence;
    uint64_t accepted;
    uint64_t bytes;
    uint32_t reject_counts[REJECT_CODE_COUNT];
};

/* A new one at the end of the queue; its owner calls text_reply_ready later. */
struct text_reply *text_reply_new(struct text_connection *connection);
/* Its text is there, and counts from here on, while it waits for the disk. */
void text_reply_count(struct text_reply *reply);
/* It may be sent, which text_reply_flush does soon; frees it when its connection is gone. */
void text_reply_ready(struct text_reply *reply);
/* Send what is ready at the head of the queue, as one write. */
void text_reply_flush(struct text_connection *connection);
/* Take back the newest reply of the queue: what it was for did not happen. */
void text_reply_cancel(struct text_reply *reply);
/* A reply that is ready from the start. */
void text_reply_say(struct text_connection *connection, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "error SEQUENCE word", or "error - word" for 0, the connection's last words: what comes in is
 * discarded from here on.  `text` (may be NULL) follows as it is. */
void text_reply_refuse(struct text_connection *connection, uint64_t sequence, const char *word,
                       const char *text);
/* The same for a reply that waited for the store. */
void text_reply_fail(struct text_reply *reply, const char *word, const char *text);

/* The connection is about to be freed. */
void text_reply_abandon(struct text_connection *connection);
#endif
