/* quota: a limit of bytes, the bytes that are taken of it, and a parent that is charged as well.
 *
 *     all CQL requests ◀── one CQL request
 *     control socket ◀── commands, answers
 *
 * Bytes are taken from a quota and all its parents, or from none of them: a quota whose limit is
 * larger than its parent's is bounded by the parent.  A quota only counts; it allocates nothing.
 * All bytes are given back before the owner of a quota frees it.
 *
 * A waiter may wait in line for bytes that were refused.  Some memory cannot be refused, because
 * its size is known only after it was allocated, so the sum may exceed the limit.  Two rules keep
 * the excess small: no further work is begun while a quota is past a mark (quota_is_past); and a
 * holder takes more only while it has less than half of what is left (quota_is_fair), which leaves
 * something for every other holder. */
#ifndef DAYBOOK_BASE_QUOTA_H
#define DAYBOOK_BASE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Allocated by its owner, which sets the first two members; the others begin as zeros. */
struct quota_waiter {
    size_t bytes;
    void (*granted)(struct quota_waiter *waiter);        /* called after the bytes were taken */
    struct quota_waiter *next;
    bool is_waiting;
};

/* Allocated by its owner, which sets the first four members; the others begin as zeros and are
 * private, except that `taken` may be read. */
struct quota {
    struct quota *parent;                /* outlives this quota; NULL: none */
    size_t limit;                        /* sizes are in bytes */
    size_t reserve;                      /* part of the limit, for small children only */
    size_t little;                       /* what a small child has at most */
    size_t taken;
    size_t reported;                     /* `taken` at the last call of quota_unreported */
    struct quota_waiter *first;          /* waiters in the order in which they came */
    bool is_granting;
};

/* Take bytes.  False: the quota or one of its parents has too few left, and nothing was taken. */
bool quota_take(struct quota *quota, size_t bytes);
/* Take bytes that cannot be refused, even if `taken` then exceeds a limit. */
void quota_take_over(struct quota *quota, size_t bytes);
/* Give back bytes that were taken, and then grant bytes to the waiters of this quota, not of its
 * parents. */
void quota_give(struct quota *quota, size_t bytes);
/* Take or give back the difference for a holder that has `*held` bytes and needs `bytes` from now
 * on; `*held` becomes `bytes`. */
void quota_charge(struct quota *quota, size_t *held, size_t bytes);

/* Wait for bytes: `granted` is called once they were taken, which may be within this call.  Waiters
 * are served in the order in which they came, so that a large one is served, too.  A waiter for
 * more than the limit waits for ever. */
void quota_wait(struct quota *quota, struct quota_waiter *waiter);
/* End the wait: `granted` is not called any more.  No effect on a waiter that does not wait. */
void quota_forget(struct quota *quota, struct quota_waiter *waiter);

/* The smallest number of bytes that are left in this quota or in one of its parents. */
size_t quota_left(const struct quota *quota);
/* Whether one of many holders may take more: whether the `held` bytes that it has are less than
 * half of the bytes that are left. */
bool quota_is_fair(const struct quota *quota, size_t held);
/* Whether more than `most` bytes are taken; if `was_past`, whether more than half of `most` are, so
 * that the answer does not change with every byte. */
bool quota_is_past(const struct quota *quota, size_t most, bool was_past);
/* By how many bytes `taken` has changed since the previous call.  The caller reports the change to
 * the account of the whole process. */
int64_t quota_unreported(struct quota *quota);
#endif
