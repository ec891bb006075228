/* Completions that wait for one event are told once, in their order. */
#include <criterion/criterion.h>

#include "storage/engine/callbacks.h"

struct told {
    int order[8];
    int count;
    int status;
    struct callbacks *again;
};

struct one {
    struct told *told;
    int number;
};

static void note(void *context, int status, const struct error *err)
{
    struct one *one = context;
    struct told *told = one->told;
    told->order[told->count++] = one->number;
    told->status = status;
    cr_expect_eq(err == NULL, status == 0);
    if (told->again != NULL)
        callbacks_add(told->again, note, one);
}

Test(callbacks, are_told_once_in_their_order)
{
    struct callbacks callbacks = {0};
    struct told told = {0};
    struct one one = {&told, 1}, two = {&told, 2};
    struct error err = {0};
    callbacks_add(&callbacks, note, &one);
    callbacks_add(&callbacks, NULL, NULL);
    callbacks_add(&callbacks, note, &two);
    callbacks_call(&callbacks, ERROR_FULL, &err);
    callbacks_call(&callbacks, 0, NULL);
    cr_expect_eq(told.count, 2);
    cr_expect_eq(told.order[0], 1);
    cr_expect_eq(told.order[1], 2);
    cr_expect_eq(told.status, ERROR_FULL);
}

Test(callbacks, one_that_is_added_meanwhile_waits_for_the_next_time)
{
    struct callbacks callbacks = {0};
    struct told told = {.again = &callbacks};
    struct one one = {&told, 1};
    callbacks_add(&callbacks, note, &one);
    callbacks_call(&callbacks, 0, NULL);
    cr_expect_eq(told.count, 1);
    cr_expect_eq(callbacks.count, 1);
    callbacks_release(&callbacks);
}

Test(callbacks, move_behind_those_that_are_there)
{
    struct callbacks from = {0}, to = {0};
    struct told told = {0};
    struct one one = {&told, 1}, two = {&told, 2};
    callbacks_add(&from, note, &two);
    callbacks_add(&to, note, &one);
    callbacks_move(&from, &to);
    cr_expect_eq(from.count, 0);
    callbacks_call(&to, 0, NULL);
    cr_expect_eq(told.count, 2);
    cr_expect_eq(told.order[1], 2);
    callbacks_release(&from);
}
