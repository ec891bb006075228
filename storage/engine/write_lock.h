/* write_lock: the queue of writers that have or await the write lock (store_write_lock, store.h).
 *
 * The first writer in the queue has the lock; the others get it in the order of their requests.  An
 * entry is the caller's memory, and stays in its place until write_lock_release. */
#ifndef DAYBOOK_STORAGE_ENGINE_WRITE_LOCK_H
#define DAYBOOK_STORAGE_ENGINE_WRITE_LOCK_H

#include "storage/engine/store.h"

/* All zero: free. */
struct write_lock {
    struct store_write_lock *first;    /* has the lock; the others wait */
};

/* `write_lock->granted` is called when the lock is granted, perhaps before this returns. */
void write_lock_acquire(struct write_lock *lock, struct store_write_lock *write_lock);
/* Take an entry out of the queue, whether it has the lock or still waits for it.  If it had the
 * lock, the next one gets it; true: there is no next one, and the lock is free now. */
bool write_lock_release(struct write_lock *lock, struct store_write_lock *write_lock);
/* Whether a batch that names `write_lock` (NULL: none) may be applied. */
static inline bool write_lock_admits(const struct write_lock *lock,
                                     const struct store_write_lock *write_lock)
{
    return lock->first == NULL || lock->first == write_lock;
}
#endif
