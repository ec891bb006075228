/* reply_queue: keeps a connection's answers in the order of its requests until they are ready.
 *
 * A reply is added when its request begins, and taken when it and all replies before it are ready.
 * A closing connection abandons its replies; those that are not ready are freed when they become
 * ready. */
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
    size_t counted;                    /* this reply's bytes in reply_queue.bytes */
    bool is_ready;
    bool is_last;                      /* the connection ends after this reply */
};

struct reply_queue {
    struct reply *first, **end;
    uint32_t count;
    size_t bytes;                      /* bytes of replies whose text is complete */
    void (*ready)(void *context);      /* called when the first reply is ready */
    void *context;
};

void reply_queue_open(struct reply_queue *queue, void (*ready)(void *context), void *context);
void reply_queue_abandon(struct reply_queue *queue);

/* Add a struct of `size` bytes at the end of the queue, which owns it.  This struct begins with a
 * struct reply; the bytes behind that are zero.  The caller must call reply_queue_ready or
 * reply_queue_cancel once for each reply. */
void *reply_queue_add(struct reply_queue *queue, size_t size);
/* Remove and free the reply, which must be the newest. */
void reply_queue_cancel(struct reply_queue *queue, struct reply *reply);
/* Take ready replies from the front, append their texts to `text`, and free them.  True: the last
 * one taken had is_last set; later replies stay. */
bool reply_queue_take(struct reply_queue *queue, struct buffer *text);

/* Count the reply's bytes in the queue until it is taken.  Its text must be complete. */
void reply_queue_count(struct reply *reply);
/* Mark the reply as ready to be sent.  If its connection is closed, free the reply. */
void reply_queue_ready(struct reply *reply);
#endif
