/* memory_held: counts the memory that users of the store keep for partitions, clients and requests.
 * The embedded store subtracts this memory from its limit (memory_account.h).
 *
 * Engine thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_MEMORY_HELD_H
#define DAYBOOK_STORAGE_ENGINE_MEMORY_HELD_H

#include <stdint.h>

#include "base/error.h"

enum memory_holder {
    MEMORY_HELD_DAYS,              /* days to be refreshed or refreshed lately, and resellers */
    MEMORY_HELD_PRODUCERS,         /* producers, and the numbers of their last batches */
    MEMORY_HELD_STRINGS,           /* dictionaries of ingest connections */
    MEMORY_HELD_INPUT,
    MEMORY_HELD_INGEST_ANSWERS,    /* of ingest connections, waiting for the disk or the client */
    MEMORY_HELD_STATEMENTS,
    MEMORY_HELD_REQUESTS,          /* of CQL and HTTP: incomplete, waiting, or under way */
    MEMORY_HELD_ANSWERS,           /* of CQL and HTTP, waiting for their clients */
    MEMORY_HELD_FIGURES,           /* of reports, waiting to be given in order */
    MEMORY_HELD_COMMANDS,
    MEMORY_HOLDERS
};

struct memory_held {
    uint64_t bytes[MEMORY_HOLDERS];
};

static inline void memory_held_change(struct memory_held *held, enum memory_holder holder,
                                      int64_t change_bytes)
{
    check(holder < MEMORY_HOLDERS);
    held->bytes[holder] += (uint64_t)change_bytes;
}
#endif
