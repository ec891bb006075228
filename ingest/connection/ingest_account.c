/* ingest_account: see the header.
 *
 * What must hold: every connection that waits for memory is resumed or closed in the end.  So while
 * one connection waits, each connection that holds memory has limited time.  The time is over when
 * its client has sent no bytes for hold_us, and at the latest after hold_us plus a second for each
 * SLOW_BYTES bytes that came. */
#include "ingest/connection/ingest_account.h"

enum { SLOW_BYTES = 64 << 10 };

void ingest_account_open(struct ingest_account *account, struct ingest_memory *memory,
                         uint64_t number)
{
    *account = (struct ingest_account){.memory = memory, .waiter = {.number = number}};
}

void ingest_account_close(struct ingest_account *account)
{
    input_quota_wait(&account->memory->input, &account->waiter, false);
    input_quota_pass(&account->memory->input, &account->waiter);
    ingest_account_count_input(account, 0);
    ingest_memory_count_answers(account->memory, &account->answer_bytes, 0);
}

bool ingest_account_may_grow(const struct ingest_account *account)
{
    return input_quota_admits(&account->memory->input, &account->waiter);
}

size_t ingest_account_answers_max(const struct ingest_account *account)
{
    size_t half = quota_left(&account->memory->answers) / 2;

    if (half < INGEST_ACCOUNT_ANSWERS_LEAST)
        return INGEST_ACCOUNT_ANSWERS_LEAST;
    return half < INGEST_ACCOUNT_ANSWERS_MAX ? half : INGEST_ACCOUNT_ANSWERS_MAX;
}

void ingest_account_count_input(struct ingest_account *account, size_t bytes)
{
    struct ingest_memory *memory = account->memory;
    size_t before = account->waiter.bytes;

    input_quota_charge(&memory->input, &account->waiter, bytes);
    if (before == 0 && account->waiter.bytes > 0)
        ingest_account_excuse(account);
    if (before != account->waiter.bytes)
        ingest_memory_tell_input(memory);
}

void ingest_account_came(struct ingest_account *account, size_t size)
{
    struct clock *clock = account->memory->clock;

    if (account->waiter.bytes == 0)
        return;
    account->waiter.came += size;
    account->waiter.came_us = clock->monotonic_us(clock);
}

void ingest_account_excuse(struct ingest_account *account)
{
    struct clock *clock = account->memory->clock;

    account->waiter.since_us = clock->monotonic_us(clock);
    account->waiter.came_us = account->waiter.since_us;
    account->waiter.came = 0;
}

static bool is_time_over(const struct ingest_account *account)
{
    const struct input_waiter *waiter = &account->waiter;
    struct clock *clock = account->memory->clock;
    int64_t now_us = clock->monotonic_us(clock);
    int64_t hold_us = account->memory->hold_us;
    int64_t patience_us = hold_us + (int64_t)(waiter->came * 1000000 / SLOW_BYTES);

    return now_us - waiter->came_us > hold_us || now_us - waiter->since_us > patience_us;
}

bool ingest_account_is_too_slow(struct ingest_account *account)
{
    struct input_quota *input = &account->memory->input;

    if (input->halves[account->waiter.is_acked].waiting == NULL || !is_time_over(account))
        return false;
    input_quota_pass(input, &account->waiter);
    return account->waiter.bytes > 0;
}
