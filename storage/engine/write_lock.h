/* write_lock: the queue of those who ask that no batch but their own is applied.
 *
 * A writer that reads first, and finds what it read changed again and again, takes the lock
 * (store_write_lock in store.h).  The first in the queue has it; the others get it in the order in
 * which they asked.  The entries are the callers': each stays where it is until it is released. */
#ifndef DAYBOOK_STORAGE_ENGINE_WRITE_LOCK_H
#define DAYBOOK_STORAGE_ENGINE_WRITE_LOCK_H

#include "storage/engine/store.h"

/* All zero: free. */
struct write_lock {
    struct store_write_lock *first;    /* has the lock; the others wait */
};

/* `hold->granted` is called as soon as the lock is its own, perhaps before this returns. */
void write_lock_acquire(struct write_lock *lock, struct store_write_lock *write_lock);
/* Also of one that still waits.  Grants the lock to the next.  True: it was held, and now it is
 * free. */
bool write_lock_release(struct write_lock *lock, struct store_write_lock *write_lock);
/* Whether a batch that comes with `hold` (NULL: with none) may be applied. */
static inline bool write_lock_admits(const struct write_lock *lock,
                                     const struct store_write_lock *write_lock)
{
    return lock->first == NULL || lock->first == write_lock;
}
#endif
