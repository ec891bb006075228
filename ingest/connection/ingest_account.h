/* ingest_account: what one connection keeps in memory, and whether it may keep more.
 *
 * There are two quotas, both for all connections together: of input that has come in part
 * (input_quota.h), and of answers that wait for the disk or their reader.  Of the latter each
 * connection may have half of what is left: the more answers wait unread the less each connection
 * may have, but a client that reads its answers is always served. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_ACCOUNT_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_ACCOUNT_H

#include "ingest/connection/ingest_memory.h"

enum {
    INGEST_ACCOUNT_ANSWERS_LEAST = 16 << 10,       /* bytes of answers that each may always have */
    INGEST_ACCOUNT_ANSWERS_MAX = 1 << 20           /* bytes of answers that each has at most */
};

struct ingest_account {
    struct ingest_memory *memory;
    struct input_waiter waiter;
    size_t answer_bytes;               /* as they were charged last */
};

/* `number` counts connections in the order in which they came. */
void ingest_account_open(struct ingest_account *account, struct ingest_memory *memory,
                         uint64_t number);
/* It keeps nothing from now on, and waits for nothing. */
void ingest_account_close(struct ingest_account *account);

/* Whether its input and rows may grow. */
bool ingest_account_may_grow(const struct ingest_account *account);
/* How many bytes of answers may wait. */
size_t ingest_account_answers_max(const struct ingest_account *account);

/* Charge it for what it keeps now. */
void ingest_account_count_input(struct ingest_account *account, size_t bytes);
void ingest_account_count_answers(struct ingest_account *account, size_t bytes);
/* It waits for memory from now on, or no longer. */
void ingest_account_wait(struct ingest_account *account, bool is_waiting);
/* Some of its clicks became durable. */
void ingest_account_mark_acked(struct ingest_account *account);
/* `size` bytes came from its client. */
void ingest_account_came(struct ingest_account *account, size_t size);

/* It makes no progress for a reason that is not its client's: the time that it has begins anew. */
void ingest_account_excuse(struct ingest_account *account);
/* Whether others wait for memory that it holds and its time is over.  Then it also loses the
 * reservation of memory that it may have (input_quota_pass). */
bool ingest_account_is_too_slow(struct ingest_account *account);
#endif
