/* day_lock: see the header.
 *
 *     queue 17   a ── c ── d      a and b have begun;
 *     queue 42   b ── c           c waits for two others, d for one (c)
 *
 * What decides correctness: a lock stands in a queue once, even if two of its days share it, and
 * begins when it is the first in all of its queues.  Beginning may end a lock at once, which begins
 * others: a loop does that, not recursion, however many wait. */
#include "rollup/days/day_lock.h"

#include "base/hash64.h"
#include "base/memory.h"

enum { QUEUES = 1024 };

/* A lock's place in one queue. */
struct day_place {
    struct day_lock *lock;
    struct day_place *next;
    uint32_t queue;
};

struct day_queue {
    struct day_place *first, *last;
};

struct day_lock {
    struct day_lock_table *locks;
    void (*begin)(void *context);
    void *context;
    struct day_lock *next_ready;
    uint32_t waits_for;   /* queues in which it is not the first, */
    uint32_t place_count; /* of so many */
    struct day_place places[];
};

struct day_lock_table {
    struct day_queue queues[QUEUES];
    struct day_lock *ready, **ready_end; /* to begin, in this order */
    bool is_beginning;
};

struct day_lock_table *day_lock_queues_new(void)
{
    struct day_lock_table *locks = memory_zeroed(1, sizeof(*locks));
    locks->ready_end = &locks->ready;
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
    uint32_t number = (uint32_t)(hash64(key.data, key.size) % QUEUES);
    struct day_queue *queue = &lock->locks->queues[number];
    struct day_place *place = &lock->places[lock->place_count];
    if (queue->last != NULL && queue->last->lock == lock)
        return;
    lock->place_count++;
    *place = (struct day_place){.lock = lock, .queue = number};
    if (queue->last == NULL) {
        queue->first = place;
    } else {
        queue->last->next = place;
        lock->waits_for++;
    }
    queue->last = place;
}

static void make_ready(struct day_lock *lock)
{
    struct day_lock_table *locks = lock->locks;
    lock->next_ready = NULL;
    *locks->ready_end = lock;
    locks->ready_end = &lock->next_ready;
}

static void begin_ready(struct day_lock_table *locks)
{
    if (locks->is_beginning)
        return;
    locks->is_beginning = true;
    while (locks->ready != NULL) {
        struct day_lock *lock = locks->ready;
        locks->ready = lock->next_ready;
        if (locks->ready == NULL)
            locks->ready_end = &locks->ready;
        lock->begin(lock->context);
    }
    locks->is_beginning = false;
}

void day_lock_acquire(struct day_lock *lock)
{
    if (lock->waits_for > 0)
        return;
    make_ready(lock);
    begin_ready(lock->locks);
}

void day_lock_release(struct day_lock *lock)
{
    struct day_lock_table *locks = lock->locks;
    check(lock->waits_for == 0);
    for (uint32_t i = 0; i < lock->place_count; i++) {
        struct day_queue *queue = &locks->queues[lock->places[i].queue];
        check(queue->first == &lock->places[i]);
        queue->first = lock->places[i].next;
        if (queue->first == NULL)
            queue->last = NULL;
        else if (--queue->first->lock->waits_for == 0)
            make_ready(queue->first->lock);
    }
    memory_free(lock);
    begin_ready(locks);
}
