/* instance: the parts of daybook over one data directory, opened from the bottom up.
 *
 *     loop, network ─▶ world ─▶ store ─▶ streams (with the commit hook) ─▶ ingest ─▶ query
 *
 * The parts are closed in reverse order.  A server and a command that runs without a server use the
 * same instance; only the server opens doors.  instance_open and instance_close run the loop until
 * all parts are open or closed. */
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
    INSTANCE_MEMORY_BESIDE = 64 << 20  /* the part of memory_limit for what account_limit
                                        * does not count */
};

struct instance_options {
    const char *path;                  /* as directory_path returns it */
    struct loop *loop;                 /* loop and network outlive the instance */
    struct network *network;
    bool is_read_only;                 /* shared lock; nothing is written */
    bool create_if_missing;            /* a missing or empty directory is made first */
    bool is_automatic;                 /* the rollup refreshes days by itself, as in a server */
    bool salvages;                     /* engine_options.salvage (engine.h) */
    uint64_t memory_limit;             /* at least INSTANCE_MEMORY_MIN; 0: the default */
    uint64_t archive_bytes;            /* of log files to keep; see commit_log.h */
};

struct instance {
    struct loop *loop;
    struct world *world;
    struct metrics *metrics;
    struct store *store;
    uint64_t account_limit;            /* bytes for memory that grows with the data:
                                        * memory_limit less INSTANCE_MEMORY_BESIDE */
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
/* Returns the first error of closing, such as that of the store's last sync. */
must_check int instance_close(struct instance *instance, struct error *err);

/* A share of account_limit, in bytes.  Each of these may take a share: strings of ingest
 * connections; batches that have arrived in part; CQL requests that arrive or wait; CQL requests
 * that run; unread CQL answers; figures that wait to be reported in order; running commands; unread
 * answers of commands; memory charged by command_keep.  Unread answers of ingest may take half a
 * share. */
size_t instance_door_share(const struct instance *instance);

enum { INSTANCE_WAITING = 1 };
struct instance_waiter {
    int status;
    struct error err;
};
/* A callback of type store_done; `waiter` is a struct instance_waiter. */
void instance_done(void *waiter, int status, const struct error *err);
/* Run the loop until instance_done has been called; returns the status that it got, with its error
 * in `err`. */
int instance_wait(struct loop *loop, struct instance_waiter *waiter, struct error *err);
#endif
