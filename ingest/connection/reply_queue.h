/* reply_queue: a connection's answers, in the order of what they answer, each sent once it is
 * ready.
 *
 * A reply is added when what it answers is begun, and is taken when it is ready and all before it
 * were taken.  A connection that closes abandons its replies: those that are not ready stay without
 * a queue, and are freed when they become ready. */
#ifndef DAYBOOK_INGEST_CONNECTION_REPLY_QUEUE_H
#define DAYBOOK_INGEST_CONNECTION_REPLY_QUEUE_H

#include "base/buffer.h"

struct reply_queue;

/* May be the first member of a larger one (reply_queue_add). */
struct reply {
    struct reply *next;
    struct reply_queue *queue;         /* NULL: its connection is gone */
    struct buffer text;
    size_t size;                       /* bytes of the reply itself */
    size_t counted;                    /* bytes, text included, that are in the queue's sum */
    bool is_ready;
    bool is_last;                      /* after it the connection ends */
};

struct reply_queue {
    struct reply *first, **end;
    uint32_t count;
    size_t bytes;                      /* of replies whose text is complete */
    void (*ready)(void *context);      /* the first one is ready */
    void *context;
};

void reply_queue_open(struct reply_queue *queue, void (*ready)(void *context), void *context);
/* The connection is about to be closed. */
void reply_queue_abandon(struct reply_queue *queue);

/* Add a reply of `size` bytes at the end: a struct reply, followed by zeros.  The caller calls
 * reply_queue_ready for it later, once. */
void *reply_queue_add(struct reply_queue *queue, size_t size);
/* Remove the newest reply: what it would answer did not happen. */
void reply_queue_cancel(struct reply_queue *queue, struct reply *reply);
/* Append the texts of the first replies to `text`, as far as they are ready, and free them.  True:
 * the last of these is_last, and replies after it stay. */
bool reply_queue_take(struct reply_queue *queue, struct buffer *text);

/* The reply's text is complete, and counts in the queue's bytes while the reply waits. */
void reply_queue_count(struct reply *reply);
/* The reply may be sent.  Where its connection is closed it is freed instead. */
void reply_queue_ready(struct reply *reply);
#endif
