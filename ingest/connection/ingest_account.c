/* ingest_account: see the header.
 *
 * What decides correctness: a connection that waits for memory is let on when there is some, or
 * closed; so while any waits, one that holds some and does not go on has a time that runs out: it
 * may send nothing for hold_us, and takes no longer than that and a second for each SLOW_BYTES that
 * came. */
#include "ingest/connection/ingest_account.h"

enum { SLOW_BYTES = 64 << 10 };

void ingest_account_open(struct ingest_account *account, struct ingest_memory *memory,
                         uint64_t number)
{
    *account = (struct ingest_account){.memory = memory, .member = {.number = number}};
}

void ingest_account_close(struct ingest_account *account)
{
    ingest_account_wait(account, false);
    input_room_pass(&account->memory->room, &account->member);
    ingest_account_count_input(account, 0);
    ingest_account_count_answers(account, 0);
}

bool ingest_account_may_grow(const struct ingest_account *account)
{
    return input_room_admits(&account->memory->room, &account->member);
}

size_t ingest_account_answers_max(const struct ingest_account *account)
{
    const struct ingest_memory *memory = account->memory;
    size_t limit = memory->answers_max;
    size_t half = memory->answer_bytes_now < limit ? (limit - memory->answer_bytes_now) / 2 : 0;

    if (half < INGEST_ACCOUNT_ANSWERS_LEAST)
        return INGEST_ACCOUNT_ANSWERS_LEAST;
    return half < INGEST_ACCOUNT_ANSWERS_MAX ? half : INGEST_ACCOUNT_ANSWERS_MAX;
}

void ingest_account_count_input(struct ingest_account *account, size_t bytes)
{
    struct ingest_memory *memory = account->memory;
    size_t before = account->member.bytes;
    int64_t change;

    input_room_count(&memory->room, &account->member, bytes);
    change = (int64_t)account->member.bytes - (int64_t)before;
    if (before == 0 && change > 0)
        ingest_account_excuse(account);
    if (change == 0)
        return;
    memory->input_bytes->value += change;
    memory_held_change(memory->store->held, MEMORY_HELD_INPUT, change);
}

void ingest_account_count_answers(struct ingest_account *account, size_t bytes)
{
    struct ingest_memory *memory = account->memory;
    int64_t change = (int64_t)bytes - (int64_t)account->answer_bytes;

    if (change == 0)
        return;
    account->answer_bytes = bytes;
    memory->answer_bytes_now += (size_t)change;
    memory->answer_bytes->value = (int64_t)memory->answer_bytes_now;
    memory_held_change(memory->store->held, MEMORY_HELD_INGEST_ANSWERS, change);
}

void ingest_account_wait(struct ingest_account *account, bool is_waiting)
{
    input_room_wait(&account->memory->room, &account->member, is_waiting);
}

void ingest_account_prove(struct ingest_account *account)
{
    input_room_prove(&account->memory->room, &account->member);
}

void ingest_account_came(struct ingest_account *account, size_t size)
{
    struct clock *clock = account->memory->clock;

    if (account->member.bytes == 0)
        return;
    account->member.came += size;
    account->member.came_us = clock->monotonic_us(clock);
}

void ingest_account_excuse(struct ingest_account *account)
{
    struct clock *clock = account->memory->clock;

    account->member.since_us = clock->monotonic_us(clock);
    account->member.came_us = account->member.since_us;
    account->member.came = 0;
}

static bool is_time_over(const struct ingest_account *account)
{
    const struct input_member *member = &account->member;
    struct clock *clock = account->memory->clock;
    int64_t now_us = clock->monotonic_us(clock);
    int64_t hold_us = account->memory->hold_us;
    int64_t patience_us = hold_us + (int64_t)(member->came * 1000000 / SLOW_BYTES);

    return now_us - member->came_us > hold_us || now_us - member->since_us > patience_us;
}

bool ingest_account_is_too_slow(struct ingest_account *account)
{
    struct input_room *room = &account->memory->room;

    if (room->halves[account->member.is_proven].waiting == NULL || !is_time_over(account))
        return false;
    input_room_pass(room, &account->member);
    return account->member.bytes > 0;
}
