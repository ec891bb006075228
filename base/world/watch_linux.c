/* watch_linux: a set of descriptors in an epoll(7) instance, apart from that of the loop.
 *
 * watch_is_ready is only a hint, so a lack of memory or descriptors is no error.  epoll removes a
 * descriptor that is closed. */
#include "base/world/watch.h"

#include <sys/epoll.h>
#include <unistd.h>

struct watch watch_new(void)
{
    return (struct watch){.set = epoll_create1(EPOLL_CLOEXEC)};
}

void watch_free(struct watch watch)
{
    if (watch.set >= 0)
        (void)close(watch.set);
}

void watch_add(struct watch watch, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN};
    (void)epoll_ctl(watch.set, EPOLL_CTL_ADD, descriptor, &event);
}

void watch_remove(struct watch watch, int descriptor)
{
    (void)epoll_ctl(watch.set, EPOLL_CTL_DEL, descriptor, NULL);
}

bool watch_is_ready(struct watch watch)
{
    struct epoll_event event;
    return epoll_wait(watch.set, &event, 1, 0) > 0;
}
