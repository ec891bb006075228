/* login_queue: queues password checks, and serves them fairly by address.
 *
 * A check takes tenths of a second on purpose, and any client can request one.  So the queue is
 * short: when it is over its limit, the newest waiter of the address with most waiters is removed.
 * The waiter whose address was served longest ago is served next.  The queue allocates nothing. */
#ifndef DAYBOOK_DOOR_LOGIN_QUEUE_H
#define DAYBOOK_DOOR_LOGIN_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum { LOGIN_WAITING_MAX = 32 };

/* A check that waits; allocated by its owner. */
struct login_waiter {
    uint64_t address;                  /* door_slot_address of its connection */
    bool is_waiting;
    TAILQ_ENTRY(login_waiter) link;
};

/* Private to login_queue.c; begun by login_queue_init. */
struct login_queue {
    TAILQ_HEAD(, login_waiter) waiting;            /* in the order in which they came */
    uint32_t count;
    uint64_t served[LOGIN_WAITING_MAX];            /* a ring of the addresses served last */
    uint64_t served_count;             /* how many waiters were served in all */
};

void login_queue_init(struct login_queue *queue);
/* Add `waiter`.  If the queue is then over its limit, a waiter is removed and returned: `waiter`
 * itself or another one; the caller refuses that login.  NULL: none was removed. */
struct login_waiter *login_queue_add(struct login_queue *queue, struct login_waiter *waiter);
/* Remove and return the waiter that is served next; NULL: none waits. */
struct login_waiter *login_queue_next(struct login_queue *queue);
/* Remove a waiter; no effect on one that does not wait. */
void login_queue_remove(struct login_queue *queue, struct login_waiter *waiter);
#endif
