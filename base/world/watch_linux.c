/* watch_linux: a set of descriptors in an epoll(7) instance, apart from that of the loop.
 *
 * watch_is_ready is only a hint: work does not end early for a descriptor that is not watched.  So
 * a lack of memory or descriptors is no error.  epoll removes a descriptor when the last reference
 * to its socket is closed, and network_uv.c keeps no second reference. */
#include "base/world/watch.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "base/memory.h"

struct watch {
    int set;
};

struct watch *watch_new(void)
{
    int set = epoll_create1(EPOLL_CLOEXEC);

    if (set < 0)
        return NULL;
    struct watch *watch = memory_zeroed(1, sizeof *watch);
    watch->set = set;
    return watch;
}

void watch_free(struct watch *watch)
{
    if (watch == NULL)
        return;
    (void)close(watch->set);
    memory_free(watch);
}

void watch_add(struct watch *watch, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN};

    if (watch != NULL)
        (void)epoll_ctl(watch->set, EPOLL_CTL_ADD, descriptor, &event);
}

void watch_remove(struct watch *watch, int descriptor)
{
    if (watch != NULL)
        (void)epoll_ctl(watch->set, EPOLL_CTL_DEL, descriptor, NULL);
}

bool watch_is_ready(const struct watch *watch)
{
    struct epoll_event event;

    return watch != NULL && epoll_wait(watch->set, &event, 1, 0) > 0;
}
