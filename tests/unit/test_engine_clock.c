/* Write timestamps only ever ascend, whatever the wall clock does. */
#include <criterion/criterion.h>

#include "tests/lib/engine_parts.h"

Test(engine_clock, timestamps_follow_the_wall_clock_and_never_go_back)
{
    struct engine_parts parts;
    engine_parts_start(&parts, &(struct engine_options){0});
    parts.wall_us = 5000;
    cr_expect_eq(engine_clock_now_us(&parts.clock), 5000);
    engine_clock_pass(&parts.clock, 5000);
    cr_expect_eq(engine_clock_now_us(&parts.clock), 5001);
    parts.wall_us = 100; /* jumped back */
    cr_expect_eq(engine_clock_now_us(&parts.clock), 5001);
    engine_clock_pass(&parts.clock, 4000); /* older than what was given */
    cr_expect_eq(engine_clock_now_us(&parts.clock), 5001);
    parts.wall_us = 9000;
    cr_expect_eq(engine_clock_now_us(&parts.clock), 9000);
    engine_parts_stop(&parts);
}

Test(engine_clock, the_last_timestamp_is_known_once_one_was_given)
{
    struct engine_parts parts;
    engine_parts_start(&parts, &(struct engine_options){0});
    cr_expect_eq(engine_clock_given_us(&parts.clock), 0);
    engine_clock_pass(&parts.clock, 7000);
    cr_expect_eq(engine_clock_given_us(&parts.clock), 7000);
    engine_parts_stop(&parts);
}

Test(engine_clock, a_clock_is_accepted_only_where_the_mark_can_be_written)
{
    struct engine_parts parts;
    struct error err = {0};
    engine_parts_start(&parts, &(struct engine_options){.read_only = true});
    cr_expect_eq(engine_clock_accept(&parts.clock, NULL, NULL, &err), ERROR_READ_ONLY);
    cr_expect_eq(parts.clock.markings, 0);
    engine_parts_stop(&parts);
}
