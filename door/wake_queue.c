/* wake_queue: see the header. */
#include "door/wake_queue.h"

#include "base/error.h"

void wake_queue_open(struct wake_queue *queue, struct executor *executor,
                     void (*serve)(struct timer *timer), void *context)
{
    *queue =
        (struct wake_queue){.executor = executor, .timer = {.fire = serve, .context = context}};
    queue->end = &queue->first;
}

void wake_queue_close(struct wake_queue *queue)
{
    check(queue->first == NULL);
    queue->executor->timer_stop(queue->executor, &queue->timer);
}

void wake_queue_start(struct wake_queue *queue)
{
    if (queue->first != NULL && queue->timer.handle == NULL)
        queue->executor->timer_start(queue->executor, &queue->timer, 0);
}

void wake_queue_add(struct wake_queue *queue, struct wake_entry *entry)
{
    if (entry->is_woken)
        return;
    entry->is_woken = true;
    entry->next = NULL;
    *queue->end = entry;
    queue->end = &entry->next;
    wake_queue_start(queue);
}

void wake_queue_remove(struct wake_queue *queue, struct wake_entry *entry)
{
    struct wake_entry **link = &queue->first;

    if (!entry->is_woken)
        return;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    if (*link == NULL)
        queue->end = link;
    entry->is_woken = false;
}

struct wake_entry *wake_queue_take(struct wake_queue *queue)
{
    struct wake_entry *first = queue->first;

    check(first != NULL);
    queue->first = first->next;
    if (queue->first == NULL)
        queue->end = &queue->first;
    first->is_woken = false;
    return first;
}
