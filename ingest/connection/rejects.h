/* rejects: rejected lines as rows of the table `reject`, and the command that shows them. */
#ifndef DAYBOOK_INGEST_CONNECTION_REJECTS_H
#define DAYBOOK_INGEST_CONNECTION_REJECTS_H

#include "base/cli/command.h"
#include "ingest/parse/reject.h"
#include "storage/cell/write_batch.h"

struct random;

enum {
    /* The most rejects of a batch that are rows of their own.  All others are gathered into rows of
     * up to REJECTS_GATHERED_MAX bytes, so that a batch of a million empty lines still fits its
     * frame of the log, and no line is lost. */
    REJECTS_ROWS_MAX = 10000,
    REJECTS_GATHERED_MAX = 64 << 10
};

/* Where the lines of a list came from. */
struct reject_origin {
    int64_t now_us;
    const char *door;                  /* "text", "binary" */
    const uint8_t *producer;           /* NULL: outside a batch */
    uint64_t batch;
};

/* Add the rejects to `batch`.  `list` must stay unchanged until the batch was applied. */
void rejects_add(struct write_batch *batch, const struct table *table,
                 const struct reject_list *list, const struct reject_origin *origin,
                 struct random *random);

/* `daybook rejects list|export`. */
extern const struct command rejects_command;
#endif
