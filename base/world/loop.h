/* loop: the event loop of a process, and its signals; implemented on libuv by loop_uv.c. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_H
#define DAYBOOK_BASE_WORLD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct metrics;
struct world;

struct loop *loop_new(void);
/* Wait until all handles are closed, then free the loop.  The caller must have begun to close the
 * handles. */
void loop_free(struct loop *loop);
/* The uv_loop_t. */
void *loop_uv(struct loop *loop);

/* Handle the events that are ready.  If none is ready, wait for the first one and handle it; a loop
 * that polls returns without waiting.  False: no handle is left that could cause an event. */
bool loop_step(struct loop *loop);
void loop_run_until(struct loop *loop, const bool *is_done);

/* Let the loop poll for up to `look_us` microseconds before it sleeps (0 and NULL: never), if
 *
 *     an event is likely to come soon (loop_poll.h),
 *     the process may use more than one processor, and
 *     no job of `world` runs, waits or has ended in the last 2 ms (jobs of LANE_LOG, LANE_LOG_FILES
 *     and LANE_READ do not count). */
void loop_poll_beside(struct loop *loop, int64_t look_us, const struct world *world);

/* Add the times of callbacks and of whole turns (loop_times.h) to `metrics`, which must exist until
 * this is called with NULL, or until the loop is freed. */
void loop_show_times(struct loop *loop, struct metrics *metrics);

/* Call `stop` at the first SIGINT or SIGTERM; a second one kills the process.  loop_step does not
 * wait if only signals could cause an event. */
void loop_on_stop(struct loop *loop, void (*stop)(void *context, int signal_number),
                  void *context);
/* From now on SIGHUP calls `hangup` and does not end the process. */
void loop_on_hangup(struct loop *loop, void (*hangup)(void *context), void *context);
#endif
