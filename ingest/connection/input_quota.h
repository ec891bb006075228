/* input_quota: limits the memory of input that has come in part and is not in the store yet.
 *
 * This memory is input that is not taken yet, and rows that are not applied yet.  The first
 * INPUT_QUOTA_FREE bytes of each connection do not count.  While there is room, every connection
 * may take more.  When there is no room, connections that need more wait, and are resumed one by
 * one when room becomes free.
 *
 * There are two halves, each with its own quota: one for connections of which some clicks became
 * durable ("acked"), one for all others.  So connections that never complete a batch cannot take
 * the memory of working ones, however many they are.  In the acked half, the connection that has
 * waited longest is resumed next.  In the other half, the connection that connected last is resumed
 * next: among many connections that hold memory and complete nothing, the newest is the likeliest
 * to be a working one.
 *
 * Two connections of each half may always take more: the one that has held memory for longest, and
 * the one that has the reservation of memory over the limit.  The first connection that has to wait
 * while no connection has the reservation gets it.  So each wait ends: these two connections
 * complete their batches, or are closed because they make no progress (ingest_account.h). */
#ifndef DAYBOOK_INGEST_CONNECTION_INPUT_QUOTA_H
#define DAYBOOK_INGEST_CONNECTION_INPUT_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/quota.h"

enum {
    INPUT_QUOTA_FREE = 32 << 10,       /* bytes of each connection that do not count */
    INPUT_QUOTA_LINES = 32             /* lines that a connection takes at a time while it may not
                                        * take more memory */
};

/* One for each connection.  The owner sets `number`, and all other members to zero. */
struct input_waiter {
    uint64_t number;                   /* greater than those of all earlier connections */
    size_t bytes;                      /* counted bytes, without the free ones */
    bool is_acked;                     /* some of its clicks are durable */
    bool is_waiting;
    /* Only the owner uses these three.  Times are monotonic. */
    int64_t since_us;                  /* time when it began to hold memory, or was excused last */
    int64_t came_us;                   /* time when bytes came last */
    uint64_t came;                     /* bytes that have come since `since_us` */
    TAILQ_ENTRY(input_waiter) holding;
    struct input_waiter *next;         /* in input_half.waiting */
};

struct input_half {
    struct quota quota;
    TAILQ_HEAD(, input_waiter) holders;            /* in the order in which they began to hold */
    struct input_waiter *waiting;      /* list, in the order in which they are resumed */
    struct input_waiter *reserved;     /* may exceed the limit until it holds nothing; or NULL */
};

struct input_quota {
    struct quota quota;                /* the sum of both halves; without a limit */
    size_t bytes_max;
    void (*resume)(void *context, struct input_waiter *waiter);    /* `waiter` was resumed */
    void *context;
    struct input_half halves[2];       /* by input_waiter.is_acked */
};

void input_quota_init(struct input_quota *input, size_t bytes_max,
                     void (*resume)(void *context, struct input_waiter *waiter), void *context);

/* Whether the waiter may take more memory. */
bool input_quota_admits(const struct input_quota *input, const struct input_waiter *waiter);
/* Whether so much is in use that connections should free memory that they can allocate again. */
bool input_quota_is_tight(const struct input_quota *input);
bool input_quota_has_waiting(const struct input_quota *input);

/* Set the waiter's bytes, including the free ones.  This may resume a waiter. */
void input_quota_charge(struct input_quota *input, struct input_waiter *waiter, size_t bytes);
/* Set whether the waiter waits for memory. */
void input_quota_wait(struct input_quota *input, struct input_waiter *waiter, bool is_waiting);
/* If the waiter has the reservation, take it away; the next waiter gets it. */
void input_quota_pass(struct input_quota *input, struct input_waiter *waiter);
/* Clicks of the waiter became durable: move it to the acked half. */
void input_quota_mark_acked(struct input_quota *input, struct input_waiter *waiter);
#endif
