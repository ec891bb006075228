/* What is woken is served once, in order, in a later turn of the loop. */
#include "door/wake_queue.h"

#include <criterion/criterion.h>

#include "tests/sim/sim_world.h"

enum { ENTRIES = 4 };

struct fixture {
    struct sim_world *sim;
    struct wake_queue queue;
    struct wake_entry entries[ENTRIES];
    uint32_t serve_max; /* entries that a turn takes */
    uint32_t turns;
    int served[ENTRIES + 1];
    uint32_t served_count;
};

static void serve(struct timer *timer)
{
    struct fixture *fixture = timer->context;

    fixture->turns++;
    for (uint32_t i = 0; i < fixture->serve_max && !TAILQ_EMPTY(&fixture->queue.woken); i++) {
        struct wake_entry *entry = wake_queue_take(&fixture->queue);

        fixture->served[fixture->served_count++] = (int)(entry - fixture->entries);
    }
    wake_queue_start(&fixture->queue);
}

static void fixture_open(struct fixture *fixture)
{
    *fixture = (struct fixture){.sim = sim_world_new(1), .serve_max = ENTRIES};
    wake_queue_open(&fixture->queue, sim_world_interface(fixture->sim)->executor, serve, fixture);
}

static void fixture_close(struct fixture *fixture)
{
    wake_queue_close(&fixture->queue);
    sim_world_free(fixture->sim);
}

Test(wake_queue, what_is_woken_twice_is_served_once_in_the_order_of_waking)
{
    struct fixture fixture;

    fixture_open(&fixture);
    wake_queue_add(&fixture.queue, &fixture.entries[2]);
    wake_queue_add(&fixture.queue, &fixture.entries[0]);
    wake_queue_add(&fixture.queue, &fixture.entries[2]);
    cr_expect_eq(fixture.turns, 0, "not within the call");
    sim_world_run_us(fixture.sim, 1000);
    cr_expect_eq(fixture.turns, 1);
    cr_assert_eq(fixture.served_count, 2);
    cr_expect(fixture.served[0] == 2 && fixture.served[1] == 0);
    fixture_close(&fixture);
}

Test(wake_queue, what_a_turn_leaves_comes_in_the_next)
{
    struct fixture fixture;

    fixture_open(&fixture);
    fixture.serve_max = 1;
    for (int i = 0; i < 3; i++)
        wake_queue_add(&fixture.queue, &fixture.entries[i]);
    sim_world_run_us(fixture.sim, 1000);
    cr_expect_eq(fixture.turns, 3);
    cr_assert_eq(fixture.served_count, 3);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(fixture.served[i], i);
    fixture_close(&fixture);
}

Test(wake_queue, what_is_removed_is_not_served)
{
    struct fixture fixture;

    fixture_open(&fixture);
    for (int i = 0; i < 3; i++)
        wake_queue_add(&fixture.queue, &fixture.entries[i]);
    wake_queue_remove(&fixture.queue, &fixture.entries[2]);
    wake_queue_remove(&fixture.queue, &fixture.entries[0]);
    wake_queue_remove(&fixture.queue, &fixture.entries[0]);
    wake_queue_add(&fixture.queue, &fixture.entries[3]);
    sim_world_run_us(fixture.sim, 1000);
    cr_assert_eq(fixture.served_count, 2);
    cr_expect(fixture.served[0] == 1 && fixture.served[1] == 3);
    fixture_close(&fixture);
}
