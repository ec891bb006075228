/* input_quota: the memory of input that has come in part and is not in the store yet.
 *
 * Counted are input that is no whole line or frame yet and the rows of batches that have not ended,
 * but for INPUT_QUOTA_FREE bytes of each connection.  While there is room, every connection may
 * take more.  When there is none, connections that need more wait, and are resumed one by one as
 * room becomes free.
 *
 * There are two halves, each with a quota: for connections of which some clicks became durable
 * ("acked"), and for all others.  So connections that never complete a batch cannot take the memory
 * of working ones, however many they are.  Of acked connections the one that has waited longest is
 * resumed next; of the others the one that connected last, because among many connections that hold
 * memory and complete nothing, the newest is the likeliest to be a working one.
 *
 * Two connections of each half may always take more: the one that has held memory for longest, and
 * one for which memory over the limit is reserved (the first that had to wait when there was no
 * reservation).  So each wait ends: those two complete their batches, or are closed for making no
 * progress (ingest_account.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_INPUT_QUOTA_H
#define DAYBOOK_INGEST_CONNECTION_INPUT_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/quota.h"

enum {
    INPUT_QUOTA_FREE = 32 << 10,       /* bytes of each connection that do not count */
    INPUT_QUOTA_LINES = 32             /* lines that a connection takes at a time when it may not
                                        * take more memory */
};

/* One for each connection, in its owner's memory; begins as zeros but for `number`. */
struct input_waiter {
    uint64_t number;                   /* of connections, in the order in which they came */
    size_t bytes;                      /* that count */
    bool is_acked;                     /* some of its clicks are durable */
    bool is_waiting;
    /* used by the owner only; times are monotonic */
    int64_t since_us;                  /* since when it has held memory, or was resumed */
    int64_t came_us;                   /* when bytes came last */
    uint64_t came;                     /* bytes that came since since_us */
    TAILQ_ENTRY(input_waiter) holding;
    struct input_waiter *next;         /* in the list of those that wait */
};

struct input_half {
    struct quota quota;
    TAILQ_HEAD(, input_waiter) holders;            /* those that hold memory, the longest first */
    struct input_waiter *waiting;      /* in the order in which they are resumed */
    struct input_waiter *reserved;     /* may exceed the limit until it holds nothing any more */
};

/* The owner's memory. */
struct input_quota {
    struct quota quota;                /* of both halves, which it does not bound */
    size_t bytes_max;
    void (*resume)(void *context, struct input_waiter *waiter);    /* it does not wait any more */
    void *context;
    struct input_half halves[2];       /* by input_waiter.is_acked */
};

void input_quota_init(struct input_quota *input, size_t bytes_max,
                     void (*resume)(void *context, struct input_waiter *waiter), void *context);

/* Whether the waiter may take more memory. */
bool input_quota_admits(const struct input_quota *input, const struct input_waiter *waiter);
/* Whether so much is in use that memory which can be made again should be freed. */
bool input_quota_is_tight(const struct input_quota *input);
bool input_quota_has_waiting(const struct input_quota *input);
size_t input_quota_bytes(const struct input_quota *input);

/* The waiter has `bytes` now, INPUT_QUOTA_FREE included.  Resumes one that may take more then. */
void input_quota_charge(struct input_quota *input, struct input_waiter *waiter, size_t bytes);
/* The waiter waits for memory from now on, or no longer. */
void input_quota_wait(struct input_quota *input, struct input_waiter *waiter, bool is_waiting);
/* Where memory is reserved for the waiter, reserve it for another. */
void input_quota_pass(struct input_quota *input, struct input_waiter *waiter);
/* Clicks of the waiter became durable: it changes to the other half. */
void input_quota_mark_acked(struct input_quota *input, struct input_waiter *waiter);
#endif
