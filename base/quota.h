/* quota: a limit of bytes, the bytes that are taken of it, and a parent that is charged, too.
 *
 *     process ◀── requests ◀── one request
 *             ◀── connections before a login
 *
 * Bytes are taken from a quota and all its parents, or from none of them: a quota whose limit is
 * larger than its parent's is bounded by the parent.  A quota only counts; it allocates nothing.
 * Its owner gives back the bytes that it has taken before it is freed.
 *
 * A waiter may wait in line for bytes that were refused.  Some memory cannot be refused, because
 * its size is known only after it was allocated.  Two rules nearly keep the limit there: while a
 * quota is past a mark nothing more is begun (quota_is_past), and one of many holders stops at half
 * of what is left (quota_is_fair), so that many holders that give nothing back have little each,
 * and one that does can continue. */
#ifndef DAYBOOK_BASE_QUOTA_H
#define DAYBOOK_BASE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In its owner's memory; the owner sets the first two members. */
struct quota_waiter {
    size_t bytes;
    void (*granted)(struct quota_waiter *waiter);        /* the bytes were taken for the waiter */
    struct quota_waiter *next;
    bool is_waiting;
};

/* In its owner's memory.  The owner sets the first four members; the others begin as zeros and are
 * private but for `taken`. */
struct quota {
    struct quota *parent;                /* outlives this quota; NULL: none */
    size_t limit;
    size_t reserve;                      /* part of the limit, for children that hold little: */
    size_t little;                       /* at most so many bytes, with those being taken */
    size_t taken;
    size_t reported;                     /* of what is taken (quota_unreported) */
    struct quota_waiter *first;          /* waiters in the order in which they came */
    bool is_granting;
};

/* Take bytes.  False: the quota or one of its parents has too few left, and nothing was taken. */
bool quota_take(struct quota *quota, size_t bytes);
/* Take bytes that cannot be refused, over the limits where they do not suffice. */
void quota_take_over(struct quota *quota, size_t bytes);
/* Give back bytes that were taken; they are then granted to waiters of this quota. */
void quota_give(struct quota *quota, size_t bytes);
/* Take or give back the difference for a holder that has `*held` bytes and needs `bytes` from now
 * on; `*held` becomes `bytes`. */
void quota_charge(struct quota *quota, size_t *held, size_t bytes);

/* Wait for bytes: `granted` is called once they were taken, which may be within this call.  Waiters
 * are served in the order in which they came, whatever their sizes, so that each is served; one for
 * more than the limit waits for ever. */
void quota_wait(struct quota *quota, struct quota_waiter *waiter);
/* End the wait, so that nothing is granted any more.  A waiter that does not wait is fine. */
void quota_forget(struct quota *quota, struct quota_waiter *waiter);

/* How many bytes are left in this quota and all its parents. */
size_t quota_left(const struct quota *quota);
/* Whether a holder of `held` bytes may take more beside many others: it has less than half of the
 * bytes that are left. */
bool quota_is_fair(const struct quota *quota, size_t held);
/* Whether more than `most` bytes are taken; if `was_past`, whether more than half of `most` are, so
 * that the answer does not change with every byte. */
bool quota_is_past(const struct quota *quota, size_t most, bool was_past);
/* By how many bytes `taken` has changed since the call before, for an account elsewhere. */
int64_t quota_unreported(struct quota *quota);
#endif
