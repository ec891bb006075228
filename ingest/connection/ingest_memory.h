/* ingest_memory: what all connections of an ingest instance keep in memory, by what it is for.
 *
 * The store is told of all of it, so that its own bounds hold for the process. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_MEMORY_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_MEMORY_H

#include "base/metrics.h"
#include "base/quota.h"
#include "base/world/world.h"
#include "ingest/connection/input_quota.h"
#include "storage/engine/store.h"

struct ingest_limits;

struct ingest_memory {
    struct store *store;               /* these outlive it */
    struct clock *clock;
    struct metric *input_bytes, *answer_bytes;     /* gauges */
    int64_t hold_us;                   /* how long a connection may hold memory and not go on */
    struct input_quota input;          /* what came in, */
    struct quota answers;              /* answers that wait, */
    struct quota strings;              /* all connections' dictionaries, */
    struct quota producers;            /* and producers, which have no bound here */
};

/* `resume`: the member does not wait for memory any more.  Gauges are the caller's to set. */
void ingest_memory_open(struct ingest_memory *memory, struct store *store, struct clock *clock,
                        const struct ingest_limits *limits,
                        void (*resume)(void *context, struct input_waiter *waiter));

void ingest_memory_count_producers(struct ingest_memory *memory, size_t bytes);
/* A dictionary took `*held` bytes, and takes `bytes` from now on.  False: it grew, and all of them
 * take too much. */
bool ingest_memory_count_strings(struct ingest_memory *memory, size_t *held, size_t bytes);
void ingest_memory_count_answers(struct ingest_memory *memory, size_t *held, size_t bytes);
/* Tell what changed of the input. */
void ingest_memory_tell_input(struct ingest_memory *memory);
#endif
