/* Checks of passwords that wait: few, fair by address, each once. */
#include <criterion/criterion.h>

#include "door/login_queue.h"

static struct login_queue queue;
static struct login_waiter waiters[2000];

static struct login_waiter *add(uint32_t i, uint64_t address)
{
    waiters[i].address = address;
    return login_queue_add(&queue, &waiters[i]);
}

static void setup(void)
{
    login_queue_init(&queue);
}

TestSuite(login_queue, .init = setup);

Test(login_queue, those_of_one_address_are_served_in_the_order_in_which_they_came)
{
    for (uint32_t i = 0; i < 3; i++)
        cr_expect_null(add(i, 1));
    for (uint32_t i = 0; i < 3; i++)
        cr_expect(login_queue_next(&queue) == &waiters[i]);
    cr_expect_null(login_queue_next(&queue));
}

Test(login_queue, an_address_of_many_is_served_no_more_often_than_one_of_few)
{
    uint32_t before_third = 0;

    for (uint32_t i = 0; i < 20; i++)
        (void)add(i, 1);
    for (uint32_t i = 20; i < 23; i++)
        (void)add(i, 2);
    while (login_queue_next(&queue) != &waiters[22])
        before_third++;
    cr_expect_leq(before_third, 6);
}

Test(login_queue, when_it_is_full_the_address_that_has_most_loses_its_newest)
{
    cr_expect_null(add(0, 1));
    for (uint32_t i = 1; i < 1501; i++) {
        struct login_waiter *loser = add(i, 2);

        cr_expect(i < LOGIN_WAITING_MAX ? loser == NULL : loser == &waiters[i]);
    }
    cr_expect(add(1501, 3) == &waiters[LOGIN_WAITING_MAX - 1]);
    cr_expect(waiters[0].is_waiting && waiters[1501].is_waiting);
    cr_expect_eq(queue.count, LOGIN_WAITING_MAX);
}

Test(login_queue, one_that_left_is_not_served)
{
    (void)add(0, 1);
    (void)add(1, 1);
    login_queue_remove(&queue, &waiters[0]);
    login_queue_remove(&queue, &waiters[0]);
    cr_expect(login_queue_next(&queue) == &waiters[1]);
    cr_expect_null(login_queue_next(&queue));
}
