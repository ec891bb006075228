/* test_trusted_clock: when a wall clock is in doubt, and how that ends. */
#include "base/world/trusted_clock.h"

#include <criterion/criterion.h>

#define SECOND INT64_C(1000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)
#define FRIDAY INT64_C(1385748000000000) /* 2013-11-29T18:00:00Z */

/* A machine that has run for a day on Friday, whose clock is right. */
static struct clock_reading friday(void)
{
    return (struct clock_reading){.wall_us = FRIDAY, .boot_us = DAY, .boot_id = {1}};
}

static void pass(struct clock_reading *now, int64_t us)
{
    now->wall_us += us;
    now->boot_us += us;
}

/* The machine is off for `us`, and has run for a minute when the directory is opened. */
static void reboot(struct clock_reading *now, int64_t us)
{
    now->wall_us += us + 60 * SECOND;
    now->boot_us = 60 * SECOND;
    now->boot_id[0]++;
}

static struct trusted_clock opened(const struct clock_reading *mark,
                                   const struct clock_reading *now)
{
    struct trusted_clock clock;
    trusted_clock_init(&clock, mark, now);
    return clock;
}

/* Looks every minute for so long: whether the clock is in doubt at the end. */
static bool runs(struct trusted_clock *clock, struct clock_reading *now, int64_t us)
{
    for (int64_t left = us; left > 0; left -= 60 * SECOND) {
        pass(now, left < 60 * SECOND ? left : 60 * SECOND);
        (void)trusted_clock_look(clock, now);
    }
    return clock->is_in_doubt;
}

Test(trusted_clock, agrees_for_as_long_as_both_clocks_run)
{
    struct clock_reading now = friday();
    const struct clock_reading mark = now;
    struct trusted_clock clock = opened(&mark, &now);
    cr_assert(!clock.is_in_doubt);
    cr_assert(!runs(&clock, &now, 40 * DAY));
    cr_assert_eq(trusted_clock_us(&clock, &now), now.wall_us);
}

Test(trusted_clock, doubts_a_wall_clock_that_jumps_until_it_is_back)
{
    static const int64_t jumps[] = {-400 * DAY, -DAY - HOUR, DAY + HOUR, 2 * DAY, 365 * DAY};
    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
        struct clock_reading now = friday();
        const struct clock_reading mark = now;
        struct trusted_clock clock = opened(&mark, &now);
        (void)runs(&clock, &now, 2 * HOUR);
        now.wall_us += jumps[i];
        cr_assert(trusted_clock_look(&clock, &now));
        cr_assert(runs(&clock, &now, 90 * DAY), "it never ends by itself within a boot");
        now.wall_us -= jumps[i];
        cr_assert(!trusted_clock_look(&clock, &now));
        cr_assert_eq(trusted_clock_us(&clock, &now), now.wall_us);
    }
}

Test(trusted_clock, lets_the_wall_clock_be_set_within_a_day)
{
    struct clock_reading now = friday();
    const struct clock_reading mark = now;
    struct trusted_clock clock = opened(&mark, &now);
    now.wall_us += DAY;
    cr_assert(!trusted_clock_look(&clock, &now));
    now.wall_us -= 2 * DAY;
    cr_assert(!trusted_clock_look(&clock, &now));
    now.wall_us += 2 * DAY + SECOND;
    cr_assert(trusted_clock_look(&clock, &now));
}

Test(trusted_clock, knows_exactly_how_long_a_server_was_stopped_on_a_machine_that_ran)
{
    struct clock_reading now = friday();
    const struct clock_reading mark = now;
    pass(&now, 62 * HOUR);
    struct trusted_clock clock = opened(&mark, &now);
    cr_assert(!clock.is_in_doubt);
    now.wall_us += 365 * DAY;
    clock = opened(&mark, &now);
    cr_assert(clock.is_in_doubt);
    cr_assert(runs(&clock, &now, 90 * DAY));
}

Test(trusted_clock, believes_a_weekend_off_after_some_hours_by_itself)
{
    struct clock_reading now = friday();
    const struct clock_reading mark = now;
    reboot(&now, 62 * HOUR);
    struct trusted_clock clock = opened(&mark, &now);
    cr_assert(clock.is_in_doubt);
    cr_assert(runs(&clock, &now, 62 * HOUR / CLOCK_OFF_SHARE - 60 * SECOND));
    cr_assert(!runs(&clock, &now, 2 * 60 * SECOND));
    cr_assert_eq(trusted_clock_us(&clock, &now), now.wall_us);
    now.wall_us += 3 * DAY;
    cr_assert(trusted_clock_look(&clock, &now));
    cr_assert(runs(&clock, &now, 90 * DAY), "the machine was off once, and not again");
}

Test(trusted_clock, believes_nothing_after_a_boot_that_is_not_steady)
{
    struct clock_reading now = friday();
    const struct clock_reading mark = now;
    reboot(&now, 62 * HOUR);
    struct trusted_clock clock = opened(&mark, &now);
    for (int i = 0; i < 100; i++) {
        (void)runs(&clock, &now, 2 * HOUR);
        now.wall_us += 60 * SECOND;
        cr_assert(trusted_clock_look(&clock, &now));
    }
}

Test(trusted_clock, never_believes_a_year_ahead)
{
    struct clock_reading now = friday();
    const struct clock_reading mark = now;
    reboot(&now, 365 * DAY);
    struct trusted_clock clock = opened(&mark, &now);
    cr_assert(runs(&clock, &now, 90 * DAY));
    cr_assert_eq(trusted_clock_us(&clock, &now), FRIDAY + now.boot_us);
    trusted_clock_accept(&clock, &now);
    cr_assert(!runs(&clock, &now, DAY));
    const struct clock_reading kept = trusted_clock_mark(&clock, &now);
    pass(&now, HOUR);
    clock = opened(&kept, &now);
    cr_assert(!clock.is_in_doubt);
}

Test(trusted_clock, doubts_a_clock_that_is_behind_after_a_boot)
{
    struct clock_reading now = friday();
    const struct clock_reading mark = now;
    reboot(&now, 0);
    now.wall_us = 0;
    struct trusted_clock clock = opened(&mark, &now);
    cr_assert(clock.is_in_doubt);
    cr_assert(runs(&clock, &now, 90 * DAY));
    now.wall_us = FRIDAY + now.boot_us + 8 * HOUR;
    cr_assert(!trusted_clock_look(&clock, &now));
}

/* A machine that is switched off every night. */
Test(trusted_clock, does_not_add_up_the_nights)
{
    struct clock_reading now = friday();
    struct clock_reading mark = now;
    for (int day = 0; day < 30; day++) {
        reboot(&now, 14 * HOUR);
        struct trusted_clock clock = opened(&mark, &now);
        cr_assert(!clock.is_in_doubt);
        mark = trusted_clock_mark(&clock, &now);
    }
}

/* A clock that is kept nowhere while the machine is off is set right soon after its start. */
Test(trusted_clock, lets_a_clock_be_set_within_the_first_hour_of_a_boot)
{
    struct clock_reading now = friday();
    const struct clock_reading mark = now;
    reboot(&now, 0);
    struct trusted_clock clock = opened(&mark, &now);
    cr_assert(!runs(&clock, &now, HOUR / 2));
    now.wall_us += 62 * HOUR;
    cr_assert(trusted_clock_look(&clock, &now));
    cr_assert(!runs(&clock, &now, 3 * HOUR));
}

Test(trusted_clock, has_the_newest_write_where_there_is_no_mark)
{
    struct clock_reading now = friday();
    struct trusted_clock clock;
    trusted_clock_init_unmarked(&clock, 0, &now);
    cr_assert(!clock.is_in_doubt);
    trusted_clock_init_unmarked(&clock, FRIDAY - 365 * DAY, &now);
    cr_assert(runs(&clock, &now, 90 * DAY));
    now = friday();
    trusted_clock_init_unmarked(&clock, FRIDAY - 3 * DAY, &now);
    cr_assert(clock.is_in_doubt);
    cr_assert(!runs(&clock, &now, 4 * HOUR));
    now = friday();
    trusted_clock_init_unmarked(&clock, FRIDAY * 1000, &now);
    cr_assert(!clock.is_in_doubt, "what a client made of time says nothing of the clock");
}
