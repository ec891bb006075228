/* Producers that are forgotten: when, for whom, for ever; and how a file they loaded goes on. */
#include "ingest/connection/producer_rows.h"

#include "ingest/load/load.h"
#include "ingest/connection/ingest_connection.h"
#include "tests/lib/network_client.h"
#include "tests/unit/ingest_fixture.h"

#define FIRST  "#producer 00000000-0000-4000-8000-000000000001 1"
#define SECOND "#producer 00000000-0000-4000-8000-000000000002 1"
#define THIRD  "#producer 00000000-0000-4000-8000-000000000003 1"
#define BATCH  "\n#batch 1 1\nr,2013-11-28,1385654400123,ad,0.01\n"

TestSuite(producer_rows, .init = setup, .fini = teardown, .timeout = 60);

/* ---- a clock that can be moved on ---- */

static struct clock *real_clock;
static int64_t moved_us;
static int64_t wrong_us; /* the wall clock alone */

static int64_t moved_wall_us(struct clock *clock)
{
    (void)clock;
    return real_clock->wall_us(real_clock) + moved_us + wrong_us;
}

static int64_t real_monotonic_us(struct clock *clock)
{
    (void)clock;
    return real_clock->monotonic_us(real_clock);
}

static int64_t moved_boottime_us(struct clock *clock)
{
    (void)clock;
    return real_clock->boottime_us(real_clock) + moved_us;
}

static struct clock moved_clock = {
    .wall_us = moved_wall_us, .monotonic_us = real_monotonic_us, .boottime_us = moved_boottime_us};

static void days_pass(int days)
{
    if (world->clock != &moved_clock) {
        real_clock = world->clock;
        memcpy(moved_clock.boot_id, real_clock->boot_id, BOOT_ID_SIZE);
        world->clock = &moved_clock;
    }
    moved_us += days * INT64_C(86400000000);
}

/* ---- clients ---- */

static void client_open(struct network_client *client)
{
    ingest_attach(ingest, network_client_open(client, network));
}

static void client_say(struct network_client *client, const char *text)
{
    network_write(client->connection, bytes_text(text));
}

static void client_wait(struct network_client *client, size_t size)
{
    while (client->got.size < size && !client->has_ended)
        uv_run(&loop, UV_RUN_ONCE);
}

static void talk(const char *input, const char *expected)
{
    struct network_client client;

    client_open(&client);
    client_say(&client, input);
    network_finish(client.connection);
    while (!client.has_ended)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(bytes_equal(buffer_view(&client.got), bytes_text(expected)), "%.*s expected: %s",
              (int)client.got.size, (const char *)client.got.data, expected);
    network_client_close(&client, &loop);
}

static const char accepted[] = "ok 1 accepted 1 rejected 0\n";
static const char duplicate[] = "ok 1 accepted 1 rejected 0 duplicate\n";

/* Whoever is forgotten is so in the log, too: another life knows the same producers. */
Test(producer_rows, who_is_silent_for_long_is_forgotten_for_ever_when_another_comes)
{
    talk(FIRST " new" BATCH, accepted);
    days_pass(PRODUCER_SILENT_DAYS - 1);
    talk(SECOND " new" BATCH, accepted);
    talk(FIRST BATCH, duplicate);
    days_pass(2);
    talk(FIRST BATCH, duplicate);
    talk(THIRD " new" BATCH, accepted);
    talk(FIRST BATCH, "error - unknown_producer\n");
    talk(SECOND BATCH, duplicate);
    system_close();
    system_open(false);
    talk(FIRST BATCH, "error - unknown_producer\n");
    talk(SECOND BATCH, duplicate);
    talk(FIRST " new" BATCH, accepted);
    system_close();
    system_open(false);
    talk(FIRST BATCH, duplicate);
}

/* Nothing of what a sender repeats is counted twice because of a clock that was wrong for a while.
 */
Test(producer_rows, a_clock_that_is_a_year_ahead_forgets_none)
{
    days_pass(0);
    talk(FIRST " new" BATCH, accepted);
    wrong_us = 365 * INT64_C(86400000000);
    talk(SECOND " new" BATCH, accepted);
    talk(FIRST BATCH, duplicate);
    wrong_us = 0;
    talk(THIRD " new" BATCH, accepted);
    talk(FIRST BATCH, duplicate);
    talk(SECOND BATCH, duplicate);
}

Test(producer_rows, who_is_connected_is_not_forgotten_however_silent)
{
    struct network_client client;

    client_open(&client);
    client_say(&client, FIRST " new" BATCH);
    client_wait(&client, strlen(accepted));
    days_pass(PRODUCER_SILENT_DAYS * 2);
    talk(SECOND " new" BATCH, accepted);
    client_say(&client, "#batch 1 1\nr,2013-11-28,1385654400123,ad,0.01\n");
    client_wait(&client, strlen(accepted) + strlen(duplicate));
    cr_expect(!client.has_ended);
    network_client_close(&client, &loop);
    days_pass(1);
    talk(THIRD " new" BATCH, accepted);
    talk(FIRST BATCH, "error - unknown_producer\n");
}

/* Fill all places that are not kept for loads, with producers of so many batches, of which each
 * came a millisecond after the one before, and the last one just now. */
static void fill_places(uint64_t batches)
{
    int64_t applied_us = store_now_us(store) - PRODUCERS_MAX * INT64_C(1000);

    for (uint32_t i = 0; !producer_table_is_full(ingest->producers, PRODUCERS_KEPT); i++) {
        struct producer_batch batch = {.applied_us = applied_us + i * INT64_C(1000),
                                       .is_durable = true};
        uint8_t id[UUID_SIZE] = {0xFF};
        struct producer *producer;

        store_u32(id + 4, i);
        producer = producer_add(ingest->producers, id, 1);
        for (batch.sequence = 1; batch.sequence <= batches; batch.sequence++)
            producer_record(producer, &batch);
    }
    producer_table_opened(ingest->producers);
}

static bool is_known(uint32_t i)
{
    uint8_t id[UUID_SIZE] = {0xFF};

    store_u32(id + 4, i);
    return producer_find(ingest->producers, id) != NULL;
}

/* As one connects by the network; the others of these tests count as loads. */
static void talk_from_afar(const char *input, const char *expected)
{
    struct network_client client;

    ingest_connection_attach(ingest, &ingest->door, network_client_open(&client, network));
    client_say(&client, input);
    network_finish(client.connection);
    while (!client.has_ended)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(bytes_equal(buffer_view(&client.got), bytes_text(expected)), "%.*s expected: %s",
              (int)client.got.size, (const char *)client.got.data, expected);
    network_client_close(&client, &loop);
}

enum { LAST = PRODUCERS_MAX - PRODUCERS_KEPT - 1 };

Test(producer_rows, of_many_with_one_batch_the_one_that_came_last_goes)
{
    fill_places(1);
    talk_from_afar(FIRST " new" BATCH, accepted);
    cr_expect(is_known(0) && is_known(LAST - 1) && !is_known(LAST));
    talk_from_afar(SECOND " new" BATCH, accepted);
    cr_expect(is_known(LAST - 1));
    /* Neither as one that was acknowledged nor as one that was not is its batch taken again. */
    talk_from_afar(FIRST BATCH, "error - unknown_producer\n");
    talk_from_afar(FIRST " new" BATCH, "error - unknown_producer\n");
    talk_from_afar(SECOND BATCH, duplicate);
    system_close();
    system_open(false);
    talk_from_afar(FIRST BATCH, "error - unknown_producer\n");
    talk_from_afar(SECOND BATCH, duplicate);
}

Test(producer_rows, one_that_is_connected_is_not_evicted)
{
    struct network_client client;

    fill_places(1);
    ingest_connection_attach(ingest, &ingest->door, network_client_open(&client, network));
    client_say(&client, FIRST " new" BATCH);
    client_wait(&client, strlen(accepted));
    talk_from_afar(SECOND " new" BATCH, accepted);
    talk_from_afar(FIRST BATCH, duplicate);
    cr_expect(!is_known(LAST) && !is_known(LAST - 1));
    network_client_close(&client, &loop);
}

Test(producer_rows, none_of_two_batches_within_a_day_goes_and_the_new_one_is_refused)
{
    fill_places(2);
    talk_from_afar(FIRST " new" BATCH, "error - too_many_producers\n");
    cr_expect(is_known(0) && is_known(LAST));
    days_pass(1);
    uv_sleep(10);
    talk_from_afar(FIRST " new" BATCH, accepted);
    cr_expect(!is_known(0) && is_known(1), "then the one that is silent for longest does");
}

Test(producer_rows, places_are_kept_for_loads)
{
    fill_places(2);
    talk_from_afar(FIRST " new" BATCH, "error - too_many_producers\n");
    for (uint32_t i = 0; i < 3; i++)
        talk(i == 0   ? FIRST " new" BATCH
             : i == 1 ? SECOND " new" BATCH
                      : THIRD " new" BATCH,
             accepted);
    talk_from_afar(FIRST BATCH, duplicate);
}

/* ---- files ---- */

static void load_expect(const char *name, const char *mode, const char *content, const char *out)
{
    struct result result = {.output = {.write = result_write, .finish = result_finish}};
    struct load_options options = {.path_count = 1};
    struct connection *ends[2];
    struct error err = {0};
    char path[200];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root, name);
    file = fopen(path, mode);
    cr_assert(file != NULL && fputs(content, file) >= 0 && fclose(file) == 0);
    options.paths[0] = path;
    cr_assert(network_pair(network, ends, &err) == 0);
    ingest_attach(ingest, ends[1]);
    load_start(&options, world, ends[0], false, &result.output);
    run_until(&result.finished);
    for (int i = 0; i < 2; i++)
        buffer_put_u8(&result.text[i], 0);
    cr_expect(result.exit_status == EXIT_DONE, "%s", (char *)result.text[1].data);
    cr_expect(strstr((char *)result.text[0].data, out) != NULL, "%s expected: %s",
              (char *)result.text[0].data, out);
    for (int i = 0; i < 2; i++)
        buffer_release(&result.text[i]);
}

/* All producers that are known are forgotten. */
static void forget_all(const char *input)
{
    days_pass(PRODUCER_SILENT_DAYS + 1);
    talk(input, accepted);
}

Test(producer_rows, a_file_whose_producer_was_forgotten_goes_on_where_it_was)
{
    load_expect("a.csv", "w", "r,,1385654400123,ad,1\nr,,1385654400124,ad,1\n", "2 lines accepted");
    forget_all(FIRST " new" BATCH);
    load_expect("a.csv", "a", "", "already loaded, 2 lines");
    load_expect("a.csv", "a", "r,,1385654400125,ad,1\n", "1 line accepted");
    load_expect("a.csv", "a", "", "already loaded, 3 lines");
    load_expect("a.csv", "a", "r,,1385654400126,ad,1\n", "1 line accepted");
    load_expect("b.csv", "w",
                "r,,1385654400123,ad,1\nr,,1385654400124,ad,1\nr,,1385654400125,other,1\n",
                "3 lines accepted");
    forget_all(SECOND " new" BATCH);
    load_expect("a.csv", "a", "", "already loaded, 4 lines");
    load_expect("a.csv", "a", "r,,1385654400127,ad,1\n", "1 line accepted");
    load_expect("a.csv", "a", "r,,1385654400128,ad,1\n", "1 line accepted");
    system_close();
    system_open(false);
    load_expect("a.csv", "a", "", "already loaded, 6 lines");
}
