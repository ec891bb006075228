/* The binary door on a real store: frames are answered as the lines they stand for, a batch counts
 * once on however many connections it comes, and what is no frame ends the connection. */
#include "base/crc32c.h"
#include "base/hash64.h"
#include "client/frame_writer.h"
#include "client/wire.h"
#include "ingest/connection/rejects.h"
#include "storage/engine/engine.h"
#include "tests/lib/network_client.h"
#include "tests/unit/ingest_fixture.h"

TestSuite(binary_door, .init = setup, .fini = teardown, .timeout = 60);

/* ---- a client ---- */

struct client {
    struct network_client network;
    struct frame_writer writer;
};

static void client_open(struct client *client)
{
    *client = (struct client){0};
    ingest_attach(ingest, network_client_open(&client->network, network));
    cr_assert(frame_writer_hello(&client->writer) == 0);
}

static void client_send(struct client *client)
{
    network_write(client->network.connection,
                  bytes_of(client->writer.out, client->writer.out_size));
    client->writer.out_size = 0;
}

static void client_control(struct client *client, const char *line)
{
    cr_assert(frame_writer_control(&client->writer, line) == 0);
}

/* `rows` clicks of one ad, the last of them bad if asked for. */
static void client_batch(struct client *client, uint64_t sequence, uint32_t rows, const char *ad,
                         bool has_bad)
{
    struct click_batch batch = {0};
    struct click_columns columns;

    for (uint32_t i = 0; i < rows; i++) {
        struct daybook_click click = {
            .reseller = i % 2 == 0 ? "r1" : "r2",
            .ad = ad,
            .day = 16037,
            .time_ms = INT64_C(1385654400123) + i,
            .amount = has_bad && i == rows - 1 ? -5 : 5,
            .scale = 3,
        };
        cr_assert(click_batch_add(&batch, &click) == 0);
    }
    columns = click_batch_columns(&batch);
    cr_assert(frame_writer_batch(&client->writer, &columns, sequence) == 0);
    click_batch_release(&batch);
}

/* The lines in the frames that came; asserts that these are whole. */
static void client_lines(const struct client *client, struct buffer *lines)
{
    struct bytes rest = buffer_view(&client->network.got);

    while (rest.size > 0) {
        size_t size = load_u32(rest.data);

        cr_assert(rest.size >= WIRE_HEADER_SIZE + size && rest.data[4] == WIRE_ANSWER);
        cr_assert(load_u32(rest.data + 8) ==
                  crc32c(crc32c(0, rest.data, 8), rest.data + WIRE_HEADER_SIZE, size));
        buffer_append(lines, rest.data + WIRE_HEADER_SIZE, size);
        rest = bytes_of(rest.data + WIRE_HEADER_SIZE + size, rest.size - WIRE_HEADER_SIZE - size);
    }
}

static void client_close(struct client *client)
{
    network_client_close(&client->network, &loop);
    frame_writer_release(&client->writer);
}

/* Half-close; what was answered in all must be `expected`. */
static void client_expect(struct client *client, const char *expected)
{
    struct buffer lines = {0};

    network_finish(client->network.connection);
    while (!client->network.has_ended)
        uv_run(&loop, UV_RUN_ONCE);
    client_lines(client, &lines);
    cr_expect(bytes_equal(buffer_view(&lines), bytes_text(expected)), "got:\n%.*sexpected:\n%s",
              (int)lines.size, (const char *)lines.data, expected);
    buffer_release(&lines);
    client_close(client);
}

#define P "#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11 1"

/* ---- batches ---- */

Test(binary_door, a_batch_counts_once_on_however_many_connections_it_comes)
{
    struct client client;

    client_open(&client);
    client_control(&client, P " new");
    client_batch(&client, 1, 3, "ad1", true);
    client_batch(&client, 2, 2000, "ad2", false);
    client_send(&client);
    client_expect(&client, "binary 2\nreject 1 3 bad_amount \"-0.005\"\n"
                           "ok 1 accepted 2 rejected 1\nok 2 accepted 2000 rejected 0\n");
    client_open(&client);
    client_control(&client, P);
    /* Here ad2 is another number of the dictionary than it was. */
    client_batch(&client, 2, 2000, "ad2", false);
    client_batch(&client, 1, 3, "ad1", true);
    client_batch(&client, 3, 0, "ad1", false);
    client_send(&client);
    client_expect(&client, "binary 2\nok 2 accepted 2000 rejected 0 duplicate\n"
                           "ok 1 accepted 2 rejected 1 duplicate\n"
                           "ok 3 accepted 0 rejected 0\n");
    system_close();
    metrics_free(metrics);
    metrics = metrics_new();
    system_open(false);
    client_open(&client);
    client_control(&client, P);
    client_batch(&client, 2, 2000, "ad2", false);
    client_batch(&client, 1, 3, "ad9", true);
    client_send(&client);
    client_expect(&client, "binary 2\nok 2 accepted 2000 rejected 0 duplicate\n"
                           "error 1 batch_differs\n");
}

Test(binary_door, a_producer_is_fenced_as_at_the_text_door)
{
    static const struct {
        const char *control;
        uint64_t sequence;
        const char *expected;
    } table[] = {
        {"#sync", 1, "binary 2\nok - accepted 0 rejected 0\nerror 1 no_producer\n"},
        {P, 1, "binary 2\nerror - unknown_producer\n"},
        {P " new", 2, "binary 2\nerror 2 sequence_gap expected 1\n"},
        {P " new", 1, "binary 2\nok 1 accepted 1 rejected 0\n"},
        {"#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11 2", 2,
         "binary 2\nok 2 accepted 1 rejected 0\n"},
        {P, 3, "binary 2\nerror - wrong_epoch current 2\n"},
        {"#batch 1 1", 1, "binary 2\nerror - bad_control \"#batch 1 1\"\n"},
        {"#nonsense", 1, "binary 2\nerror - bad_control \"#nonsense\"\n"},
        {"#stream nights", 1, "binary 2\nerror - unknown_stream \"nights\"\n"},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct client client;

        client_open(&client);
        client_control(&client, table[i].control);
        client_batch(&client, table[i].sequence, 1, "ad", false);
        client_send(&client);
        client_expect(&client, table[i].expected);
    }
}

Test(binary_door, rows_outside_of_batches_are_summed_up_for_sync_and_half_close)
{
    struct client client;

    client_open(&client);
    client_batch(&client, 0, 3, "ad", true);
    client_batch(&client, 0, 2, "ad", true);
    client_control(&client, "#sync");
    client_batch(&client, 0, 4, "ad", false);
    client_send(&client);
    client_expect(&client, "binary 2\nreject - 3 bad_amount \"-0.005\"\n"
                           "reject - 5 bad_amount \"-0.005\"\nok - accepted 3 rejected 2\n"
                           "ok - accepted 4 rejected 0\n");
}

Test(binary_door, refused_rows_are_kept_as_the_lines_they_stand_for)
{
    static char name_word[] = "rejects", list_word[] = "list", format_word[] = "--format=csv";
    static char *words[] = {name_word, list_word, format_word};
    struct result result = {
        .output = {.write = result_write, .is_full = result_is_full, .finish = result_finish}};
    void *options = memory_zeroed(1, rejects_command.options_size);
    struct command_request request = {.options = options};
    struct client client;

    client_open(&client);
    client_control(&client, P " new");
    client_batch(&client, 1, 1, "ad, 1", true);
    client_send(&client);
    client_expect(&client, "binary 2\nreject 1 1 bad_amount \"-0.005\"\n"
                           "ok 1 accepted 0 rejected 1\n");
    cr_assert(argp_parse(rejects_command.argp, 3, words, ARGP_NO_EXIT, NULL, options) == 0);
    rejects_command.run(ingest, &request, &result.output);
    run_until(&result.finished);
    buffer_put_u8(&result.text[0], 0);
    cr_expect(strstr((char *)result.text[0].data,
                     ",binary,5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a11,1,1,bad_amount,") != NULL);
    cr_expect(strstr((char *)result.text[0].data,
                     "\"r1,2013-11-28,1385654400123,\"\"ad, 1\"\",-0.005\"") != NULL,
              "%s", (char *)result.text[0].data);
    for (int i = 0; i < 2; i++)
        buffer_release(&result.text[i]);
    memory_free(options);
}

/* ---- frames decoded ahead ---- */

enum { AHEAD_BATCHES = 60, AHEAD_ROWS = 2000 };

/* A batch as others are not: of its own ad, every third with a refused row; now and then the stream
 * is chosen again, sums are asked for, rows come outside of batches, the dictionary is forgotten.
 */
static void ahead_batch(struct client *client, uint64_t sequence)
{
    char ad[24];

    (void)snprintf(ad, sizeof ad, "ad-%d", (int)sequence);
    if (sequence % 16 == 11)
        client_control(client, "#stream clicks");
    client->writer.is_stale |= sequence % 16 == 13;
    if (sequence % 10 == 5)
        client_batch(client, 0, AHEAD_ROWS, "ad-outside", true);
    if (sequence % 10 == 7)
        client_control(client, "#sync");
    client_batch(client, sequence, AHEAD_ROWS, ad, sequence % 3 == 0);
}

/* The answers to AHEAD_BATCHES, sent so many at once; a byte of all is turned over, unless `bad` is
 * SIZE_MAX.  Returns how many bytes they were. */
static size_t ahead_talk(const char *producer, uint64_t at_once, size_t bad, struct buffer *lines)
{
    struct client client;
    size_t sent = 0;

    client_open(&client);
    client_control(&client, producer);
    for (uint64_t sequence = 1; sequence <= AHEAD_BATCHES; sequence++) {
        ahead_batch(&client, sequence);
        if (sequence % at_once > 0)
            continue;
        if (bad < client.writer.out_size)
            client.writer.out[bad] ^= 0x40;
        sent += client.writer.out_size;
        client_send(&client);
        for (int i = 0; at_once == 1 && i < 100; i++)
            uv_run(&loop, UV_RUN_NOWAIT);
    }
    network_finish(client.network.connection);
    while (!client.network.has_ended)
        uv_run(&loop, UV_RUN_ONCE);
    client_lines(&client, lines);
    client_close(&client);
    return sent;
}

static int64_t bytes_ahead(void)
{
    for (const struct metric *metric = metrics_first(metrics); metric != NULL;
         metric = metric->next) {
        if (strcmp(metric->name, "daybook_ingest_ahead_bytes_total") == 0)
            return metric->value;
    }
    return -1;
}

Test(binary_door, frames_decoded_ahead_are_answered_as_those_that_are_not)
{
    struct buffer one_by_one = {0};
    struct buffer at_once = {0};
    size_t sent = ahead_talk(P " new", 1, SIZE_MAX, &one_by_one);

    cr_expect_eq(bytes_ahead(), 0);
    (void)ahead_talk("#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a12 1 new", AHEAD_BATCHES,
                     SIZE_MAX, &at_once);
    cr_expect(bytes_ahead() > (int64_t)sent / 4, "%lld of %zu", (long long)bytes_ahead(), sent);
    cr_expect(memmem(at_once.data, at_once.size, "ok 60 accepted 1999 rejected 1\n", 31) != NULL,
              "%.*s", (int)at_once.size, (const char *)at_once.data);
    cr_expect(bytes_equal(buffer_view(&one_by_one), buffer_view(&at_once)), "%.*s\n%.*s",
              (int)one_by_one.size, (const char *)one_by_one.data, (int)at_once.size,
              (const char *)at_once.data);
    /* The same once more: copies, of which the content is compared. */
    buffer_clear(&at_once);
    (void)ahead_talk(P, AHEAD_BATCHES, SIZE_MAX, &at_once);
    cr_expect(memmem(at_once.data, at_once.size, "ok 60 accepted 1999 rejected 1 duplicate\n",
                     41) != NULL);
    cr_expect(memmem(at_once.data, at_once.size, "error", 5) == NULL);
    buffer_release(&one_by_one);
    buffer_release(&at_once);
}

/* What came before the damage counts, and is answered; nothing behind it is looked at. */
Test(binary_door, a_damaged_frame_among_those_decoded_ahead_ends_the_connection)
{
    struct buffer whole = {0};
    size_t sent = ahead_talk(P " new", AHEAD_BATCHES, SIZE_MAX, &whole);

    for (size_t i = 1; i < 8; i++) {
        static const char end[] = "error - bad_frame checksum\n";
        size_t before = whole.size;
        struct buffer lines = {0};

        /* Not a size, from which on all would be something else. */
        (void)ahead_talk(P, AHEAD_BATCHES, sent / 8 * i + 40, &lines);
        cr_assert(lines.size > sizeof end && lines.size < before + AHEAD_BATCHES * 10);
        cr_expect(memcmp(lines.data + lines.size - (sizeof end - 1), end, sizeof end - 1) == 0,
                  "%.*s", (int)lines.size, (const char *)lines.data);
        buffer_release(&lines);
    }
    buffer_release(&whole);
}

/* ---- batches that lie together ---- */

enum { SMALL_ROWS = 1000, SMALL_BATCHES = 50 };

/* What was applied: the rows' content does not depend on the blocks that they come in. */
static struct {
    uint32_t batches;
    uint64_t rows, sum;
} applied;

static void applied_add(void *context, struct write_batch *batch)
{
    (void)context;
    applied.batches++;
    for (uint32_t b = 0; b < batch->block_count; b++) {
        struct block *block = batch->blocks[b];
        const struct block_column *time = block_column_at(block, 3);
        const struct block_column *ad = block_column_at(block, 4);

        for (uint32_t i = 0; i < block->rows; i++) {
            struct bytes key = block_dictionary_get(&block->partitions, block->partition_codes[i]);
            struct bytes id = block_dictionary_get(&ad->dictionary, ad->codes[i]);

            applied.sum += hash64(key.data, key.size) * 3 + hash64(id.data, id.size) * 5 +
                           hash64(&time->integers[i], sizeof time->integers[i]) * 7;
            applied.rows++;
        }
    }
}

/* Batches of few ads, which later ones name again; every ninth has a row that is refused, and every
 * eleventh comes after the dictionary was forgotten. */
static void small_batches(struct client *client, uint32_t first, uint32_t last)
{
    for (uint32_t batch = first; batch <= last; batch++) {
        char ad[24];

        (void)snprintf(ad, sizeof ad, "ad-%u", batch % 7 + batch / 20);
        client->writer.is_stale |= batch % 11 == 10;
        client_batch(client, batch, SMALL_ROWS, ad, batch % 9 == 8);
    }
    client_send(client);
}

static void append_small_answers(struct buffer *output, uint32_t first, uint32_t last,
                                 const char *duplicate)
{
    for (uint32_t batch = first; batch <= last; batch++) {
        bool has_reject = batch % 9 == 8;

        if (has_reject && duplicate[0] == '\0')
            buffer_printf(output, "reject %u %d bad_amount \"-0.005\"\n", batch, SMALL_ROWS);
        buffer_printf(output, "ok %u accepted %u rejected %u%s\n", batch, SMALL_ROWS - has_reject,
                      has_reject, duplicate);
    }
}

/* Batches `first` to `last`, so many at once, of which those up to `known` are copies. */
static void talk_small(const char *producer, uint32_t first, uint32_t last, uint32_t at_once,
                       uint32_t known)
{
    struct buffer expected = {0};
    struct client client;

    client_open(&client);
    client_control(&client, producer);
    client_send(&client);
    /* What comes with HELLO is not decoded ahead. */
    while (client.network.got.size == 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (uint32_t at = first; at <= last; at += at_once) {
        small_batches(&client, at, at + at_once - 1 < last ? at + at_once - 1 : last);
        for (int i = 0; at_once == 1 && i < 20; i++)
            uv_run(&loop, UV_RUN_NOWAIT);
    }
    buffer_append_text(&expected, "binary 2\n");
    append_small_answers(&expected, first, known, " duplicate");
    append_small_answers(&expected, known + 1 < first ? first : known + 1, last, "");
    buffer_put_u8(&expected, 0);
    client_expect(&client, (const char *)expected.data);
    buffer_release(&expected);
}

Test(binary_door, batches_that_lie_together_are_applied_together_and_are_the_same_rows)
{
    uint64_t rows, sum;
    uint32_t batches;

    store_set_commit_hook(store, applied_add, NULL);
    talk_small(P " new", 1, SMALL_BATCHES, 1, 0);
    rows = applied.rows;
    sum = applied.sum;
    batches = applied.batches;
    cr_expect(rows == SMALL_ROWS * SMALL_BATCHES - 5 && batches == SMALL_BATCHES);
    talk_small("#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a12 1 new", 1, SMALL_BATCHES,
               SMALL_BATCHES, 0);
    cr_expect(applied.rows == 2 * rows && applied.sum == 2 * sum);
    cr_expect(applied.batches - batches < SMALL_BATCHES * 2 / 3, "%u", applied.batches - batches);
    batches = applied.batches;
    talk_small("#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a12 1", 1, SMALL_BATCHES, SMALL_BATCHES,
               SMALL_BATCHES);
    cr_expect(applied.batches == batches, "copies");
    store_set_commit_hook(store, NULL, NULL);
}

Test(binary_door, of_batches_that_lie_together_those_behind_copies_count)
{
    uint64_t rows, sum;

    store_set_commit_hook(store, applied_add, NULL);
    talk_small(P " new", 1, SMALL_BATCHES, 1, 0);
    rows = applied.rows;
    sum = applied.sum;
    /* Copies end in the middle of what would be applied together. */
    talk_small("#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a12 1 new", 1, 3, 3, 0);
    for (uint32_t known = 3; known < SMALL_BATCHES; known += 3)
        talk_small("#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a12 1", known > 20 ? known - 20 : 1,
                   known + 3 < SMALL_BATCHES ? known + 3 : SMALL_BATCHES, SMALL_BATCHES, known);
    cr_expect(applied.rows == 2 * rows && applied.sum == 2 * sum, "%llu rows of %llu",
              (unsigned long long)(applied.rows - rows), (unsigned long long)rows);
    store_set_commit_hook(store, NULL, NULL);
}

/* ---- lines ---- */

/* A header of LINES for `lines` lines of CSV in the usual order. */
static void lines_header(uint8_t header[WIRE_LINES_HEADER], uint64_t sequence, uint32_t lines)
{
    static const uint8_t order[] = {5, 0, 1, 2, 3, 4};

    memset(header, 0, WIRE_LINES_HEADER);
    store_u64(header, sequence);
    store_u32(header + 8, lines);
    memcpy(header + 13, order, sizeof order);
}

#define LINES "r1,2013-11-28,1385654400123,ad42,0.005\n#sync\nr1,,1385654400123,\"a\"\"b\",1\r\n\n"

static void client_lines_frame(struct client *client, const uint8_t *header, const char *text)
{
    cr_assert(frame_writer_lines(&client->writer, header, text, strlen(text)) == 0);
}

Test(binary_door, a_batch_may_come_as_lines_each_of_which_is_a_row_or_refused)
{
    struct client client;
    uint8_t header[WIRE_LINES_HEADER];

    for (int round = 0; round < 2; round++) {
        client_open(&client);
        client_control(&client, P " new");
        lines_header(header, 1, 4);
        client_lines_frame(&client, header, LINES);
        lines_header(header, 2, 1);
        memcpy(header + 12, "\1\0\377\377\377\377\377", 7);
        client_lines_frame(
            &client, header,
            "{\"reseller_id\":\"r\",\"time\":1385654400123,\"ad_id\":\"a\",\"amount\":0.10}\n");
        lines_header(header, 3, 0);
        client_lines_frame(&client, header, "");
        client_send(&client);
        client_expect(&client, round == 0
                                   ? "binary 2\nreject 1 2 unknown_control \"#sync\"\n"
                                     "reject 1 4 empty_line \"\"\nok 1 accepted 2 rejected 2\n"
                                     "ok 2 accepted 1 rejected 0\nok 3 accepted 0 rejected 0\n"
                                   : "binary 2\nok 1 accepted 2 rejected 2 duplicate\n"
                                     "ok 2 accepted 1 rejected 0 duplicate\n"
                                     "ok 3 accepted 0 rejected 0 duplicate\n");
    }
}

Test(binary_door, lines_that_are_not_as_their_header_says_are_refused_whole)
{
    static const struct {
        const char *what;
        size_t offset;
        uint8_t byte;
    } table[] = {
        {"no number", 0, 0},      {"a number past the sign", 7, 0x80},
        {"a line too few", 8, 3}, {"a line too many", 8, 5},
        {"another form", 12, 2},  {"NDJSON with fields", 12, 1},
        {"no fields", 13, 0},     {"more fields than columns", 13, 6},
        {"no time", 16, 255},     {"a field past the line", 14, 5},
        {"a field twice", 14, 1}, {"a zero that is none", 19, 1},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t header[WIRE_LINES_HEADER];
        struct client client;

        client_open(&client);
        client_control(&client, P " new");
        lines_header(header, 1, 4);
        header[table[i].offset] = table[i].byte;
        client_lines_frame(&client, header, LINES);
        client_send(&client);
        client_expect(&client, "binary 2\nerror - bad_frame malformed\n");
    }
}

/* ---- bytes ---- */

/* A hello, then `frame`, with its checksum put right if asked for. */
static void talk_frame(struct bytes frame, bool is_stamped, const char *expected)
{
    struct client client;
    uint8_t *copy = memory_copy(frame.data, frame.size);

    if (is_stamped)
        store_u32(copy + 8, crc32c(crc32c(0, copy, 8), copy + WIRE_HEADER_SIZE,
                                   frame.size - WIRE_HEADER_SIZE));
    client_open(&client);
    client_send(&client);
    network_write(client.network.connection, bytes_of(copy, frame.size));
    client_expect(&client, expected);
    memory_free(copy);
}

enum { LONG_AD = 4000 };

/* Clicks, each of an ad of its own with a long id, outside of batches or in one each. */
static void client_long_ads(struct client *client, uint32_t count, bool has_batches,
                            uint32_t at_once)
{
    for (uint32_t i = 0; i < count; i++) {
        char ad[LONG_AD + 1] = {0};

        memset(ad, 'a', LONG_AD);
        ad[0] = (char)('A' + i % 26);
        ad[1] = (char)('A' + i / 26);
        client_batch(client, has_batches ? i + 1 : 0, 1, ad, false);
        if ((i + 1) % at_once > 0)
            continue;
        client_send(client);
        for (int turn = 0; at_once == 1 && turn < 20; turn++)
            uv_run(&loop, UV_RUN_NOWAIT);
    }
}

static uint64_t strings_held(void)
{
    struct engine_status status;

    engine_status(store, &status);
    return status.held.bytes[MEMORY_HELD_STRINGS];
}

/* Until no more than so many bytes are held: a client sees the end before its connection is gone,
 * with what it holds. */
static void strings_wait(uint64_t bytes)
{
    while (strings_held() > bytes)
        uv_run(&loop, UV_RUN_ONCE);
}

Test(binary_door, the_strings_of_all_connections_have_a_limit_and_are_counted)
{
    struct client first, second;
    struct buffer lines[3] = {{0}};

    system_close();
    metrics_free(metrics);
    metrics = metrics_new();
    limits.strings_max = 256 << 10;
    system_open(false);
    client_open(&first);
    client_long_ads(&first, 30, false, 30);
    while (strings_held() < 30 * LONG_AD)
        uv_run(&loop, UV_RUN_ONCE);
    uint64_t of_first = strings_held();
    for (int round = 0; round < 3; round++) {
        client_open(&second);
        if (round > 0)
            client_control(&second, round == 1
                                        ? P " new"
                                        : "#producer 5f0c6d1e-8f0a-4c57-9a3c-2f1f0d7c9a12 1 new");
        client_long_ads(&second, 60, round > 0, round == 1 ? 1 : 60);
        network_finish(second.network.connection);
        while (!second.network.has_ended)
            uv_run(&loop, UV_RUN_ONCE);
        client_lines(&second, &lines[round]);
        buffer_put_u8(&lines[round], 0);
        cr_expect(strstr((const char *)lines[round].data,
                         "error - too_many_strings of all connections\n") != NULL,
                  "%s", (const char *)lines[round].data);
        client_close(&second);
        strings_wait(of_first);
    }
    /* However they come, the same batches are answered before the one that is refused. */
    cr_expect(lines[1].size > 200 && bytes_equal(buffer_view(&lines[1]), buffer_view(&lines[2])),
              "%s\n%s", (const char *)lines[1].data, (const char *)lines[2].data);
    for (int round = 0; round < 3; round++)
        buffer_release(&lines[round]);
    client_expect(&first, "binary 2\nok - accepted 30 rejected 0\n");
    strings_wait(0);
}

Test(binary_door, what_is_no_frame_ends_the_connection)
{
    static const struct {
        const char *bytes;
        size_t size;
        bool is_stamped;
        const char *expected;
    } table[] = {
        {"\0\0\0\0\2\0\0\0\0\0\0\0", 12, false, "binary 2\nerror - bad_frame checksum\n"},
        {"\0\0\0\0\2\1\0\0\0\0\0\0", 12, true, "binary 2\nerror - bad_frame checksum\n"},
        {"\0\0\0\0\0\0\0\0\0\0\0\0", 12, true, "binary 2\nerror - bad_frame unknown_kind\n"},
        {"\0\0\0\0\200\0\0\0\0\0\0\0", 12, true, "binary 2\nerror - bad_frame unknown_kind\n"},
        {"\1\0\200\0\2\0\0\0\0\0\0\0", 12, true, "binary 2\nerror - bad_frame too_long\n"},
        {"\1\0\0\0\3\0\0\0\0\0\0\0x", 13, true, "binary 2\nerror - bad_frame malformed\n"},
        {"\1\0\0\0\4\0\0\0\0\0\0\0x", 13, true, "binary 2\nerror - bad_frame malformed\n"},
        {"\10\0\0\0\1\0\0\0\0\0\0\0\1\0\1\0\0\0\0\0", 20, true,
         "binary 2\nerror - bad_frame malformed\n"},
        {"\1\0\0\0\2\0\0\0\0\0\0\0", 12, false, "binary 2\nerror - bad_frame cut\n"},
        {"\0\0", 2, false, "binary 2\nerror - bad_frame cut\n"},
        {"", 0, false, "binary 2\nok - accepted 0 rejected 0\n"},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        talk_frame(bytes_of(table[i].bytes, table[i].size), table[i].is_stamped, table[i].expected);
}

static void talk_raw(struct bytes input, const char *expected)
{
    struct client client;

    client_open(&client);
    network_write(client.network.connection, input);
    client_expect(&client, expected);
}

Test(binary_door, a_client_says_first_which_versions_it_speaks)
{
    struct buffer input = {0};
    uint8_t frame[20] = {8, [4] = WIRE_HELLO};

    static const struct {
        uint16_t oldest, newest;
        const char *expected;
    } table[] = {
        {1, 1, "binary 1\nok - accepted 0 rejected 0\n"},
        {1, 2, "binary 2\nok - accepted 0 rejected 0\n"},
        {0, 7, "binary 2\nok - accepted 0 rejected 0\n"},
        {2, 7, "binary 2\nok - accepted 0 rejected 0\n"},
        {3, 7, "error - unsupported_version\n"},
        {0, 0, "error - unsupported_version\n"},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        buffer_clear(&input);
        buffer_append(&input, WIRE_MAGIC, WIRE_MAGIC_SIZE);
        store_u16(frame + 12, table[i].oldest);
        store_u16(frame + 14, table[i].newest);
        store_u32(frame + 8, crc32c(crc32c(0, frame, 8), frame + 12, 8));
        buffer_append(&input, frame, sizeof frame);
        talk_raw(buffer_view(&input), table[i].expected);
    }
    buffer_clear(&input);
    buffer_append(&input, WIRE_MAGIC, WIRE_MAGIC_SIZE);
    memset(frame, 0, sizeof frame);
    frame[4] = WIRE_CONTROL;
    store_u32(frame + 8, crc32c(0, frame, 8));
    buffer_append(&input, frame, WIRE_HEADER_SIZE);
    talk_raw(buffer_view(&input), "error - bad_frame no_hello\n");
    buffer_release(&input);
}

Test(binary_door, a_frame_is_taken_the_same_however_its_bytes_come)
{
    struct client client;

    client_open(&client);
    client_control(&client, P " new");
    client_batch(&client, 1, 30000, "ad", false);
    for (size_t at = 0; at < client.writer.out_size;) {
        size_t size = at < 300 ? 1 : 1000;

        size = size < client.writer.out_size - at ? size : client.writer.out_size - at;
        network_write(client.network.connection, bytes_of(client.writer.out + at, size));
        uv_run(&loop, UV_RUN_NOWAIT);
        at += size;
    }
    client_expect(&client, "binary 2\nok 1 accepted 30000 rejected 0\n");
}

/* What only begins like the magic is text, as it always was. */
static void expect_text(struct bytes input, const char *beginning)
{
    struct client client;

    client_open(&client);
    network_write(client.network.connection, input);
    network_finish(client.network.connection);
    while (!client.network.has_ended)
        uv_run(&loop, UV_RUN_ONCE);
    cr_expect(client.network.got.size >= strlen(beginning) &&
                  memcmp(client.network.got.data, beginning, strlen(beginning)) == 0,
              "%.*s", (int)client.network.got.size, (const char *)client.network.got.data);
    client_close(&client);
}

Test(binary_door, lines_of_text_are_no_frames)
{
    expect_text(bytes_text("\x89"), "reject - 1 cut_line");
    expect_text(bytes_text("\x89"
                           "DBB\r\n"),
                "reject - 1 too_few_fields");
    expect_text(bytes_text("\x89"
                           "DBB\r\n\x1a\r"),
                "reject - 1 too_few_fields");
    expect_text(bytes_text("r1,2013-11-28,1385654400123,ad42,0.005\n" WIRE_MAGIC),
                "reject - 2 too_few_fields");
}
