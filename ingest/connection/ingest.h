/* ingest: clicks from sockets into the store, each acknowledged once it is durable.
 *
 * All functions are called on the engine thread.  The protocol of a connection is docs/PROTOCOL.md
 * "Text door" and "Binary door". */
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
    INGEST_LOADS_MAX = 256,            /* connections that come by the control socket */
    INGEST_HOLD_MS = 2000,
    INGEST_INPUT_MAX = 128 << 20,
    INGEST_ANSWERS_MAX = 64 << 20,
    INGEST_STRINGS_MAX = 128 << 20
};

/* 0 stands for the default, which is the constant of that name, here or in door/door.h. */
struct ingest_limits {
    uint32_t connections_max;          /* of the network, and as many by the control socket */
    int64_t slow_reader_ms;            /* how long replies may wait for their reader */
    int64_t linger_ms;                 /* how long a refused client may take to hang up */
    size_t strings_max;                /* bytes of memory of all connections' dictionaries; a
                                        * connection whose strings exceed it is answered
                                        * too_many_strings */
    size_t input_max;                  /* bytes of batches and lines that have come in part, of all
                                        * connections; a connection that needs more waits */
    int64_t hold_ms;                   /* how long a connection may hold such memory without
                                        * progress, while others wait, before it is answered
                                        * too_slow */
    size_t answers_max;                /* bytes of answers that wait, of all connections */
    size_t ahead_min;                  /* the least bytes that are parsed ahead (parse_ahead.h) */
};

struct ingest_options {
    struct store *store;               /* these outlive the instance */
    struct world *world;
    struct network *network;           /* NULL: without ingest_listen */
    struct metrics *metrics;
    const struct ingest_stream *streams;           /* the first is the default one */
    uint32_t stream_count;
    struct ingest_limits limits;
};

/* Read which producers are known; `opened` when connections may be attached, possibly before the
 * call returns.  A read-only store is fine: its connections are refused.  After a failure only
 * ingest_close may follow. */
struct ingest *ingest_open(const struct ingest_options *options, store_done opened, void *context);

/* Listen for lines and frames; *address_out is the address that is listened on, valid until
 * ingest_close.  Clients do not log in here: ERROR_USAGE where other machines can reach the address
 * and `place` does not say that it is open to all. */
must_check int ingest_listen(struct ingest *ingest, const struct door_place *place,
                             const char **address_out, struct error *err);

/* Serve a connection that is not started yet, and own it: one that came by the control socket, or
 * of this process.  It does not count against the connections of the network. */
void ingest_attach(struct ingest *ingest, struct connection *connection);

/* Stop listening and close all connections; `closed` is called when nothing is under way any more
 * and the instance is freed.  Batches that were applied still become durable, without an answer. */
void ingest_close(struct ingest *ingest, store_done closed, void *context);

/* The subcommands rejects and producers, which are run with the struct ingest; NULL behind the
 * last. */
const struct command *ingest_command(uint32_t index);

/* Append a list of the connections; those of `daybook load` are listed apart. */
void ingest_dump(const struct ingest *ingest, struct buffer *text);
#endif
