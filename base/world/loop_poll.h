/* loop_poll: when the loop's thread polls for events instead of sleeping.
 *
 * A thread that sleeps releases its processor, and on a virtual machine it takes some 30 us until
 * the thread runs again: about as long as a month's report takes.  So if the last event came soon,
 * the thread polls for the next one.  Polling must take no time from other threads:
 *
 *     the last wait was longer than look_ns           the thread sleeps, as in an idle server
 *     another thread took the processor               the thread does not poll for 1 ms, and each
 *                                                     further time for twice as long, to 64 ms
 *
 * The algorithm is that of Linux's KVM for an idle virtual processor
 * (Documentation/virt/kvm/halt-polling.rst).  This module only decides; the caller gives the times,
 * in ns of one monotonic clock. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_POLL_H
#define DAYBOOK_BASE_WORLD_LOOP_POLL_H

#include <stdbool.h>
#include <stdint.h>

/* With all members zero the thread never polls. */
struct loop_poll {
    int64_t look_ns;           /* the longest time to poll in one wait; set by the owner */
    int64_t waits_since_ns;    /* when the last turn ended */
    int64_t rest_ns;           /* how long polling stopped last; halved when polling succeeds */
    int64_t rests_until_ns;    /* no polling before this time */
    bool was_short;            /* the wait before the last turn took less than look_ns */
};

/* Whether to poll again now. */
bool loop_poll_wants(const struct loop_poll *poll, int64_t now_ns);
/* The thread yielded its processor at `began_ns`, before polling, and ran again at `ended_ns`. */
void loop_poll_gave_way(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns);
/* Events were ready: the turn that handled them began and ended at these times. */
void loop_poll_turn(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns);
#endif
