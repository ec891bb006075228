/* ingest_private: the state of an ingest instance, which its connections share. */
#ifndef DAYBOOK_INGEST_CONNECTION_INGEST_PRIVATE_H
#define DAYBOOK_INGEST_CONNECTION_INGEST_PRIVATE_H

#include <sys/queue.h>

#include "counters/producer.h"
#include "door/wake_queue.h"
#include "ingest/connection/ingest.h"
#include "ingest/connection/ingest_budget.h"
#include "ingest/connection/ingest_memory.h"
#include "ingest/connection/input_queue.h"
#include "ingest/parse/part_pool.h"
#include "ingest/parse/reject.h"

struct ingest_connection;
struct parse_lane;

struct parse_ahead_pool {
    uint32_t in_use;                   /* jobs that run, or whose results are not all taken yet */
    struct parse_lane *lane;           /* NULL before the first job */
    void (*done)(struct ingest_connection *connection);
};

struct ingest_metrics {
    struct metric *clicks;
    struct metric *last_click;
    struct metric *bytes;
    struct metric *batches;
    struct metric *duplicates;
    struct metric *rejects[REJECT_CODE_COUNT];
    struct metric *connections;
    struct metric *connections_max;
    struct metric *producers;
    struct metric *evicted;
    struct metric *refused;
    struct metric *waits;
    struct metric *forgotten;
    struct metric *ahead;
};

struct ingest {
    struct ingest_options options;
    struct ingest_metrics metrics;
    struct store_waiting waiting;
    struct producer_table *producers;
    struct log_group evictions;
    int64_t producers_due_us;          /* wall time of the next search for silent producers */
    struct ingest_memory memory;
    struct timer look;                 /* looks for connections that hold memory without progress */
    struct part_pool parts;
    struct input_spare spare;
    struct reject_list click_dedup_rejects;
    struct parse_ahead_pool aheads;
    struct write_batch *batch;         /* filled and applied in one call */
    struct door door;                  /* of the network */
    struct door loads;                 /* of the control socket */
    LIST_HEAD(, ingest_connection) connections;
    uint64_t connections_ever;
    struct wake_queue woken;
    struct ingest_budget budget;
    uint32_t calls;                    /* calls of the store under way, plus 1 while
                                        * connections_serve runs */
    void (*left)(struct ingest *ingest);           /* called whenever a call or a connection has
                                                    * ended; frees a closing instance after the
                                                    * last */
    store_done opened;                 /* NULL once it was called */
    void *opened_context;
    bool is_closing;
    store_done closed;
    void *closed_context;
};

static inline void ingest_called_back(struct ingest *ingest)
{
    check(ingest->calls > 0);
    ingest->calls--;
    ingest->left(ingest);
}
#endif
