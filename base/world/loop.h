/* loop: the event loop that a process runs, and the signals that end it; implemented by
 * loop_uv.c. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_H
#define DAYBOOK_BASE_WORLD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct metrics;
struct world;

struct loop *loop_new(void);
/* Free the loop, on which all handles were closed. */
void loop_free(struct loop *loop);
/* The uv_loop_t, for world_uv_open and network_uv_new. */
void *loop_uv(struct loop *loop);

/* Handle the events that are ready, waiting for one if none is.  False when no handle is left that
 * could cause one. */
bool loop_step(struct loop *loop);
/* Step until something on the loop has set `is_done`. */
void loop_run_until(struct loop *loop, const bool *is_done);

/* From now on the thread polls for events before it sleeps, for up to `look_us` microseconds: where
 * an event is likely to come soon (loop_poll.h), where there is a second processor, and while no
 * job of `world` computes or has just computed.  0 and NULL: it never polls, which is the
 * default. */
void loop_poll_beside(struct loop *loop, int64_t look_us, const struct world *world);

/* Show the times that callbacks take (loop_times.h) among `metrics`, which outlive the loop or the
 * next call; NULL: stop that. */
void loop_show_times(struct loop *loop, struct metrics *metrics);

/* Call `stop` (on the loop, once) at the first SIGINT or SIGTERM; a second one kills the process.
 * Waiting for signals does not keep the loop alive. */
void loop_on_stop(struct loop *loop, void (*stop)(void *context, int signal_number),
                  void *context);
/* Call `hangup` at every SIGHUP, which then does not end the process: an operator sends it to have
 * files read again, and the system when a terminal is closed. */
void loop_on_hangup(struct loop *loop, void (*hangup)(void *context), void *context);
#endif
