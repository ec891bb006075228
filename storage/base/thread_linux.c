/* thread_linux: turns by sched_setattr(2).
 *
 * Under EEVDF (I. Stoica and H. Abdel-Wahab, "Earliest Eligible Virtual Deadline First", 1995),
 * which schedules ordinary threads since Linux 6.6, a thread's deadline lies the length of a turn
 * behind its start.  A short turn is an early deadline: when the thread wakes it goes before
 * whoever runs with a longer one, unless it has had more than its share.  `sched_runtime` of an
 * ordinary thread is that length since 6.12; before, it is taken and means nothing. */
#include "storage/base/thread.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PROMPT_TURN_NS = 100000 }; /* the least there is */

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

void thread_set_prompt(bool is_prompt)
{
    struct thread_attributes attributes = {0};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0 ||
        attributes.policy != SCHED_OTHER)
        return;
    attributes.runtime_ns = is_prompt ? PROMPT_TURN_NS : 0;
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}
