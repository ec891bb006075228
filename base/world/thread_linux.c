/* thread_linux: time slices by sched_setattr(2).
 *
 * EEVDF (I. Stoica and H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", 1995) schedules
 * ordinary threads since Linux 6.6.  A thread's deadline lies one time slice after its start, so a
 * short slice is an early deadline: when the thread wakes it preempts a thread with a longer slice,
 * unless it has had more than its share.  `sched_runtime` of an ordinary thread is the length of
 * its slice since 6.12; before, it is accepted and has no effect.
 *
 * A thread that has had less than its share runs first until it has it, for as long as 4 ms, which
 * the engine thread, on which all requests depend, would wait for each of the others.  SCHED_BATCH
 * keeps a thread from preempting another one when it wakes, and sched_yield(2) ends its slice: it
 * loses the rest of it, at most 0.1 ms, where it would lose 3 ms of a slice of the usual length.
 * Background threads have a third of a share, by their niceness, and not less, since they have to
 * make progress beside other programs that use all cores, too. */
#include "base/world/thread.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TURN_NS = 100000,    /* a time slice: the shortest that the system allows */
    BACKGROUND_NICE = 5, /* steps of a quarter: a third of the weight */
    NICE_MAX = 19
};

/* The first version of the system's struct sched_attr. */
struct thread_attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns; /* the time slice; 0: the usual one */
    uint64_t deadline_ns;
    uint64_t period_ns;
};
_Static_assert(sizeof(struct thread_attributes) == 48, "the system's layout has no padding");

/* The attributes of the calling thread.  False: it has another policy, or the call has failed. */
static bool attributes_get(uint32_t policy, struct thread_attributes *attributes)
{
    *attributes = (struct thread_attributes){0};
    return syscall(SYS_sched_getattr, 0, attributes, sizeof(*attributes), 0) == 0 &&
           attributes->policy == policy;
}

/* Set policy, time slice and a niceness that is `nicer` steps above that of the thread which made
 * this one.  A program that was started with another policy than the usual one keeps it. */
static void attributes_set(uint32_t policy, int32_t nicer)
{
    struct thread_attributes attributes;
    if (!attributes_get(SCHED_OTHER, &attributes))
        return;
    attributes.policy = policy;
    attributes.runtime_ns = TURN_NS;
    attributes.nice = attributes.nice + nicer < NICE_MAX ? attributes.nice + nicer : NICE_MAX;
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void thread_set_latency(void)
{
    attributes_set(SCHED_OTHER, 0);
}

void thread_set_batch(void)
{
    attributes_set(SCHED_BATCH, 0);
}

void thread_set_background(void)
{
    attributes_set(SCHED_BATCH, BACKGROUND_NICE);
}

void thread_yield(void)
{
    struct thread_attributes attributes;
    if (attributes_get(SCHED_BATCH, &attributes) && attributes.runtime_ns == TURN_NS)
        (void)sched_yield();
}
