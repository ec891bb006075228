/* The write lock is one writer's at a time, in the order in which they asked. */
#include <criterion/criterion.h>

#include "storage/engine/write_lock.h"

static void note_granted(void *context)
{
    ++*(int *)context;
}

Test(write_lock, goes_from_one_to_the_next_in_the_order_of_asking)
{
    struct write_lock lock = {0};
    int granted[3] = {0};
    struct store_write_lock holds[3];
    for (int i = 0; i < 3; i++) {
        holds[i] = (struct store_write_lock){.granted = note_granted, .context = &granted[i]};
        write_lock_acquire(&lock, &holds[i]);
    }
    cr_expect_eq(granted[0], 1);
    cr_expect_eq(granted[1] + granted[2], 0);
    cr_expect(!write_lock_release(&lock, &holds[0]));
    cr_expect_eq(granted[1], 1);
    cr_expect_eq(granted[2], 0);
    cr_expect(!write_lock_release(&lock, &holds[1]));
    cr_expect_eq(granted[2], 1);
    cr_expect(write_lock_release(&lock, &holds[2]));
    cr_expect(write_lock_admits(&lock, NULL));
}

Test(write_lock, keeps_all_batches_away_but_the_owners)
{
    struct write_lock lock = {0};
    int granted = 0;
    struct store_write_lock own = {.granted = note_granted, .context = &granted};
    struct store_write_lock other = {.granted = note_granted, .context = &granted};
    cr_expect(write_lock_admits(&lock, NULL));
    write_lock_acquire(&lock, &own);
    write_lock_acquire(&lock, &other);
    cr_expect(write_lock_admits(&lock, &own));
    cr_expect(!write_lock_admits(&lock, &other));
    cr_expect(!write_lock_admits(&lock, NULL));
}

/* A writer that gives up while it waits is never granted the lock, and frees nothing. */
Test(write_lock, one_that_waits_may_leave)
{
    struct write_lock lock = {0};
    int granted[2] = {0};
    struct store_write_lock first = {.granted = note_granted, .context = &granted[0]};
    struct store_write_lock second = {.granted = note_granted, .context = &granted[1]};
    write_lock_acquire(&lock, &first);
    write_lock_acquire(&lock, &second);
    cr_expect(!write_lock_release(&lock, &second));
    cr_expect(write_lock_release(&lock, &first));
    cr_expect_eq(granted[1], 0);
}
