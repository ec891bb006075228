/* login_queue: queues password checks, and serves them fairly by address.
 *
 * A check takes tenths of a second on purpose, and any client can request one.  So the queue is
 * short.  When it is full, the newest waiter of the address with most waiters is removed.  The
 * waiter whose address was served longest ago is served next. */
#ifndef DAYBOOK_DOOR_LOGIN_QUEUE_H
#define DAYBOOK_DOOR_LOGIN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum { LOGIN_WAITING_MAX = 32 };

struct login_waiter {
    uint64_t address;                  /* door_slot_address of its connection */
    bool is_waiting;
    TAILQ_ENTRY(login_waiter) link;
};

/* Private to login_queue.c. */
struct login_queue {
    TAILQ_HEAD(, login_waiter) waiting;
    uint32_t count;
    uint64_t served[LOGIN_WAITING_MAX];            /* a ring of the last served addresses */
    uint64_t served_count;
};

void login_queue_init(struct login_queue *queue);
/* Add `waiter`.  Returns the waiter that was removed for it, possibly `waiter` itself; the caller
 * refuses that login.  NULL: none was removed. */
struct login_waiter *login_queue_add(struct login_queue *queue, struct login_waiter *waiter);
/* Remove and return the waiter to serve next; NULL: none waits. */
struct login_waiter *login_queue_next(struct login_queue *queue);
/* There is no effect on a waiter that does not wait. */
void login_queue_remove(struct login_queue *queue, struct login_waiter *waiter);
#endif
