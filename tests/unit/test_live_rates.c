/* test_live_rates: a change of rates is durable when a batch sent after it is, and no earlier. */
#include "rollup/days/live_rates.h"

#include <criterion/criterion.h>

Test(live_rates, changes_are_durable_with_the_batch_that_was_sent_after_them)
{
    struct live_rates rates;
    live_rates_init(&rates);
    cr_assert(live_rates_are_durable(&rates), "nothing has changed");
    live_rates_note_changed(&rates);
    live_rates_send(&rates, 1);
    live_rates_note_changed(&rates);
    live_rates_send(&rates, 2); /* one batch at a time is waited for */
    live_rates_batch_durable(&rates, 1);
    cr_assert_not(live_rates_are_durable(&rates), "the second change came after batch 1");
    live_rates_batch_durable(&rates, 2);
    cr_assert_not(live_rates_are_durable(&rates));
    live_rates_send(&rates, 3);
    live_rates_batch_durable(&rates, 3);
    cr_assert(live_rates_are_durable(&rates));
    live_rates_release(&rates);
}

Test(live_rates, a_refused_batch_says_nothing)
{
    struct live_rates rates;
    live_rates_init(&rates);
    live_rates_note_changed(&rates);
    live_rates_send(&rates, 1);
    live_rates_take_back(&rates, 1);
    live_rates_batch_durable(&rates, 1);
    cr_assert_not(live_rates_are_durable(&rates));
    live_rates_send(&rates, 1);
    live_rates_batch_durable(&rates, 1);
    cr_assert(live_rates_are_durable(&rates));
    live_rates_release(&rates);
}

/* A reader that waited by itself may say so, in any order; what is durable stays so. */
Test(live_rates, what_was_durable_stays_so)
{
    struct live_rates rates;
    live_rates_init(&rates);
    live_rates_note_changed(&rates);
    live_rates_note_changed(&rates);
    live_rates_note_durable(&rates, 2);
    live_rates_note_durable(&rates, 1);
    cr_assert(live_rates_are_durable(&rates));
    live_rates_release(&rates);
}

Test(live_rates, a_table_that_is_another_one_is_empty_and_a_change)
{
    struct live_rates rates;
    live_rates_init(&rates);
    rate_table_set(rates.table, bytes_text("r"), 10, decimal_from(25, 2));
    live_rates_forget(&rates);
    cr_assert_null(rate_table_at(rates.table, bytes_text("r"), 10));
    cr_assert_not(live_rates_are_durable(&rates));
    live_rates_release(&rates);
}
