/* test_control_room: who waits for memory gets it in turn; who keeps too much is refused. */
#include "program/control/control_room.h"

#include <criterion/criterion.h>
#include <string.h>

struct bench {
    struct control_room room;
    int64_t told;
    char order[16]; /* who was granted */
};

struct guest {
    struct room_waiter waiter; /* first */
    struct bench *bench;
    char name;
    bool is_brief; /* gives back at once */
};

static void tell(void *context, int64_t change_bytes)
{
    ((struct bench *)context)->told += change_bytes;
}

static void granted(struct room_waiter *waiter)
{
    struct guest *guest = (struct guest *)waiter;
    strncat(guest->bench->order, &guest->name, 1);
    if (guest->is_brief)
        control_room_give_back(&guest->bench->room, waiter->bytes);
}

static void bench_init(struct bench *bench)
{
    *bench = (struct bench){.room = {.bytes_max = 100, .changed = tell, .context = bench}};
}

static struct guest guest_of(struct bench *bench, char name, size_t bytes)
{
    return (struct guest){{.bytes = bytes, .granted = granted}, bench, name, false};
}

Test(control_room, grants_in_the_order_in_which_they_came_the_large_not_passed_over)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 60);
    struct guest b = guest_of(&bench, 'b', 50);
    struct guest c = guest_of(&bench, 'c', 10);
    control_room_wait(&bench.room, &a.waiter);
    control_room_wait(&bench.room, &b.waiter);
    control_room_wait(&bench.room, &c.waiter);
    cr_expect_str_eq(bench.order, "a");
    control_room_give_back(&bench.room, 60);
    cr_expect_str_eq(bench.order, "abc");
    cr_expect_eq(bench.told, 60);
}

Test(control_room, one_who_goes_lets_those_behind_him_in)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 60);
    struct guest b = guest_of(&bench, 'b', 50);
    struct guest c = guest_of(&bench, 'c', 10);
    control_room_wait(&bench.room, &a.waiter);
    control_room_wait(&bench.room, &b.waiter);
    control_room_wait(&bench.room, &c.waiter);
    control_room_forget(&bench.room, &b.waiter);
    cr_expect_str_eq(bench.order, "ac");
    control_room_forget(&bench.room, &b.waiter);
    cr_expect_eq(bench.told, 70);
}

Test(control_room, those_who_give_back_at_once_let_all_behind_them_in)
{
    struct bench bench;
    struct guest guests[5];
    bench_init(&bench);
    struct guest first = guest_of(&bench, '-', 100);
    control_room_wait(&bench.room, &first.waiter);
    for (int i = 0; i < 5; i++) {
        guests[i] = guest_of(&bench, (char)('a' + i), 80);
        guests[i].is_brief = true;
        control_room_wait(&bench.room, &guests[i].waiter);
    }
    cr_expect_str_eq(bench.order, "-");
    control_room_give_back(&bench.room, 100);
    cr_expect_str_eq(bench.order, "-abcde");
    cr_expect_eq(bench.told, 0);
}

Test(control_room, what_is_more_than_the_whole_is_never_granted)
{
    struct bench bench;
    bench_init(&bench);
    cr_expect(control_room_may_grant(&bench.room, 100));
    cr_expect_not(control_room_may_grant(&bench.room, 101));
}

/* They are made before it is known how long they are. */
Test(control_room, answers_past_their_part_leave_nothing_and_keep_no_command_from_running)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 100);
    control_room_answer(&bench.room, 130);
    cr_expect_eq(control_room_answer_left(&bench.room), 0);
    control_room_wait(&bench.room, &a.waiter);
    cr_expect_str_eq(bench.order, "a");
    control_room_answer(&bench.room, -70);
    cr_expect_eq(control_room_answer_left(&bench.room), 40);
    cr_expect_eq(bench.told, 160);
}

Test(control_room, what_is_kept_has_room_of_its_own_and_is_refused_past_it)
{
    struct bench bench;
    bench_init(&bench);
    struct guest a = guest_of(&bench, 'a', 100);
    cr_expect(control_room_keep(&bench.room, 90));
    cr_expect_not(control_room_keep(&bench.room, 11));
    cr_expect(control_room_keep(&bench.room, 10));
    cr_expect_not(control_room_keep(&bench.room, 1));
    control_room_wait(&bench.room, &a.waiter);
    cr_expect_str_eq(bench.order, "a");
    cr_expect(control_room_keep(&bench.room, -100));
    cr_expect(control_room_keep(&bench.room, 100));
    cr_expect_eq(bench.told, 200);
}
