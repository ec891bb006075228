/* watch: whether any descriptor of a set is ready to be read, without waiting.
 *
 * The loop polls its descriptors once a turn.  Work that takes most of a turn calls watch_is_ready
 * between its pieces, and ends early if clients wait.  The call is one system call, however many
 * descriptors are watched.  watch_linux.c implements this by epoll. */
#ifndef DAYBOOK_BASE_WORLD_WATCH_H
#define DAYBOOK_BASE_WORLD_WATCH_H

#include <stdbool.h>

/* Private. */
struct watch {
    int set;                           /* a descriptor; negative: nothing is watched */
};

struct watch watch_new(void);
void watch_free(struct watch watch);

/* Watch a descriptor, which is not watched yet, until it is removed or closed.  A descriptor that
 * cannot be watched is ignored. */
void watch_add(struct watch watch, int descriptor);
void watch_remove(struct watch watch, int descriptor);

/* Whether a watched descriptor has bytes, a new connection or an end of stream to be read. */
bool watch_is_ready(struct watch watch);
#endif
