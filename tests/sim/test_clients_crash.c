/* Clients that lose connections, repeat, interleave and send late, through losses of power.
 *
 * Method: several producers send numbered batches through the real text door, over a network that
 * delivers in pieces and in any order between connections.  They hang up when they please, connect
 * again and begin behind the last answer they saw, sometimes with an older batch once more; what a
 * dropped connection had sent may arrive after the new one's, whole or cut.  At the same time the
 * engine flushes and merges.  Before every sync and every change of names the power fails, in
 * several ways, and what is left is opened.  Now and then the history goes on from what is left,
 * and the clients, who have lost their connections, do what the protocol asks of them.
 *
 * What must hold of every batch, after every crash: an `ok` that the server wrote, arrived or not,
 * means that its clicks, their counters and its refused lines are there, each once; without one,
 * all or nothing is there.  At the end all batches are there, once.
 *
 * SIM_SEED is the first history's seed, SIM_STRIDE the way to the next, SIM_CLIENTS how many. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ingest/connection/ingest.h"
#include "storage/engine/engine.h"
#include "tests/lib/engine_fixture.h"
#include "tests/lib/row_text.h"
#include "tests/sim/sim_cheap.h"
#include "tests/sim/sim_network.h"
#include "tests/sim/sim_options.h"
#include "tests/sim/sim_random.h"
#include "tests/sim/sim_seen.h"
#include "tests/sim/sim_world.h"

enum {
    CLIENTS = 3,
    BATCHES = 7, /* of a client */
    LINES_MAX = 4,
    WINDOW = 3, /* batches sent without an answer */
    CRASHES_PER_MOMENT = 3,
    HISTORIES_DEFAULT = 6
};

struct batch {
    uint32_t accepted, rejected; /* lines of either kind */
    struct buffer text;
    bool is_promised; /* an `ok` was written */
    bool is_answered; /* and arrived */
};

struct client {
    struct history *history;
    uint32_t number;
    struct batch batches[BATCHES];
    uint32_t sent;                 /* over the connection of now */
    struct connection *connection; /* NULL: none */
};

struct history {
    uint64_t seed;
    struct sim_random random;
    struct sim_world *sim;
    struct engine_fixture engine;
    struct network *network;
    struct metrics *metrics;
    struct ingest *ingest;
    struct client clients[CLIENTS];
    struct sim_seen seen;
    uint64_t moments, crashes;
    bool is_checking;
};

static const struct ingest_stream clicks = {
    .name = "clicks",
    .table_id = TABLE_AD_CLICK,
    .column_ids = {[FIELD_RESELLER] = AD_CLICK_RESELLER_ID,
                   [FIELD_DAY] = AD_CLICK_DAY,
                   [FIELD_TIME] = AD_CLICK_TIME,
                   [FIELD_AD] = AD_CLICK_AD_ID,
                   [FIELD_AMOUNT] = AD_CLICK_AMOUNT},
    .day_derived_column_id = AD_CLICK_DAY_DERIVED,
};

static uint32_t draw(struct history *history, uint32_t limit)
{
    return (uint32_t)sim_random_below(&history->random, limit);
}

/* ---- what is there ---- */

/* In every other history clients send as many batches at once as they may, and whatever lines come
 * together are parsed ahead, their batches bundled. */
static bool is_ahead(const struct history *history)
{
    return history->seed % 2 == 1;
}

/* Every batch has an ad of its own, which is also in its refused lines. */
static void batch_ad(const struct client *client, uint32_t batch, char ad[16])
{
    snprintf(ad, 16, "p%ub%u", client->number, batch + 1);
}

struct found {
    struct buffer rows, counters, rejects;
};

static void check_batch(const struct client *client, uint32_t number, const struct found *found,
                        const char *crash)
{
    const struct batch *batch = &client->batches[number];
    char ad[16], in_row[24], in_reject[48] = "";
    batch_ad(client, number, ad);
    snprintf(in_row, sizeof in_row, "|%s|", ad);
    /* Refused lines are kept as bytes, which are printed in hexadecimal. */
    for (size_t i = 0; i < strlen(ad); i++)
        snprintf(in_reject + strlen(in_reject), 3, "%02x", (unsigned)ad[i]);
    snprintf(in_reject + strlen(in_reject), 3, "2c");
    uint32_t rows = row_text_times(&found->rows, in_row);
    uint32_t rejects = row_text_times(&found->rejects, in_reject);
    bool is_there = rows == batch->accepted && rejects == batch->rejected;
    cr_assert(is_there || (rows == 0 && rejects == 0 && !batch->is_promised),
              "batch %s: %u of %u clicks, %u of %u rejects (promised %d); SIM_SEED=%" PRIu64 " %s",
              ad, rows, batch->accepted, rejects, batch->rejected, batch->is_promised,
              client->history->seed, crash);
    cr_assert_eq(row_text_number(&found->counters, ad), rows,
                 "counter of %s; SIM_SEED=%" PRIu64 " %s", ad, client->history->seed, crash);
}

static void check_store(struct history *history, struct engine_fixture *engine, const char *crash)
{
    const struct bytes all = {0};
    struct found found = {
        .rows = engine_fixture_rows(engine, TABLE_AD_CLICK, all, 100, false),
        .counters = engine_fixture_rows(engine, TABLE_CLICKS_PER_AD, all, 100, false),
        .rejects = engine_fixture_rows(engine, TABLE_REJECT, all, 100, false),
    };
    for (uint32_t c = 0; c < CLIENTS; c++)
        for (uint32_t b = 0; b < BATCHES; b++)
            check_batch(&history->clients[c], b, &found, crash);
    buffer_release(&found.rows);
    buffer_release(&found.counters);
    buffer_release(&found.rejects);
}

/* ---- crashes ---- */

static void crash_and_check(struct history *history, uint64_t moment, uint64_t number)
{
    char crash[64];
    struct engine_fixture engine = {.options = history->engine.options, .has_ingest = true};
    struct error err = {0};
    struct sim_world *crashed = sim_world_crash(history->sim, number);
    uint64_t hash = sim_disk_hash(sim_world_disk(crashed));
    for (uint32_t i = 0; i < CLIENTS * BATCHES; i++)
        hash = hash * 31 + history->clients[i / BATCHES].batches[i % BATCHES].is_promised;
    if (sim_seen_add(&history->seen, hash)) {
        snprintf(crash, sizeof crash, "moment %" PRIu64 " seed %" PRIu64, moment, number);
        cr_assert_eq(engine_fixture_open_in(&engine, sim_world_interface(crashed), &err), 0,
                     "%s; SIM_SEED=%" PRIu64 " %s", err.text, history->seed, crash);
        check_store(history, &engine, crash);
        engine_fixture_close(&engine);
        history->crashes++;
    }
    sim_world_free(crashed);
}

static void before_call(void *context, enum sim_call call)
{
    struct history *history = context;
    if (!sim_call_keeps(call) || history->is_checking)
        return;
    history->is_checking = true;
    uint64_t moment = history->moments++;
    for (uint32_t i = 0; i < CRASHES_PER_MOMENT; i++)
        crash_and_check(history, moment, moment * 1000003 + i);
    history->is_checking = false;
}

/* ---- the server ---- */

static void set_done(void *context, int status, const struct error *err)
{
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    *(bool *)context = true;
}

static void world_step_until(struct history *history, const bool *done)
{
    struct executor *executor = history->engine.world->executor;
    while (!*done)
        cr_assert(sim_network_step(history->network) || executor->step(executor) || *done);
}

/* An `ok` on its way binds the server, whether it arrives or not. */
static void note_promises(void *context, struct bytes bytes)
{
    struct client *client = context;
    struct buffer text = {0};
    buffer_append_bytes(&text, bytes);
    buffer_put_u8(&text, 0);
    for (const char *at = (const char *)text.data; at != NULL; at = strchr(at, '\n')) {
        uint32_t number;
        at += *at == '\n';
        if (sscanf(at, "ok %u ", &number) != 1)
            continue;
        cr_assert(number >= 1 && number <= BATCHES);
        client->batches[number - 1].is_promised = true;
    }
    buffer_release(&text);
}

static void server_start(struct history *history, struct sim_world *sim)
{
    struct error err = {0};
    bool opened = false;
    history->sim = sim;
    int rc = engine_fixture_open_in(&history->engine, sim_world_interface(sim), &err);
    cr_assert_eq(rc, 0, "%s; SIM_SEED=%" PRIu64, err.text, history->seed);
    history->metrics = metrics_new();
    history->network = sim_network_new(history->seed + history->moments, note_promises);
    const struct ingest_options options = {.limits = {.ahead_min = is_ahead(history)},
                                           .store = history->engine.store,
                                           .world = history->engine.world,
                                           .network = history->network,
                                           .metrics = history->metrics,
                                           .streams = &clicks,
                                           .stream_count = 1};
    history->ingest = ingest_open(&options, set_done, &opened);
    world_step_until(history, &opened);
    sim_disk_watch(sim_world_disk(sim), before_call, history);
}

/* Close it, and everybody's connections.  A crash has cut off what it still does and says. */
static void server_stop(struct history *history)
{
    bool closed = false;
    for (uint32_t c = 0; c < CLIENTS; c++) {
        if (history->clients[c].connection != NULL)
            sim_network_drop(history->clients[c].connection);
        history->clients[c].connection = NULL;
    }
    sim_disk_watch(sim_world_disk(history->sim), NULL, NULL);
    ingest_close(history->ingest, set_done, &closed);
    world_step_until(history, &closed);
    while (sim_network_step(history->network))
        ;
    engine_fixture_close(&history->engine);
    sim_network_free(history->network);
    metrics_free(history->metrics);
}

static void server_crash(struct history *history)
{
    bool promised[CLIENTS * BATCHES];
    struct sim_world *before = history->sim;
    uint64_t seed = sim_random_next(&history->random);
    bool is_power_lost = draw(history, 2) == 0;
    struct sim_world *after =
        is_power_lost ? sim_world_crash(before, seed) : sim_world_restart(before, seed);
    for (uint32_t i = 0; i < CLIENTS * BATCHES; i++)
        promised[i] = history->clients[i / BATCHES].batches[i % BATCHES].is_promised;
    server_stop(history);
    sim_world_free(before);
    for (uint32_t i = 0; i < CLIENTS * BATCHES; i++)
        history->clients[i / BATCHES].batches[i % BATCHES].is_promised = promised[i];
    server_start(history, after);
    history->crashes++;
}

/* ---- clients ---- */

static void client_make_batches(struct client *client)
{
    struct history *history = client->history;
    for (uint32_t b = 0; b < BATCHES; b++) {
        struct batch *batch = &client->batches[b];
        uint32_t lines = 1 + draw(history, LINES_MAX);
        char ad[16];
        batch_ad(client, b, ad);
        buffer_printf(&batch->text, "#batch %u %u\n", b + 1, lines);
        for (uint32_t i = 0; i < lines; i++) {
            bool is_good = draw(history, 5) > 0;
            buffer_printf(&batch->text, "r%u,2013-11-28,%" PRId64 ",%s,%s\n", draw(history, 2),
                          INT64_C(1385605012000) + draw(history, 3), ad, is_good ? "0.01" : "much");
            batch->accepted += is_good;
            batch->rejected += !is_good;
        }
    }
}

/* The batches that were answered, from the first on. */
static uint32_t client_answered(const struct client *client)
{
    uint32_t answered = 0;
    while (answered < BATCHES && client->batches[answered].is_answered)
        answered++;
    return answered;
}

static void client_drop(struct client *client)
{
    sim_network_drop(client->connection);
    client->connection = NULL;
}

static void client_connect(struct client *client)
{
    struct history *history = client->history;
    struct buffer hello = {0};
    uint32_t answered = client_answered(client);
    client->connection = sim_network_connect(history->network, client);
    client->sent = answered;
    buffer_printf(&hello, "#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a%02u 1%s\n", client->number,
                  answered == 0 ? " new" : "");
    if (answered > 0 && draw(history, 2) == 0) {
        const struct batch *again = &client->batches[draw(history, answered)];
        buffer_append_bytes(&hello, buffer_view(&again->text));
    }
    sim_network_send(client->connection, buffer_view(&hello));
    ingest_attach(history->ingest, client->connection);
    buffer_release(&hello);
}

/* One line of an answer; false: hang up. */
static bool client_take(struct client *client, const char *line)
{
    uint32_t number, accepted, rejected;
    if (strncmp(line, "reject ", 7) == 0)
        return true;
    if (sscanf(line, "ok %u accepted %u rejected %u", &number, &accepted, &rejected) == 3) {
        struct batch *batch = &client->batches[number - 1];
        cr_assert(accepted == batch->accepted && rejected == batch->rejected,
                  "%s; SIM_SEED=%" PRIu64, line, client->history->seed);
        batch->is_answered = true;
        return true;
    }
    cr_assert_str_eq(line, "error - taken_over", "SIM_SEED=%" PRIu64, client->history->seed);
    return false;
}

static void client_read(struct client *client)
{
    struct buffer *received = sim_network_received(client->connection);
    const uint8_t *end;
    bool is_good = true;
    while (is_good && (end = memchr(received->data, '\n', received->size)) != NULL) {
        char line[200];
        size_t size = (size_t)(end - received->data);
        snprintf(line, sizeof line, "%.*s", (int)size, (const char *)received->data);
        memmove(received->data, end + 1, received->size - size - 1);
        received->size -= size + 1;
        is_good = client_take(client, line);
    }
    if (!is_good || sim_network_has_ended(client->connection))
        client_drop(client);
}

static void client_step(struct client *client)
{
    struct history *history = client->history;
    uint32_t answered = client_answered(client);
    if (client->connection == NULL) {
        if (answered < BATCHES)
            client_connect(client);
        return;
    }
    if (draw(history, 20) == 0) {
        client_drop(client);
        return;
    }
    for (uint32_t i = is_ahead(history) ? WINDOW : 1; i > 0; i--) {
        if (client->sent == BATCHES || client->sent - answered >= WINDOW)
            break;
        const struct batch *next = &client->batches[client->sent++];
        sim_network_send(client->connection, buffer_view(&next->text));
    }
    if (sim_network_received(client->connection)->size > 0 ||
        sim_network_has_ended(client->connection))
        client_read(client);
}

/* ---- the history ---- */

static bool is_over(const struct history *history)
{
    bool is_over = true;
    for (uint32_t c = 0; c < CLIENTS; c++)
        is_over = is_over && client_answered(&history->clients[c]) == BATCHES;
    return is_over;
}

static void history_step(struct history *history)
{
    struct executor *executor = history->engine.world->executor;
    struct error err = {0};
    uint32_t at = draw(history, 1000);
    int rc = 0;
    if (at < 400)
        (void)executor->step(executor);
    else if (at < 800)
        (void)sim_network_step(history->network);
    else if (at < 986)
        client_step(&history->clients[draw(history, CLIENTS)]);
    else if (at < 992)
        rc = engine_flush(history->engine.store, NULL, NULL, &err);
    else if (at < 996)
        rc = engine_compact(history->engine.store, NULL, NULL, &err);
    else
        server_crash(history);
    cr_assert_eq(rc, 0, "%s; SIM_SEED=%" PRIu64, err.text, history->seed);
}

static uint64_t run_history(uint64_t seed)
{
    struct history history = {.seed = seed, .random = {.state = seed}};
    printf("clients_crash: SIM_SEED=%" PRIu64 "\n", seed);
    fflush(stdout);
    history.engine = (struct engine_fixture){
        .options = {.log_file_size = SIM_LOG_FILE, .log_first_file_size = SIM_LOG_FILE},
        .has_ingest = true};
    for (uint32_t c = 0; c < CLIENTS; c++) {
        history.clients[c] = (struct client){.history = &history, .number = c + 1};
        client_make_batches(&history.clients[c]);
    }
    server_start(&history, sim_world_new(seed));
    while (!is_over(&history))
        history_step(&history);
    check_store(&history, &history.engine, "at the end");
    server_stop(&history);
    sim_world_free(history.sim);
    sim_seen_release(&history.seen);
    for (uint32_t i = 0; i < CLIENTS * BATCHES; i++)
        buffer_release(&history.clients[i / BATCHES].batches[i % BATCHES].text);
    return history.crashes;
}

Test(clients_crash, an_ok_means_there_once_whatever_clients_and_power_do)
{
    uint64_t first = sim_option("SIM_SEED", 1);
    uint64_t stride = sim_option("SIM_STRIDE", 1);
    uint64_t histories = sim_option("SIM_CLIENTS", HISTORIES_DEFAULT);
    uint64_t crashes = 0;
    sim_cheap();
    for (uint64_t i = 0; i < histories; i++)
        crashes += run_history(first + i * stride);
    printf("clients_crash: %" PRIu64 " histories from seed %" PRIu64 ", %" PRIu64
           " distinct crashes\n",
           histories, first, crashes);
}
