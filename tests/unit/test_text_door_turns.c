/* The text door's turns: how much of the loop's time a connection takes, and who waits for it. */
#include <stdio.h>

#include "ingest/connection/ingest_private.h"
#include "ingest/connection/parse_ahead.h"
#include "tests/unit/text_door_fixture.h"

TestSuite(text_door_turns, .init = setup, .fini = teardown, .timeout = 60);

enum { BUSY = 4, BUSY_BATCHES = 150, BUSY_LINES = 500, BUSY_LINE = sizeof(GOOD) - 1 };

static void say_batches(struct network_client *client, int number)
{
    struct buffer text = {0};

    buffer_printf(&text, "#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a%02x 1 new\n", number);
    for (int batch = 1; batch <= BUSY_BATCHES; batch++) {
        buffer_printf(&text, "#batch %d %d\n", batch, BUSY_LINES);
        for (int line = 0; line < BUSY_LINES; line++)
            buffer_append_text(&text, GOOD);
    }
    client_open(client);
    network_write(client->connection, buffer_view(&text));
    network_finish(client->connection);
    buffer_release(&text);
}

/* Whoever asks a question gets in between turns, so none may take much; and whoever streams gets
 * his share of them. */
Test(text_door_turns, connections_share_what_a_turn_of_the_loop_takes)
{
    const uint64_t all = (uint64_t)BUSY * BUSY_BATCHES * BUSY_LINES;
    /* A batch counts when its last line is taken, of which all but that may have been before; and
     * the last thing of a turn may be a bundle. */
    const uint64_t turn_max =
        INGEST_BUDGET_BYTES / BUSY_LINE + BATCH_GROUP_ROWS_MAX + (BUSY + 1) * BUSY_LINES;
    struct network_client clients[BUSY];
    uint64_t half = 0;

    for (int i = 0; i < BUSY; i++)
        say_batches(&clients[i], i);
    while (fake.clicks < all) {
        uint64_t before = fake.clicks;

        turn(1);
        cr_assert(fake.clicks - before <= turn_max, "%lu clicks in one turn",
                  (unsigned long)(fake.clicks - before));
        if (half == 0 && fake.clicks >= all / 2) {
            half = fake.clicks;
            for (int i = 0; i < BUSY; i++)
                cr_expect(clients[i].got.size > 0, "client %d waits for the others", i);
        }
    }
    for (int i = 0; i < BUSY; i++) {
        client_wait_end(&clients[i]);
        client_close(&clients[i]);
    }
}

Test(text_door_turns, a_turn_ends_with_its_time_if_its_bytes_do_not)
{
    struct network_client client;

    fake.apply_us = INGEST_BUDGET_US;
    say_batches(&client, 0);
    while (fake.clicks < (uint64_t)BUSY_BATCHES * BUSY_LINES) {
        uint32_t before = fake.applied;

        turn(1);
        /* One in the turn, and one of what just came. */
        cr_assert(fake.applied - before <= 2, "%u batches in one turn", fake.applied - before);
    }
    client_wait_end(&client);
    client_close(&client);
}

static void asker_accept(void *context, struct connection *connection)
{
    int *heard = context;

    ++*heard;
    network_close(connection);
}

/* Batches that a turn takes on average, of those that take any, while somebody connects to a unix
 * socket in each of them or nobody does. */
static double batches_of_a_turn(const char *path, int number)
{
    struct network_client client;
    struct listener *listener = NULL;
    struct error err;
    uint32_t first = fake.applied;
    uint64_t clicks = fake.clicks + (uint64_t)BUSY_BATCHES * BUSY_LINES;
    int asked = 0;
    int heard = 0;
    int turns = 0;

    if (path != NULL)
        cr_assert(network_listen_unix(network, path, asker_accept, &heard, &listener, &err) == 0,
                  "%s", err.text);
    say_batches(&client, number);
    while (fake.clicks < clicks) {
        uint32_t before = fake.applied;
        struct connection *asker;

        if (path != NULL) {
            cr_assert(heard == asked, "%d of %d were heard in their turn", heard, asked);
            cr_assert(network_connect_unix(network, path, &asker, &err) == 0, "%s", err.text);
            network_close(asker);
            asked++;
        }
        turn(1);
        turns += fake.applied > before;
    }
    client_wait_end(&client);
    client_close(&client);
    if (path != NULL)
        network_listener_close(listener);
    return (double)(fake.applied - first) / turns;
}

Test(text_door_turns, a_turn_ends_early_when_somebody_asks)
{
    char path[64];
    double asked;
    double alone;

    snprintf(path, sizeof path, "%s/socket", root);
    /* Batches one by one. */
    room_close();
    ahead_min = SIZE_MAX;
    room_open();
    /* What takes as long as it takes to look whether somebody asks. */
    fake.apply_us = INGEST_BUDGET_LOOK_US;
    alone = batches_of_a_turn(NULL, 0);
    asked = batches_of_a_turn(path, 1);
    cr_expect(asked <= 2, "%.2f batches in a turn", asked);
    cr_expect(alone > 1.5 * asked, "%.2f batches in a turn, %.2f with questions", alone, asked);
}

/* The most rows that were applied as one, of a client's batches. */
static uint64_t group_most(int number)
{
    struct network_client client;
    uint64_t clicks = fake.clicks + (uint64_t)BUSY_BATCHES * BUSY_LINES;
    uint64_t most = 0;

    say_batches(&client, number);
    while (fake.clicks < clicks) {
        uint64_t before = fake.clicks;
        uint32_t applied = fake.applied;

        turn(1);
        if (fake.applied == applied + 1 && fake.clicks - before > most)
            most = fake.clicks - before;
    }
    client_wait_end(&client);
    client_close(&client);
    return most;
}

Test(text_door_turns, batches_are_applied_in_groups_of_limited_size)
{
    uint64_t most;

    fake.apply_us = INGEST_BUDGET_US;
    most = group_most(0);
    cr_expect(most > BUSY_LINES && most <= BATCH_GROUP_ROWS_MAX, "%lu rows", (unsigned long)most);
}

Test(text_door_turns, of_two_turns_one_is_for_clicks_however_many_ask)
{
    char path[64];
    struct listener *listener;
    struct connection *asker;
    struct error err;
    int heard = 0;
    int taken = 0;

    snprintf(path, sizeof path, "%s/socket", root);
    cr_assert(network_listen_unix(network, path, asker_accept, &heard, &listener, &err) == 0, "%s",
              err.text);
    ingest_budget_begin(&ingest->budget);
    cr_expect(!ingest_budget_is_over(&ingest->budget), "nobody asks");
    cr_assert(network_connect_unix(network, path, &asker, &err) == 0, "%s", err.text);
    /* The second is over, too, where this process had no core for as long as until the next look.
     */
    for (int i = 0; i < 100; i++) {
        ingest_budget_begin(&ingest->budget);
        cr_expect(ingest_budget_is_over(&ingest->budget), "who asked before it goes first");
        ingest_budget_begin(&ingest->budget);
        taken += !ingest_budget_is_over(&ingest->budget);
    }
    cr_expect(taken > 0, "clicks are never taken");
    network_close(asker);
    while (heard == 0)
        turn(1);
    network_listener_close(listener);
}
