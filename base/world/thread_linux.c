/* thread_linux: time slices by sched_setattr(2).
 *
 * Linux schedules by EEVDF since 6.6 (I. Stoica and H. Abdel-Wahab, "Earliest Eligible Virtual
 * Deadline First", 1995).  A thread that wakes preempts a running thread with a longer slice,
 * unless the waking thread has had more than its share.  Since 6.12 `sched_runtime` is the length
 * of an ordinary thread's slice.
 *
 * A thread with SCHED_BATCH does not preempt another one when it wakes.  It calls sched_yield(2) to
 * end its slice, because the next tick may be 4 ms away, and the engine thread would wait until
 * then. */
#include "base/world/thread.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TURN_NS = 100000,    /* the shortest slice that Linux allows */
    BACKGROUND_NICE = 5, /* reduces a thread's weight, its share of a busy core, to a third */
    NICE_MAX = 19
};

/* Linux's struct sched_attr, first version. */
struct thread_attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns; /* the slice; 0: the usual one */
    uint64_t deadline_ns;
    uint64_t period_ns;
};
_Static_assert(sizeof(struct thread_attributes) == 48, "the system's layout has no padding");

/* False: the thread has another policy than `policy`, or the call failed. */
static bool attributes_get(uint32_t policy, struct thread_attributes *attributes)
{
    *attributes = (struct thread_attributes){0};
    return syscall(SYS_sched_getattr, 0, attributes, sizeof(*attributes), 0) == 0 &&
           attributes->policy == policy;
}

/* A thread with another policy than SCHED_OTHER keeps its settings. */
void thread_set(enum thread_kind kind)
{
    int32_t nicer = kind == THREAD_BACKGROUND ? BACKGROUND_NICE : 0;
    struct thread_attributes attributes;
    if (!attributes_get(SCHED_OTHER, &attributes))
        return;
    attributes.policy = kind == THREAD_LATENCY ? SCHED_OTHER : SCHED_BATCH;
    attributes.runtime_ns = TURN_NS;
    attributes.nice = attributes.nice + nicer < NICE_MAX ? attributes.nice + nicer : NICE_MAX;
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void thread_yield(void)
{
    struct thread_attributes attributes;
    if (attributes_get(SCHED_BATCH, &attributes) && attributes.runtime_ns == TURN_NS)
        (void)sched_yield();
}
