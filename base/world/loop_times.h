/* loop_times: how long the loop's thread is busy without a pause, by cause.
 *
 * The histogram `daybook_loop_turn_seconds` shows how long turns are, during which requests wait.
 * The summary `daybook_loop_busy_seconds` shows how much of that time the callbacks of sockets,
 * timers and jobs take.
 *
 * uv_loop_t.data points to a struct loop_times; a loop whose data is NULL measures nothing. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_TIMES_H
#define DAYBOOK_BASE_WORLD_LOOP_TIMES_H

#include "base/world/world.h"

struct metric;
struct metrics;

enum loop_cause {
    LOOP_TURN,
    LOOP_SOCKET,
    LOOP_TIMER,
    LOOP_JOB,                  /* LOOP_JOB + a lane: `done` of its jobs */
    LOOP_CAUSES = LOOP_JOB + LANE_COUNT
};

struct loop_times {
    struct metric *metrics[LOOP_CAUSES];         /* NULL: no metrics */
    int64_t turn_began_ns;                       /* 0: no callback of this turn yet */
};

/* Add the times to `metrics` from now on; NULL: to none. */
void loop_times_show(struct loop_times *times, struct metrics *metrics);

int64_t loop_times_now_ns(void);
/* Call this when a callback begins; returns the time.  `times` may be NULL. */
int64_t loop_times_begin(struct loop_times *times);
/* Call this when the callback has ended.  `times` may be NULL. */
void loop_times_end(const struct loop_times *times, enum loop_cause cause, int64_t began_ns);
/* Call this after all callbacks of a turn. */
void loop_times_end_turn(struct loop_times *times);
#endif
