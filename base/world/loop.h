/* loop: the event loop that a process runs, and the signals that end it; loop_uv.c is libuv's. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_H
#define DAYBOOK_BASE_WORLD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct metrics;
struct world;

struct loop *loop_new(void);
/* Everything on it is closed. */
void loop_free(struct loop *loop);
/* The uv_loop_t, for world_uv_open and network_uv_new. */
void *loop_uv(struct loop *loop);

/* Handle what is ready, waiting for something if nothing is.  False when nothing is left. */
bool loop_step(struct loop *loop);
/* Step until something on the loop has set `is_done`. */
void loop_run_until(struct loop *loop, const bool *is_done);

/* From now on the thread looks again for what is ready before it sleeps, for up to `look_us`
 * microseconds where that is promising (loop_poll.h), where there is a second processor, and while
 * none of `world`'s jobs computes or did just now; 0, without a world: never, as at first. */
void loop_poll_beside(struct loop *loop, int64_t look_us, const struct world *world);

/* Show for how long what the loop calls keeps others waiting (loop_times.h) among `metrics`, which
 * outlive the loop or the next call; NULL: no longer. */
void loop_show_times(struct loop *loop, struct metrics *metrics);

/* Call `stop` (on the loop, once) at the first SIGINT or SIGTERM; a second one ends the process at
 * once.  Waiting for signals does not keep the loop going. */
void loop_on_stop(struct loop *loop, void (*stop)(void *context, int signal_number),
                  void *context);
/* Call `hangup` at every SIGHUP, which then ends nothing: an operator sends it to have files read
 * again, and so does a terminal that is closed. */
void loop_on_hangup(struct loop *loop, void (*hangup)(void *context), void *context);
#endif
