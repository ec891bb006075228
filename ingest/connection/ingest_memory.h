/* ingest_memory: what all connections of an ingest instance keep in memory, by what it is for.
 *
 * The store is told of all of it, so that its own bounds hold for the process. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_MEMORY_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_MEMORY_H

#include "base/metrics.h"
#include "base/world/world.h"
#include "ingest/connection/input_room.h"
#include "storage/engine/store.h"

struct ingest_limits;

struct ingest_memory {
    struct store *store;               /* these outlive it */
    struct clock *clock;
    struct metric *input_bytes, *answer_bytes;     /* gauges */
    size_t answers_max;
    size_t strings_max;
    int64_t hold_us;                   /* how long a connection may hold memory and not go on */
    struct input_room room;            /* of what came in, */
    size_t answer_bytes_now;           /* of answers that wait, */
    size_t string_bytes;               /* of all connections' dictionaries, */
    size_t producer_bytes;             /* and of producers: as the store was told */
};

/* `let_on`: the member does not wait for memory any more.  Gauges are the caller's to set. */
void ingest_memory_open(struct ingest_memory *memory, struct store *store, struct clock *clock,
                        const struct ingest_limits *limits,
                        void (*let_on)(void *context, struct input_member *member));

void ingest_memory_count_producers(struct ingest_memory *memory, size_t bytes);
/* A dictionary took `before` bytes and takes `after`.  False: all of them take too much. */
bool ingest_memory_count_strings(struct ingest_memory *memory, size_t before, size_t after);
#endif
