/* wake_queue: what is to be served in the next turn of the loop, in the order of waking.
 *
 * Callbacks wake rather than serve: many answers are then one write, and nothing is served within
 * another's callback.  Engine thread. */
#ifndef DAYBOOK_DOOR_WAKE_QUEUE_H
#define DAYBOOK_DOOR_WAKE_QUEUE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/world/world.h"

/* In its owner's memory; all-zero is one that was not woken. */
struct wake_entry {
    TAILQ_ENTRY(wake_entry) link;
    bool is_woken;
};

struct wake_queue {
    struct executor *executor;
    struct timer timer;                /* of the next turn */
    TAILQ_HEAD(, wake_entry) woken;
};

/* `serve` is called in a later turn of the loop than wake_queue_add; it takes entries, and calls
 * wake_queue_start if it leaves some. */
void wake_queue_open(struct wake_queue *queue, struct executor *executor,
                     void (*serve)(struct timer *timer), void *context);
void wake_queue_close(struct wake_queue *queue);

/* One that was woken already stays where it is. */
void wake_queue_add(struct wake_queue *queue, struct wake_entry *entry);
/* It is about to be freed: it is served no more. */
void wake_queue_remove(struct wake_queue *queue, struct wake_entry *entry);
/* The first, which may be woken again; there is one. */
struct wake_entry *wake_queue_take(struct wake_queue *queue);
/* Serve what is there in the next turn. */
void wake_queue_start(struct wake_queue *queue);
#endif
