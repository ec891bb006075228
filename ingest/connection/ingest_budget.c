/* ingest_budget: see the header. */
#include "ingest/connection/ingest_budget.h"

void ingest_budget_open(struct ingest_budget *budget, struct clock *clock, struct network *network)
{
    *budget = (struct ingest_budget){.clock = clock, .network = network};
    ingest_budget_begin(budget);
}

void ingest_budget_resume(struct ingest_budget *budget)
{
    budget->resumed_us = budget->clock->monotonic_us(budget->clock);
}

void ingest_budget_begin(struct ingest_budget *budget)
{
    budget->bytes_left = INGEST_BUDGET_BYTES;
    budget->us_left = INGEST_BUDGET_US;
    budget->look_us_left = INGEST_BUDGET_US - (budget->is_given ? INGEST_BUDGET_LOOK_US : 0);
    budget->is_given = false;
    ingest_budget_resume(budget);
}

static bool is_asked(struct ingest_budget *budget)
{
    bool is_first = budget->look_us_left == INGEST_BUDGET_US;

    if (budget->network == NULL || budget->us_left > budget->look_us_left)
        return false;
    budget->look_us_left = budget->us_left - INGEST_BUDGET_LOOK_US;
    if (!network_has_question(budget->network))
        return false;
    budget->is_given = is_first;
    return true;
}

bool ingest_budget_is_over(struct ingest_budget *budget)
{
    int64_t now_us = budget->clock->monotonic_us(budget->clock);

    budget->us_left -= now_us - budget->resumed_us;
    budget->resumed_us = now_us;
    if (budget->us_left > 0 && is_asked(budget))
        budget->us_left = 0;
    return budget->bytes_left == 0 || budget->us_left <= 0;
}
