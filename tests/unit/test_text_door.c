/* The text door: what is said to each input, what is applied with what, and that nothing is
 * answered before it is durable. */
#include <stdio.h>
#include <string.h>

#include "counters/producer.h"
#include "ingest/connection/parse_ahead.h"
#include "ingest/connection/producer_rows.h"
#include "tests/unit/text_door_fixture.h"

TestSuite(text_door, .init = setup, .fini = teardown, .timeout = 60);

static void client_say(struct network_client *client, const char *text)
{
    network_write(client->connection, bytes_text(text));
}

static void expect_got(const struct network_client *client, const char *expected)
{
    cr_expect(bytes_equal(buffer_view(&client->got), bytes_text(expected)),
              "got:\n%.*sexpected:\n%s", (int)client->got.size, (const char *)client->got.data,
              expected);
}

/* Send all of `input`, half-close, and expect the answer to be `expected`. */
static void talk_bytes(struct bytes input, const char *expected)
{
    struct network_client client;

    client_open(&client);
    network_write(client.connection, input);
    network_finish(client.connection);
    client_wait_end(&client);
    expect_got(&client, expected);
    client_close(&client);
}

static void talk(const char *input, const char *expected)
{
    talk_bytes(bytes_text(input), expected);
}

#define P   "#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11 1"
#define BAD "r1,2013-11-28,1385654400123,ad42,\"12,3\"\n"

struct exchange {
    const char *input;
    const char *output;
};

static const struct exchange exchanges[] = {
    {"", "ok - accepted 0 rejected 0\n"},
    {GOOD, "ok - accepted 1 rejected 0\n"},
    {"\xEF\xBB\xBF" GOOD, "ok - accepted 1 rejected 0\n"},
    {"reseller_id,day,time,ad_id,amount\r\n" GOOD, "ok - accepted 1 rejected 0\n"},
    {"\xEF\xBB\xBFtime,amount,ad_id,reseller_id\n1385654400123,0.1,a,r\n",
     "ok - accepted 1 rejected 0\n"},
    {"reseller_id,day,time,ad_id,amount\n" BAD GOOD "\n",
     "reject - 2 bad_amount \"12,3\"\nreject - 4 empty_line \"\"\nok - accepted 1 rejected 2\n"},
    {GOOD "#sync\n" GOOD GOOD, "ok - accepted 1 rejected 0\nok - accepted 2 rejected 0\n"},
    {GOOD "#sync\n", "ok - accepted 1 rejected 0\n"},
    {GOOD "r1,2013-11-28,1385654400123,ad42,0.0",
     "reject - 2 cut_line \"r1,2013-11-28,1385654400123,ad42,0.0\"\n"
     "ok - accepted 1 rejected 1\n"},
    {GOOD "#x,2013-11-28,1385654400123,ad42,1\n" GOOD,
     "reject - 2 unknown_control \"#x,2013-11-28,1385654400123,ad42,1\"\n"
     "ok - accepted 2 rejected 1\n"},
    {"POST / HTTP/1.1\r\nHost: a\r\n\r\n" GOOD, "error - http\n"},
    {"get http://localhost:7600/x?y HTTP/1.0\n" GOOD, "error - http\n"},
    {"PRI * HTTP/2.0\r\n\r\n" GOOD, "error - http\n"},
    {"POST /\n" GOOD, "reject - 1 too_few_fields \"POST /\"\nok - accepted 1 rejected 1\n"},
    {GOOD "GET / HTTP/1.1\n",
     "reject - 2 too_few_fields \"GET / HTTP/1.1\"\nok - accepted 1 rejected 1\n"},
    {"time,ad_id\n" GOOD, "error - missing_column \"reseller_id\"\n"},
    {"time,country\n" GOOD, "error - unknown_column \"country\"\n"},
    {"#stream clicks\n" GOOD, "ok - accepted 1 rejected 0\n"},
    {GOOD "#stream\namount,ad_id,time,reseller_id\n0.1,a,1385654400123,r\n",
     "ok - accepted 2 rejected 0\n"},
    {"#stream nights\n" GOOD, "error - unknown_stream \"nights\"\n"},
    {"#columns\n", "columns reseller_id,day,time,ad_id,amount\nok - accepted 0 rejected 0\n"},
    {"#files 00112233445566778899aabbccddeeff\n", "files\nok - accepted 0 rejected 0\n"},
    {"#files x\n", "error - bad_control \"#files x\"\n"},
    {"#batch 1 1\n" GOOD, "error 1 no_producer\n"},
    {P "\n", "error - unknown_producer\n"},
    {"#producer x 1\n", "error - bad_control \"#producer x 1\"\n"},
    {P " old\n", "error - bad_control \"" P " old\"\n"},
    {P " new\n#batch x 1\n", "error - bad_control \"#batch x 1\"\n"},
    {P " new\n#batch 2 1\n" GOOD, "error 2 sequence_gap expected 1\n"},
    {P " new\n#batch 1 1048577\n", "error 1 batch_too_large\n"},
    {P " new\n#batch 1 10\n" GOOD GOOD GOOD GOOD GOOD, "error 1 batch_cut 5 of 10 lines\n"},
    {P " new\n#batch 1 2\n" GOOD "#sync\n", "error 1 batch_cut 1 of 2 lines\n"},
    {P " new\n#batch 1 2\n" GOOD "r1,2013", "error 1 batch_cut 1 of 2 lines\n"},
    {P " new\n#batch 1 4\n" GOOD BAD "#x\n" GOOD GOOD,
     "reject 1 2 bad_amount \"12,3\"\nreject 1 3 unknown_control \"#x\"\n"
     "ok 1 accepted 2 rejected 2\nok - accepted 1 rejected 0\n"},
    {P "\n#batch 1 4\n" GOOD BAD "#x\n" GOOD, "ok 1 accepted 2 rejected 2 duplicate\n"},
    {P "\n#batch 1 4\n" GOOD BAD "#y\n" GOOD, "error 1 batch_differs\n"},
    {P "\n#batch 1 3\n" GOOD BAD "#x\n", "error 1 batch_differs\n"},
    {P "\n#batch 2 0\n#batch 3 1\n" GOOD,
     "ok 2 accepted 0 rejected 0\nok 3 accepted 1 rejected 0\n"},
    {P "\n#batch 5 1\n" GOOD, "error 5 sequence_gap expected 4\n"},
    {"#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11 2\n#batch 4 1\n" GOOD,
     "ok 4 accepted 1 rejected 0\n"},
    {P "\n", "error - wrong_epoch current 2\n"},
    {"{\"reseller_id\":\"r\",\"time\":1385654400123,\"ad_id\":\"a\",\"amount\":0.10}\n"
     "{\"reseller_id\":\"r\"}\n\nr,1\n",
     "reject - 2 bad_time \"\"\nreject - 3 empty_line \"\"\nreject - 4 bad_json \"r,1\"\n"
     "ok - accepted 1 rejected 3\n"},
};

Test(text_door, each_exchange_is_answered_as_the_protocol_says)
{
    for (size_t i = 0; i < sizeof exchanges / sizeof exchanges[0]; i++)
        talk(exchanges[i].input, exchanges[i].output);
}

Test(text_door, bytes_that_come_one_by_one_are_answered_the_same)
{
    for (size_t i = 0; i < sizeof exchanges / sizeof exchanges[0]; i++) {
        struct network_client client;
        size_t size = strlen(exchanges[i].input);

        client_open(&client);
        for (size_t at = 0; at < size && !client.has_ended; at++) {
            network_write(client.connection, bytes_of(exchanges[i].input + at, 1));
            uv_run(&loop, UV_RUN_NOWAIT);
        }
        network_finish(client.connection);
        client_wait_end(&client);
        expect_got(&client, exchanges[i].output);
        client_close(&client);
    }
}

Test(text_door, a_batch_is_one_apply_with_its_producer_and_its_rejects)
{
    talk(P " new\n#file 00112233445566778899aabbccddeeff 500 "
           "ffeeddccbbaa99887766554433221100 2 lf\n#batch 1 3\n" GOOD BAD GOOD "#batch 2 1\n" GOOD,
         "reject 1 2 bad_amount \"12,3\"\nok 1 accepted 2 rejected 1\n"
         "ok 2 accepted 1 rejected 0\n");
    cr_expect(fake.applied == 2 && fake.clicks == 3);
    cr_expect(fake.inserts[TABLE_REJECT] == 1 && fake.inserts[TABLE_PRODUCER] == 2);
    cr_expect(fake.inserts[TABLE_LOADED_FILE] == 1, "a #file is of the next batch only");
    cr_expect(bytes_equal(buffer_view(&fake.contents), bytes_text(BAD)));
}

Test(text_door, nothing_is_answered_before_it_is_durable_and_copies_wait)
{
    struct network_client first;
    struct network_client second;

    fake.holds_back = true;
    client_open(&first);
    client_say(&first, P " new\n#batch 1 1\n" GOOD "#batch 2 1\n" GOOD);
    turn(10);
    cr_expect(fake.applied == 2 && first.got.size == 0);
    client_open(&second);
    client_say(&second, P " new\n#batch 1 1\n" GOOD "#batch 2 1\n" GOOD);
    turn(10);
    cr_expect(fake.applied == 2 && second.got.size == 0);
    cr_expect(fake.clicks == 2, "nothing of a copy is applied");
    fake_sync(&fake, 0);
    turn(10);
    expect_got(&second, "ok 1 accepted 1 rejected 0 duplicate\n"
                        "ok 2 accepted 1 rejected 0 duplicate\n");
    expect_got(&first, "ok 1 accepted 1 rejected 0\nok 2 accepted 1 rejected 0\n"
                       "error - taken_over\n");
    client_close(&first);
    client_close(&second);
}

Test(text_door, a_client_that_left_before_its_answer_finds_its_batch_there)
{
    struct network_client client;

    fake.holds_back = true;
    client_open(&client);
    client_say(&client, P " new\n#batch 1 1\n" GOOD);
    turn(10);
    client_close(&client);
    fake_sync(&fake, 0);
    fake.holds_back = false;
    talk(P " new\n#batch 1 1\n" GOOD, "ok 1 accepted 1 rejected 0 duplicate\n");
    cr_expect(fake.clicks == 1);
}

Test(text_door, producers_are_known_again_after_a_restart)
{
    struct buffer input = {0};
    struct buffer output = {0};

    for (int i = 1; i <= 70; i++) {
        buffer_printf(&input, "#batch %d 1\n" GOOD, i);
        buffer_printf(&output, "ok %d accepted 1 rejected 0\n", i);
    }
    struct network_client client;

    client_open(&client);
    client_say(&client, P " new\n");
    network_write(client.connection, buffer_view(&input));
    network_finish(client.connection);
    client_wait_end(&client);
    cr_expect(bytes_equal(buffer_view(&client.got), buffer_view(&output)));
    client_close(&client);
    room_close();
    room_open();
    talk(P "\n#batch 70 1\n" GOOD "#batch 7 1\n" GOOD "#batch 6 1\n" GOOD "#batch 71 1\n" GOOD,
         "ok 70 accepted 1 rejected 0 duplicate\nok 7 accepted 1 rejected 0 duplicate\n"
         "ok 6 duplicate\nok 71 accepted 1 rejected 0\n");
    cr_expect(fake.clicks == 71);
    buffer_release(&input);
    buffer_release(&output);
}

Test(text_door, more_batches_than_the_window_wait_for_the_disk)
{
    struct network_client client;
    struct buffer input = {0};

    fake.holds_back = true;
    client_open(&client);
    client_say(&client, P " new\n");
    for (int i = 1; i <= 200; i++)
        buffer_printf(&input, "#batch %d 1\n" GOOD, i);
    network_write(client.connection, buffer_view(&input));
    turn(20);
    cr_expect(fake.applied == PRODUCER_WINDOW);
    while (fake.applied < 200) {
        fake_sync(&fake, 0);
        turn(10);
    }
    fake_sync(&fake, 0);
    talk(P "\n#batch 137 1\n" GOOD, "ok 137 accepted 1 rejected 0 duplicate\n");
    cr_expect(fake.clicks == 200);
    client_close(&client);
    buffer_release(&input);
}

static void append_times(struct buffer *buffer, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        buffer_append_text(buffer, text);
}

Test(text_door, more_answers_than_the_limit_wait_for_the_disk)
{
    enum { SYNCS = INGEST_REPLIES_MAX + 1000 };
    struct network_client client;
    struct buffer input = {0};
    struct buffer expected = {0};

    fake.holds_back = true;
    client_open(&client);
    append_times(&input, GOOD "#sync\n", SYNCS);
    append_times(&expected, "ok - accepted 1 rejected 0\n", SYNCS);
    network_write(client.connection, buffer_view(&input));
    /* A line and its #sync are one of each: both wait. */
    while (fake.applied < INGEST_REPLIES_MAX / 2)
        turn(1);
    turn(200);
    cr_expect(fake.applied == INGEST_REPLIES_MAX / 2, "%u", fake.applied);
    while (client.got.size < expected.size) {
        fake_sync(&fake, 0);
        turn(10);
    }
    cr_expect(bytes_equal(buffer_view(&client.got), buffer_view(&expected)));
    cr_expect(fake.clicks == SYNCS);
    client_close(&client);
    buffer_release(&input);
    buffer_release(&expected);
}

Test(text_door, a_full_store_stops_reading_and_goes_on_where_it_stopped)
{
    struct network_client client;
    struct buffer input = {0};

    fake.is_full = true;
    client_open(&client);
    client_say(&client, P " new\n" GOOD GOOD "#batch 1 2\n" GOOD GOOD);
    for (int i = 0; i < 200000; i++)
        buffer_append_text(&input, GOOD);
    network_write(client.connection, buffer_view(&input));
    network_finish(client.connection);
    turn(50);
    cr_expect(client.got.size == 0 && fake.applied == 0);
    cr_expect(network_queued(client.connection) > 4 << 20, "the client is made to wait");
    fake.drain(fake.drain_context);
    turn(5);
    cr_expect(fake.applied == 0);
    fake.is_full = false;
    fake.drain(fake.drain_context);
    client_wait_end(&client);
    expect_got(&client, "ok 1 accepted 2 rejected 0\nok - accepted 200002 rejected 0\n");
    cr_expect(fake.clicks == 200004);
    client_close(&client);
    buffer_release(&input);
}

/* The room was told that the store waits so. */
static void fake_wait(enum store_shortage shortage, bool stops_writes, uint64_t needed_bytes)
{
    const struct store_waiting waiting = {.shortage = shortage,
                                          .stops_writes = stops_writes,
                                          .path = "log",
                                          .needed_bytes = needed_bytes};

    fake.waiting_changed(fake.waiting_context, &waiting);
    turn(5);
}

Test(text_door, who_wants_notes_is_told_that_the_store_waits_and_others_are_not)
{
    static const char *const told = "ok - accepted 1 rejected 0\nnote waiting disk_full 67108864\n"
                                    "note goes_on\n";
    struct network_client with, without, late;

    client_open(&with);
    client_open(&without);
    client_say(&with, "#notes\n" GOOD "#sync\n");
    client_say(&without, GOOD "#sync\n");
    turn(5);
    fake_wait(STORE_SHORT_OF_DISK, false, 67108864);
    fake_wait(STORE_SHORT_OF_DISK, true, 67108864);
    client_open(&late);
    client_say(&late, "#notes\n");
    turn(5);
    expect_got(&late, "note waiting disk_full 67108864\n");
    fake_wait(STORE_SHORT_OF_NOTHING, false, 0);
    expect_got(&with, told);
    expect_got(&without, "ok - accepted 1 rejected 0\n");
    fake_wait(STORE_SHORT_OF_DESCRIPTORS, false, 0);
    fake_wait(STORE_SHORT_OF_NOTHING, false, 0);
    expect_got(&with, told);
    client_close(&with);
    client_close(&without);
    client_close(&late);
    talk("#notes now\n", "error - bad_control \"#notes now\"\n");
}

/* One of them is forgotten for the new one, which takes a write: the client waits for that. */
Test(text_door, a_new_producer_waits_for_a_full_store_where_all_places_are_taken)
{
    struct network_client client;

    for (uint32_t i = 0; !producer_table_is_full(ingest->producers, 0); i++) {
        struct producer_batch batch = {.sequence = 1};
        uint8_t id[UUID_SIZE] = {0xFF};
        struct producer *producer;

        store_u32(id + 4, i);
        producer = producer_add(ingest->producers, id, 1);
        producer_record(producer, &batch);
        producer_durable(producer, 1, 0);
    }
    fake.is_full = true;
    client_open(&client);
    client_say(&client, P " new\n#batch 1 1\n" GOOD);
    turn(50);
    fake.drain(fake.drain_context);
    turn(5);
    cr_expect(client.got.size == 0 && fake.applied == 0);
    fake.is_full = false;
    fake.drain(fake.drain_context);
    network_finish(client.connection);
    client_wait_end(&client);
    expect_got(&client, "ok 1 accepted 1 rejected 0\n");
    client_close(&client);
    producer_rows_tell(ingest);
}

Test(text_door, a_store_that_fails_is_told_and_nothing_is_acknowledged)
{
    struct network_client client;

    fake.failure = ERROR_READ_ONLY;
    talk(GOOD, "error - store_failed broken\n");
    talk(P " new\n#batch 1 1\n" GOOD, "error 1 store_failed broken\n");
    fake.failure = ERROR_LIMIT;
    talk(P " new\n#batch 1 1\n" GOOD, "error 1 batch_too_large\n");
    fake.failure = 0;
    fake.holds_back = true;
    client_open(&client);
    client_say(&client, P " new\n#batch 1 1\n" GOOD);
    turn(10);
    fake_sync(&fake, ERROR_FAILED);
    client_wait_end(&client);
    expect_got(&client, "error 1 store_failed stopped after a write or sync failed\n");
    client_close(&client);
}

static int64_t metric_value(const char *name)
{
    for (const struct metric *metric = metrics_first(metrics); metric != NULL;
         metric = metric->next) {
        if (strcmp(metric->name, name) == 0)
            return metric->value;
    }
    return -1;
}

/* As every error that ends a connection; it lingers, but without memory. */
Test(text_door, a_connection_that_the_disk_fails_is_counted_and_keeps_no_rows)
{
    struct network_client client;
    struct buffer input = {0};

    fake.holds_back = true;
    client_open(&client);
    buffer_append_text(&input, P " new\n#batch 1 1\n" GOOD "#batch 2 100000\n");
    for (int i = 0; i < 5000; i++)
        buffer_append_text(&input, GOOD);
    network_write(client.connection, buffer_view(&input));
    buffer_release(&input);
    while (fake.pending_count == 0 || metric_value("daybook_ingest_input_bytes") < 64 << 10)
        uv_run(&loop, UV_RUN_NOWAIT);
    turn(20);
    cr_expect_eq(metric_value("daybook_ingest_refused_total"), 0);
    fake_sync(&fake, ERROR_FAILED);
    while (metric_value("daybook_ingest_input_bytes") > 0 &&
           metric_value("daybook_ingest_connections") > 0)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect_eq(metric_value("daybook_ingest_connections"), 1);
    cr_expect_eq(metric_value("daybook_ingest_refused_total"), 1);
    cr_expect_eq(metric_value("daybook_ingest_input_bytes"), 0);
    client_wait_end(&client);
    client_close(&client);
}

Test(text_door, a_line_of_100_megabytes_is_skipped_and_the_next_ones_are_taken)
{
    struct buffer input = {0};
    char expected[256];

    buffer_append_text(&input, GOOD);
    buffer_reserve(&input, 100 << 20);
    memset(input.data + input.size, 'x', 100 << 20);
    input.size += 100 << 20;
    buffer_append_text(&input, "\n" GOOD);
    snprintf(expected, sizeof expected,
             "reject - 2 line_too_long \"%.64s\"\n"
             "ok - accepted 2 rejected 1\n",
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    talk_bytes(buffer_view(&input), expected);
    cr_expect(fake.contents.size == 4096 + 1);
    buffer_release(&input);
}

/* A browser sends such a target when a page asks for it. */
Test(text_door, an_http_request_is_refused_though_its_line_is_too_long)
{
    static const char begin[] = "POST /";
    struct buffer input = {0};

    buffer_append_text(&input, begin);
    buffer_put_zeros(&input, RECORD_LINE_MAX + 10);
    memset(input.data + strlen(begin), 'x', input.size - strlen(begin));
    buffer_append_text(&input, " HTTP/1.1\r\n\r\n" GOOD);
    talk_bytes(buffer_view(&input), "error - http\n");
    buffer_release(&input);
    cr_expect(fake.clicks == 0);
}

Test(text_door, a_batch_over_8_mib_is_refused_whole_and_one_below_is_taken)
{
    struct buffer input = {0};

    append_times(&input, P " new\n#batch 1 216000\n", 1);
    append_times(&input, GOOD, 216000);
    talk_bytes(buffer_view(&input), "error 1 batch_too_large\n");
    cr_expect(fake.applied == 0);
    buffer_clear(&input);
    append_times(&input, P " new\n#batch 1 215000\n", 1);
    append_times(&input, GOOD, 215000);
    talk_bytes(buffer_view(&input), "ok 1 accepted 215000 rejected 0\n");
    buffer_release(&input);
}

Test(text_door, the_first_100_rejects_of_a_batch_are_lines_and_the_others_sums)
{
    struct buffer input = {0};
    struct buffer expected = {0};

    append_times(&input, P " new\n#batch 1 1031\n", 1);
    append_times(&input, BAD, 931);
    append_times(&input, "\n", 100);
    for (int i = 1; i <= 100; i++)
        buffer_printf(&expected, "reject 1 %d bad_amount \"12,3\"\n", i);
    buffer_append_text(&expected, "rejects 1 empty_line 100\nrejects 1 bad_amount 831\n"
                                  "ok 1 accepted 0 rejected 1031\n");
    buffer_put_u8(&expected, 0);
    talk_bytes(buffer_view(&input), (const char *)expected.data);
    cr_expect(fake.inserts[TABLE_REJECT] == 1031);
    buffer_release(&input);
    buffer_release(&expected);
}

Test(text_door, the_rejects_of_a_batch_of_a_file_are_lines_up_to_a_limit)
{
    struct buffer input = {0};
    struct buffer expected = {0};

    append_times(&input,
                 P " new\n#file 00112233445566778899aabbccddeeff 500 "
                   "aabbccddeeff00112233445566778899 8200 lf\n#batch 1 8200\n",
                 1);
    append_times(&input, "\n", 8200);
    for (int i = 1; i <= 8192; i++)
        buffer_printf(&expected, "reject 1 %d empty_line \"\"\n", i);
    buffer_append_text(&expected, "rejects 1 empty_line 8\nok 1 accepted 0 rejected 8200\n");
    buffer_put_u8(&expected, 0);
    talk_bytes(buffer_view(&input), (const char *)expected.data);
    buffer_release(&input);
    buffer_release(&expected);
}

Test(text_door, a_million_rejects_in_a_batch_are_gathered_and_none_vanishes)
{
    struct buffer input = {0};
    struct network_client client;
    size_t contents;

    append_times(&input, P " new\n#batch 1 500000\n", 1);
    append_times(&input, "bad,line\n", 500000);
    client_open(&client);
    network_write(client.connection, buffer_view(&input));
    network_finish(client.connection);
    client_wait_end(&client);
    cr_expect(memmem(client.got.data, client.got.size, "ok 1 accepted 0 rejected 500000\n", 32) !=
              NULL);
    client_close(&client);
    cr_expect(fake.inserts[TABLE_REJECT] < 10100);
    contents = 9 * 500000;
    cr_expect(fake.contents.size == contents, "%zu", fake.contents.size);
    buffer_release(&input);
}

Test(text_door, a_client_that_never_reads_is_not_read_and_then_hung_up_on)
{
    struct network_client client;
    struct buffer input = {0};
    size_t sent = 0;

    client_open(&client);
    network_pause(client.connection);
    append_times(&input, "bad\n#sync\n", 20000);
    /* On a busy machine it is hung up on while this still fills the kernel's buffers. */
    while (!client.has_ended && network_queued(client.connection) < 4 << 20) {
        network_write(client.connection, buffer_view(&input));
        sent += input.size;
        turn(20);
        cr_assert(sent < 100 << 20, "it is read without end");
    }
    /* The room hangs up, which the client's writes then show. */
    client_wait_end(&client);
    client_close(&client);
    buffer_release(&input);
}

/* 40 batches of 2000 lines as one write: far more than is parsed on the spot.  Every 7th line is
 * bad, or of a few batches one far behind, the middle ones hold lines that look like control lines,
 * one of them ends within what was parsed ahead, and the answers are those of the same batches sent
 * one by one. */
static void append_large_batches(struct buffer *input, uint32_t first, uint32_t count)
{
    for (uint32_t batch = first; batch < first + count; batch++) {
        buffer_printf(input, "#batch %u 2000\n", batch);
        for (uint32_t line = 0; line < 2000; line++)
            if (batch % 8 == 3 ? line == 1500 : line % 7 == 3)
                buffer_printf(input, "reseller-%u,2013-11-28,bad%u,ad,0.5\n", line % 50, line);
            else if (batch % 8 == 5 && line % 500 == 250)
                buffer_append_text(input, "#nothing known\n");
            else
                buffer_printf(input, "reseller-%u,2013-11-28,13856544%05u,ad-%u,0.%u\n", line % 50,
                              line, line % 300, 1 + line % 9);
        if (batch % 10 == 9)
            buffer_append_text(input, "reseller-1,2013-11-28,1385654400123,ad,0.5\n");
    }
}

static void talk_large_batches(const char *producer, uint32_t at_once, struct buffer *got)
{
    struct buffer input = {0};
    struct network_client client;

    client_open(&client);
    client_say(&client, producer);
    for (uint32_t batch = 1; batch <= 40; batch += at_once) {
        buffer_clear(&input);
        append_large_batches(&input, batch, at_once);
        network_write(client.connection, buffer_view(&input));
        for (int i = 0; at_once == 1 && i < 200; i++)
            uv_run(&loop, UV_RUN_NOWAIT);
    }
    network_finish(client.connection);
    client_wait_end(&client);
    buffer_append_bytes(got, buffer_view(&client.got));
    client_close(&client);
    buffer_release(&input);
}

static int64_t bytes_ahead(void)
{
    return metric_value("daybook_ingest_ahead_bytes_total");
}

Test(text_door, batches_parsed_ahead_are_answered_as_those_that_are_not)
{
    struct buffer one_by_one = {0};
    struct buffer at_once = {0};
    int64_t before;

    talk_large_batches(P " new\n", 1, &one_by_one);
    before = bytes_ahead();
    talk_large_batches("#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a12 1 new\n", 40, &at_once);
    cr_expect(bytes_ahead() - before > 1 << 20, "%lld", (long long)(bytes_ahead() - before));
    cr_expect(memmem(at_once.data, at_once.size, "ok 40 accepted 1714 rejected 286\n", 33) != NULL,
              "%.*s", (int)at_once.size, (const char *)at_once.data);
    cr_expect(memmem(at_once.data, at_once.size, "reject 3 1501 bad_time \"bad1500\"\n", 33) !=
                  NULL,
              "%.*s", (int)at_once.size, (const char *)at_once.data);
    cr_expect(bytes_equal(buffer_view(&one_by_one), buffer_view(&at_once)));
    buffer_release(&one_by_one);
    buffer_release(&at_once);
}

/* ---- batches that lie together ---- */

enum { SMALL_LINES = 400 };

/* Batches `first` to `last`, a bad line in every third. */
static void append_small_batches(struct buffer *input, uint32_t first, uint32_t last)
{
    for (uint32_t batch = first; batch <= last; batch++) {
        buffer_printf(input, "#batch %u %u\n", batch, SMALL_LINES);
        for (uint32_t line = 1; line <= SMALL_LINES; line++)
            if (batch % 3 == 0 && line == 77)
                buffer_append_text(input, BAD);
            else
                buffer_printf(input, "r%u,2013-11-28,1385654400123,ad%u,0.005\n",
                              (batch + line) % 90, line);
    }
}

static void append_small_answers(struct buffer *output, uint32_t first, uint32_t last,
                                 const char *duplicate)
{
    for (uint32_t batch = first; batch <= last; batch++) {
        bool has_reject = batch % 3 == 0;

        if (has_reject && duplicate[0] == '\0')
            buffer_printf(output, "reject %u 77 bad_amount \"12,3\"\n", batch);
        buffer_printf(output, "ok %u accepted %u rejected %u%s\n", batch, SMALL_LINES - has_reject,
                      has_reject, duplicate);
    }
}

/* Send batches over a connection of their own, `at_once` in one write, and half-close. */
static void talk_small(const char *producer, uint32_t first, uint32_t last, uint32_t at_once,
                       struct network_client *client)
{
    struct buffer input = {0};

    client_open(client);
    client_say(client, producer);
    for (uint32_t at = first; at <= last; at += at_once) {
        buffer_clear(&input);
        append_small_batches(&input, at, at + at_once - 1 < last ? at + at_once - 1 : last);
        network_write(client->connection, buffer_view(&input));
        turn(at_once == 1 ? 20 : 1);
    }
    network_finish(client->connection);
    buffer_release(&input);
}

static void expect_small(struct network_client *client, uint32_t known, uint32_t last)
{
    struct buffer expected = {0};

    append_small_answers(&expected, 1, known, " duplicate");
    append_small_answers(&expected, known + 1, last, "");
    buffer_put_u8(&expected, 0);
    client_wait_end(client);
    expect_got(client, (const char *)expected.data);
    client_close(client);
    buffer_release(&expected);
}

Test(text_door, batches_that_lie_together_are_applied_together_and_remembered_one_by_one)
{
    struct network_client client;
    struct buffer one_by_one = {0};
    uint32_t applied;

    talk_small(P " new\n", 1, 40, 1, &client);
    expect_small(&client, 0, 40);
    cr_expect(fake.applied == 40);
    one_by_one = fake.producers;
    fake.producers = (struct buffer){0};
    fake.producer_rows = 0;
    room_close();
    room_open();
    applied = fake.applied;
    talk_small(P " new\n", 1, 40, 40, &client);
    expect_small(&client, 0, 40);
    cr_expect(fake.applied - applied <= 20, "%u", fake.applied - applied);
    cr_expect(fake.clicks == (uint64_t)2 * (40 * SMALL_LINES - 13) &&
              fake.inserts[TABLE_REJECT] == 26);
    cr_expect(bytes_equal(buffer_view(&fake.producers), buffer_view(&one_by_one)),
              "the same numbers, hashes and counts");
    talk_small(P "\n", 1, 50, 50, &client);
    expect_small(&client, 40, 50);
    cr_expect(fake.clicks == (uint64_t)2 * (40 * SMALL_LINES - 13) + 10 * SMALL_LINES - 3);
    buffer_release(&one_by_one);
}

Test(text_door, batches_that_lie_together_wait_for_room_and_are_refused_one_by_one)
{
    struct network_client client;

    fake.is_full = true;
    talk_small(P " new\n", 1, 20, 20, &client);
    turn(50);
    cr_expect(fake.applied == 0 && client.got.size == 0);
    fake.is_full = false;
    fake.drain(fake.drain_context);
    expect_small(&client, 0, 20);
    fake.failure = ERROR_LIMIT;
    talk_small(P "\n", 21, 40, 20, &client);
    client_wait_end(&client);
    expect_got(&client, "error 21 batch_too_large\n");
    client_close(&client);
    fake.failure = 0;
    talk_small(P "\n", 1, 30, 30, &client);
    expect_small(&client, 20, 30);
}

Test(text_door, batches_that_lie_together_wait_for_their_places_in_the_window)
{
    struct network_client client;

    fake.holds_back = true;
    talk_small(P " new\n", 1, 100, 100, &client);
    while (fake.producer_rows < PRODUCER_WINDOW - BATCH_GROUP_MAX)
        turn(1);
    turn(200);
    cr_expect(fake.producer_rows <= PRODUCER_WINDOW && client.got.size == 0);
    while (!client.has_ended) {
        fake_sync(&fake, 0);
        turn(1);
    }
    expect_small(&client, 0, 100);
}

Test(text_door, batches_that_lie_together_fail_together)
{
    struct network_client client;

    fake.holds_back = true;
    talk_small(P " new\n", 1, 20, 20, &client);
    while (fake.producer_rows < 20)
        turn(1);
    fake_sync(&fake, ERROR_FAILED);
    client_wait_end(&client);
    expect_got(&client, "error 1 store_failed stopped after a write or sync failed\n");
    client_close(&client);
}

Test(text_door, exchanges_flipped_in_any_bit_end_with_an_answer)
{
    for (size_t i = 0; i < sizeof exchanges / sizeof exchanges[0]; i++) {
        size_t size = strlen(exchanges[i].input);
        uint8_t bytes[1024];

        cr_assert(size < sizeof bytes);
        /* Every 13th bit: of all exchanges together each part of a line many times. */
        for (size_t bit = i % 13; bit < 8 * size; bit += 13) {
            struct network_client client;

            memcpy(bytes, exchanges[i].input, size);
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            client_open(&client);
            network_write(client.connection, bytes_of(bytes, size));
            network_finish(client.connection);
            client_wait_end(&client);
            cr_assert(client.got.size > 0 && client.got.data[client.got.size - 1] == '\n');
            client_close(&client);
        }
    }
}

Test(text_door, a_second_load_of_one_file_is_told_to_wait)
{
    struct network_client first;

    client_open(&first);
    client_say(&first, "#files 00112233445566778899aabbccddeeff\n");
    turn(10);
    talk("#files 00112233445566778899aabbccddeeff\n", "error - file_busy\n");
    talk("#files 00112233445566778899aabbccddee00\n", "files\nok - accepted 0 rejected 0\n");
    client_close(&first);
    talk("#files 00112233445566778899aabbccddeeff\n", "files\nok - accepted 0 rejected 0\n");
}

#define KEY "00112233445566778899aabbccddeeff"
#define FILE_BATCH                                                                                 \
    P " new\n#files " KEY "\n#file " KEY " 500 aabbccddeeff00112233445566778899 1 lf\n"            \
      "#batch 1 1\n" GOOD

/* A new connection that asks for KEY is answered when the batch of the earlier one is durable. */
static void expect_lookup_waits_for_sync(void)
{
    struct network_client second;

    client_open(&second);
    client_say(&second, "#files " KEY "\n");
    turn(10);
    expect_got(&second, "");
    fake.drain(fake.drain_context);
    turn(10);
    expect_got(&second, "");
    fake_sync(&fake, 0);
    turn(10);
    expect_got(&second, "files\n");
    client_close(&second);
}

Test(text_door, a_load_that_was_killed_holds_its_file_until_its_batches_are_durable)
{
    struct network_client first;

    fake.holds_back = true;
    client_open(&first);
    client_say(&first, FILE_BATCH);
    turn(10);
    cr_assert_eq(fake.pending_count, 1);
    client_close(&first);
    expect_lookup_waits_for_sync();
}

Test(text_door, a_load_that_has_sent_its_last_byte_holds_its_file_until_it_is_answered)
{
    struct network_client first;

    fake.holds_back = true;
    client_open(&first);
    client_say(&first, FILE_BATCH);
    network_finish(first.connection);
    turn(10);
    cr_assert_eq(fake.pending_count, 1);
    expect_lookup_waits_for_sync();
    client_wait_end(&first);
    expect_got(&first, "files\nok 1 accepted 1 rejected 0\n");
    client_close(&first);
}

Test(text_door, a_connection_asks_for_another_file_only_behind_its_own_batches)
{
    struct network_client first;

    fake.holds_back = true;
    client_open(&first);
    client_say(&first, FILE_BATCH "#files 00112233445566778899aabbccddee00\n");
    turn(10);
    talk("#files " KEY "\n", "error - file_busy\n");
    fake_sync(&fake, 0);
    turn(10);
    expect_got(&first, "files\nok 1 accepted 1 rejected 0\nfiles\n");
    client_close(&first);
}

/* The lookup that is held back finds nothing. */
static void fake_read_end(void)
{
    struct read_page none = {.table = schema_table(fake.schema, TABLE_LOADED_FILE)};
    store_page page = fake.held_page;

    cr_assert(page != NULL);
    fake.held_page = NULL;
    page(fake.held_context, 0, NULL, &none);
}

Test(text_door, lookups_of_files_of_a_connection_are_made_one_at_a_time)
{
    struct network_client client;

    fake.holds_reads = true;
    client_open(&client);
    client_say(&client, "#files " KEY "\n#files " KEY "\n#files x\n");
    turn(10);
    fake.drain(fake.drain_context);
    fake_read_end();
    turn(10);
    expect_got(&client, "files\n");
    fake_read_end();
    client_wait_end(&client);
    expect_got(&client, "files\nfiles\nerror - bad_control \"#files x\"\n");
    client_close(&client);
}
