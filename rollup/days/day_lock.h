/* day_lock: the order in which writes to the same days begin.
 *
 * Without this order, writes that read a day before they write it would conflict and be repeated.
 * A lock begins when every earlier lock for one of its days has ended.  Days whose hashes are equal
 * share a queue, which costs only time.  There is no deadlock, because a lock waits for earlier
 * locks only.  All functions run on the engine thread. */
#ifndef DAYBOOK_ROLLUP_DAYS_DAY_LOCK_H
#define DAYBOOK_ROLLUP_DAYS_DAY_LOCK_H

#include "base/bytes.h"

struct day_lock_table;
struct day_lock;

struct day_lock_table *day_lock_queues_new(void);
void day_lock_queues_free(struct day_lock_table *locks);     /* no lock is left; NULL is fine */

/* Take a lock in three steps: make it for at most `count` days, add each day by its partition key
 * (not kept), and acquire the lock.  `begin` is called once, when the lock begins, perhaps before
 * day_lock_acquire returns. */
struct day_lock *day_lock_new(struct day_lock_table *locks, uint32_t count,
                              void (*begin)(void *context), void *context);
void day_lock_add(struct day_lock *lock, struct bytes key);
void day_lock_acquire(struct day_lock *lock);
/* End and free a lock that has begun; locks that waited only for this lock begin. */
void day_lock_release(struct day_lock *lock);
#endif
