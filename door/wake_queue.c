/* wake_queue: see the header. */
#include "door/wake_queue.h"

#include "base/error.h"

void wake_queue_open(struct wake_queue *queue, struct executor *executor,
                     void (*serve)(struct timer *timer), void *context)
{
    *queue =
        (struct wake_queue){.executor = executor, .timer = {.fire = serve, .context = context}};
    TAILQ_INIT(&queue->woken);
}

void wake_queue_close(struct wake_queue *queue)
{
    check(TAILQ_EMPTY(&queue->woken));
    queue->executor->timer_stop(queue->executor, &queue->timer);
}

void wake_queue_start(struct wake_queue *queue)
{
    if (!TAILQ_EMPTY(&queue->woken) && queue->timer.handle == NULL)
        queue->executor->timer_start(queue->executor, &queue->timer, 0);
}

void wake_queue_add(struct wake_queue *queue, struct wake_entry *entry)
{
    if (entry->is_woken)
        return;
    entry->is_woken = true;
    TAILQ_INSERT_TAIL(&queue->woken, entry, link);
    wake_queue_start(queue);
}

void wake_queue_remove(struct wake_queue *queue, struct wake_entry *entry)
{
    if (!entry->is_woken)
        return;
    TAILQ_REMOVE(&queue->woken, entry, link);
    entry->is_woken = false;
}

struct wake_entry *wake_queue_take(struct wake_queue *queue)
{
    struct wake_entry *first = TAILQ_FIRST(&queue->woken);

    check(first != NULL);
    wake_queue_remove(queue, first);
    return first;
}
