/* login_queue: checks of passwords that wait for their turn, fair by address.
 *
 * A check takes tenths of a second on purpose, and anybody may ask for one.  So few wait; when they
 * are too many, the address that has most waiting loses its newest; and of those that wait the one
 * is next whose address was served longest ago.  It holds no memory of its own. */
#ifndef DAYBOOK_DOOR_LOGIN_QUEUE_H
#define DAYBOOK_DOOR_LOGIN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum { LOGIN_WAITING_MAX = 32 };

/* One that waits; its owner's memory. */
struct login_waiter {
    uint64_t address;                  /* who it counts for: door_slot_address */
    bool is_waiting;
    TAILQ_ENTRY(login_waiter) link;
};

/* All-zero but for what login_queue_init sets. */
struct login_queue {
    TAILQ_HEAD(, login_waiter) waiting;            /* in the order in which they came */
    uint32_t count;
    uint64_t served[LOGIN_WAITING_MAX];            /* addresses, a ring, */
    uint64_t served_count;             /* of which so many were ever written */
};

void login_queue_init(struct login_queue *queue);
/* `waiter` waits from now on.  Who does not any more instead, and is to be told so: it, another, or
 * NULL where there was room. */
struct login_waiter *login_queue_add(struct login_queue *queue, struct login_waiter *waiter);
/* Whose turn it is, which does not wait any more; NULL: none waits. */
struct login_waiter *login_queue_next(struct login_queue *queue);
void login_queue_remove(struct login_queue *queue, struct login_waiter *waiter);
#endif
