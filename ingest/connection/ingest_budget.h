/* ingest_budget: how much input all connections together may take in one loop turn.
 *
 * Time and bytes are bounded, so that a query waits for about a millisecond, however many clicks
 * have come and however slow the machine is.  Half of the time reduced the throughput of shuffled
 * clicks of 8 connections by a tenth, because frames of the log became smaller and answers were
 * sent more often.  So a turn has its whole time only while there are no queries: at its start, and
 * every INGEST_BUDGET_LOOK_US, the network is checked for one (network_has_question), and then the
 * turn ends.  Of two successive turns one takes clicks in any case, however many queries come. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_BUDGET_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_BUDGET_H

#include "base/world/network.h"
#include "base/world/world.h"

enum {
    INGEST_BUDGET_US = 1000,
    INGEST_BUDGET_BYTES = 256 << 10,
    INGEST_BUDGET_LOOK_US = 100,
    INGEST_BUDGET_ASKED_US = 1000000
};

struct ingest_budget {
    struct clock *clock;
    struct network *network;           /* NULL: there are no queries */
    size_t bytes_left;                 /* that may still be taken in this turn */
    int64_t us_left;                   /* of this turn */
    int64_t resumed_us;                /* since when time is spent, by the monotonic clock */
    int64_t look_us_left;              /* the network is checked when us_left is at most this */
    bool is_given;                     /* a query ended this turn at its start: the next turn is not
                                        * checked at its start */
    int64_t asked_us;                  /* when a query was found last, by the same clock */
};

/* `clock` and `network` outlive it; the first turn begins. */
void ingest_budget_open(struct ingest_budget *budget, struct clock *clock, struct network *network);

/* A loop turn begins. */
void ingest_budget_begin(struct ingest_budget *budget);
/* Time is spent from here on, until the last call of ingest_budget_is_over. */
void ingest_budget_resume(struct ingest_budget *budget);
/* Whether the turn's budget is spent; once it is, it stays so until the next turn begins. */
bool ingest_budget_is_over(struct ingest_budget *budget);
/* Whether a query was found within the last INGEST_BUDGET_ASKED_US, so that more may come soon. */
bool ingest_budget_was_asked(const struct ingest_budget *budget);

static inline void ingest_budget_spend(struct ingest_budget *budget, size_t bytes)
{
    budget->bytes_left -= bytes < budget->bytes_left ? bytes : budget->bytes_left;
}
#endif
