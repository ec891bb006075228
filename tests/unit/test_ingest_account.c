/* What a connection keeps is counted for all, told to the store, and bounded. */
#include "ingest/connection/ingest_account.h"

#include <criterion/criterion.h>

#include "ingest/connection/ingest.h"

enum { HOLD_MS = 2000, INPUT_MAX = 1 << 20, ANSWERS_MAX = 4 << 20 };

static int64_t now_us;
static struct memory_held held;
static uint32_t resumed;

static int64_t clock_monotonic_us(struct clock *clock)
{
    (void)clock;
    return now_us;
}

static void count_resumed(void *context, struct input_waiter *waiter)
{
    (void)context;
    (void)waiter;
    resumed++;
}

static struct clock test_clock = {.monotonic_us = clock_monotonic_us};
static struct store store = {.held = &held};
static struct metric input_bytes, answer_bytes;

static void memory_open(struct ingest_memory *memory)
{
    struct ingest_limits limits = {.input_max = INPUT_MAX,
                                   .answers_max = ANSWERS_MAX,
                                   .strings_max = 1000,
                                   .hold_ms = HOLD_MS};

    ingest_memory_open(memory, &store, &test_clock, &limits, count_resumed);
    memory->input_bytes = &input_bytes;
    memory->answer_bytes = &answer_bytes;
}

Test(ingest_account, of_answers_each_may_have_half_of_what_is_left)
{
    struct ingest_memory memory;
    struct ingest_account a;
    struct ingest_account b;

    memory_open(&memory);
    ingest_account_open(&a, &memory, 1);
    ingest_account_open(&b, &memory, 2);
    cr_expect_eq(ingest_account_answers_max(&a), INGEST_ACCOUNT_ANSWERS_MAX);
    ingest_memory_count_answers(&memory, &a.answer_bytes, ANSWERS_MAX - (1 << 20));
    cr_expect_eq(ingest_account_answers_max(&b), 512 << 10);
    cr_expect_eq(held.bytes[MEMORY_HELD_INGEST_ANSWERS], ANSWERS_MAX - (1 << 20));
    cr_expect_eq(answer_bytes.value, ANSWERS_MAX - (1 << 20));
    ingest_memory_count_answers(&memory, &a.answer_bytes, 2 * ANSWERS_MAX);
    cr_expect_eq(ingest_account_answers_max(&b), INGEST_ACCOUNT_ANSWERS_LEAST);
    ingest_account_close(&a);
    cr_expect_eq(ingest_account_answers_max(&b), INGEST_ACCOUNT_ANSWERS_MAX);
    cr_expect_eq(held.bytes[MEMORY_HELD_INGEST_ANSWERS], 0);
    ingest_account_close(&b);
}

Test(ingest_account, input_counts_but_for_what_each_has_free_and_is_told_to_the_store)
{
    struct ingest_memory memory;
    struct ingest_account account;

    memory_open(&memory);
    ingest_account_open(&account, &memory, 1);
    ingest_account_count_input(&account, INPUT_QUOTA_FREE + 5);
    cr_expect_eq(held.bytes[MEMORY_HELD_INPUT], 5);
    cr_expect_eq(input_bytes.value, 5);
    input_quota_mark_acked(&memory.input, &account.waiter);
    cr_expect_eq(held.bytes[MEMORY_HELD_INPUT], 5);
    ingest_account_close(&account);
    cr_expect_eq(held.bytes[MEMORY_HELD_INPUT], 0);
}

Test(ingest_account, one_that_others_wait_for_has_a_time_that_grows_with_what_comes)
{
    struct ingest_memory memory;
    struct ingest_account holder;
    struct ingest_account reserved;
    struct ingest_account waiting;

    memory_open(&memory);
    ingest_account_open(&holder, &memory, 1);
    ingest_account_open(&reserved, &memory, 2);
    ingest_account_open(&waiting, &memory, 3);
    ingest_account_count_input(&holder, INPUT_MAX);
    now_us += HOLD_MS * 1000 + 1;
    cr_expect_not(ingest_account_is_too_slow(&holder), "no other waits");
    input_quota_wait(&memory.input, &reserved.waiter, true);
    input_quota_wait(&memory.input, &waiting.waiter, true);
    cr_expect_eq(resumed, 1, "room is reserved for one");
    ingest_account_came(&holder, 64 << 10);
    now_us += 999999;
    cr_expect_not(ingest_account_is_too_slow(&holder), "64 KiB are worth a second");
    now_us += 2;
    cr_expect(ingest_account_is_too_slow(&holder));
    ingest_account_excuse(&holder);
    cr_expect_not(ingest_account_is_too_slow(&holder));
    ingest_account_close(&holder);
    ingest_account_close(&reserved);
    ingest_account_close(&waiting);
}

Test(ingest_account, dictionaries_of_all_connections_have_one_limit)
{
    struct ingest_memory memory;
    size_t first = 0;
    size_t second = 0;

    memory_open(&memory);
    cr_expect(ingest_memory_count_strings(&memory, &first, 600));
    cr_expect(ingest_memory_count_strings(&memory, &second, 400));
    cr_expect_not(ingest_memory_count_strings(&memory, &second, 401));
    cr_expect(ingest_memory_count_strings(&memory, &second, 300));
    cr_expect_eq(held.bytes[MEMORY_HELD_STRINGS], 900);
    ingest_memory_count_producers(&memory, 50);
    ingest_memory_count_producers(&memory, 30);
    cr_expect_eq(held.bytes[MEMORY_HELD_PRODUCERS], 30);
}
