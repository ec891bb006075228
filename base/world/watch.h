/* watch: finds out, without waiting, whether any descriptor of a set can be read.
 *
 * Work that takes most of a turn of the loop calls watch_is_ready, one system call, between its
 * pieces.  watch_linux.c implements this by epoll. */
#ifndef DAYBOOK_BASE_WORLD_WATCH_H
#define DAYBOOK_BASE_WORLD_WATCH_H

#include <stdbool.h>

/* Private. */
struct watch {
    int set;                           /* negative: no set */
};

struct watch watch_new(void);
void watch_free(struct watch watch);

/* `descriptor` must not be watched yet.  A descriptor that cannot be watched is ignored. */
void watch_add(struct watch watch, int descriptor);
void watch_remove(struct watch watch, int descriptor);

/* Whether a watched descriptor has bytes, a new connection or an end of stream. */
bool watch_is_ready(struct watch watch);
#endif
