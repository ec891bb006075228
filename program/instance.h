/* instance: the rooms on one data directory, built bottom-up and torn down in reverse.
 *
 *     loop, network ─▶ world ─▶ store ─▶ streams (their hook) ─▶ ingest ─▶ query
 *
 * A server and a command that runs by itself live in the same instance; only the server opens
 * doors.  Opening and closing run the loop until they are through. */
#ifndef DAYBOOK_PROGRAM_INSTANCE_H
#define DAYBOOK_PROGRAM_INSTANCE_H

#include "base/world/loop.h"
#include "ingest/connection/ingest.h"
#include "program/control/control.h"
#include "program/directory.h"
#include "program/dump.h"
#include "query/model/model.h"
#include "query/query.h"
#include "rollup/streams/streams.h"
#include "storage/engine/engine.h"

enum {
    INSTANCE_COMMANDS_MAX = 32,
    INSTANCE_MEMORY_DEFAULT = 1 << 30, /* bytes of the process */
    INSTANCE_MEMORY_MIN = 128 << 20,
    INSTANCE_MEMORY_BESIDE = 64 << 20  /* of these, for what is not in the account */
};

struct instance_options {
    const char *path;                  /* directory_path */
    struct loop *loop;                 /* these two outlive the instance */
    struct network *network;
    bool is_read_only;                 /* shared lock; nothing is written */
    bool create_if_missing;            /* a missing or empty directory is made first */
    bool is_automatic;                 /* the rollup works by itself: for a server */
    bool salvages;                     /* go on without what is damaged in the log */
    uint64_t memory_limit;             /* at least INSTANCE_MEMORY_MIN; 0: the default */
    uint64_t archive_bytes;            /* of log files that are kept; commit_log.h */
};

struct instance {
    struct loop *loop;
    struct world *world;
    struct metrics *metrics;
    struct store *store;
    uint64_t account_limit;            /* of what grows with the data: the limit without what is
                                        * beside the account */
    struct directory_settings settings;
    struct backup *backup;
    struct streams *streams;
    struct ingest_stream stream;
    struct ingest *ingest;
    struct query query;
    struct cql *cql;
    struct model model;
    struct dump dump;                  /* a server adds its doors */
    struct control_entry entries[INSTANCE_COMMANDS_MAX];
    uint32_t entry_count;
};

/* ERROR_BUSY when another process holds the directory; the error names the directory. */
must_check int instance_open(const struct instance_options *options, struct instance **instance_out,
                             struct error *err);
/* Returns what the store says of its last sync. */
must_check int instance_close(struct instance *instance, struct error *err);

/* Bytes of the account that each of these may take: strings of ingest connections; what has come in
 * part there; answers to them, half of it; CQL requests that come or wait; those that are carried
 * out; CQL answers that wait for their readers; figures that wait to be given in order; commands,
 * with their answers. */
size_t instance_door_share(const struct instance *instance);

/* Run the loop until `status` is no longer INSTANCE_WAITING; instance_done sets it. */
enum { INSTANCE_WAITING = 1 };
struct instance_waiter {
    int status;
    struct error err;
};
void instance_done(void *waiter, int status, const struct error *err);     /* a store_done */
int instance_wait(struct instance *instance, struct instance_waiter *waiter, struct error *err);
#endif
