/* loop_times: how long the loop's thread is busy without a pause, by cause.
 *
 * Requests wait while the thread is busy.  So turns of the loop, and callbacks of sockets, timers
 * and jobs, are timed: the metric `daybook_loop_busy_seconds` shows which work takes long and
 * should be divided into shorter pieces.  Timing a callback reads the clock twice, in some 50 ns.
 *
 * uv_loop_t.data points to a struct loop_times; a loop whose data is NULL measures nothing. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_TIMES_H
#define DAYBOOK_BASE_WORLD_LOOP_TIMES_H

#include "base/world/world.h"

struct metric;
struct metrics;

enum loop_cause {
    LOOP_TURN,                 /* all callbacks of a turn of the loop */
    LOOP_SOCKET,               /* callbacks of listeners and connections */
    LOOP_TIMER,                /* timers, including those of work that is divided into pieces */
    LOOP_JOB,                  /* LOOP_JOB + a lane: the `done` of a job of that lane */
    LOOP_CAUSES = LOOP_JOB + LANE_COUNT
};

struct loop_times {
    struct metric *histograms[LOOP_CAUSES];      /* all NULL: there are no metrics */
    int64_t turn_began_ns;                       /* 0: the turn has had no callback yet */
};

/* Add the times to `metrics` from now on, until a call with NULL. */
void loop_times_show(struct loop_times *times, struct metrics *metrics);

/* The monotonic time in ns, from the clock that all functions here use. */
int64_t loop_times_now_ns(void);
/* To be called when a callback begins; returns the time.  `times` may be NULL. */
int64_t loop_times_begin(struct loop_times *times);
/* To be called when the callback has ended, with the time at which it began.  `times` may be
 * NULL. */
void loop_times_end(const struct loop_times *times, enum loop_cause cause, int64_t began_ns);
/* To be called when all callbacks of a turn have ended; `times` is not NULL. */
void loop_times_end_turn(struct loop_times *times);
#endif
