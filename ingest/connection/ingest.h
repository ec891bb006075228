/* ingest: clicks from sockets into the store, each acknowledged once it is durable.
 *
 * Everything happens on the engine thread.  What is spoken on a connection is docs/PROTOCOL.md's
 * text door. */
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
    size_t strings_max;                /* bytes of memory of all connections' dictionaries; whose
                                        * strings go past it is answered too_many_strings */
    size_t input_max;                  /* bytes of what has come in part, of all connections; who
                                        * takes more waits */
    int64_t hold_ms;                   /* how long one may hold some and not go on, while others
                                        * wait, before it is answered too_slow */
    size_t answers_max;                /* bytes of answers that wait, of all connections */
    size_t ahead_min;                  /* bytes that are parsed ahead, at least (parse_ahead.h) */
};

struct ingest_options {
    struct store *store;               /* these outlive the room */
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

/* The door of lines and frames; *address_out is the address it really has, valid until
 * ingest_close.  No client logs in there: ERROR_USAGE where other machines reach it and the place
 * does not say that it is open to all. */
must_check int ingest_listen(struct ingest *ingest, const struct door_place *place,
                             const char **address_out, struct error *err);

/* Speak the door's protocol on a connection that is not started yet, and own it: one that came by
 * the control socket, or of this process.  It takes no place of those that the network's have. */
void ingest_attach(struct ingest *ingest, struct connection *connection);

/* Close the door and all connections; `closed` when nothing is under way any more and the room is
 * freed.  Batches that were applied become durable all the same, without an answer. */
void ingest_close(struct ingest *ingest, store_done closed, void *context);

/* Subcommands, rejects and producers, whose room is the struct ingest; NULL behind the last. */
const struct command *ingest_command(uint32_t index);

/* Append its connections; those of `daybook load` stand apart. */
void ingest_dump(const struct ingest *ingest, struct buffer *text);
#endif
