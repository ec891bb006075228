/* rejects: writes rejected lines to the table `reject`, and implements `daybook rejects`. */
#ifndef DAYBOOK_INGEST_CONNECTION_REJECTS_H
#define DAYBOOK_INGEST_CONNECTION_REJECTS_H

#include "base/cli/command.h"
#include "ingest/parse/reject.h"
#include "storage/cell/write_batch.h"

struct random;

enum {
    /* Each of the first REJECTS_ROWS_MAX rejects of a batch is one row.  All others are gathered
     * into rows of about REJECTS_GATHERED_MAX bytes, so that they fit a frame of the log. */
    REJECTS_ROWS_MAX = 10000,
    REJECTS_GATHERED_MAX = 64 << 10
};

struct reject_origin {
    int64_t now_us;
    const char *door;                  /* the protocol: "text" or "binary" */
    const uint8_t *producer;           /* UUID; NULL: outside of batches */
    uint64_t batch;
};

void rejects_add(struct write_batch *batch, const struct table *table,
                 const struct reject_list *list, const struct reject_origin *origin,
                 struct random *random);

extern const struct command rejects_command;
#endif
