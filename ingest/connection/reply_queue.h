/* reply_queue: a connection's answers, in the order of what they answer, each sent once it is true.
 *
 * A reply joins the queue when what it answers is under way, and leaves when it is ready and all
 * before it have left.  A connection that closes abandons its replies: those that are not ready
 * live on without a queue, and are freed when they become ready. */
#ifndef DAYBOOK_INGEST_CONNECTION_REPLY_QUEUE_H
#define DAYBOOK_INGEST_CONNECTION_REPLY_QUEUE_H

#include "base/buffer.h"

struct reply_queue;

/* May be the first member of a larger one (reply_queue_add). */
struct reply {
    struct reply *next;
    struct reply_queue *queue;         /* NULL: its connection is gone */
    struct buffer text;
    size_t size;                       /* of itself, */
    size_t counted;                    /* and bytes with its text, in the queue's */
    bool is_ready;
    bool is_last;                      /* the connection's last words */
};

struct reply_queue {
    struct reply *first, **end;
    uint32_t count;
    size_t bytes;                      /* of those whose text is there */
    void (*ready)(void *context);      /* the first one is ready */
    void *context;
};

void reply_queue_open(struct reply_queue *queue, void (*ready)(void *context), void *context);
/* The connection is about to be closed. */
void reply_queue_abandon(struct reply_queue *queue);

/* A new one at the end, of `size` bytes, which begin with a struct reply and are zeros behind it;
 * its owner calls reply_queue_ready later, once. */
void *reply_queue_add(struct reply_queue *queue, size_t size);
/* Take the newest one back: what it was for did not happen. */
void reply_queue_cancel(struct reply_queue *queue, struct reply *reply);
/* Append to `text` what is ready at the head, and free it; true: the last of it is_last, and what
 * is behind that stays. */
bool reply_queue_take(struct reply_queue *queue, struct buffer *text);

/* Its text is there, and counts from here on, while it waits. */
void reply_queue_count(struct reply *reply);
/* It may be sent; it is freed at once when its connection is gone. */
void reply_queue_ready(struct reply *reply);
#endif
