/* wake_queue: queues connections to serve in the next turn of the loop, in the order of waking.
 *
 * A callback does not serve its connection, but adds it to the queue ("wakes" it).  Many answers
 * thus become one write, and no connection is served in a callback of another.  All functions run
 * on the engine thread. */
#ifndef DAYBOOK_DOOR_WAKE_QUEUE_H
#define DAYBOOK_DOOR_WAKE_QUEUE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/world/world.h"

/* Allocated by its owner; begins as zeros: not woken. */
struct wake_entry {
    TAILQ_ENTRY(wake_entry) link;
    bool is_woken;
};

struct wake_queue {
    struct executor *executor;
    struct timer timer;                /* fires in the next turn */
    TAILQ_HEAD(wake_entries, wake_entry) woken;
};

/* In the turn of the loop after wake_queue_add, `serve` is called with a timer that has `context`.
 * `serve` takes entries, and calls wake_queue_start if some are left in the queue. */
void wake_queue_open(struct wake_queue *queue, struct executor *executor,
                     void (*serve)(struct timer *timer), void *context);
void wake_queue_close(struct wake_queue *queue);

/* Wake an entry; an entry that is in the queue already keeps its position. */
void wake_queue_add(struct wake_queue *queue, struct wake_entry *entry);
/* Remove the entry if it is in the queue; to be called before its owner is freed. */
void wake_queue_remove(struct wake_queue *queue, struct wake_entry *entry);
/* Remove and return the first entry, which may then be woken again.  The queue is not empty. */
struct wake_entry *wake_queue_take(struct wake_queue *queue);
/* If entries are left in the queue, call `serve` in the next turn. */
void wake_queue_start(struct wake_queue *queue);
#endif
