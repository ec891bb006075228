/* ingest: see ingest.h.
 *
 * Opening reads the table `producer` into memory: from then on what is known of batches is kept up
 * in memory and written with each of them, and never read again.
 *
 * Closing counts down: connections until their `closed` came, and calls of the store until their
 * callbacks came.  Whoever takes the last one away frees the room. */
#include "ingest/connection/ingest.h"

#include "ingest/connection/ingest_private.h"
#include "ingest/parse/keyed.h"
#include "ingest/connection/producer_rows.h"
#include "ingest/connection/producers_command.h"
#include "ingest/connection/rejects.h"
#include "ingest/connection/parse_ahead.h"
#include "ingest/connection/text_commit.h"
#include "ingest/connection/text_door.h"
#include "ingest/connection/text_memory.h"
#include "ingest/connection/text_notes.h"
#include "base/memory.h"
#include "storage/schema/schema.h"

#define EVICTIONS_LOG_US INT64_C(60000000)

/* ---- metrics ---- */

static void ingest_add_metrics(struct ingest *ingest)
{
    struct metrics *metrics = ingest->options.metrics;
    struct ingest_metrics *own = &ingest->metrics;

    own->clicks = metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_clicks_total", "",
                              "Clicks accepted and durable.");
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
    own->input_bytes =
        metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_input_bytes", "",
                    "Memory of batches and lines that have come in part, without 32 KiB of each "
                    "connection.");
    own->answer_bytes = metrics_add(metrics, METRIC_GAUGE, "daybook_ingest_answer_bytes", "",
                                    "Memory of answers that wait for the disk or their reader.");
    for (uint32_t code = 0; code < REJECT_CODE_COUNT; code++) {
        struct buffer labels = {0};

        buffer_printf(&labels, "code=\"%s\"", reject_name((enum reject_code)code));
        buffer_put_u8(&labels, 0);
        own->rejects[code] =
            metrics_add(metrics, METRIC_COUNTER, "daybook_ingest_rejects_total",
                        (const char *)labels.data, "Lines that were refused, by reason.");
        buffer_release(&labels);
    }
}

/* ---- memory ---- */

void ingest_tell_producers(struct ingest *ingest)
{
    size_t bytes = ingest->producers != NULL ? producer_table_bytes(ingest->producers) : 0;

    store_hold_memory(ingest->options.store, STORE_HELD_PRODUCERS,
                      (int64_t)bytes - (int64_t)ingest->producers_told);
    ingest->producers_told = bytes;
    if (ingest->producers != NULL)
        ingest->metrics.producers->value = producer_table_count(ingest->producers);
}

bool ingest_take_strings(struct ingest *ingest, size_t before, size_t after)
{
    store_hold_memory(ingest->options.store, STORE_HELD_STRINGS, (int64_t)after - (int64_t)before);
    ingest->strings_bytes += after - before;
    return after <= before || ingest->strings_bytes <= ingest->options.limits.strings_max;
}

/* ---- the table of producers ---- */

static void ingest_opened(struct ingest *ingest, int status, const struct error *err)
{
    store_done opened = ingest->opened;

    ingest->opened = NULL;
    if (opened != NULL)
        opened(ingest->opened_context, status, err);
}

static int ingest_read_producers(struct ingest *ingest, struct bytes position, struct error *err);

static void ingest_producer_page(void *context, int status, const struct error *err,
                                 const struct read_page *page)
{
    struct ingest *ingest = context;
    struct error own = {0};

    if (status != 0)
        (void)error_set(&own, status, "%s", err == NULL ? error_text(status) : err->text);
    for (uint32_t i = 0; status == 0 && i < page->row_count; i++)
        status = producer_rows_take(ingest->producers, page->table, &page->rows[i], &own);
    if (status == 0 && page->position.size > 0 && !ingest->is_closing) {
        status = ingest_read_producers(ingest, page->position, &own);
        if (status == 0) {
            ingest_called_back(ingest);
            return;
        }
    }
    if (status != 0)
        error_wrap(&own, "read the producers");
    else
        producer_table_opened(ingest->producers);
    ingest_tell_producers(ingest);
    ingest_opened(ingest, status, &own);
    ingest_called_back(ingest);
}

static int ingest_read_producers(struct ingest *ingest, struct bytes position, struct error *err)
{
    struct read_request request = {
        .table_id = TABLE_PRODUCER,
        .is_scan = true,
        .slice = slice_all(),
        .position = position,
        .row_limit = READ_ROWS_MAX,
        .view = READ_DURABLE,
    };
    int rc;

    ingest->calls++;
    rc = store_read(ingest->options.store, &request, ingest_producer_page, ingest, err);
    if (rc != 0)
        ingest->calls--;
    return rc;
}

/* ---- turns ---- */

static int64_t monotonic_us(const struct ingest *ingest)
{
    struct clock *clock = ingest->options.world->clock;

    return clock->monotonic_us(clock);
}

void ingest_turn_resume(struct ingest *ingest)
{
    ingest->turn_resumed_us = monotonic_us(ingest);
}

void ingest_turn_begin(struct ingest *ingest)
{
    ingest->turn_bytes_left = INGEST_TURN_BYTES;
    ingest->turn_us_left = INGEST_TURN_US;
    ingest->turn_look_us_left = INGEST_TURN_US - (ingest->is_turn_given ? INGEST_LOOK_US : 0);
    ingest->is_turn_given = false;
    ingest_turn_resume(ingest);
}

static bool is_asked(struct ingest *ingest)
{
    bool is_first = ingest->turn_look_us_left == INGEST_TURN_US;

    if (ingest->options.network == NULL || ingest->turn_us_left > ingest->turn_look_us_left)
        return false;
    ingest->turn_look_us_left = ingest->turn_us_left - INGEST_LOOK_US;
    if (!network_has_question(ingest->options.network))
        return false;
    ingest->is_turn_given = is_first;
    ingest->asked_us = ingest->turn_resumed_us;
    return true;
}

bool ingest_turn_is_over(struct ingest *ingest)
{
    int64_t now_us = monotonic_us(ingest);

    ingest->turn_us_left -= now_us - ingest->turn_resumed_us;
    ingest->turn_resumed_us = now_us;
    /* Over for all that ask until the next one begins. */
    if (ingest->turn_us_left > 0 && is_asked(ingest))
        ingest->turn_us_left = 0;
    return ingest->turn_bytes_left == 0 || ingest->turn_us_left <= 0;
}

bool ingest_was_asked(const struct ingest *ingest)
{
    return ingest->turn_resumed_us - ingest->asked_us < INGEST_ASKED_US;
}

/* ---- life ---- */

/* There may be room again: those that wait try once more. */
static void ingest_drain(void *context)
{
    struct ingest *ingest = context;
    struct text_connection *connection;

    /* A connection leaves the list in a later turn of the loop, never within this one. */
    LIST_FOREACH (connection, &ingest->connections, link)
        text_commit_retry(connection);
}

int ingest_open(const struct ingest_options *options, store_done opened, void *context,
                struct ingest **ingest_out, struct error *err)
{
    struct ingest *ingest = memory_zeroed(1, sizeof *ingest);
    struct ingest_limits *limits = &ingest->options.limits;
    uint64_t seed;
    int rc = 0;

    check(options->stream_count > 0);
    ingest->options = *options;
    if (limits->slow_reader_ms == 0)
        limits->slow_reader_ms = INGEST_SLOW_READER_MS;
    if (limits->linger_ms == 0)
        limits->linger_ms = INGEST_LINGER_MS;
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
    part_pool_open(&ingest->parts, options->store, seed);
    ingest->opened = opened;
    ingest->opened_context = context;
    ingest->turn = (struct timer){.fire = text_door_turn, .context = ingest};
    text_memory_open(ingest);
    ingest_turn_begin(ingest);
    ingest->asked_us = ingest->turn_resumed_us - INGEST_ASKED_US;
    ingest->woken_end = &ingest->woken;
    ingest_add_metrics(ingest);
    text_door_open(ingest);
    *ingest_out = ingest;
    if (store_capabilities(options->store).read_only) {
        ingest_opened(ingest, 0, NULL);
        return 0;
    }
    store_on_drain(options->store, ingest_drain, ingest);
    store_on_waiting(options->store, text_notes_waiting, ingest);
    rc = ingest_read_producers(ingest, bytes_of(NULL, 0), err);
    if (rc != 0) {
        *ingest_out = NULL;
        store_on_drain(options->store, NULL, ingest);
        door_close(&ingest->door);
        door_close(&ingest->loads);
        store_on_waiting(options->store, NULL, ingest);
        producer_table_free(ingest->producers);
        write_batch_free(ingest->batch);
        memory_free(ingest);
    }
    return rc;
}

int ingest_listen(struct ingest *ingest, const struct door_place *place, const char **address_out,
                  struct error *err)
{
    /* Both doors' connections take descriptors. */
    if (place->slots_max > 0)
        door_limit(&ingest->loads, place->slots_max / 4);
    return door_listen(&ingest->door, place, address_out, err);
}

void ingest_attach(struct ingest *ingest, struct connection *connection)
{
    if (ingest->is_closing)
        network_close(connection);
    else
        text_door_attach(ingest, &ingest->loads, connection);
}

void ingest_release(struct ingest *ingest)
{
    store_done closed = ingest->closed;
    void *context = ingest->closed_context;

    if (!ingest->is_closing || ingest->calls > 0 || !LIST_EMPTY(&ingest->connections))
        return;
    door_close(&ingest->door);
    door_close(&ingest->loads);
    store_on_drain(ingest->options.store, NULL, ingest);
    store_on_waiting(ingest->options.store, NULL, ingest);
    ingest->options.world->executor->timer_stop(ingest->options.world->executor, &ingest->turn);
    text_memory_close(ingest);
    parse_ahead_pool_close(&ingest->aheads);
    part_pool_close(&ingest->parts);
    text_spare_release(&ingest->spare);
    producer_table_free(ingest->producers);
    ingest->producers = NULL;
    ingest_tell_producers(ingest);
    write_batch_free(ingest->batch);
    reject_list_release(&ingest->keyed_rejects);
    memory_free(ingest);
    closed(context, 0, NULL);
}

void ingest_called_back(struct ingest *ingest)
{
    check(ingest->calls > 0);
    ingest->calls--;
    ingest_release(ingest);
}

void ingest_close(struct ingest *ingest, store_done closed, void *context)
{
    struct text_connection *connection;

    check(!ingest->is_closing);
    door_stop(&ingest->door);
    LIST_FOREACH (connection, &ingest->connections, link)
        text_door_close(connection);
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
