/* watch: whether something has come at any of some descriptors, asked without waiting.
 *
 * The loop hears of what came when it polls, once a turn.  Work that takes most of a turn asks here
 * whether somebody waits meanwhile, and then ends early: one system call, whatever is watched.
 * watch_linux.c asks epoll. */
#ifndef DAYBOOK_BASE_WORLD_WATCH_H
#define DAYBOOK_BASE_WORLD_WATCH_H

#include <stdbool.h>

struct watch;

/* NULL where the system has no more descriptors: then nothing is ever ready. */
struct watch *watch_new(void);
void watch_free(struct watch *watch);

/* A descriptor that is closed is watched no more.  Each is there at most once; one that cannot be
 * watched is left out. */
void watch_add(struct watch *watch, int descriptor);
void watch_remove(struct watch *watch, int descriptor);

/* Bytes, a connection or an end have come at one of them, and nobody has taken them yet. */
bool watch_is_ready(const struct watch *watch);
#endif
