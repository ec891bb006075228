/* ingest_memory: see the header. */
#include "ingest/connection/ingest_memory.h"

#include "ingest/connection/ingest.h"

void ingest_memory_open(struct ingest_memory *memory, struct store *store, struct clock *clock,
                        const struct ingest_limits *limits,
                        void (*let_on)(void *context, struct input_member *member))
{
    *memory = (struct ingest_memory){
        .store = store,
        .clock = clock,
        .answers_max = limits->answers_max,
        .strings_max = limits->strings_max,
        .hold_us = limits->hold_ms * 1000,
    };
    input_room_init(&memory->room, limits->input_max, let_on, NULL);
}

void ingest_memory_count_producers(struct ingest_memory *memory, size_t bytes)
{
    memory_held_change(memory->store->held, MEMORY_HELD_PRODUCERS,
                       (int64_t)bytes - (int64_t)memory->producer_bytes);
    memory->producer_bytes = bytes;
}

bool ingest_memory_count_strings(struct ingest_memory *memory, size_t before, size_t after)
{
    check(memory->string_bytes >= before);
    memory_held_change(memory->store->held, MEMORY_HELD_STRINGS, (int64_t)after - (int64_t)before);
    memory->string_bytes += after - before;
    return after <= before || memory->string_bytes <= memory->strings_max;
}
