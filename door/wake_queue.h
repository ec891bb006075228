/* wake_queue: queues connections to serve in the next turn of the loop, in the order of waking.
 *
 * A callback does not serve a connection, but wakes it: adds it to the queue.  Thus many answers
 * become one write, and no connection is served within a callback of another one.  All functions
 * run on the engine thread. */
#ifndef DAYBOOK_DOOR_WAKE_QUEUE_H
#define DAYBOOK_DOOR_WAKE_QUEUE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/world/world.h"

/* Allocated by its owner; all-zero is not woken. */
struct wake_entry {
    TAILQ_ENTRY(wake_entry) link;
    bool is_woken;
};

struct wake_queue {
    struct executor *executor;
    struct timer timer;
    TAILQ_HEAD(wake_entries, wake_entry) woken;
};

/* In the loop turn after wake_queue_add, `serve` is called with a timer that has `context`.  If
 * `serve` leaves entries in the queue, it must call wake_queue_start. */
void wake_queue_open(struct wake_queue *queue, struct executor *executor,
                     void (*serve)(struct timer *timer), void *context);
void wake_queue_close(struct wake_queue *queue);

/* An entry that is in the queue already keeps its position. */
void wake_queue_add(struct wake_queue *queue, struct wake_entry *entry);
/* Call this before the entry's owner is freed. */
void wake_queue_remove(struct wake_queue *queue, struct wake_entry *entry);
/* Remove and return the first entry.  The queue must not be empty. */
struct wake_entry *wake_queue_take(struct wake_queue *queue);
void wake_queue_start(struct wake_queue *queue);
#endif
