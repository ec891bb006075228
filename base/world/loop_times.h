/* loop_times: how long the loop's thread is busy without a pause, and with what.
 *
 * Requests wait while the thread is busy, so every callback of the loop is timed, and each of its
 * turns: `daybook_loop_busy_seconds` shows what takes long and must be divided into shorter pieces.
 * Timing a callback takes two readings of the clock, some 50 ns.
 *
 * uv_loop_t.data points to it; a loop whose data is NULL measures nothing. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_TIMES_H
#define DAYBOOK_BASE_WORLD_LOOP_TIMES_H

#include "base/world/world.h"

struct metric;
struct metrics;

enum loop_cause {
    LOOP_TURN,                 /* everything that was ready when the loop woke */
    LOOP_SOCKET,               /* connections, bytes that came, bytes that left */
    LOOP_TIMER,                /* timers, including those of work that is divided into pieces */
    LOOP_JOB,                  /* + enum executor_lane: the `done` of a job */
    LOOP_CAUSES = LOOP_JOB + LANE_COUNT
};

struct loop_times {
    struct metric *histograms[LOOP_CAUSES];      /* all NULL: nothing is measured */
    int64_t turn_began_ns;                       /* 0: nothing was called in this turn */
};

/* Show the times among `metrics`, which outlive it, from now on; NULL: stop that. */
void loop_times_show(struct loop_times *times, struct metrics *metrics);

/* The monotonic clock of all times here. */
int64_t loop_times_now_ns(void);
/* A callback begins, at the returned time; and it has ended, of this cause.  `times` may be
 * NULL. */
int64_t loop_times_begin(struct loop_times *times);
void loop_times_end(const struct loop_times *times, enum loop_cause cause, int64_t began_ns);
/* All callbacks of a turn have ended. */
void loop_times_end_turn(struct loop_times *times);
#endif
