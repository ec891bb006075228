/* waiting: log lines of what a server waits for: when it begins, and when it is over.
 *
 *     ... warning disk_full path=data/log needed_bytes=8388608 effect="writes wait; they go on ..."
 *     ... notice goes_on reason=disk_full waited_s=312
 *
 * A disk on which there is room every now and then is one wait: it is over when nothing was waited
 * for during QUIET_US.  A wait that lasts is said again every hour. */
#ifndef DAYBOOK_PROGRAM_WAITING_H
#define DAYBOOK_PROGRAM_WAITING_H

#include "storage/engine/store.h"

/* Begins as zeros. */
struct waiting {
    enum store_shortage logged;        /* what the last line said; of nothing: that it ended */
    bool logged_stop;                  /* that writes wait */
    int64_t began_us;
    int64_t last_us;                   /* when something was waited for last */
    int64_t logged_us;
};

/* To be called every second or so; `path` is the directory's, `now_us` of the monotonic clock. */
void waiting_look(struct waiting *waiting, const struct store_waiting *now, const char *path,
                  int64_t now_us);
#endif
