/* wake_queue: connections that are served in the next turn of the loop, in the order of waking.
 *
 * A callback wakes a connection instead of serving it: many answers then become one write, and no
 * connection is served within another one's callback.  Engine thread. */
#ifndef DAYBOOK_DOOR_WAKE_QUEUE_H
#define DAYBOOK_DOOR_WAKE_QUEUE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/world/world.h"

/* In its owner's memory; zeros: not woken. */
struct wake_entry {
    TAILQ_ENTRY(wake_entry) link;
    bool is_woken;
};

struct wake_queue {
    struct executor *executor;
    struct timer timer;                /* of the next turn */
    TAILQ_HEAD(, wake_entry) woken;
};

/* `serve` is called in the turn of the loop after wake_queue_add.  It takes entries, and calls
 * wake_queue_start if it leaves some. */
void wake_queue_open(struct wake_queue *queue, struct executor *executor,
                     void (*serve)(struct timer *timer), void *context);
void wake_queue_close(struct wake_queue *queue);

/* Wake an entry; one that was woken already keeps its position. */
void wake_queue_add(struct wake_queue *queue, struct wake_entry *entry);
/* Do not serve the entry any more; called before its owner is freed. */
void wake_queue_remove(struct wake_queue *queue, struct wake_entry *entry);
/* Remove and return the first entry, which may then be woken again.  There must be one. */
struct wake_entry *wake_queue_take(struct wake_queue *queue);
/* Serve the entries that are left in the next turn. */
void wake_queue_start(struct wake_queue *queue);
#endif
