/* Producers: the last 64 batches are known with their content, whatever order they come back in. */
#include "counters/producer.h"

#include <string.h>

#include <criterion/criterion.h>

static void id_of(uint32_t number, uint8_t id[UUID_SIZE])
{
    memset(id, 0, UUID_SIZE);
    memcpy(id, &number, sizeof number);
}

static void record(struct producer *producer, uint64_t sequence)
{
    struct producer_batch batch = {.sequence = sequence, .hash.low = sequence * 3};

    producer_record(producer, &batch);
}

Test(producer, numbers_are_next_known_old_or_past_a_gap)
{
    struct producer_table *table = producer_table_new();
    uint8_t id[UUID_SIZE];
    struct producer *producer;

    id_of(1, id);
    producer = producer_add(table, id, 1);
    cr_expect(producer_verdict_of(producer, 1) == PRODUCER_NEXT);
    cr_expect(producer_verdict_of(producer, 2) == PRODUCER_GAP);
    for (uint64_t sequence = 1; sequence <= 200; sequence++) {
        cr_assert(producer_verdict_of(producer, sequence) == PRODUCER_NEXT);
        record(producer, sequence);
        for (uint64_t older = 1; older <= sequence; older++) {
            bool is_known = sequence - older < PRODUCER_WINDOW;

            cr_assert(producer_verdict_of(producer, older) ==
                      (is_known ? PRODUCER_KNOWN : PRODUCER_OLD));
            cr_assert((producer_batch_of(producer, older) != NULL) == is_known);
            if (is_known)
                cr_assert(producer_batch_of(producer, older)->hash.low == older * 3);
        }
    }
    cr_expect(producer_verdict_of(producer, UINT64_MAX) == PRODUCER_GAP);
    producer_table_free(table);
}

Test(producer, a_window_read_back_in_any_order_is_the_same)
{
    struct producer_table *table = producer_table_new();
    uint8_t id[UUID_SIZE];

    for (uint32_t number = 0; number < 50; number++) {
        struct producer *producer;

        id_of(number, id);
        producer = producer_add(table, id, 1);
        /* Slots 0, 1, 2 ... as the table's rows come: batch numbers wrap somewhere among them. */
        for (uint64_t slot = 0; slot < PRODUCER_WINDOW; slot++) {
            uint64_t last = 100 + number;
            uint64_t sequence = last - ((last - slot) % PRODUCER_WINDOW);

            record(producer, sequence);
        }
        cr_assert(producer->last == 100 + number);
        for (uint64_t sequence = producer->last - 63; sequence <= producer->last; sequence++)
            cr_assert(producer_batch_of(producer, sequence) != NULL);
    }
    producer_table_free(table);
}

Test(producer, a_batch_taken_back_can_be_given_again)
{
    struct producer_table *table = producer_table_new();
    uint8_t id[UUID_SIZE];
    struct producer *producer;

    id_of(1, id);
    producer = producer_add(table, id, 1);
    record(producer, 1);
    record(producer, 2);
    producer_retract(producer, 2);
    cr_expect(producer_batch_of(producer, 2) == NULL);
    cr_expect(producer_verdict_of(producer, 2) == PRODUCER_NEXT);
    cr_expect(producer_verdict_of(producer, 1) == PRODUCER_KNOWN);
    producer_retract(producer, 1);
    cr_expect(producer_batch_of(producer, 0) == NULL);
    producer_table_free(table);
}

Test(producer, no_more_are_known_than_the_limit)
{
    struct producer_table *table = producer_table_new();
    uint8_t id[UUID_SIZE];

    for (uint32_t number = 0; number < PRODUCERS_MAX; number++) {
        id_of(number, id);
        cr_assert(producer_add(table, id, 1) != NULL);
    }
    id_of(PRODUCERS_MAX, id);
    cr_expect(producer_add(table, id, 1) == NULL);
    cr_expect(producer_find(table, id) == NULL);
    id_of(7, id);
    producer_forget(table, producer_find(table, id));
    id_of(PRODUCERS_MAX, id);
    cr_expect(producer_add(table, id, 1) != NULL);
    producer_table_free(table);
}

Test(producer, its_memory_is_counted_and_given_back)
{
    struct producer_table *table = producer_table_new();
    size_t empty = producer_table_bytes(table);
    struct producer *producer;
    uint8_t id[UUID_SIZE];

    id_of(1, id);
    producer = producer_add(table, id, 1);
    cr_expect_eq(producer_table_bytes(table), empty + sizeof *producer);
    for (uint64_t sequence = 1; sequence <= 2 * PRODUCER_WINDOW; sequence++)
        record(producer, sequence);
    cr_expect_eq(producer_table_bytes(table),
                 empty + sizeof *producer + PRODUCER_WINDOW * sizeof(struct producer_batch));
    producer_batch_of(producer, producer->last)->is_durable = true;
    producer_forget(table, producer);
    cr_expect_eq(producer_table_bytes(table), empty);
    producer_table_free(table);
}

Test(producer, forgetting_one_leaves_all_others_findable)
{
    struct producer_table *table = producer_table_new();
    uint8_t id[UUID_SIZE];

    for (uint32_t number = 0; number < 1000; number++) {
        id_of(number, id);
        cr_assert(producer_find(table, id) == NULL);
        producer_add(table, id, number);
    }
    for (uint32_t number = 0; number < 1000; number += 3) {
        id_of(number, id);
        producer_forget(table, producer_find(table, id));
    }
    for (uint32_t number = 0; number < 1000; number++) {
        struct producer *producer;

        id_of(number, id);
        producer = producer_find(table, id);
        cr_assert((producer == NULL) == (number % 3 == 0));
        cr_assert(producer == NULL || producer->epoch == number);
    }
    producer_table_free(table);
}

static struct producer *add_with_batch(struct producer_table *table, uint32_t number,
                                       int64_t applied_us)
{
    struct producer_batch batch = {.sequence = 1, .applied_us = applied_us};
    uint8_t id[UUID_SIZE];
    struct producer *producer;

    id_of(number, id);
    producer = producer_add(table, id, 1);
    producer_record(producer, &batch);
    return producer;
}

/* However many wait for the disk, or have a connection again, the last one that may go is found. */
Test(producer, the_one_that_gives_its_place_up_is_found_behind_those_that_may_not)
{
    struct producer_table *table = producer_table_new();
    struct producer *first = add_with_batch(table, 1, 1);
    struct producer *second = add_with_batch(table, 2, 2);
    struct producer *third = add_with_batch(table, 3, 3);

    cr_expect_null(producer_evictable(table, 4));
    producer_durable(first, 1, 4);
    producer_durable(second, 1, 4);
    producer_durable(third, 1, 4);
    producer_own(third, table, 4);
    for (uint32_t number = 10; number < 10000; number++)
        (void)add_with_batch(table, number, 5);
    cr_expect(producer_evictable(table, 6) == second);
    producer_own(third, NULL, 7);
    cr_expect(producer_evictable(table, 7) == third);
    producer_forget(table, third);
    producer_forget(table, second);
    cr_expect(producer_evictable(table, 8) == first);
    producer_table_free(table);
}
