/* ingest_account: counts the memory of one connection, and decides whether the connection may use
 * more.
 *
 * One quota for all connections limits input that has come in part (input_quota.h).  Another quota
 * limits answers that wait for the disk or the client.  The answers of one connection may take half
 * of the bytes that this quota has left.  INGEST_ACCOUNT_ANSWERS_LEAST bytes are always allowed, so
 * a client that reads its answers is always served. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_ACCOUNT_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_ACCOUNT_H

#include "ingest/connection/ingest_memory.h"

enum {
    INGEST_ACCOUNT_ANSWERS_LEAST = 16 << 10,       /* bytes that a connection may always have */
    INGEST_ACCOUNT_ANSWERS_MAX = 1 << 20           /* bytes at most */
};

struct ingest_account {
    struct ingest_memory *memory;
    struct input_waiter waiter;
    size_t answer_bytes;
};

/* `number` is greater than the numbers of all earlier connections. */
void ingest_account_open(struct ingest_account *account, struct ingest_memory *memory,
                         uint64_t number);
void ingest_account_close(struct ingest_account *account);

bool ingest_account_may_grow(const struct ingest_account *account);
size_t ingest_account_answers_max(const struct ingest_account *account);

void ingest_account_count_input(struct ingest_account *account, size_t bytes);
void ingest_account_came(struct ingest_account *account, size_t size);

/* Restart the connection's time for progress, because the connection is not delayed by its
 * client. */
void ingest_account_excuse(struct ingest_account *account);
/* Whether the connection's time for progress is over while others wait for memory that it holds.
 * When the time is over, the connection also loses its reservation of memory (input_quota_pass). */
bool ingest_account_is_too_slow(struct ingest_account *account);
#endif
