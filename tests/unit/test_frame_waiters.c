/* Completions wait for their frame, and are told in the order of frames. */
#include <criterion/criterion.h>

#include "storage/engine/frame_waiters.h"

enum { MANY = 200 };

struct told {
    struct frame_waiters *waiters;
    int count;
    uint64_t add_frame; /* not 0: one more is added for it from within */
};

static void note(void *context, int status, const struct error *err)
{
    struct told *told = context;
    cr_expect_eq(err == NULL, status == 0);
    told->count++;
    uint64_t frame = told->add_frame;
    told->add_frame = 0;
    if (frame != 0)
        frame_waiters_add(told->waiters, frame, note, told);
}

Test(frame_waiters, only_those_of_durable_frames_are_told)
{
    struct frame_waiters waiters = {0};
    struct told told = {.waiters = &waiters};
    for (uint64_t frame = 1; frame <= MANY; frame++)
        frame_waiters_add(&waiters, frame, note, &told);
    frame_waiters_call(&waiters, 0, 0, NULL);
    cr_expect_eq(told.count, 0);
    frame_waiters_call(&waiters, MANY - 1, 0, NULL);
    cr_expect_eq(told.count, MANY - 1);
    /* The ring goes round its end, and grows there. */
    for (int i = 0; i < 2 * MANY; i++)
        frame_waiters_add(&waiters, MANY + 1, note, &told);
    frame_waiters_call(&waiters, MANY, 0, NULL);
    cr_expect_eq(told.count, MANY);
    struct error err = {0};
    frame_waiters_call(&waiters, UINT64_MAX, ERROR_FAILED, &err);
    cr_expect_eq(told.count, 3 * MANY);
    frame_waiters_release(&waiters);
}

Test(frame_waiters, one_that_is_told_may_add_another)
{
    struct frame_waiters waiters = {0};
    struct told told = {.waiters = &waiters, .add_frame = 8};
    frame_waiters_add(&waiters, 7, note, &told);
    frame_waiters_call(&waiters, 7, 0, NULL);
    cr_expect_eq(told.count, 1);
    frame_waiters_call(&waiters, 8, 0, NULL);
    cr_expect_eq(told.count, 2);
    frame_waiters_release(&waiters);
}
