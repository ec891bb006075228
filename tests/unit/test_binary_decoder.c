/* Batches as columns: the rows and rejects are those of the same clicks as lines of text, and bytes
 * that are no batch are refused whole. */
#include "ingest/parse/binary_decoder.h"

#include <inttypes.h>
#include <stdio.h>

#include <criterion/criterion.h>

#include "base/crc32c.h"
#include "client/frame_writer.h"
#include "client/wire.h"
#include "ingest/parse/line_parser.h"
#include "base/memory.h"
#include "base/cli/table_print.h"
#include "tests/unit/clicks_fixture.h"

/* ---- both ways ---- */

struct fixture {
    struct schema *schema;
    struct row_builder *builder; /* of what is decoded */
    struct row_builder *lines;   /* of the same clicks as text */
    struct line_parser parser;
    struct binary_decoder *decoder;
    struct frame_writer writer;
    struct click_batch batch;
    struct buffer text;
};

static struct row_builder *builder_new(const struct fixture *fixture)
{
    struct row_builder *builder = NULL;
    struct error err = {0};

    cr_assert(row_builder_new(&clicks_stream, schema_table(fixture->schema, CLICKS_TABLE), 7,
                              &builder, &err) == 0,
              "%s", err.text);
    return builder;
}

static void fixture_init(struct fixture *fixture)
{
    struct error err = {0};

    *fixture = (struct fixture){.schema = schema_new()};
    cr_assert(schema_add_keyspace(fixture->schema, "daybook", &err) == 0, "%s", err.text);
    cr_assert(schema_add_table(fixture->schema, &clicks_definition, &err) == 0, "%s", err.text);
    fixture->builder = builder_new(fixture);
    fixture->lines = builder_new(fixture);
    line_parser_init(&fixture->parser);
    fixture->decoder = binary_decoder_new(3);
    cr_assert(frame_writer_hello(&fixture->writer) == 0);
    fixture->writer.out_size = 0;
}

static void fixture_release(struct fixture *fixture)
{
    row_builder_free(fixture->builder);
    row_builder_free(fixture->lines);
    line_parser_release(&fixture->parser);
    binary_decoder_free(fixture->decoder);
    frame_writer_release(&fixture->writer);
    click_batch_release(&fixture->batch);
    buffer_release(&fixture->text);
    schema_unref(fixture->schema);
}

static void append_line(struct buffer *text, const struct daybook_click *click)
{
    char day[DAY_TEXT_SIZE + 1] = "";

    table_print_csv_field(text, bytes_of(click->reseller, click->reseller_size));
    if (click->day >= DAY_MIN && click->day <= DAY_MAX)
        calendar_day_format(click->day, day);
    buffer_put_u8(text, ',');
    if (click->day < DAY_MIN && click->day != DAYBOOK_DAY_NONE)
        buffer_printf(text, "%" PRId32, click->day);
    else
        table_print_csv_field(text, bytes_text(day));
    buffer_printf(text, ",%" PRId64 ",", click->time_ms);
    table_print_csv_field(text, bytes_of(click->ad, click->ad_size));
    buffer_put_u8(text, ',');
    decimal_append(text, decimal_from(click->amount, click->scale));
    buffer_put_u8(text, '\n');
}

static struct daybook_click click_of(const char *reseller, int32_t day, int64_t time_ms,
                                     const char *ad, int64_t amount, uint8_t scale)
{
    return (struct daybook_click){
        .reseller = reseller,
        .ad = ad,
        .reseller_size = strlen(reseller),
        .ad_size = strlen(ad),
        .day = day,
        .time_ms = time_ms,
        .amount = amount,
        .scale = scale,
    };
}

static void fixture_add(struct fixture *fixture, struct daybook_click click)
{
    cr_assert(click_batch_add(&fixture->batch, &click) == 0);
    append_line(&fixture->text, &click);
}

/* The payload of the next frame in `out`, from memory of its own so that a read past it shows. */
static uint8_t *frame_take(struct bytes *out, uint8_t *kind, size_t *size_out)
{
    struct bytes payload = bytes_of(out->data + WIRE_HEADER_SIZE, load_u32(out->data));

    cr_assert(out->size >= WIRE_HEADER_SIZE + payload.size);
    cr_assert(load_u32(out->data + 8) ==
              crc32c(crc32c(0, out->data, 8), payload.data, payload.size));
    *kind = out->data[4];
    *size_out = payload.size;
    *out = bytes_of(payload.data + payload.size, out->size - WIRE_HEADER_SIZE - payload.size);
    return memory_copy(payload.data, payload.size);
}

/* Whatever comes before it is taken by the decoder; the batch's payload. */
static uint8_t *batch_payload(struct fixture *fixture, struct binary_decoder *decoder,
                              size_t *size_out)
{
    struct bytes out = bytes_of(fixture->writer.out, fixture->writer.out_size);
    uint8_t kind;
    uint8_t *payload = frame_take(&out, &kind, size_out);

    if (kind == WIRE_STRINGS) {
        cr_assert(binary_decoder_strings(decoder, bytes_of(payload, *size_out)) == 0);
        memory_free(payload);
        payload = frame_take(&out, &kind, size_out);
    }
    cr_assert(kind == WIRE_BATCH && out.size == 0);
    fixture->writer.out_size = 0;
    return payload;
}

/* The clicks that were added as lines, into `fixture->lines`. */
static void parse_text(struct fixture *fixture)
{
    size_t text_size = fixture->text.size;

    buffer_reserve(&fixture->text, LINE_PARSER_PADDING);
    memset(fixture->text.data + text_size, 0, LINE_PARSER_PADDING);
    fixture->parser.line = 1;
    for (size_t at = 0; at < text_size;) {
        size_t taken =
            line_parser_run(&fixture->parser, fixture->lines,
                            bytes_of(fixture->text.data + at, text_size - at), BLOCK_ROWS_MAX);
        cr_assert(taken > 0);
        at += taken;
    }
}

static void batch_write(struct fixture *fixture, uint64_t sequence)
{
    struct click_columns columns = click_batch_columns(&fixture->batch);

    cr_assert(frame_writer_batch(&fixture->writer, &columns, sequence) == 0);
}

static int decode(struct binary_decoder *decoder, struct bytes payload, struct row_builder *builder)
{
    struct binary_batch batch;
    int rc = binary_decoder_read_batch(payload, &batch);

    if (rc == 0)
        rc = binary_decoder_begin(decoder, &batch, false);
    return rc == 0 ? binary_decoder_rows(decoder, &batch, builder, 1) : rc;
}

static void expect_same(struct row_builder *found, struct row_builder *wanted)
{
    struct buffer a = {0};
    struct buffer b = {0};

    row_builder_finish(found);
    row_builder_finish(wanted);
    block_serialize(found->block, &a);
    block_serialize(wanted->block, &b);
    cr_assert(bytes_equal(buffer_view(&a), buffer_view(&b)), "%u rows, not %u", found->block->rows,
              wanted->block->rows);
    cr_assert(found->rejects.count == wanted->rejects.count, "%u rejects, not %u",
              found->rejects.count, wanted->rejects.count);
    for (uint32_t i = 0; i < found->rejects.count; i++) {
        const struct reject *one = &found->rejects.items[i];
        const struct reject *other = &wanted->rejects.items[i];

        cr_assert(one->line == other->line && one->code == other->code, "line %" PRIu64 " %s",
                  one->line, reject_name(one->code));
        cr_assert(
            bytes_equal(reject_text(&found->rejects, one), reject_text(&wanted->rejects, other)));
        cr_assert(bytes_equal(reject_content(&found->rejects, one),
                              reject_content(&wanted->rejects, other)));
    }
    buffer_release(&a);
    buffer_release(&b);
}

/* Send the clicks that were added as a batch and as lines, and compare. */
static void expect_same_as_lines(struct fixture *fixture)
{
    size_t size;
    uint8_t *payload;

    batch_write(fixture, 1);
    payload = batch_payload(fixture, fixture->decoder, &size);
    cr_assert(decode(fixture->decoder, bytes_of(payload, size), fixture->builder) == 0);
    parse_text(fixture);
    expect_same(fixture->builder, fixture->lines);
    memory_free(payload);
    row_builder_clear(fixture->builder);
    row_builder_clear(fixture->lines);
    click_batch_clear(&fixture->batch);
    buffer_clear(&fixture->text);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static const int64_t noon = INT64_C(1385640000000); /* 2013-11-28 */
static const int32_t its_day = 16037;

/* ---- good clicks ---- */

/* How much a batch's values differ, so that every width of every column is there. */
struct shape {
    uint32_t rows, resellers, days, ads;
    uint64_t amounts;
    bool has_scales;
};

static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, false},
    {300, 1, 1, 1, 1, false},
    {1000, 10, 1, 200, 200, false},
    {1000, 300, 3, 1000, 60000, true},
    {3000, 1000, 30, 3000, 3000000000, false},
    {70000, 60000, 400, 70000, 900000000000000000, true},
};

static void add_random(struct fixture *fixture, const struct shape *shape, uint64_t *state)
{
    for (uint32_t i = 0; i < shape->rows; i++) {
        char reseller[64];
        char ad[64];
        int32_t day = its_day + (int32_t)(next(state) % shape->days);
        int64_t time = (int64_t)day * DAY_MS + (int64_t)(next(state) % (uint64_t)DAY_MS);

        snprintf(reseller, sizeof reseller, "reseller, the %u",
                 (unsigned)(next(state) % shape->resellers));
        snprintf(ad, sizeof ad, "%u%s", (unsigned)(next(state) % shape->ads),
                 next(state) % 4 == 0 ? "\xc3\xa9 and a name of more than sixteen bytes" : "");
        fixture_add(fixture,
                    click_of(reseller, day, time, ad, (int64_t)(next(state) % shape->amounts),
                             shape->has_scales ? (uint8_t)(next(state) % 19) : 2));
    }
}

Test(binary_decoder, columns_give_the_block_that_lines_give, .timeout = 60)
{
    struct fixture fixture;
    uint64_t state = 11;

    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        add_random(&fixture, &shapes[i], &state);
        expect_same_as_lines(&fixture);
        cr_assert(fixture.batch.rows == 0);
    }
    fixture_release(&fixture);
}

Test(binary_decoder, an_empty_batch_has_no_rows)
{
    struct fixture fixture;

    fixture_init(&fixture);
    expect_same_as_lines(&fixture);
    fixture_release(&fixture);
}

Test(binary_decoder, a_day_that_is_left_out_follows_from_the_time)
{
    struct fixture fixture;
    uint64_t state = 5;

    fixture_init(&fixture);
    for (int i = 0; i < 500; i++) {
        bool is_given = next(&state) % 3 == 0;

        fixture_add(&fixture, click_of(next(&state) % 2 == 0 ? "r1" : "r2",
                                       is_given ? its_day : DAYBOOK_DAY_NONE,
                                       noon + (int64_t)(next(&state) % 3 - 1) * DAY_MS, "a", i, 2));
    }
    expect_same_as_lines(&fixture);
    fixture_release(&fixture);
}

Test(binary_decoder, a_day_may_be_one_away_from_its_time_at_both_ends_of_time)
{
    static const struct {
        int32_t day;
        int64_t time_ms;
    } table[] = {
        {-1, 0},
        {0, 0},
        {1, 0},
        {0, DAY_MS},
        {0, 2 * DAY_MS - 1},
        {DAY_MAX, TIME_MS_MAX},
        {DAY_MAX, TIME_MS_MAX - DAY_MS},
        {16037, 16036 * DAY_MS},
        {16037, 16039 * DAY_MS - 1},
    };
    struct fixture fixture;

    fixture_init(&fixture);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        fixture_add(&fixture, click_of("r", table[i].day, table[i].time_ms, "a", 1, 0));
    expect_same_as_lines(&fixture);
    fixture_release(&fixture);
}

/* ---- bad clicks ---- */

static struct daybook_click spoil(struct daybook_click click, uint64_t choice, const char *too_long)
{
    switch (choice) {
    case 0:
        return click_of("", click.day, click.time_ms, click.ad, 1, 0);
    case 1:
        return click_of(click.reseller, click.day, click.time_ms, "\xff", 1, 0);
    case 2:
        return click_of(click.reseller, click.day, click.time_ms, "a\tb", 1, 0);
    case 3:
        return click_of(too_long, click.day, click.time_ms, click.ad, 1, 0);
    case 4:
        return click_of(click.reseller, click.day + 2, click.time_ms, click.ad, 1, 0);
    case 5:
        return click_of(click.reseller, click.day, -1, click.ad, 1, 0);
    case 6:
        return click_of(click.reseller, click.day, TIME_MS_MAX + 1, click.ad, 1, 0);
    case 7:
        return click_of(click.reseller, DAYBOOK_DAY_NONE, INT64_MAX, click.ad, 1, 0);
    case 8:
        return click_of(click.reseller, click.day, click.time_ms, click.ad, -1, 2);
    case 9:
        return click_of(click.reseller, click.day, click.time_ms, click.ad,
                        INT64_C(1000000000000000000), 18);
    case 10:
        return click_of(click.reseller, INT32_MIN + 1, click.time_ms, click.ad, 1, 0);
    case 11:
        return click_of("#quoted \"id\", with a comma", click.day, click.time_ms, "\"", 1, 0);
    default:
        return click;
    }
}

Test(binary_decoder, each_bad_row_is_refused_as_its_line_would_be, .timeout = 60)
{
    struct fixture fixture;
    uint64_t state = 23;
    char *too_long = memory_zeroed(4098, 1);

    memset(too_long, 'x', 4097);
    fixture_init(&fixture);
    for (uint64_t kind = 0; kind < 12; kind++) {
        fixture_add(&fixture, spoil(click_of("r", its_day, noon, "ad", 5, 1), kind, too_long));
        fixture_add(&fixture, click_of("r", its_day, noon, "ad", 5, 1));
        expect_same_as_lines(&fixture);
    }
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 100; i++) {
            struct daybook_click good = click_of("reseller", its_day, noon, "ad", i, 2);

            fixture_add(&fixture, spoil(good, next(&state) % 60, too_long));
        }
        expect_same_as_lines(&fixture);
    }
    memory_free(too_long);
    fixture_release(&fixture);
}

/* The payload of a batch of `rows` equal rows of the strings `"xx…` and `"yy…`, of 4096 bytes each.
 * No row uses its second partition, so it is decoded row by row. */
static void long_batch(struct buffer *payload, uint32_t rows)
{
    static const uint32_t tables[] = {0, 0, 16037, 16038, 1};

    buffer_put_u64(payload, 1);
    buffer_put_u32(payload, rows);
    buffer_put_u32(payload, 2);
    buffer_put_u32(payload, 1);
    buffer_append(payload, "\0\0\0\0", 4);
    buffer_put_u64(payload, (uint64_t)noon);
    buffer_put_u64(payload, 100);
    buffer_put_u64(payload, 2);
    buffer_append(payload, tables, sizeof tables);
}

/* One check of each row's ids would take many seconds. */
Test(binary_decoder, long_ids_that_many_rows_have_are_checked_once, .timeout = 3)
{
    struct fixture fixture;
    struct buffer payload = {0};
    char id[RECORD_ID_MAX];

    fixture_init(&fixture);
    buffer_append(&payload, "\0\0\0\0\2\0\0\0\0\x10\0\x10", 12);
    for (int i = 0; i < 2; i++) {
        memset(id, 'x' + i, sizeof id);
        id[0] = '"';
        buffer_append(&payload, id, sizeof id);
    }
    cr_assert(binary_decoder_strings(fixture.decoder, buffer_view(&payload)) == 0);
    buffer_clear(&payload);
    long_batch(&payload, BLOCK_ROWS_MAX);
    cr_expect(decode(fixture.decoder, buffer_view(&payload), fixture.builder) == 0);
    cr_expect(fixture.builder->block->rows == BLOCK_ROWS_MAX);
    cr_expect(fixture.builder->block->partitions.count == 1);
    cr_expect(fixture.builder->ad->dictionary.count == 1);
    cr_expect(fixture.builder->rejects.count == 0);
    buffer_release(&payload);
    fixture_release(&fixture);
}

/* ---- batches that are joined ---- */

/* Join the clicks that were added as a batch to those before it; returns as binary_decoder_join. */
static int join(struct fixture *fixture, bool is_next)
{
    struct binary_batch batch;
    size_t size;
    uint8_t *payload;
    int rc;

    batch_write(fixture, 1);
    payload = batch_payload(fixture, fixture->decoder, &size);
    cr_assert(binary_decoder_read_batch(bytes_of(payload, size), &batch) == 0);
    cr_assert(binary_decoder_begin(fixture->decoder, &batch, is_next) == 0);
    rc = binary_decoder_join(fixture->decoder, &batch, fixture->builder);
    memory_free(payload);
    click_batch_clear(&fixture->batch);
    return rc;
}

static void expect_joined(struct fixture *fixture)
{
    parse_text(fixture);
    expect_same(fixture->builder, fixture->lines);
    row_builder_clear(fixture->builder);
    row_builder_clear(fixture->lines);
    buffer_clear(&fixture->text);
}

Test(binary_decoder, joined_batches_give_the_block_that_all_their_lines_give, .timeout = 60)
{
    static const struct shape joined[] = {
        {1, 1, 1, 1, 1, false},         {0, 1, 1, 1, 1, false},
        {1000, 10, 1, 200, 200, false}, {1000, 300, 3, 1000, 60000, true},
        {1000, 10, 1, 200, 200, true},  {2000, 1000, 30, 3000, 3000000000, false},
    };
    struct fixture fixture;
    uint64_t state = 17;

    fixture_init(&fixture);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 8; i++) {
            add_random(&fixture, &joined[next(&state) % (sizeof joined / sizeof *joined)], &state);
            cr_assert(join(&fixture, i > 0) == 1);
        }
        expect_joined(&fixture);
    }
    fixture_release(&fixture);
}

/* A bundle of one click; returns the size of its lines. */
static size_t begin_joined(struct fixture *fixture)
{
    fixture_add(fixture, click_of("r1", its_day, noon, "ad1", 5, 1));
    cr_expect(join(fixture, false) == 1);
    return fixture->text.size;
}

Test(binary_decoder, a_batch_with_a_doubtful_row_is_not_joined_and_those_before_it_stay)
{
    struct fixture fixture;
    size_t text_size;

    fixture_init(&fixture);
    text_size = begin_joined(&fixture);
    fixture_add(&fixture, click_of("r2", its_day, noon, "ad2", 5, 1));
    fixture_add(&fixture, click_of("r1", its_day, noon, "ad3", -5, 1));
    cr_expect(join(&fixture, true) == 0);
    fixture.text.size = text_size;
    expect_joined(&fixture);
    /* Its strings are in no block. */
    fixture_add(&fixture, click_of("r2", its_day, noon, "ad2", 5, 1));
    fixture_add(&fixture, click_of("r1", its_day, noon, "ad1", 5, 1));
    expect_same_as_lines(&fixture);
    fixture_release(&fixture);
}

Test(binary_decoder, what_came_before_the_dictionary_was_forgotten_is_not_joined_to)
{
    struct fixture fixture;
    size_t text_size;

    fixture_init(&fixture);
    text_size = begin_joined(&fixture);
    for (int i = 0; i < 2; i++) {
        fixture.writer.is_stale = i == 0;
        fixture_add(&fixture, click_of("r2", its_day, noon, "ad2", 5, 1));
        cr_expect(join(&fixture, true) == 0, "%d", i);
    }
    fixture.text.size = text_size;
    expect_joined(&fixture);
    fixture_add(&fixture, click_of("r2", its_day, noon, "ad2", 5, 1));
    cr_expect(join(&fixture, false) == 1);
    fixture_add(&fixture, click_of("r1", its_day, noon, "ad2", 5, 1));
    cr_expect(join(&fixture, true) == 1);
    expect_joined(&fixture);
    fixture_release(&fixture);
}

/* ---- content ---- */

static struct hash128 hash_of(struct fixture *fixture, struct binary_decoder *decoder)
{
    struct hash128_stream *stream = hash128_stream_new();
    struct binary_batch batch;
    struct hash128 hash;
    size_t size;
    uint8_t *payload = batch_payload(fixture, decoder, &size);

    cr_assert(binary_decoder_read_batch(bytes_of(payload, size), &batch) == 0);
    cr_assert(binary_decoder_begin(decoder, &batch, false) == 0);
    binary_decoder_hash(decoder, &batch, stream);
    hash = hash128_stream_digest(stream);
    hash128_stream_free(stream);
    memory_free(payload);
    return hash;
}

static bool hashes_equal(struct hash128 a, struct hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

Test(binary_decoder, a_batch_has_the_same_hash_on_every_connection_and_another_one_has_not)
{
    struct fixture fixture;
    struct binary_decoder *second = binary_decoder_new(99);
    struct click_batch other = {0};
    struct click_columns columns;
    struct daybook_click click = click_of("r9", its_day, noon, "ad9", 1, 0);
    struct hash128 first;
    size_t size;

    fixture_init(&fixture);
    fixture_add(&fixture, click_of("r1", its_day, noon, "ad1", 5, 1));
    fixture_add(&fixture, click_of("r2", its_day, noon + 1, "ad2", 7, 1));
    batch_write(&fixture, 1);
    first = hash_of(&fixture, fixture.decoder);

    cr_assert(frame_writer_hello(&fixture.writer) == 0);
    fixture.writer.out_size = 0;
    cr_assert(click_batch_add(&other, &click) == 0);
    columns = click_batch_columns(&other);
    cr_assert(frame_writer_batch(&fixture.writer, &columns, 1) == 0);
    memory_free(batch_payload(&fixture, second, &size));
    batch_write(&fixture, 2);
    cr_expect(hashes_equal(hash_of(&fixture, second), first), "other numbers of the strings");

    click = click_of("r2", its_day, noon + 1, "ad1", 7, 1);
    cr_assert(click_batch_add(&fixture.batch, &click) == 0);
    batch_write(&fixture, 2);
    cr_expect_not(hashes_equal(hash_of(&fixture, second), first), "a row more");
    click_batch_clear(&fixture.batch);
    fixture_add(&fixture, click_of("r1", its_day, noon, "ad1", 5, 1));
    fixture_add(&fixture, click_of("r2", its_day, noon + 1, "ad3", 7, 1));
    batch_write(&fixture, 2);
    cr_expect_not(hashes_equal(hash_of(&fixture, second), first), "another ad");
    click_batch_clear(&fixture.batch);
    fixture_add(&fixture, click_of("r1", its_day, noon, "ad1", 5, 1));
    fixture_add(&fixture, click_of("r2", its_day + 1, noon + 1, "ad2", 7, 1));
    batch_write(&fixture, 2);
    cr_expect_not(hashes_equal(hash_of(&fixture, second), first), "another day");
    click_batch_release(&other);
    binary_decoder_free(second);
    fixture_release(&fixture);
}

/* ---- the dictionary ---- */

static int strings(struct binary_decoder *decoder, const char *payload, size_t size)
{
    uint8_t *copy = memory_copy(payload, size);
    int rc = binary_decoder_strings(decoder, bytes_of(copy, size));

    memory_free(copy);
    return rc;
}

Test(binary_decoder, strings_are_sent_once_and_may_be_forgotten)
{
    struct binary_decoder *decoder = binary_decoder_new(1);

    cr_expect(strings(decoder, "\0\0\0\0\2\0\0\0\1\0\2\0abb", 15) == 0);
    cr_expect(strings(decoder, "\0\0\0\0\1\0\0\0\1\0a", 11) == ERROR_CORRUPT, "a again");
    cr_expect(strings(decoder, "\1\0\0\0\1\0\0\0\1\0a", 11) == 0, "a after forgetting");
    cr_expect(strings(decoder, "\0\0\0\0\1\0\0\0\0\0", 10) == 0, "an empty one");
    cr_expect(strings(decoder, "\2\0\0\0\0\0\0\0", 8) == ERROR_CORRUPT, "an unknown flag");
    cr_expect(strings(decoder, "\0\0\0\0\1\0\0\0\1\0", 10) == ERROR_CORRUPT, "cut");
    cr_expect(strings(decoder, "\0\0\0\0\0\0\0\0x", 9) == ERROR_CORRUPT, "more than it says");
    cr_expect(strings(decoder, "\0\0\0\0\xff\xff\xff\xff", 8) == ERROR_CORRUPT, "a count too high");
    binary_decoder_free(decoder);
}

Test(binary_decoder, a_full_dictionary_is_forgotten_by_the_writer_and_else_refused, .timeout = 60)
{
    struct fixture fixture;
    char ad[32];
    size_t size;

    fixture_init(&fixture);
    for (int batch = 0; batch < 6; batch++) {
        for (int i = 0; i < 50000; i++) {
            snprintf(ad, sizeof ad, "ad-%d-%d", batch, i);
            fixture_add(&fixture, click_of("r", its_day, noon, ad, 1, 0));
        }
        expect_same_as_lines(&fixture);
    }
    fixture.writer.out_size = 0;
    for (int i = 0; i <= WIRE_STRINGS_MAX; i++) {
        struct buffer payload = {0};
        int rc;

        snprintf(ad, sizeof ad, "more %d", i);
        size = strlen(ad);
        buffer_put_u32(&payload, i == 0 ? WIRE_STRINGS_FORGET : 0);
        buffer_put_u32(&payload, 1);
        buffer_put_u16(&payload, (uint16_t)size);
        buffer_append(&payload, ad, size);
        rc = binary_decoder_strings(fixture.decoder, buffer_view(&payload));
        cr_assert(rc == (i < WIRE_STRINGS_MAX ? 0 : ERROR_LIMIT), "%d: %d", i, rc);
        buffer_release(&payload);
    }
    fixture_release(&fixture);
}

/* ---- bytes that are no batch ---- */

/* A batch of three rows on the strings "r", "s", "a", "b"; put together by hand. */
static void small_batch(struct buffer *payload)
{
    static const uint32_t tables[] = {0, 1, 16037, 16037, 2, 3};
    static const uint8_t rest[] = {0, 1, 0, 0, 0, 1, 9, 8, 7, 5, 6, 7};

    buffer_put_u64(payload, 1);
    buffer_put_u32(payload, 3);
    buffer_put_u32(payload, 2);
    buffer_put_u32(payload, 2);
    buffer_append(payload, "\1\1\1\1", 4);
    buffer_put_u64(payload, (uint64_t)noon);
    buffer_put_u64(payload, 100);
    buffer_put_u64(payload, 2);
    buffer_append(payload, tables, sizeof tables);
    buffer_append(payload, rest, sizeof rest);
}

static struct binary_decoder *small_decoder(void)
{
    struct binary_decoder *decoder = binary_decoder_new(1);

    cr_assert(strings(decoder, "\0\0\0\0\4\0\0\0\1\0\1\0\1\0\1\0rsab", 20) == 0);
    return decoder;
}

static int decode_copy(struct binary_decoder *decoder, struct bytes payload,
                       struct row_builder *builder)
{
    uint8_t *copy = memory_copy(payload.data, payload.size);
    int rc = decode(decoder, bytes_of(copy, payload.size), builder);

    memory_free(copy);
    return rc;
}

Test(binary_decoder, what_cannot_be_a_batch_is_refused_whole)
{
    static const struct {
        const char *what;
        size_t offset;
        uint8_t byte;
        int rc;
    } table[] = {
        {"as it is", 0, 1, 0},
        {"a number past the sign", 7, 0x80, ERROR_CORRUPT},
        {"more rows than bytes", 8, 4, ERROR_CORRUPT},
        {"more rows than there may be", 10, 0xff, ERROR_LIMIT},
        {"a partition too many", 12, 3, ERROR_CORRUPT},
        {"more ads than rows", 16, 4, ERROR_CORRUPT},
        {"a width of 3", 22, 3, ERROR_CORRUPT},
        {"codes of 8 bytes", 20, 8, ERROR_CORRUPT},
        {"a scale of 19", 40, 19, ERROR_CORRUPT},
        {"a zero that is none", 41, 1, ERROR_CORRUPT},
        {"a string that was not sent", 48, 4, ERROR_CORRUPT},
        {"a partition twice", 52, 0, ERROR_CORRUPT},
        {"an ad twice", 68, 2, ERROR_CORRUPT},
        {"a partition code past the table", 72, 2, ERROR_CORRUPT},
        {"an ad code past the table", 75, 2, ERROR_CORRUPT},
        {"an entry without a row", 73, 0, 0},
        {"a day of no time", 57, 0x7f, 0},
    };
    struct fixture fixture;
    struct buffer payload = {0};

    fixture_init(&fixture);
    small_batch(&payload);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct binary_decoder *decoder = small_decoder();
        uint8_t old = payload.data[table[i].offset];

        payload.data[table[i].offset] = table[i].byte;
        row_builder_clear(fixture.builder);
        cr_expect(decode_copy(decoder, buffer_view(&payload), fixture.builder) == table[i].rc, "%s",
                  table[i].what);
        payload.data[table[i].offset] = old;
        binary_decoder_free(decoder);
    }
    buffer_put_u8(&payload, 0);
    struct binary_decoder *decoder = small_decoder();
    row_builder_clear(fixture.builder);
    cr_expect(decode_copy(decoder, buffer_view(&payload), fixture.builder) == ERROR_CORRUPT);
    binary_decoder_free(decoder);
    buffer_release(&payload);
    fixture_release(&fixture);
}

Test(binary_decoder, an_entry_without_a_row_is_no_reseller_and_no_ad)
{
    struct fixture fixture;
    struct buffer payload = {0};
    struct binary_decoder *decoder = small_decoder();

    fixture_init(&fixture);
    small_batch(&payload);
    payload.data[73] = 0;
    payload.data[77] = 0;
    cr_assert(decode_copy(decoder, buffer_view(&payload), fixture.builder) == 0);
    cr_expect(fixture.builder->block->rows == 3);
    cr_expect(fixture.builder->block->partitions.count == 1);
    cr_expect(block_column_at(fixture.builder->block, 4)->dictionary.count == 1);
    binary_decoder_free(decoder);
    buffer_release(&payload);
    fixture_release(&fixture);
}

Test(binary_decoder, a_batch_that_stands_for_too_much_text_is_too_large, .timeout = 60)
{
    struct fixture fixture;
    char *id = memory_zeroed(4001, 1);
    size_t size;
    uint8_t *payload;

    memset(id, 'x', 4000);
    fixture_init(&fixture);
    /* Each row is a day of its own, and each of these keys has the reseller's 4,000 bytes. */
    for (int i = 0; i < 10000; i++)
        fixture_add(&fixture, click_of(id, DAYBOOK_DAY_NONE, i * DAY_MS, "a", 1, 0));
    batch_write(&fixture, 1);
    payload = batch_payload(&fixture, fixture.decoder, &size);
    cr_expect(decode(fixture.decoder, bytes_of(payload, size), fixture.builder) == ERROR_LIMIT);
    memory_free(payload);
    memory_free(id);
    fixture_release(&fixture);
}

/* Whatever is decoded, consumers index it without a check. */
static void check_block(struct row_builder *builder)
{
    struct buffer serialized = {0};

    row_builder_finish(builder);
    for (uint32_t i = 0; i < builder->block->rows; i++)
        cr_assert(builder->block->partition_codes[i] < builder->block->partitions.count);
    block_serialize(builder->block, &serialized);
    buffer_release(&serialized);
    row_builder_clear(builder);
}

Test(binary_decoder, batches_cut_anywhere_and_flipped_in_any_bit_do_no_harm, .timeout = 60)
{
    struct fixture fixture;
    struct buffer payload = {0};
    struct binary_decoder *decoder = small_decoder();

    fixture_init(&fixture);
    small_batch(&payload);
    for (size_t size = 0; size < payload.size; size++) {
        cr_expect(decode_copy(decoder, bytes_of(payload.data, size), fixture.builder) != 0, "%zu",
                  size);
        row_builder_clear(fixture.builder);
    }
    for (size_t bit = 0; bit < payload.size * 8; bit++) {
        payload.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (decode_copy(decoder, buffer_view(&payload), fixture.builder) == 0)
            check_block(fixture.builder);
        row_builder_clear(fixture.builder);
        payload.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    binary_decoder_free(decoder);
    buffer_release(&payload);
    fixture_release(&fixture);
}
