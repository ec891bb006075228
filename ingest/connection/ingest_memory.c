/* ingest_memory: see the header. */
#include "ingest/connection/ingest_memory.h"

#include "ingest/connection/ingest.h"

void ingest_memory_open(struct ingest_memory *memory, struct store *store, struct clock *clock,
                        const struct ingest_limits *limits,
                        void (*resume)(void *context, struct input_waiter *waiter))
{
    *memory = (struct ingest_memory){
        .store = store,
        .clock = clock,
        .hold_us = limits->hold_ms * 1000,
        .answers = {.limit = limits->answers_max},
        .strings = {.limit = limits->strings_max},
        .producers = {.limit = SIZE_MAX},
    };
    input_quota_init(&memory->input, limits->input_max, resume, NULL);
}

static void memory_tell(struct ingest_memory *memory, struct quota *quota,
                        enum memory_holder holder)
{
    int64_t change = quota_unreported(quota);

    if (change != 0)
        memory_held_change(memory->store->held, holder, change);
}

void ingest_memory_count_producers(struct ingest_memory *memory, size_t bytes)
{
    size_t held = memory->producers.taken;

    quota_charge(&memory->producers, &held, bytes);
    memory_tell(memory, &memory->producers, MEMORY_HELD_PRODUCERS);
}

bool ingest_memory_count_strings(struct ingest_memory *memory, size_t *held, size_t bytes)
{
    bool grows = bytes > *held;

    quota_charge(&memory->strings, held, bytes);
    memory_tell(memory, &memory->strings, MEMORY_HELD_STRINGS);
    return !grows || memory->strings.taken <= memory->strings.limit;
}

void ingest_memory_count_answers(struct ingest_memory *memory, size_t *held, size_t bytes)
{
    if (bytes == *held)
        return;
    quota_charge(&memory->answers, held, bytes);
    memory->answer_bytes->value = (int64_t)memory->answers.taken;
    memory_tell(memory, &memory->answers, MEMORY_HELD_INGEST_ANSWERS);
}

void ingest_memory_tell_input(struct ingest_memory *memory)
{
    memory->input_bytes->value = (int64_t)memory->input.quota.taken;
    memory_tell(memory, &memory->input.quota, MEMORY_HELD_INPUT);
}
