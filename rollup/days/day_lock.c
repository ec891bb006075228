/* day_lock: see the header.
 *
 *     queue 17   a ── c ── d      a and b have begun;
 *     queue 42   b ── c           c waits in two queues, d in one
 *
 * A lock is in a queue only once, even if two of its days share the queue.  It begins when it is
 * the first in all of its queues.  The callbacks are called by a loop, because they may release
 * locks, and recursion would make the stack grow with the number of waiting locks. */
#include "rollup/days/day_lock.h"

#include <sys/queue.h>

#include "base/hash64.h"
#include "base/memory.h"

enum { QUEUES = 1024 };

struct day_place {
    struct day_lock *lock;
    struct day_queue *queue;
    TAILQ_ENTRY(day_place) link;
};

TAILQ_HEAD(day_queue, day_place);

struct day_lock {
    struct day_lock_table *locks;
    void (*begin)(void *context);
    void *context;
    TAILQ_ENTRY(day_lock) ready;
    uint32_t waits_for;   /* queues in which it is not the first */
    uint32_t place_count; /* queues that it is in */
    struct day_place places[];
};

struct day_lock_table {
    struct day_queue queues[QUEUES];
    TAILQ_HEAD(, day_lock) ready; /* locks that may begin, in this order */
    bool is_beginning;
};

struct day_lock_table *day_lock_queues_new(void)
{
    struct day_lock_table *locks = memory_zeroed(1, sizeof(*locks));
    TAILQ_INIT(&locks->ready);
    for (uint32_t i = 0; i < QUEUES; i++)
        TAILQ_INIT(&locks->queues[i]);
    return locks;
}

void day_lock_queues_free(struct day_lock_table *locks)
{
    memory_free(locks);
}

struct day_lock *day_lock_new(struct day_lock_table *locks, uint32_t count,
                              void (*begin)(void *context), void *context)
{
    struct day_lock *lock = memory_zeroed(1, sizeof(*lock) + count * sizeof(struct day_place));
    lock->locks = locks;
    lock->begin = begin;
    lock->context = context;
    return lock;
}

void day_lock_add(struct day_lock *lock, struct bytes key)
{
    struct day_queue *queue = &lock->locks->queues[hash64(key.data, key.size) % QUEUES];
    const struct day_place *last = TAILQ_LAST(queue, day_queue);
    struct day_place *place = &lock->places[lock->place_count];
    if (last != NULL && last->lock == lock)
        return;
    lock->place_count++;
    lock->waits_for += last != NULL;
    place->lock = lock;
    place->queue = queue;
    TAILQ_INSERT_TAIL(queue, place, link);
}

static void begin_ready(struct day_lock_table *locks)
{
    if (locks->is_beginning)
        return;
    locks->is_beginning = true;
    struct day_lock *lock;
    while ((lock = TAILQ_FIRST(&locks->ready)) != NULL) {
        TAILQ_REMOVE(&locks->ready, lock, ready);
        lock->begin(lock->context);
    }
    locks->is_beginning = false;
}

void day_lock_acquire(struct day_lock *lock)
{
    if (lock->waits_for > 0)
        return;
    TAILQ_INSERT_TAIL(&lock->locks->ready, lock, ready);
    begin_ready(lock->locks);
}

void day_lock_release(struct day_lock *lock)
{
    struct day_lock_table *locks = lock->locks;
    check(lock->waits_for == 0);
    for (uint32_t i = 0; i < lock->place_count; i++) {
        struct day_queue *queue = lock->places[i].queue;
        check(TAILQ_FIRST(queue) == &lock->places[i]);
        TAILQ_REMOVE(queue, &lock->places[i], link);
        const struct day_place *next = TAILQ_FIRST(queue);
        if (next != NULL && --next->lock->waits_for == 0)
            TAILQ_INSERT_TAIL(&locks->ready, next->lock, ready);
    }
    memory_free(lock);
    begin_ready(locks);
}
