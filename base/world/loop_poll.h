/* loop_poll: when the loop's thread polls for events instead of sleeping.
 *
 * A thread that sleeps releases its processor, and on a virtual machine it takes some 30 us until
 * it runs again: about as long as a month's report takes.  So where the last event came soon, the
 * thread polls for the next one.  This must take no time from other threads:
 *
 *     the last wait was longer than it would poll     it sleeps, as that of an idle server does
 *     another thread took the processor meanwhile     it does not poll for 1 ms, and for twice as
 *                                                     long each time that this happens again
 *
 * The algorithm is that of Linux's KVM for an idle virtual processor
 * (Documentation/virt/kvm/halt-polling.rst).  This module only decides; the caller gives the times,
 * in ns of one monotonic clock. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_POLL_H
#define DAYBOOK_BASE_WORLD_LOOP_POLL_H

#include <stdbool.h>
#include <stdint.h>

/* With all members zero it never polls. */
struct loop_poll {
    int64_t look_ns;           /* polls for so long in one wait, at most; set by the owner */
    int64_t waits_since_ns;    /* when the last turn ended */
    int64_t rest_ns;           /* the last time without polling; halved whenever polling succeeds */
    int64_t rests_until_ns;    /* no polling before */
    bool was_short;            /* the wait before the last turn took less than look_ns */
};

/* Whether to poll again now. */
bool loop_poll_wants(const struct loop_poll *poll, int64_t now_ns);
/* The thread yielded its processor before it polled, and had it again at `ended_ns`. */
void loop_poll_gave_way(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns);
/* Events were ready: the turn that handled them began and ended at these times. */
void loop_poll_turn(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns);
#endif
