#include "storage/engine/frame_waiters.h"

#include "base/memory.h"

enum { FIRST_CAPACITY = 64 };

struct frame_waiter {
    uint64_t frame;
    store_done done;
    void *context;
};

static struct frame_waiter *waiter_at(const struct frame_waiters *waiters, uint32_t i)
{
    return &waiters->ring[(waiters->first + i) % waiters->capacity];
}

static void ring_grow(struct frame_waiters *waiters)
{
    uint32_t capacity = waiters->capacity == 0 ? FIRST_CAPACITY : waiters->capacity * 2;
    struct frame_waiter *ring = memory_alloc(capacity * sizeof(*ring));
    for (uint32_t i = 0; i < waiters->count; i++)
        ring[i] = *waiter_at(waiters, i);
    memory_free(waiters->ring);
    waiters->ring = ring;
    waiters->first = 0;
    waiters->capacity = capacity;
}

void frame_waiters_add(struct frame_waiters *waiters, uint64_t frame, store_done done,
                       void *context)
{
    check(waiters->count == 0 || waiter_at(waiters, waiters->count - 1)->frame <= frame);
    if (waiters->count == waiters->capacity)
        ring_grow(waiters);
    *waiter_at(waiters, waiters->count++) = (struct frame_waiter){frame, done, context};
}

void frame_waiters_call(struct frame_waiters *waiters, uint64_t frame, int status,
                        const struct error *err)
{
    while (waiters->count > 0) {
        struct frame_waiter waiter = waiters->ring[waiters->first];
        if (waiter.frame > frame)
            return;
        waiters->first = (waiters->first + 1) % waiters->capacity;
        waiters->count--;
        waiter.done(waiter.context, status, err);
    }
}

void frame_waiters_release(struct frame_waiters *waiters)
{
    memory_free(waiters->ring);
    *waiters = (struct frame_waiters){0};
}
