/* memory_held: what the folders above keep in memory by partition, client or request.
 *
 * It is a part of the process's account: an embedded store gives its memtables what is left of the
 * limit (memory_account.h).  A holder says how much more it keeps than it said last, or less.
 *
 * Engine thread. */
#ifndef DAYBOOK_STORAGE_ENGINE_MEMORY_HELD_H
#define DAYBOOK_STORAGE_ENGINE_MEMORY_HELD_H

#include <stdint.h>

#include "base/error.h"

enum memory_holder {
    MEMORY_HELD_DAYS,              /* days that are to be worked off, and those that were lately */
    MEMORY_HELD_PRODUCERS,         /* and their batches that are remembered */
    MEMORY_HELD_STRINGS,           /* dictionaries of ingest connections */
    MEMORY_HELD_INPUT,             /* lines, frames and batches that have come in part */
    MEMORY_HELD_INGEST_ANSWERS,    /* of ingest connections, that wait for the disk or a reader */
    MEMORY_HELD_STATEMENTS,        /* prepared ones */
    MEMORY_HELD_REQUESTS,          /* of the CQL door: come in part, waiting, or under way */
    MEMORY_HELD_ANSWERS,           /* of the CQL door, that wait for their readers */
    MEMORY_HELD_FIGURES,           /* of reports, that wait to be given in order */
    MEMORY_HELD_COMMANDS,          /* that run in a server, and their answers that wait */
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
