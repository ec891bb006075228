/* quota: bytes that may be taken, those that are taken, and a quota above that is charged too.
 *
 *     process ◀── requests ◀── one request
 *             ◀── connections before a login
 *
 * What is taken from a quota is taken from all above it, or from none: a quota whose limit is
 * larger than its parent's is bounded by the parent.  It counts and allocates nothing; the owner
 * gives back what it has taken before it goes.
 *
 * Where bytes are refused, a waiter may stand in line for them.  Where they cannot be refused, for
 * memory whose size shows only when it is there, two rules keep the limit nearly: nothing more is
 * made while a quota is past a mark, and one of many holders stops at half of what is left, so that
 * many who do not let go have little each, and one who does gets on. */
#ifndef DAYBOOK_BASE_QUOTA_H
#define DAYBOOK_BASE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In its owner's memory, which sets the first two. */
struct quota_waiter {
    size_t bytes;
    void (*granted)(struct quota_waiter *waiter);        /* they are taken */
    struct quota_waiter *next;
    bool is_waiting;
};

/* In its owner's memory, which sets the first four; the others begin as zeros and are private but
 * for `taken`. */
struct quota {
    struct quota *parent;                /* NULL: none; outlives this one */
    size_t limit;
    size_t reserve;                      /* of the limit: for children that hold little, */
    size_t little;                       /* at most so many bytes each with what they take */
    size_t taken;
    size_t reported;                     /* of what is taken (quota_unreported) */
    struct quota_waiter *first;          /* the others follow in the order in which they came */
    bool is_granting;
};

/* False: one of them has no room, and nothing was taken. */
bool quota_take(struct quota *quota, size_t bytes);
/* Take what cannot be refused, over the limits where need be. */
void quota_take_over(struct quota *quota, size_t bytes);
/* Bytes that were taken come back, and are granted to those that wait at this quota. */
void quota_give(struct quota *quota, size_t bytes);
/* The same for one holder: it had `*held` of what is taken and has `bytes` from now on. */
void quota_charge(struct quota *quota, size_t *held, size_t bytes);

/* `granted` is called when the bytes are there, which may be within the call.  Whoever came first
 * is first, however much it wants, so that each has its turn; what wants more than the limit waits
 * for ever. */
void quota_wait(struct quota *quota, struct quota_waiter *waiter);
/* Nothing is granted to it any more.  One that does not wait is fine. */
void quota_forget(struct quota *quota, struct quota_waiter *waiter);

/* What one more child may take that holds nothing yet. */
size_t quota_left(const struct quota *quota);
/* Whether one that holds `held` may go on beside many others: it has less than half of what is
 * left. */
bool quota_is_fair(const struct quota *quota, size_t held);
/* Whether more than `most` is taken; if that was so before, whether it has not come down to half of
 * it. */
bool quota_is_past(const struct quota *quota, size_t most, bool was_past);
/* How much more, or less, is taken than at the call before: for an account elsewhere. */
int64_t quota_unreported(struct quota *quota);
#endif
