/* A turn of the loop has bounds of bytes and of time; tests of questions are
 * test_text_door_turns.c.
 */
#include "ingest/connection/ingest_budget.h"

#include <criterion/criterion.h>

static int64_t now_us;

static int64_t clock_monotonic_us(struct clock *clock)
{
    (void)clock;
    return now_us;
}

static struct clock test_clock = {.monotonic_us = clock_monotonic_us};

Test(ingest_budget, bytes_end_a_turn_and_the_next_has_as_many_again)
{
    struct ingest_budget budget;

    ingest_budget_open(&budget, &test_clock, NULL);
    ingest_budget_spend(&budget, INGEST_BUDGET_BYTES - 1);
    cr_expect_not(ingest_budget_is_over(&budget));
    ingest_budget_spend(&budget, 2);
    cr_expect(ingest_budget_is_over(&budget));
    ingest_budget_begin(&budget);
    cr_expect_not(ingest_budget_is_over(&budget));
}

Test(ingest_budget, only_time_between_resume_and_the_last_question_is_spent)
{
    struct ingest_budget budget;

    ingest_budget_open(&budget, &test_clock, NULL);
    now_us += INGEST_BUDGET_US / 2;
    cr_expect_not(ingest_budget_is_over(&budget));
    now_us += 10 * INGEST_BUDGET_US;
    ingest_budget_resume(&budget);
    now_us += INGEST_BUDGET_US / 2 - 1;
    cr_expect_not(ingest_budget_is_over(&budget));
    now_us += 1;
    cr_expect(ingest_budget_is_over(&budget));
    ingest_budget_resume(&budget);
    cr_expect(ingest_budget_is_over(&budget), "it is over until the next begins");
    ingest_budget_begin(&budget);
    cr_expect_not(ingest_budget_is_over(&budget));
}
