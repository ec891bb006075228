/* ingest_budget: limits the input that all connections together may take in one loop turn.
 *
 * A turn has limited time and bytes, so that a query waits for about a millisecond at most.  A turn
 * ends early if a query has come.  So the network is checked for queries (network_has_question) at
 * the turn's start and every INGEST_BUDGET_LOOK_US.  Of two successive turns at least one takes
 * clicks, however many queries come. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_BUDGET_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_BUDGET_H

#include "base/world/network.h"
#include "base/world/world.h"

enum {
    INGEST_BUDGET_US = 1000,
    INGEST_BUDGET_BYTES = 256 << 10,
    INGEST_BUDGET_LOOK_US = 100
};

struct ingest_budget {
    struct clock *clock;
    struct network *network;           /* NULL: there are no queries */
    size_t bytes_left;
    int64_t us_left;
    int64_t resumed_us;                /* monotonic time up to which us_left is counted */
    int64_t look_us_left;              /* check the network when us_left reaches this */
    bool is_given;                     /* a query ended this turn at its start, so the next turn
                                        * does not check at its start */
};

/* `clock` and `network` outlive the budget. */
void ingest_budget_open(struct ingest_budget *budget, struct clock *clock, struct network *network);

void ingest_budget_begin(struct ingest_budget *budget);
/* Do not count the time since the last ingest_budget_is_over. */
void ingest_budget_resume(struct ingest_budget *budget);
/* Once the result is true, it stays true until the next turn begins. */
bool ingest_budget_is_over(struct ingest_budget *budget);

static inline void ingest_budget_spend(struct ingest_budget *budget, size_t bytes)
{
    budget->bytes_left -= bytes < budget->bytes_left ? bytes : budget->bytes_left;
}
#endif
