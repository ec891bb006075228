#include "storage/engine/write_lock.h"

#include "base/error.h"

void write_lock_acquire(struct write_lock *lock, struct store_hold *hold)
{
    struct store_hold **end = &lock->first;
    while (*end != NULL) {
        check(*end != hold);
        end = &(*end)->next;
    }
    *end = hold;
    hold->next = NULL;
    if (lock->first == hold)
        hold->granted(hold->context);
}

bool write_lock_release(struct write_lock *lock, struct store_hold *hold)
{
    struct store_hold **at = &lock->first;
    bool was_granted = *at == hold;
    while (*at != hold) {
        check(*at != NULL);
        at = &(*at)->next;
    }
    *at = hold->next;
    if (!was_granted)
        return false;
    if (lock->first == NULL)
        return true;
    lock->first->granted(lock->first->context);
    return false;
}
