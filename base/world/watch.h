/* watch: whether any descriptor of a set is ready to be read, without waiting.
 *
 * The loop polls its descriptors once a turn.  Work that takes most of a turn calls this in
 * between, and ends early if clients wait: one system call, however many descriptors are watched.
 * watch_linux.c uses epoll. */
#ifndef DAYBOOK_BASE_WORLD_WATCH_H
#define DAYBOOK_BASE_WORLD_WATCH_H

#include <stdbool.h>

struct watch;

/* NULL where no descriptor is left; all functions take it, and nothing is ever ready. */
struct watch *watch_new(void);
void watch_free(struct watch *watch);

/* A descriptor is watched until it is removed or closed, and is added at most once.  One that
 * cannot be watched is ignored. */
void watch_add(struct watch *watch, int descriptor);
void watch_remove(struct watch *watch, int descriptor);

/* Whether bytes, a connection or an end of stream at one of them were not read yet. */
bool watch_is_ready(const struct watch *watch);
#endif
