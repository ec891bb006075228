/* frame_waiters: callbacks that wait until a frame of the log is durable, in the order of frames.
 *
 *     frame     41  41  42  43  43  43
 *     durable: 42 ──▶ the first three are called, the others stay
 *
 * A callback may add callbacks. */
#ifndef DAYBOOK_STORAGE_ENGINE_FRAME_WAITERS_H
#define DAYBOOK_STORAGE_ENGINE_FRAME_WAITERS_H

#include "storage/engine/store.h"

struct frame_waiter;

/* All zero: there is none. */
struct frame_waiters {
    struct frame_waiter *ring;
    uint32_t first, count, capacity;
};

/* `frame` must not be less than in the last call. */
void frame_waiters_add(struct frame_waiters *waiters, uint64_t frame, store_done done,
                       void *context);
/* Call and remove the callbacks for frames up to `frame`; `err` is NULL when `status` is 0. */
void frame_waiters_call(struct frame_waiters *waiters, uint64_t frame, int status,
                        const struct error *err);
void frame_waiters_release(struct frame_waiters *waiters);
#endif
