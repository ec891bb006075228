/* ingest: reads clicks from sockets, writes them to the store, and acknowledges each click when it
 * is durable.
 *
 * All functions are called on the engine thread.  The protocol is docs/PROTOCOL.md "Text door" and
 * "Binary door". */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_H

#include "base/cli/command.h"
#include "base/metrics.h"
#include "base/world/network.h"
#include "door/door.h"
#include "ingest/parse/stream_map.h"
#include "ingest/ingest_tables.h"
#include "storage/engine/store.h"

struct ingest;

enum {
    INGEST_CONNECTIONS_MAX = 1024,
    INGEST_LOADS_MAX = 256,
    INGEST_HOLD_MS = 2000,
    INGEST_INPUT_MAX = 128 << 20,
    INGEST_ANSWERS_MAX = 64 << 20,
    INGEST_STRINGS_MAX = 128 << 20
};

/* A limit of 0 stands for its default, the constant INGEST_... or DOOR_... (door/door.h) of the
 * same name. */
struct ingest_limits {
    uint32_t connections_max;          /* from the network, and as many from the control socket,
                                        * where the default is INGEST_LOADS_MAX */
    int64_t slow_reader_ms;            /* how long a client may leave answers unread */
    int64_t linger_ms;                 /* how long a refused client may take to close */
    size_t strings_max;                /* bytes of all connections' dictionaries; a connection whose
                                        * dictionary makes them exceed this is answered
                                        * too_many_strings */
    size_t input_max;                  /* bytes of incomplete batches and lines of all connections;
                                        * a connection that needs more waits */
    int64_t hold_ms;                   /* how long a connection may hold input memory without
                                        * progress while others wait; then it is answered
                                        * too_slow */
    size_t answers_max;                /* bytes of all connections' unsent answers */
    size_t ahead_min;                  /* the least bytes to parse ahead; 0: the decoder's own
                                        * minimum */
};

struct ingest_options {
    struct store *store;               /* all objects pointed to outlive the instance */
    struct world *world;
    struct network *network;           /* NULL: ingest_listen is not called */
    struct metrics *metrics;
    const struct ingest_stream *streams;           /* the first is the default */
    uint32_t stream_count;
    struct ingest_limits limits;
};

/* Open an instance and read the known producers.  `opened` is called when connections may be
 * attached, possibly before this call returns.  If `opened` reports a failure, only ingest_close
 * may follow. */
struct ingest *ingest_open(const struct ingest_options *options, store_done opened, void *context);

/* Listen for lines and frames.  *address_out is valid until ingest_close.  Clients do not log in on
 * this port, so the result is ERROR_USAGE if other machines can reach the address and `place` does
 * not allow that. */
must_check int ingest_listen(struct ingest *ingest, const struct door_place *place,
                             const char **address_out, struct error *err);

/* Take ownership of a connection that is not started yet, and serve it.  The connection comes from
 * the control socket or from this process, and is not counted among those from the network. */
void ingest_attach(struct ingest *ingest, struct connection *connection);

/* Stop listening and close all connections.  `closed` is called when the instance is freed.
 * Batches that were applied still become durable, without an answer. */
void ingest_close(struct ingest *ingest, store_done closed, void *context);

/* The commands `daybook rejects` and `daybook producers`, by index; NULL behind the last.  Their
 * context is the struct ingest. */
const struct command *ingest_command(uint32_t index);

void ingest_dump(const struct ingest *ingest, struct buffer *text);
#endif
