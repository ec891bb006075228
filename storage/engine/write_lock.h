/* write_lock: the queue of writers that have or await the write lock (store_write_lock, store.h).
 * The caller owns its entry, and must not move or free it before write_lock_release. */
#ifndef DAYBOOK_STORAGE_ENGINE_WRITE_LOCK_H
#define DAYBOOK_STORAGE_ENGINE_WRITE_LOCK_H

#include "storage/engine/store.h"

/* All zero: free. */
struct write_lock {
    struct store_write_lock *first;    /* has the lock */
};

/* `granted` may be called before this function returns. */
void write_lock_acquire(struct write_lock *lock, struct store_write_lock *write_lock);
/* Also removes an entry that still waits.  True: this call has freed the lock, because no other
 * writer waits. */
bool write_lock_release(struct write_lock *lock, struct store_write_lock *write_lock);
static inline bool write_lock_admits(const struct write_lock *lock,
                                     const struct store_write_lock *write_lock)
{
    return lock->first == NULL || lock->first == write_lock;
}
#endif
