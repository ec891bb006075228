/* day_lock: which write comes first to a day, and which ones wait for it.
 *
 * Writes that read first would otherwise read together, and all but one read again.  A lock is
 * taken for some days at once, begins when every lock taken before it for one of them has ended,
 * and locks for other days pass it by (but for days that share a queue, which costs nothing but
 * time).  There is no deadlock: a lock waits for earlier ones only.  Engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DAY_LOCK_H
#define DAYBOOK_ROLLUP_DAYS_DAY_LOCK_H

#include "base/bytes.h"

struct day_lock_table;
struct day_lock;

struct day_lock_table *day_lock_queues_new(void);
void day_lock_queues_free(struct day_lock_table *locks);     /* no lock is left; NULL is fine */

/* Take a lock for `count` days by their partition keys, which are not kept; `begin` is called once,
 * perhaps before the call returns. */
struct day_lock *day_lock_new(struct day_lock_table *locks, uint32_t count,
                              void (*begin)(void *context), void *context);
void day_lock_add(struct day_lock *lock, struct bytes key);    /* each day, in any order */
void day_lock_acquire(struct day_lock *lock);
/* A lock that has begun; frees it.  Those who waited for it begin. */
void day_lock_release(struct day_lock *lock);
#endif
