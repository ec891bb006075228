/* thread_linux: turns by sched_setattr(2).
 *
 * Under EEVDF (I. Stoica and H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", 1995),
 * which schedules ordinary threads since Linux 6.6, a thread's deadline lies the length of a turn
 * behind its start.  A short turn is an early deadline: when the thread wakes it goes before
 * whoever runs with a longer one, unless it has had more than its share.  `sched_runtime` of an
 * ordinary thread is that length since 6.12; before, it is taken and means nothing.
 *
 * Who has had less than his share goes first until he has it, for as long as 4 ms, which the engine
 * thread, through which all goes, would wait for each of the others.  SCHED_BATCH keeps a thread
 * from doing so when it wakes, and sched_yield(2) ends its turn: it loses what is left of it, at
 * most 0.1 ms, where it would lose 3 in a turn of the usual length.  What nobody waits for has a
 * share of a third of the size by its niceness, and not less, since it has to come to its end
 * beside other programs that want all cores, too. */
#include "base/world/thread.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TURN_NS = 100000,    /* the least there is */
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
    uint64_t runtime_ns; /* 0: the usual */
    uint64_t deadline_ns;
    uint64_t period_ns;
};
_Static_assert(sizeof(struct thread_attributes) == 48, "the system's layout has no padding");

/* The calling thread's, if it is of the policy; false: of another, or the system does not say. */
static bool attributes_get(uint32_t policy, struct thread_attributes *attributes)
{
    *attributes = (struct thread_attributes){0};
    return syscall(SYS_sched_getattr, 0, attributes, sizeof(*attributes), 0) == 0 &&
           attributes->policy == policy;
}

/* By `nicer` steps behind who made the thread.  Whoever started this program with another policy
 * than the usual one meant it. */
static void turns_set(uint32_t policy, int32_t nicer)
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
    turns_set(SCHED_OTHER, 0);
}

void thread_set_batch(void)
{
    turns_set(SCHED_BATCH, 0);
}

void thread_set_background(void)
{
    turns_set(SCHED_BATCH, BACKGROUND_NICE);
}

void thread_yield(void)
{
    struct thread_attributes attributes;
    if (attributes_get(SCHED_BATCH, &attributes) && attributes.runtime_ns == TURN_NS)
        (void)sched_yield();
}
