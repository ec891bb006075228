/* ingest_private: the room's state, shared by its connections. */
#ifndef DAYBOOK_INGEST_INGEST_PRIVATE_H
#define DAYBOOK_INGEST_INGEST_PRIVATE_H

#include "ingest/ingest.h"
#include "ingest/producer.h"
#include "ingest/reject.h"

struct text_connection;

struct ingest_metrics {
    struct metric *clicks;
    struct metric *bytes;
    struct metric *batches;
    struct metric *duplicates;
    struct metric *rejects[REJECT_CODE_COUNT];
    struct metric *connections;
    struct metric *refused;
    struct metric *waits;
};

struct ingest {
    struct ingest_options options;
    struct ingest_metrics metrics;
    struct producer_table *producers;
    struct write_batch *batch;         /* made, applied and cleared in one call */
    struct listener *listener;
    struct text_connection *connections;
    uint32_t connection_count;
    uint32_t calls;                    /* of the store, whose callback is still to come */
    store_done opened;                 /* NULL once it was called */
    void *opened_context;
    bool is_closing;
    store_done closed;
    void *closed_context;
};

/* A callback of the store has done its work. */
void ingest_called_back(struct ingest *ingest);
/* Free a room that is closing when nothing of it is left. */
void ingest_release(struct ingest *ingest);
#endif
