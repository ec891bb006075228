/* ingest_account: counts the memory of one connection, and decides whether the connection may use
 * more.
 *
 * There are two quotas, each for all connections together: one for input that has come in part
 * (input_quota.h), one for answers that wait for the disk or for the client to read them.  The
 * answers of one connection may take half of what is left of the answers' quota.  So each
 * connection may have less while many answers are unread; but a client that reads its answers is
 * always served, because INGEST_ACCOUNT_ANSWERS_LEAST bytes are always allowed. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_ACCOUNT_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_ACCOUNT_H

#include "ingest/connection/ingest_memory.h"

enum {
    INGEST_ACCOUNT_ANSWERS_LEAST = 16 << 10,       /* bytes of answers that a connection may always
                                                    * have */
    INGEST_ACCOUNT_ANSWERS_MAX = 1 << 20           /* bytes of a connection's answers at most */
};

struct ingest_account {
    struct ingest_memory *memory;
    struct input_waiter waiter;
    size_t answer_bytes;               /* bytes of answers that were charged last */
};

/* `number` is greater than the numbers of all earlier connections. */
void ingest_account_open(struct ingest_account *account, struct ingest_memory *memory,
                         uint64_t number);
/* When the connection is closed: give back its charged memory, and stop waiting. */
void ingest_account_close(struct ingest_account *account);

/* Whether the connection's input and rows may grow. */
bool ingest_account_may_grow(const struct ingest_account *account);
/* How many bytes of the connection's answers may wait. */
size_t ingest_account_answers_max(const struct ingest_account *account);

/* Charge the connection for the input and rows that it keeps now. */
void ingest_account_count_input(struct ingest_account *account, size_t bytes);
/* `size` bytes came from the client. */
void ingest_account_came(struct ingest_account *account, size_t size);

/* The connection makes no progress for a reason that is not its client: its time for progress
 * starts again. */
void ingest_account_excuse(struct ingest_account *account);
/* Whether the connection holds memory for which others wait, and its time for progress is over.  If
 * others wait and its time is over, it loses its reservation of memory (input_quota_pass). */
bool ingest_account_is_too_slow(struct ingest_account *account);
#endif
