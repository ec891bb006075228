/* dump: writes the state of each part of the program for `daybook status --dump`, to find faults.
 *
 * The text may change with any version. */
#ifndef DAYBOOK_PROGRAM_DUMP_H
#define DAYBOOK_PROGRAM_DUMP_H

#include "door/http_door.h"
#include "ingest/connection/ingest.h"
#include "program/control/control_server.h"
#include "query/native/native_door.h"
#include "rollup/streams/streams.h"
#include "storage/engine/engine.h"

struct dump {
    const struct store *store;
    const struct streams *streams;
    const struct ingest *ingest;
    const struct native_door *cql;     /* NULL: there is no CQL door */
    const struct http_door *http;      /* NULL: there is no HTTP door */
    const struct control_server *control;      /* NULL: there is no server */
};

/* `dump` is a struct dump.  Call it on the engine thread. */
void dump_write(void *dump, struct buffer *text);
#endif
