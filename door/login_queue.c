/* login_queue: see the header. */
#include "door/login_queue.h"

#include <stddef.h>

void login_queue_init(struct login_queue *queue)
{
    *queue = (struct login_queue){0};
    TAILQ_INIT(&queue->waiting);
}

static uint32_t waiting_of(const struct login_queue *queue, uint64_t address)
{
    const struct login_waiter *waiter;
    uint32_t count = 0;

    TAILQ_FOREACH (waiter, &queue->waiting, link)
        count += waiter->address == address;
    return count;
}

/* Returns the newest waiter of the address with most waiters.  If several addresses have equally
 * many, the newest waiter of all of them is returned. */
static struct login_waiter *pick_loser(const struct login_queue *queue)
{
    struct login_waiter *loser = NULL;
    struct login_waiter *waiter;
    uint32_t most = 0;

    TAILQ_FOREACH (waiter, &queue->waiting, link) {
        uint32_t count = waiting_of(queue, waiter->address);

        if (count >= most) {
            most = count;
            loser = waiter;
        }
    }
    return loser;
}

struct login_waiter *login_queue_add(struct login_queue *queue, struct login_waiter *waiter)
{
    struct login_waiter *loser = NULL;

    TAILQ_INSERT_TAIL(&queue->waiting, waiter, link);
    waiter->is_waiting = true;
    if (++queue->count > LOGIN_WAITING_MAX) {
        loser = pick_loser(queue);
        login_queue_remove(queue, loser);
    }
    return loser;
}

static uint64_t served_ago(const struct login_queue *queue, uint64_t address)
{
    uint64_t known =
        queue->served_count < LOGIN_WAITING_MAX ? queue->served_count : LOGIN_WAITING_MAX;
    uint64_t ago = 0;

    while (ago < known &&
           queue->served[(queue->served_count - 1 - ago) % LOGIN_WAITING_MAX] != address)
        ago++;
    return ago;
}

struct login_waiter *login_queue_next(struct login_queue *queue)
{
    struct login_waiter *next = NULL;
    struct login_waiter *waiter;
    uint64_t next_ago = 0;

    TAILQ_FOREACH (waiter, &queue->waiting, link) {
        uint64_t ago = served_ago(queue, waiter->address);

        if (next == NULL || ago > next_ago) {
            next = waiter;
            next_ago = ago;
        }
    }
    if (next == NULL)
        return NULL;
    queue->served[queue->served_count++ % LOGIN_WAITING_MAX] = next->address;
    login_queue_remove(queue, next);
    return next;
}

void login_queue_remove(struct login_queue *queue, struct login_waiter *waiter)
{
    if (!waiter->is_waiting)
        return;
    TAILQ_REMOVE(&queue->waiting, waiter, link);
    waiter->is_waiting = false;
    queue->count--;
}
