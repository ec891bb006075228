/* quota: a limit on bytes, the number of bytes taken, and a parent that is charged as well.
 *
 *     all CQL requests ◀── one CQL request          (parent ◀── child)
 *     control socket ◀── commands, answers
 *
 * Bytes are taken from a quota and all its parents, or from none of them.  All bytes must be given
 * back before a quota is freed.
 *
 * Some memory cannot be refused, so more bytes than the limit may be taken.  Two rules keep the
 * excess small: no new work begins while more than a given number is taken (quota_is_past), and a
 * holder takes more only while it holds less than half of the bytes that are left
 * (quota_is_fair). */
#ifndef DAYBOOK_BASE_QUOTA_H
#define DAYBOOK_BASE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The owner sets the first two members; the others begin as zeros. */
struct quota_waiter {
    size_t bytes;
    void (*granted)(struct quota_waiter *waiter);        /* called after the bytes were taken */
    struct quota_waiter *next;
    bool is_waiting;
};

/* The owner sets the first four members; the others begin as zeros and are private, but `taken` may
 * be read. */
struct quota {
    struct quota *parent;                /* outlives this quota; NULL: none */
    size_t limit;                        /* bytes, as all sizes here */
    size_t reserve;                      /* part of the limit, only for small children */
    size_t little;                       /* a child is small while it holds at most this */
    size_t taken;
    size_t reported;
    struct quota_waiter *first;
    bool is_granting;
};

/* False: too few bytes are left here or in a parent, and nothing was taken. */
bool quota_take(struct quota *quota, size_t bytes);
/* Take bytes that cannot be refused, even past a limit. */
void quota_take_over(struct quota *quota, size_t bytes);
/* Give bytes back.  This call may grant them to waiters of this quota, but not of its parents. */
void quota_give(struct quota *quota, size_t bytes);
/* Change `*held` to `bytes`, and take or give back the difference. */
void quota_charge(struct quota *quota, size_t *held, size_t bytes);

/* Call `granted` once the bytes are taken, perhaps within this call.  Waiters get bytes in the
 * order of their calls.  A waiter for more than the limit waits for ever. */
void quota_wait(struct quota *quota, struct quota_waiter *waiter);
/* Stop waiting.  There is no effect if the waiter does not wait. */
void quota_forget(struct quota *quota, struct quota_waiter *waiter);

/* The least number of bytes that are left in this quota or a parent. */
size_t quota_left(const struct quota *quota);
/* Whether a holder of `held` bytes has less than half of the bytes that are left. */
bool quota_is_fair(const struct quota *quota, size_t held);
/* Whether more than `most` bytes are taken.  `was_past` is the previous result: once true, the
 * result stays true until at most half of `most` is taken. */
bool quota_is_past(const struct quota *quota, size_t most, bool was_past);
/* The change of `taken` since the previous call. */
int64_t quota_unreported(struct quota *quota);
#endif
