#include "storage/engine/write_lock.h"

#include "base/error.h"

void write_lock_acquire(struct write_lock *lock, struct store_write_lock *write_lock)
{
    struct store_write_lock **end = &lock->first;
    while (*end != NULL) {
        check(*end != write_lock);
        end = &(*end)->next;
    }
    *end = write_lock;
    write_lock->next = NULL;
    if (lock->first == write_lock)
        write_lock->granted(write_lock->context);
}

bool write_lock_release(struct write_lock *lock, struct store_write_lock *write_lock)
{
    struct store_write_lock **at = &lock->first;
    bool was_granted = *at == write_lock;
    while (*at != write_lock) {
        check(*at != NULL);
        at = &(*at)->next;
    }
    *at = write_lock->next;
    if (!was_granted)
        return false;
    if (lock->first == NULL)
        return true;
    lock->first->granted(lock->first->context);
    return false;
}
