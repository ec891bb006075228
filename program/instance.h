/* instance: the parts of daybook over one data directory, opened from the bottom up.
 *
 *     loop, network ─▶ world ─▶ store ─▶ streams (with the commit hook) ─▶ ingest ─▶ query
 *
 * Only a server opens doors.  instance_open and instance_close run the loop until all parts are
 * open or closed. */
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
    INSTANCE_MEMORY_BESIDE = 64 << 20  /* reserved for memory that account_limit does not count */
};

struct instance_options {
    const char *path;
    struct loop *loop;                 /* loop and network outlive the instance */
    struct network *network;
    bool is_read_only;                 /* takes a shared lock */
    bool create_if_missing;            /* a missing or empty directory is made first */
    bool is_automatic;                 /* the rollup refreshes dirty days by itself */
    bool salvages;
    uint64_t memory_limit;             /* at least INSTANCE_MEMORY_MIN; 0: the default */
    uint64_t archive_bytes;            /* of log files to keep (commit_log.h) */
    bool notes_are_logged;             /* notes are events of the log; else they are printed */
};

struct instance {
    struct loop *loop;
    struct world *world;
    struct metrics *metrics;
    struct store *store;
    uint64_t account_limit;            /* bytes; memory_limit less INSTANCE_MEMORY_BESIDE */
    struct directory_settings settings;
    struct backup *backup;
    struct streams *streams;
    struct ingest_stream stream;
    struct ingest *ingest;
    struct query query;
    struct cql *cql;
    struct model model;
    struct dump dump;
    struct command_entry entries[INSTANCE_COMMANDS_MAX];
    uint32_t entry_count;
};

/* ERROR_BUSY: another process holds the directory. */
must_check int instance_open(const struct instance_options *options, struct instance **instance_out,
                             struct error *err);
/* Returns the first error. */
must_check int instance_close(struct instance *instance, struct error *err);

/* The bytes that each kind of waiting request or answer may take: an eighth of account_limit. */
size_t instance_door_share(const struct instance *instance);

enum { INSTANCE_WAITING = 1 };
struct instance_waiter {
    int status;
    struct error err;
};
/* A callback of type store_done; `waiter` is a struct instance_waiter. */
void instance_done(void *waiter, int status, const struct error *err);
/* Run the loop until instance_done is called, and return its status. */
int instance_wait(struct loop *loop, struct instance_waiter *waiter, struct error *err);
#endif
