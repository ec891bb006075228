/* test_publication_queue: waiting days are queued when they are due, and looked at no sooner than
 * needed. */
#include "rollup/days/publication_queue.h"

#include <criterion/criterion.h>

#include "base/calendar.h"

#define HOUR_US INT64_C(3600000000)
#define DAY_US  (24 * HOUR_US)

struct queue_fixture {
    struct zone *zone;
    struct publication_queue queue;
    struct dirty_set *set;
};

static void start(struct queue_fixture *fixture)
{
    cr_assert_eq(calendar_zone_open("UTC", &fixture->zone, NULL), 0);
    const struct publication_rules rules = {.zone = fixture->zone, .publish_after_us = HOUR_US};
    publication_queue_init(&fixture->queue, &rules);
    fixture->set = dirty_set_new();
}

static void stop(struct queue_fixture *fixture)
{
    dirty_set_free(fixture->set);
    calendar_zone_close(fixture->zone);
}

/* A day that had a click at noon and was worked off: it waits for its publication. */
static struct dirty_day *put_waiting(struct queue_fixture *fixture, int32_t day)
{
    struct buffer key = {0};
    struct dirty_mark *mark;
    dirty_put_key(&key, bytes_text("r"), day);
    struct dirty_day *dirty =
        dirty_set_mark(fixture->set, buffer_view(&key), dirty_hash(buffer_view(&key)),
                       CAUSE_LATE_CLICKS, NULL, day * DAY_US + DAY_US / 2, &mark);
    buffer_release(&key);
    dirty_set_wait(fixture->set, dirty);
    return dirty;
}

static int64_t due_us(int32_t day)
{
    return (day + 1) * DAY_US + HOUR_US;
}

Test(publication_queue, a_day_is_queued_when_it_is_due_and_the_next_look_is_for_the_next_one)
{
    struct queue_fixture fixture;
    start(&fixture);
    struct dirty_day *first = put_waiting(&fixture, 100);
    struct dirty_day *second = put_waiting(&fixture, 101);
    publication_queue_expect(&fixture.queue, due_us(101));
    publication_queue_expect(&fixture.queue, due_us(100));
    cr_assert_eq(fixture.queue.next_us, due_us(100));
    publication_queue_look(&fixture.queue, fixture.set, true, due_us(100) - 1);
    cr_assert_not(first->is_queued);
    cr_assert_not(publication_queue_look(&fixture.queue, fixture.set, true, due_us(100)));
    cr_assert(first->is_queued);
    cr_assert_not(second->is_queued);
    cr_assert_eq(fixture.queue.next_us, due_us(101));
    stop(&fixture);
}

/* While the clock is in doubt nothing is published; a restatement that is put off is made. */
Test(publication_queue, in_doubt_restatements_alone_are_queued)
{
    struct queue_fixture fixture;
    start(&fixture);
    struct dirty_day *open = put_waiting(&fixture, 100);
    struct dirty_day *owed = put_waiting(&fixture, 99);
    owed->owed_us = due_us(99);
    publication_queue_expect(&fixture.queue, due_us(99));
    publication_queue_look(&fixture.queue, fixture.set, false, due_us(100));
    cr_assert_not(open->is_queued);
    cr_assert(owed->is_queued);
    publication_queue_ended(&fixture.queue, fixture.set, false, due_us(100));
    cr_assert_not(open->is_queued);
    publication_queue_ended(&fixture.queue, fixture.set, true, due_us(100));
    cr_assert(open->is_queued);
    stop(&fixture);
}

Test(publication_queue, all_are_looked_at_again_when_the_clock_goes_back)
{
    struct queue_fixture fixture;
    start(&fixture);
    publication_queue_look(&fixture.queue, fixture.set, true, due_us(200));
    struct dirty_day *day = put_waiting(&fixture, 100);
    cr_assert(publication_queue_look(&fixture.queue, fixture.set, true, due_us(150)));
    cr_assert(day->is_queued, "though nobody expected it");
    stop(&fixture);
}

Test(publication_queue, under_pressure_what_is_owed_is_queued)
{
    struct queue_fixture fixture;
    start(&fixture);
    struct dirty_day *open = put_waiting(&fixture, 100);
    struct dirty_day *owed = put_waiting(&fixture, 99);
    owed->owed_us = 1;
    publication_queue_ended(&fixture.queue, fixture.set, false, due_us(100));
    cr_assert(owed->is_queued);
    cr_assert_not(open->is_queued);
    stop(&fixture);
}
