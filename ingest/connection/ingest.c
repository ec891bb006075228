/* ingest: see ingest.h.
 *
 * Opening reads the table `producer` into memory, unless the store is read-only.  Later only
 * commands read the table.
 *
 * Closing waits until the network has closed every connection and the store has called back for
 * every call. */
#include "ingest/connection/ingest.h"

#include "base/memory.h"
#include "ingest/connection/ingest_connection.h"
#include "ingest/connection/notes.h"
#include "ingest/connection/parse_ahead.h"
#include "ingest/connection/producer_rows.h"
#include "ingest/connection/producers_command.h"
#include "ingest/connection/rejects.h"
#include "storage/engine/store_rows.h"

#define EVICTIONS_LOG_US INT64_C(60000000)

/* ---- metrics ---- */

static void ingest_add_metrics(struct ingest *ingest)
{
    struct metrics *metrics = ingest->options.metrics;
    struct ingest_metrics *own = &ingest->metrics;

    own->clicks = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_clicks_total", "",
                              "Clicks accepted and durable.");
    own->last_click =
        metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_last_click_timestamp_seconds", "",
                    "When the last clicks became durable, since 1970.");
    own->last_click->value = METRIC_UNKNOWN;
    own->bytes = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_bytes_total", "",
                             "Bytes of lines whose clicks are durable, rejected lines included.");
    own->batches = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_batches_total", "",
                               "Numbered batches that are durable, copies not counted.");
    own->duplicates = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_duplicates_total", "",
                                  "Copies of batches that were there already.");
    own->connections = metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_connections", "",
                                   "Open connections of the text door.");
    own->evicted = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_evicted_total", "",
                               "Idle connections that were closed for others to have their place.");
    own->producers = metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_producers", "",
                                 "Producers that are remembered.");
    metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_producers_max", "",
                "How many there may be, but for those of load.")
        ->value = PRODUCERS_MAX - PRODUCERS_KEPT;
    own->connections_max = metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_connections_max", "",
                                       "How many there may be.");
    own->refused = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_refused_total", "",
                               "Connections that ended with an error.");
    own->waits = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_waits_total", "",
                             "Times a connection had to wait for room in the store.");
    own->forgotten =
        metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_producers_forgotten_total", "",
                    "Producers that were silent for so long that others took their "
                    "places.");
    own->ahead =
        metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_ahead_bytes_total", "",
                    "Bytes of lines and frames that were parsed beside the engine thread.");
    ingest->memory.input_bytes =
        metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_input_bytes", "",
                    "Memory of batches and lines that have come in part, without 32 KiB of each "
                    "connection.");
    ingest->memory.answer_bytes =
        metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_answer_bytes", "",
                    "Memory of answers that wait for the disk or their reader.");
    for (uint32_t code = 0; code < REJECT_CODE_COUNT; code++) {
        char labels[64];

        (void)snprintf(labels, sizeof labels, "code=\"%s\"", reject_name((enum reject_code)code));
        own->rejects[code] = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_rejected_total",
                                         labels, "Lines that were refused, by reason.");
    }
}

/* ---- the table of producers ---- */

static void ingest_opened(struct ingest *ingest, int status, const struct error *err)
{
    store_done opened = ingest->opened;

    ingest->opened = NULL;
    if (opened != NULL)
        opened(ingest->opened_context, status, err);
}

static int ingest_take_producer(void *context, const struct table *table,
                                const struct page_row *row, struct error *err)
{
    struct ingest *ingest = context;

    return ingest->is_closing ? 1 : producer_rows_take(ingest->producers, table, row, err);
}

static void ingest_producers_read(void *context, int status, const struct error *err)
{
    struct ingest *ingest = context;
    struct error own = {0};

    if (status != 0) {
        own = *err;
        error_wrap(&own, "read the producers");
    } else {
        producer_table_opened(ingest->producers);
    }
    producer_rows_tell(ingest);
    ingest_opened(ingest, status, &own);
    ingest_called_back(ingest);
}

/* ---- life ---- */

static void ingest_drain(void *context)
{
    struct ingest *ingest = context;
    struct ingest_connection *connection;

    /* No connection is removed from the list before a later turn of the event loop. */
    LIST_FOREACH (connection, &ingest->connections, link)
        if (!connection->file.is_waiting)
            ingest_connection_retry(connection);
}

static void ingest_release(struct ingest *ingest)
{
    store_done closed = ingest->closed;
    void *context = ingest->closed_context;

    if (!ingest->is_closing || ingest->calls > 0 || !LIST_EMPTY(&ingest->connections))
        return;
    door_close(&ingest->door);
    door_close(&ingest->loads);
    store_on_drain(ingest->options.store, NULL, ingest);
    store_on_waiting(ingest->options.store, NULL, ingest);
    wake_queue_close(&ingest->woken);
    world_timer_stop(ingest->options.world, &ingest->look);
    parse_ahead_pool_close(&ingest->aheads);
    part_pool_close(&ingest->parts);
    input_queue_spare_release(&ingest->spare);
    producer_table_free(ingest->producers);
    ingest->producers = NULL;
    producer_rows_tell(ingest);
    write_batch_free(ingest->batch);
    reject_list_release(&ingest->click_dedup_rejects);
    memory_free(ingest);
    closed(context, 0, NULL);
}

struct ingest *ingest_open(const struct ingest_options *options, store_done opened, void *context)
{
    struct ingest *ingest = memory_zeroed(1, sizeof *ingest);
    struct ingest_limits *limits = &ingest->options.limits;
    struct read_request producers = store_rows_request(TABLE_PRODUCER, NULL, READ_DURABLE);
    uint64_t seed;

    check(options->stream_count > 0);
    ingest->options = *options;
    if (limits->slow_reader_ms == 0)
        limits->slow_reader_ms = DOOR_SLOW_READER_MS;
    if (limits->linger_ms == 0)
        limits->linger_ms = DOOR_LINGER_MS;
    if (limits->strings_max == 0)
        limits->strings_max = INGEST_STRINGS_MAX;
    if (limits->input_max == 0)
        limits->input_max = INGEST_INPUT_MAX;
    if (limits->hold_ms == 0)
        limits->hold_ms = INGEST_HOLD_MS;
    if (limits->answers_max == 0)
        limits->answers_max = INGEST_ANSWERS_MAX;
    ingest->producers = producer_table_new();
    ingest->evictions.period_us = EVICTIONS_LOG_US;
    ingest->batch = write_batch_new();
    options->world->random->fill(options->world->random, &seed, sizeof seed);
    part_pool_open(&ingest->parts, options->store, options->world, seed);
    ingest->opened = opened;
    ingest->opened_context = context;
    ingest->left = ingest_release;
    ingest_budget_open(&ingest->budget, options->world->clock, options->network);
    ingest_memory_open(&ingest->memory, options->store, options->world->clock, limits,
                       ingest_connection_resume);
    ingest_add_metrics(ingest);
    ingest_connection_open(ingest);
    if (options->store->capabilities.read_only) {
        ingest_opened(ingest, 0, NULL);
        return ingest;
    }
    store_on_drain(options->store, ingest_drain, ingest);
    store_on_waiting(options->store, notes_waiting, ingest);
    ingest->calls++;
    store_rows_read(options->store, &producers, ingest_take_producer, ingest_producers_read,
                    ingest);
    return ingest;
}

int ingest_listen(struct ingest *ingest, const struct door_place *place, const char **address_out,
                  struct error *err)
{
    /* Few file descriptors lower this limit, too: the control socket's connections need some. */
    if (place->slots_max > 0)
        door_limit(&ingest->loads, place->slots_max / 4);
    return door_listen(&ingest->door, place, address_out, err);
}

void ingest_attach(struct ingest *ingest, struct connection *connection)
{
    if (ingest->is_closing)
        network_close(connection);
    else
        ingest_connection_attach(ingest, &ingest->loads, connection);
}

void ingest_close(struct ingest *ingest, store_done closed, void *context)
{
    struct ingest_connection *connection;

    check(!ingest->is_closing);
    door_stop(&ingest->door);
    LIST_FOREACH (connection, &ingest->connections, link)
        ingest_connection_close(connection);
    ingest->is_closing = true;
    ingest->closed = closed;
    ingest->closed_context = context;
    ingest_release(ingest);
}

const struct command *ingest_command(uint32_t index)
{
    static const struct command *const commands[] = {&rejects_command, &producers_command, NULL};

    return commands[index];
}

void ingest_dump(const struct ingest *ingest, struct buffer *text)
{
    door_dump(&ingest->door, text);
    door_dump(&ingest->loads, text);
}
