/* loop_poll: when the loop's thread looks again for what is ready, instead of going to sleep.
 *
 * A thread that sleeps gives its processor back, and on a virtual machine it takes some 30 us until
 * it has one again: about as long as a month's report takes.  So where the last thing came soon,
 * the thread keeps looking for the next one.  It must cost nobody anything:
 *
 *     the last wait was longer than it would look     it sleeps at once, as an idle server does
 *     somebody else took the processor meanwhile      it sleeps at once for 1 ms, and twice as long
 *                                                     each time that happens again
 *
 * After the algorithm of Linux's KVM for a guest that has nothing to do
 * (Documentation/virt/kvm/halt-polling.rst).  Here is only what decides; times are given, in ns of
 * one monotonic clock. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_POLL_H
#define DAYBOOK_BASE_WORLD_LOOP_POLL_H

#include <stdbool.h>
#include <stdint.h>

/* Zeros never look. */
struct loop_poll {
    int64_t look_ns;           /* of a wait, at most */
    int64_t waits_since_ns;    /* when the last turn ended */
    int64_t rest_ns;           /* the last rest, halved whenever looking was worth it since */
    int64_t rests_until_ns;
    bool was_short;            /* the wait before the last turn: less than look_ns */
};

/* Whether to look again now. */
bool loop_poll_wants(const struct loop_poll *poll, int64_t now_ns);
/* Before it looked it let others have the processor, and had it again at `ended_ns`. */
void loop_poll_gave_way(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns);
/* Something was ready: what was to be done for it began and ended. */
void loop_poll_turn(struct loop_poll *poll, int64_t began_ns, int64_t ended_ns);
#endif
