/* Who of the ingest connections may take more memory, and who is next. */
#include <criterion/criterion.h>

#include "ingest/connection/input_quota.h"

enum { MEMBERS = 6, HALF = 1000, LET_ON_MAX = 32 };

struct fixture {
    struct input_quota input;
    struct input_waiter members[MEMBERS];
    uint64_t resumed[LET_ON_MAX]; /* their numbers, in order */
    uint32_t resumed_count;
};

static void note_resumed(void *context, struct input_waiter *member)
{
    struct fixture *fixture = context;
    cr_assert_lt(fixture->resumed_count, LET_ON_MAX);
    fixture->resumed[fixture->resumed_count++] = member->number;
}

static void fixture_open(struct fixture *fixture, bool is_acked)
{
    *fixture = (struct fixture){0};
    input_quota_init(&fixture->input, 2 * HALF, note_resumed, fixture);
    for (uint64_t i = 0; i < MEMBERS; i++) {
        fixture->members[i].number = i;
        fixture->members[i].is_acked = is_acked;
    }
}

static void write_lock(struct fixture *fixture, uint32_t index, size_t bytes)
{
    input_quota_charge(&fixture->input, &fixture->members[index],
                       bytes > 0 ? INPUT_QUOTA_FREE + bytes : 0);
}

static void wait_for_room(struct fixture *fixture, uint32_t index)
{
    input_quota_wait(&fixture->input, &fixture->members[index], true);
}

static bool admits(struct fixture *fixture, uint32_t index)
{
    return input_quota_admits(&fixture->input, &fixture->members[index]);
}

Test(input_quota, what_is_free_does_not_count)
{
    struct fixture fixture;
    fixture_open(&fixture, false);
    input_quota_charge(&fixture.input, &fixture.members[0], INPUT_QUOTA_FREE);
    cr_expect_eq(fixture.input.quota.taken, 0);
    write_lock(&fixture, 0, 1);
    cr_expect_eq(fixture.input.quota.taken, 1);
}

Test(input_quota, who_has_held_for_longest_and_one_guest_go_on_where_there_is_no_room)
{
    struct fixture fixture;
    fixture_open(&fixture, true);
    write_lock(&fixture, 0, HALF / 2);
    write_lock(&fixture, 1, HALF / 2);
    cr_expect(admits(&fixture, 0));
    cr_expect_not(admits(&fixture, 1));
    cr_expect_not(admits(&fixture, 2));
    wait_for_room(&fixture, 2);
    cr_expect(admits(&fixture, 2), "there was no guest yet");
    wait_for_room(&fixture, 1);
    cr_expect_not(admits(&fixture, 1));
    /* The oldest is through: who is the oldest then is let on, though there are others. */
    wait_for_room(&fixture, 3);
    write_lock(&fixture, 2, HALF);
    write_lock(&fixture, 0, 0);
    cr_expect_eq(fixture.resumed_count, 2);
    cr_expect_eq(fixture.resumed[1], 1);
    cr_expect(admits(&fixture, 1));
    /* The guest is through: who waits longest is the next one. */
    write_lock(&fixture, 1, 2 * HALF);
    write_lock(&fixture, 2, 0);
    cr_expect_eq(fixture.resumed[2], 3);
    cr_expect(admits(&fixture, 3));
}

/* The first that waits becomes the guest; of the others, `expected` is who comes next. */
static void expect_next(bool is_acked, uint32_t expected)
{
    struct fixture fixture;
    fixture_open(&fixture, is_acked);
    write_lock(&fixture, 0, HALF);
    wait_for_room(&fixture, 5);
    wait_for_room(&fixture, 2);
    wait_for_room(&fixture, 4);
    wait_for_room(&fixture, 3);
    cr_expect_eq(fixture.resumed_count, 1);
    input_quota_pass(&fixture.input, &fixture.members[5]);
    cr_expect_eq(fixture.resumed_count, 2);
    cr_expect_eq(fixture.resumed[1], expected);
}

Test(input_quota, of_those_with_durable_clicks_who_waits_longest_is_next)
{
    expect_next(true, 2);
}

Test(input_quota, of_those_without_any_who_connected_last_is_next)
{
    expect_next(false, 4);
}

Test(input_quota, a_crowd_that_has_shown_nothing_takes_half_and_whoever_shows_something_leaves_it)
{
    struct fixture fixture;
    fixture_open(&fixture, false);
    for (uint32_t i = 0; i < 4; i++)
        write_lock(&fixture, i, HALF);
    wait_for_room(&fixture, 5);
    wait_for_room(&fixture, 4);
    cr_expect_not(admits(&fixture, 4));
    input_quota_mark_acked(&fixture.input, &fixture.members[4]);
    cr_expect(admits(&fixture, 4));
    cr_expect_not(fixture.members[4].is_waiting);
    write_lock(&fixture, 4, 1);
    input_quota_mark_acked(&fixture.input, &fixture.members[3]);
    cr_expect_eq(fixture.input.quota.taken, 4 * HALF + 1, "what it holds moved with it");
    cr_expect(input_quota_is_tight(&fixture.input));
}

Test(input_quota, everybody_gets_his_turn_if_those_who_are_resumed_finish)
{
    struct fixture fixture;
    for (int is_acked = 0; is_acked < 2; is_acked++) {
        fixture_open(&fixture, is_acked);
        for (uint32_t i = 0; i < MEMBERS; i++)
            write_lock(&fixture, i, HALF);
        for (uint32_t i = 0; i < MEMBERS; i++)
            if (!admits(&fixture, i))
                wait_for_room(&fixture, i);
        for (uint32_t round = 0; round < MEMBERS; round++)
            for (uint32_t i = 0; i < MEMBERS; i++)
                if (fixture.members[i].bytes > 0 && !fixture.members[i].is_waiting)
                    write_lock(&fixture, i, 0);
        cr_expect_eq(fixture.input.quota.taken, 0);
        cr_expect_not(input_quota_has_waiting(&fixture.input));
    }
}
