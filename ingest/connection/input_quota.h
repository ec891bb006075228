/* input_quota: limits the memory of input that is not taken yet, and of rows that are not applied
 * yet.
 *
 * The first INPUT_QUOTA_FREE bytes of each connection do not count.
 *
 * The limit has two halves, each with a quota: one for connections of which some clicks became
 * durable ("acked"), one for all others.  So connections that never complete a batch cannot take
 * the memory of working ones.  In the acked half, the connection that has waited longest is resumed
 * next.  In the other half, the connection that connected last is resumed next, because it is the
 * likeliest to complete a batch.
 *
 * Up to two connections of each half may always take more.  One is the connection that has held
 * memory for longest.  The other has the reservation; the first connection that has to wait gets
 * the reservation.  Both complete their batches, or are closed because they make no progress
 * (ingest_account.h).  So each wait ends. */
#ifndef DAYBOOK_INGEST_CONNECTION_INPUT_QUOTA_H
#define DAYBOOK_INGEST_CONNECTION_INPUT_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/quota.h"

enum {
    INPUT_QUOTA_FREE = 32 << 10,
    INPUT_QUOTA_LINES = 32             /* lines that a connection takes at a time while its memory
                                        * may not grow */
};

/* The owner sets `number`, and all other members to zero. */
struct input_waiter {
    uint64_t number;                   /* greater than that of each earlier connection */
    size_t bytes;                      /* bytes that it holds beyond INPUT_QUOTA_FREE */
    bool is_acked;                     /* some of its clicks became durable */
    bool is_waiting;
    /* The next three members are for the owner.  Times are monotonic. */
    int64_t since_us;                  /* when it began to hold memory, or was last excused */
    int64_t came_us;                   /* when bytes came last */
    uint64_t came;                     /* bytes that came since `since_us` */
    TAILQ_ENTRY(input_waiter) holding;
    struct input_waiter *next;
};

struct input_half {
    struct quota quota;
    TAILQ_HEAD(, input_waiter) holders;            /* the oldest first */
    struct input_waiter *waiting;      /* a list; its first is resumed next */
    struct input_waiter *reserved;     /* may exceed the limit until it holds nothing */
};

struct input_quota {
    struct quota quota;                /* both halves together; without a limit */
    size_t bytes_max;
    void (*resume)(void *context, struct input_waiter *waiter);
    void *context;
    struct input_half halves[2];
};

void input_quota_init(struct input_quota *input, size_t bytes_max,
                     void (*resume)(void *context, struct input_waiter *waiter), void *context);

bool input_quota_admits(const struct input_quota *input, const struct input_waiter *waiter);
bool input_quota_is_tight(const struct input_quota *input);
bool input_quota_has_waiting(const struct input_quota *input);

/* Set the waiter's bytes, including the free ones.  This may resume another waiter. */
void input_quota_charge(struct input_quota *input, struct input_waiter *waiter, size_t bytes);
void input_quota_wait(struct input_quota *input, struct input_waiter *waiter, bool is_waiting);
/* If the waiter has the reservation, give the reservation to the next waiter. */
void input_quota_pass(struct input_quota *input, struct input_waiter *waiter);
/* Move the waiter to the acked half, because clicks of it became durable. */
void input_quota_mark_acked(struct input_quota *input, struct input_waiter *waiter);
#endif
