/* ingest_memory: counts the memory of an ingest instance by purpose, and reports it to the store,
 * which limits the memory of the process. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_MEMORY_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_MEMORY_H

#include "base/metrics.h"
#include "base/quota.h"
#include "base/world/world.h"
#include "ingest/connection/input_quota.h"
#include "storage/engine/store.h"

struct ingest_limits;

struct ingest_memory {
    struct store *store;               /* outlives the struct, as do clock and gauges */
    struct clock *clock;
    struct metric *input_bytes, *answer_bytes;
    int64_t hold_us;                   /* ingest_limits.hold_ms in microseconds */
    struct input_quota input;
    struct quota answers;
    struct quota strings;
    struct quota producers;
};

/* `resume` is called when a waiter no longer waits for memory.  The caller then sets the gauges. */
void ingest_memory_open(struct ingest_memory *memory, struct store *store, struct clock *clock,
                        const struct ingest_limits *limits,
                        void (*resume)(void *context, struct input_waiter *waiter));

void ingest_memory_count_producers(struct ingest_memory *memory, size_t bytes);
/* Charge `bytes` for a dictionary for which *held bytes were charged before.  False: it has grown,
 * and all dictionaries together exceed their limit. */
bool ingest_memory_count_strings(struct ingest_memory *memory, size_t *held, size_t bytes);
void ingest_memory_count_answers(struct ingest_memory *memory, size_t *held, size_t bytes);
void ingest_memory_tell_input(struct ingest_memory *memory);
#endif
