/* query: the parts of an open directory, on which the commands of query/ and query/report/ run. */
#ifndef DAYBOOK_QUERY_QUERY_H
#define DAYBOOK_QUERY_QUERY_H

#include "base/cli/command.h"
#include "base/metrics.h"
#include "rollup/streams/streams.h"
#include "storage/backup/backup.h"
#include "storage/engine/store.h"

/* Whatever the pointers point to outlives the struct. */
struct query {
    struct store *store;
    struct streams *streams;
    struct backup *backup;             /* NULL: `status` leaves backups out */
    struct metrics *metrics;
    const uint8_t *directory_id;       /* 16 bytes */
    const char *zone;
    const char *currency;              /* "": none is set */
    const char *version;
    void (*dump)(void *context, struct buffer *text);
    void *dump_context;
};
#endif
