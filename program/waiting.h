/* waiting: log lines when a server begins and ends to wait for disk space, memory or descriptors.
 *
 *     ... warning disk_full path=data/log needed_bytes=8388608 effect="writes wait; they go on ..."
 *     ... notice goes_on reason=disk_full waited_s=312
 *
 * A wait ends when the server has not waited for anything during QUIET_US, so that a disk with a
 * little space now and then gives one pair of lines.  The first line is repeated every hour. */
#ifndef DAYBOOK_PROGRAM_WAITING_H
#define DAYBOOK_PROGRAM_WAITING_H

#include "storage/engine/store.h"

/* Begins as zeros. */
struct waiting {
    enum store_shortage logged;        /* in the last line; STORE_SHORT_OF_NOTHING: none */
    bool logged_stop;                  /* the last line said that writes wait */
    int64_t began_us;
    int64_t last_us;                   /* when the server waited last */
    int64_t logged_us;
};

/* To be called every second or so; `path` is the directory's, `now_us` of the monotonic clock. */
void waiting_look(struct waiting *waiting, const struct store_waiting *now, const char *path,
                  int64_t now_us);
#endif
