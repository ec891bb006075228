/* ingest_account: what one connection keeps in memory, and whether it may keep more.
 *
 * Two quotas, both of all connections together: of what has come in (input_quota.h), and of
 * answers that wait, for the disk or their reader.  Of the latter each connection may have half of
 * what is left: the more wait unread the less of each, but a client that reads its own is served.
 */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_ACCOUNT_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_ACCOUNT_H

#include "ingest/connection/ingest_memory.h"

enum {
    INGEST_ACCOUNT_ANSWERS_LEAST = 16 << 10,       /* bytes of answers that each may always have, */
    INGEST_ACCOUNT_ANSWERS_MAX = 1 << 20           /* and that it has at most */
};

struct ingest_account {
    struct ingest_memory *memory;
    struct input_waiter waiter;
    size_t answer_bytes;               /* as they are counted */
};

/* `number`: of connections, in the order in which they came. */
void ingest_account_open(struct ingest_account *account, struct ingest_memory *memory,
                         uint64_t number);
/* It keeps nothing, and waits for nothing. */
void ingest_account_close(struct ingest_account *account);

/* Whether what came in may grow. */
bool ingest_account_may_grow(const struct ingest_account *account);
/* How many bytes of answers may wait. */
size_t ingest_account_answers_max(const struct ingest_account *account);

/* It keeps so much by now. */
void ingest_account_count_input(struct ingest_account *account, size_t bytes);
void ingest_account_count_answers(struct ingest_account *account, size_t bytes);
/* It cannot go on without memory: from now on it waits, or no longer. */
void ingest_account_wait(struct ingest_account *account, bool is_waiting);
/* Some of its clicks are durable. */
void ingest_account_mark_acked(struct ingest_account *account);
/* Bytes came. */
void ingest_account_came(struct ingest_account *account, size_t size);

/* It is not its own doing that it does not go on: its time begins anew. */
void ingest_account_excuse(struct ingest_account *account);
/* Whether others wait for what it holds and its time is over; what is reserved for it may be for
 * another then. */
bool ingest_account_is_too_slow(struct ingest_account *account);
#endif
