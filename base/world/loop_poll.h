/* loop_poll: when the loop's thread polls for events instead of sleeping.
 *
 * A thread that sleeps runs again only after some 30 us on a virtual machine.  So the thread polls
 * for the next event if the last wait was short, unless polling takes time from other threads:
 *
 *     the last wait was longer than look_ns           the thread sleeps, as in an idle server
 *     another thread took the processor               the thread does not poll for 1 ms, and each
 *                                                     further time for twice as long, up to 64 ms
 *
 * Source: Linux's KVM for an idle virtual processor (Documentation/virt/kvm/halt-polling.rst).
 * All times are in ns of one monotonic clock. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_POLL_H
#define DAYBOOK_BASE_WORLD_LOOP_POLL_H

#include <stdbool.h>
#include <stdint.h>

struct loop_poll {
    int64_t look_ns;           /* the longest poll; set by the owner */
    int64_t waits_since_ns;    /* when the last turn ended */
    int64_t rest_ns;           /* the last pause of polling; halved when polling succeeds */
    int64_t rests_until_ns;    /* no polling before this time */
    bool was_short;            /* the last wait took less than look_ns */
};

bool loop_poll_wants(const struct loop_poll *poll, int64_t now_ns);
/* Call this after the thread has yielded its processor before polling.  The yield lasted from
 * `began_ns` to `ended_ns`. */
void loop_poll_gave_way(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns);
/* Call this after each turn that handled events, the first of them at `began_ns`. */
void loop_poll_turn(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns);
#endif
