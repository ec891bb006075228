/* dump: writes the state of each part of the program for `daybook status --dump`, to find faults.
 *
 * Each part has a function that appends its state as lines of text.  The text may change with any
 * version:
 *
 *     engine_dump      frames, memtables, segments, jobs; and the log
 *     streams_dump     the dirty days of each stream
 *     ingest_dump, native_door_dump, control_server_dump     connections
 *
 * Only dump_write calls these functions, on the engine thread. */
#ifndef DAYBOOK_PROGRAM_DUMP_H
#define DAYBOOK_PROGRAM_DUMP_H

#include "ingest/connection/ingest.h"
#include "program/control/control_server.h"
#include "query/native/native_door.h"
#include "rollup/streams/streams.h"
#include "storage/engine/engine.h"

/* All are borrowed. */
struct dump {
    const struct store *store;
    const struct streams *streams;
    const struct ingest *ingest;
    const struct native_door *cql;     /* NULL: there is no CQL door */
    const struct control_server *control;      /* NULL in a command without a server */
};

/* Append the state of all parts; `dump` is a struct dump. */
void dump_write(void *dump, struct buffer *text);
#endif
