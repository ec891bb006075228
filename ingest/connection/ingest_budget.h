/* ingest_budget: what all connections may take in one turn of the loop.
 *
 * It is bounded so that a client that asks a question waits for a millisecond or so, however many
 * clicks have come and however slow the machine is.  Past either bound the turn goes to others.
 * Half the time took a tenth off shuffled clicks of 8 connections: frames are smaller, and answers
 * leave more often.  So the turn is as long as that only while there are no questions: at its start
 * and every INGEST_BUDGET_LOOK_US of it the network is asked whether one has come
 * (network_has_question), and then the turn ends, which costs clicks nothing as long as there are
 * no questions.  Of two turns one takes clicks, however many questions come. */
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
    struct network *network;           /* NULL: no questions come */
    size_t bytes_left;                 /* that may still be taken before the next turn, */
    int64_t us_left;                   /* and for how long */
    int64_t resumed_us;                /* by the monotonic clock */
    int64_t look_us_left;              /* when so much is left the network is asked */
    bool is_given;                     /* a question got a turn whole: the next one is not */
    int64_t asked_us;                  /* when a question was found last, by the same clock */
};

/* `clock` and `network` outlive it; a turn has begun. */
void ingest_budget_open(struct ingest_budget *budget, struct clock *clock, struct network *network);

/* A turn of the loop begins. */
void ingest_budget_begin(struct ingest_budget *budget);
/* From here on time is spent, until ingest_budget_is_over is asked for the last time. */
void ingest_budget_resume(struct ingest_budget *budget);
/* Once it is, it is for all until the next turn begins. */
bool ingest_budget_is_over(struct ingest_budget *budget);
/* Whether a question was found within the last second, so that the next may be on its way. */
bool ingest_budget_was_asked(const struct ingest_budget *budget);

static inline void ingest_budget_spend(struct ingest_budget *budget, size_t bytes)
{
    budget->bytes_left -= bytes < budget->bytes_left ? bytes : budget->bytes_left;
}
#endif
