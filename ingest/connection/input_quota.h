/* input_quota: the memory of what has come in at the ingest door and is not in the store yet.
 *
 * Input that is no whole line or frame yet, and the rows of batches that have not ended, count, but
 * for INPUT_QUOTA_FREE of each connection.  While there is room every connection goes on; then one
 * that holds something waits, and goes on by turns when there is some again.
 *
 * There are two halves, each a quota: of connections of whose clicks some became durable, and of
 * those that have shown nothing yet.  So connections that only take cannot keep working ones from
 * theirs, however many they are.  In the former the one that waits longest is next, in the latter
 * the one that connected last: of a crowd that takes and gives nothing the newest is the one that
 * may be none of it.
 *
 * Two of each half go on always: the one that has held something for longest, and one for which
 * what there is over the limit is reserved, which was next when there was no other.  Each wait ends
 * when they have finished, or were closed for not going on (ingest_account.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_INPUT_QUOTA_H
#define DAYBOOK_INGEST_CONNECTION_INPUT_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/quota.h"

enum {
    INPUT_QUOTA_FREE = 32 << 10,       /* bytes of each connection that do not count, */
    INPUT_QUOTA_LINES = 32             /* and lines at a time that one takes that has no more */
};

/* One connection's; its owner's memory, begins as zeros but for the first. */
struct input_waiter {
    uint64_t number;                   /* of connections, in the order in which they came */
    size_t bytes;                      /* that count */
    bool is_acked;                     /* some of its clicks are durable */
    bool is_waiting;
    int64_t since_us;                  /* it holds some, or was resumed: the owner's, monotonic, */
    int64_t came_us;                   /* as are when bytes came last, */
    uint64_t came;                     /* and how many since then */
    TAILQ_ENTRY(input_waiter) holding;
    struct input_waiter *next;         /* that waits */
};

struct input_half {
    struct quota quota;
    TAILQ_HEAD(, input_waiter) holders;            /* of some, by when they began */
    struct input_waiter *waiting;      /* in the order in which they are resumed */
    struct input_waiter *reserved;     /* goes on over the limit, until it holds nothing any more */
};

/* The owner's memory. */
struct input_quota {
    struct quota quota;                /* of both halves, which it does not bound */
    size_t bytes_max;
    void (*resume)(void *context, struct input_waiter *waiter);    /* it does not wait any more */
    void *context;
    struct input_half halves[2];       /* of those that have shown nothing, and of the others */
};

void input_quota_init(struct input_quota *input, size_t bytes_max,
                     void (*resume)(void *context, struct input_waiter *waiter), void *context);

/* Whether it may take more. */
bool input_quota_admits(const struct input_quota *input, const struct input_waiter *waiter);
/* Whether so much is in use that what can be done without should be given back. */
bool input_quota_is_tight(const struct input_quota *input);
bool input_quota_has_waiting(const struct input_quota *input);
size_t input_quota_bytes(const struct input_quota *input);

/* It has `bytes` by now, INPUT_QUOTA_FREE included; resumes one that may go on then. */
void input_quota_charge(struct input_quota *input, struct input_waiter *waiter, size_t bytes);
/* It cannot go on without room: from now on it waits, or no longer. */
void input_quota_wait(struct input_quota *input, struct input_waiter *waiter, bool is_waiting);
/* What is reserved for it may be for another. */
void input_quota_pass(struct input_quota *input, struct input_waiter *waiter);
/* Clicks of it are durable. */
void input_quota_mark_acked(struct input_quota *input, struct input_waiter *waiter);
#endif
