/* waiting: logs when a server begins and ceases to wait for disk space, memory or descriptors.
 *
 *     ... warning disk_full path=data/log needed_bytes=8388608 effect="writes wait; they go on ..."
 *     ... notice goes_on reason=disk_full waited_s=312
 *
 * A wait ends when the server has not waited for 10 s.  The first line is repeated every hour, when
 * the reason changes, and when writes begin to wait. */
#ifndef DAYBOOK_PROGRAM_WAITING_H
#define DAYBOOK_PROGRAM_WAITING_H

#include "storage/engine/store.h"

/* Begins as zeros. */
struct waiting {
    enum store_shortage logged;        /* the reason in the last line */
    bool logged_stop;
    int64_t began_us;
    int64_t last_us;
    int64_t logged_us;
};

/* Log a change of `now`; call this twice a second.  `path` is the data directory; `now_us` is
 * monotonic. */
void waiting_look(struct waiting *waiting, const struct store_waiting *now, const char *path,
                  int64_t now_us);
#endif
