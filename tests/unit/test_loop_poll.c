/* test_loop_poll: when the loop's thread looks again, by given times. */
#include "base/world/loop_poll.h"

#include <criterion/criterion.h>

enum { US = 1000, MS = 1000000, LOOK_NS = 200 * US };

/* One that has just had a turn, after a wait of so long; the turn ended at `*now_ns`. */
static struct loop_poll after_a_wait(int64_t wait_ns, int64_t *now_ns)
{
    struct loop_poll poll = {.look_ns = LOOK_NS};
    loop_poll_turn(&poll, 5 * MS, 6 * MS);
    *now_ns = 6 * MS + wait_ns + 10 * US;
    loop_poll_turn(&poll, 6 * MS + wait_ns, *now_ns);
    return poll;
}

/* When it looks again after somebody else had the processor for so long. */
static int64_t rest_after(struct loop_poll *poll, int64_t now_ns, int64_t gone_ns)
{
    loop_poll_gave_way(poll, now_ns - gone_ns, now_ns);
    return poll->rests_until_ns - now_ns;
}

Test(loop_poll, after_a_short_wait_it_looks_for_a_while)
{
    int64_t now_ns;
    struct loop_poll poll = after_a_wait(LOOK_NS - 1, &now_ns);
    cr_assert(loop_poll_wants(&poll, now_ns));
    cr_assert(loop_poll_wants(&poll, now_ns + LOOK_NS - 1));
    cr_assert_not(loop_poll_wants(&poll, now_ns + LOOK_NS));
}

Test(loop_poll, after_a_long_wait_it_sleeps)
{
    int64_t now_ns;
    struct loop_poll poll = after_a_wait(LOOK_NS, &now_ns);
    cr_assert_not(loop_poll_wants(&poll, now_ns));
}

Test(loop_poll, a_long_wait_ends_the_looking_and_a_short_one_begins_it_again)
{
    int64_t now_ns;
    struct loop_poll poll = after_a_wait(10 * US, &now_ns);
    loop_poll_turn(&poll, now_ns + 5 * MS, now_ns + 6 * MS);
    cr_assert_not(loop_poll_wants(&poll, now_ns + 6 * MS));
    loop_poll_turn(&poll, now_ns + 6 * MS + 10 * US, now_ns + 7 * MS);
    cr_assert(loop_poll_wants(&poll, now_ns + 7 * MS));
}

Test(loop_poll, without_a_time_it_never_looks)
{
    struct loop_poll poll = {0};
    for (int64_t now_ns = 0; now_ns < 10; now_ns++) {
        loop_poll_turn(&poll, now_ns, now_ns);
        cr_assert_not(loop_poll_wants(&poll, now_ns));
    }
}

Test(loop_poll, where_somebody_wants_the_processor_it_rests)
{
    int64_t now_ns;
    struct loop_poll poll = after_a_wait(10 * US, &now_ns);
    loop_poll_gave_way(&poll, now_ns, now_ns + 2 * US);
    cr_assert(loop_poll_wants(&poll, now_ns + 2 * US), "nobody did");
    loop_poll_gave_way(&poll, now_ns, now_ns + 3 * MS);
    now_ns += 3 * MS;
    loop_poll_turn(&poll, now_ns + 10 * US, now_ns + 20 * US);
    loop_poll_turn(&poll, now_ns + 30 * US, now_ns + 40 * US);
    cr_assert_not(loop_poll_wants(&poll, now_ns + 50 * US));
    loop_poll_turn(&poll, now_ns + 990 * US, now_ns + 995 * US);
    loop_poll_turn(&poll, now_ns + 996 * US, now_ns + 998 * US);
    cr_assert_not(loop_poll_wants(&poll, now_ns + 999 * US));
    cr_assert(loop_poll_wants(&poll, now_ns + 1000 * US));
}

Test(loop_poll, rests_double_up_to_64_ms)
{
    int64_t now_ns;
    struct loop_poll poll = after_a_wait(10 * US, &now_ns);
    for (int64_t rest_ns = 1 * MS; rest_ns <= 64 * MS; rest_ns *= 2)
        cr_assert_eq(rest_after(&poll, now_ns, 3 * MS), rest_ns);
    cr_assert_eq(rest_after(&poll, now_ns, 3 * MS), 64 * MS);
}

Test(loop_poll, rests_are_halved_where_looking_was_worth_it)
{
    int64_t now_ns;
    struct loop_poll poll = after_a_wait(10 * US, &now_ns);
    for (int i = 0; i < 4; i++)
        (void)rest_after(&poll, now_ns, 3 * MS);
    /* During the rest it did not look, so what came soon says nothing. */
    loop_poll_turn(&poll, now_ns + 10 * US, now_ns + 20 * US);
    cr_assert_eq(rest_after(&poll, now_ns, 3 * MS), 16 * MS);
    now_ns += 16 * MS;
    loop_poll_turn(&poll, now_ns - 10 * US, now_ns - 5 * US);
    loop_poll_turn(&poll, now_ns + 10 * US, now_ns + 20 * US);
    loop_poll_turn(&poll, now_ns + 30 * US, now_ns + 40 * US);
    cr_assert_eq(poll.rest_ns, 8 * MS);
    cr_assert_eq(rest_after(&poll, now_ns + 4 * MS, 3 * MS), 16 * MS);
}
