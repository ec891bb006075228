/* reply_queue: keeps a connection's answers in the order of its requests until they are ready.
 *
 * A reply is added when its request is begun.  It is taken when it is ready and all replies before
 * it were taken.  A closing connection abandons its replies: those that are not ready lose their
 * queue, and are freed when they become ready. */
#ifndef DAYBOOK_INGEST_CONNECTION_REPLY_QUEUE_H
#define DAYBOOK_INGEST_CONNECTION_REPLY_QUEUE_H

#include "base/buffer.h"

struct reply_queue;

/* May be the first member of a larger struct (reply_queue_add). */
struct reply {
    struct reply *next;
    struct reply_queue *queue;         /* NULL: the connection is closed */
    struct buffer text;
    size_t size;                       /* bytes of the struct, without the text */
    size_t counted;                    /* bytes of this reply in reply_queue.bytes */
    bool is_ready;
    bool is_last;                      /* the connection ends after this reply */
};

struct reply_queue {
    struct reply *first, **end;
    uint32_t count;
    size_t bytes;                      /* of structs and texts of replies with a complete text */
    void (*ready)(void *context);      /* the first reply is ready */
    void *context;
};

void reply_queue_open(struct reply_queue *queue, void (*ready)(void *context), void *context);
/* Remove all replies, because the connection is closing. */
void reply_queue_abandon(struct reply_queue *queue);

/* Add a struct of `size` bytes at the end of the queue.  It begins with a struct reply; the bytes
 * behind that are zero.  The queue owns the struct.  The caller calls reply_queue_ready for it
 * later, once, unless it calls reply_queue_cancel. */
void *reply_queue_add(struct reply_queue *queue, size_t size);
/* Remove and free the newest reply, because its request was not executed. */
void reply_queue_cancel(struct reply_queue *queue, struct reply *reply);
/* Take replies from the front until one is not ready, append their texts to `text`, and free them.
 * True: the last one taken had is_last set; later replies stay. */
bool reply_queue_take(struct reply_queue *queue, struct buffer *text);

/* The reply's text is complete: count it in the queue's bytes while the reply waits. */
void reply_queue_count(struct reply *reply);
/* The reply may be sent.  If its connection is closed, the reply is freed instead. */
void reply_queue_ready(struct reply *reply);
#endif
