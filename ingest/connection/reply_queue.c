/* reply_queue: see the header. */
#include "ingest/connection/reply_queue.h"

#include "base/error.h"
#include "base/memory.h"

void reply_queue_open(struct reply_queue *queue, void (*ready)(void *context), void *context)
{
    *queue = (struct reply_queue){.ready = ready, .context = context};
    queue->end = &queue->first;
}

void *reply_queue_add(struct reply_queue *queue, size_t size)
{
    struct reply *reply;

    check(size >= sizeof *reply);
    reply = memory_zeroed(1, size);
    reply->queue = queue;
    reply->size = size;
    *queue->end = reply;
    queue->end = &reply->next;
    queue->count++;
    return reply;
}

static void reply_free(struct reply *reply)
{
    buffer_release(&reply->text);
    memory_free(reply);
}

static void queue_unlink(struct reply_queue *queue, struct reply **link)
{
    struct reply *reply = *link;

    *link = reply->next;
    if (reply->next == NULL)
        queue->end = link;
    queue->count--;
    queue->bytes -= reply->counted;
}

void reply_queue_cancel(struct reply_queue *queue, struct reply *reply)
{
    struct reply **link = &queue->first;

    check(reply->queue == queue && reply->next == NULL);
    while (*link != reply)
        link = &(*link)->next;
    queue_unlink(queue, link);
    reply_free(reply);
}

bool reply_queue_take(struct reply_queue *queue, struct buffer *text)
{
    bool is_last = false;

    while (queue->first != NULL && queue->first->is_ready && !is_last) {
        struct reply *reply = queue->first;

        is_last = reply->is_last;
        buffer_append_bytes(text, buffer_view(&reply->text));
        queue_unlink(queue, &queue->first);
        reply_free(reply);
    }
    return is_last;
}

void reply_queue_abandon(struct reply_queue *queue)
{
    while (queue->first != NULL) {
        struct reply *reply = queue->first;

        queue_unlink(queue, &queue->first);
        reply->queue = NULL;
        reply->next = NULL;
        if (reply->is_ready)
            reply_free(reply);
    }
}

void reply_queue_count(struct reply *reply)
{
    size_t bytes = reply->size + reply->text.capacity;

    if (reply->queue == NULL)
        return;
    reply->queue->bytes += bytes - reply->counted;
    reply->counted = bytes;
}

void reply_queue_ready(struct reply *reply)
{
    struct reply_queue *queue = reply->queue;

    reply->is_ready = true;
    reply_queue_count(reply);
    if (queue == NULL)
        reply_free(reply);
    else if (reply == queue->first)
        queue->ready(queue->context);
}
