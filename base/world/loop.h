/* loop: the event loop of a process, and its signals; implemented on libuv by loop_uv.c. */
#ifndef DAYBOOK_BASE_WORLD_LOOP_H
#define DAYBOOK_BASE_WORLD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct metrics;
struct world;

struct loop *loop_new(void);
/* Free the loop, after waiting until its handles are closed: the caller has begun to close them. */
void loop_free(struct loop *loop);
/* The uv_loop_t, for world_uv_open and network_uv_new. */
void *loop_uv(struct loop *loop);

/* Handle the events that are ready.  If none is, wait for one, or return at once while the thread
 * polls (loop_poll_beside).  False when no handle is left that
 * could cause an event. */
bool loop_step(struct loop *loop);
/* Call loop_step until a callback has set `*is_done`. */
void loop_run_until(struct loop *loop, const bool *is_done);

/* From now on the thread polls for events for up to `look_us` microseconds before it sleeps.  It
 * does so only where an event is likely to come soon (loop_poll.h), on a machine with more than one
 * processor, and while no job of `world` computes or has just computed.  With 0 and NULL, and
 * before the first call, the thread never polls. */
void loop_poll_beside(struct loop *loop, int64_t look_us, const struct world *world);

/* From now on add the times that callbacks take (loop_times.h) to `metrics`.  NULL: add them to no
 * metrics any more.  `metrics` must exist until the loop is freed or the call with NULL. */
void loop_show_times(struct loop *loop, struct metrics *metrics);

/* Call `stop` from the loop at the first SIGINT or SIGTERM; a second one kills the process.  A loop
 * that waits for nothing but signals does not wait: loop_step returns false. */
void loop_on_stop(struct loop *loop, void (*stop)(void *context, int signal_number),
                  void *context);
/* Call `hangup` at every SIGHUP, which then does not end the process.  An operator sends SIGHUP to
 * have files read again; the system sends it when a terminal is closed. */
void loop_on_hangup(struct loop *loop, void (*hangup)(void *context), void *context);
#endif
