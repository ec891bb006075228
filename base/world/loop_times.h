/* loop_times: for how long the loop's thread is busy at a stretch, and with what.
 *
 * Whoever asks a question waits for what the thread is doing, so everything that the loop calls is
 * timed, and each of its turns: `daybook_loop_busy_seconds` shows what takes long, and with it what
 * must be cut into pieces.  A call costs two readings of the clock, some 50 ns.
 *
 * The loop's owner has it in uv_loop_t.data; a loop that has none there measures nothing. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_TIMES_H
#define DAYBOOK_BASE_WORLD_LOOP_TIMES_H

#include "base/world/world.h"

struct metric;
struct metrics;

enum loop_cause {
    LOOP_TURN,                 /* everything that was ready when the loop woke */
    LOOP_SOCKET,               /* connections, bytes that came, bytes that left */
    LOOP_TIMER,                /* timers, and among them the turns of work in pieces */
    LOOP_JOB,                  /* + enum executor_lane: what a job's end brings */
    LOOP_CAUSES = LOOP_JOB + LANE_COUNT
};

struct loop_times {
    struct metric *histograms[LOOP_CAUSES];      /* all NULL: nothing is measured */
    int64_t turn_began_ns;                       /* 0: nothing was called in this turn */
};

/* From now on among `metrics`, which outlive it; NULL: no longer. */
void loop_times_show(struct loop_times *times, struct metrics *metrics);

/* The clock of all times here, which never goes back. */
int64_t loop_times_now_ns(void);
/* When a call begins; and what it was, when it has returned.  `times` may be NULL. */
int64_t loop_times_begin(struct loop_times *times);
void loop_times_end(const struct loop_times *times, enum loop_cause cause, int64_t began_ns);
/* All calls of a turn have returned. */
void loop_times_end_turn(struct loop_times *times);
#endif
