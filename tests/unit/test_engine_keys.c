/* test_engine_keys: several partitions read at once are what they are one by one, each in its
 * slice, in pages of any size, wherever their rows lie; and of rows that share their first
 * clustering value one alone is the first of them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/murmur3.h"
#include "storage/engine/engine.h"
#include "tests/lib/engine_fixture.h"

enum { PARTITIONS = 60, ROWS = 30, ROUNDS = 6, WRITES = 120, READS = 25 };

static uint32_t below(uint64_t *state, uint32_t limit)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33) % limit;
}

struct partition {
    char name[16];
    int64_t token;
};

static int compare_partitions(const void *a, const void *b)
{
    int64_t left = ((const struct partition *)a)->token;
    int64_t right = ((const struct partition *)b)->token;
    return (left > right) - (left < right);
}

/* In the order in which they are stored. */
static void name_partitions(struct partition partitions[PARTITIONS])
{
    for (int i = 0; i < PARTITIONS; i++) {
        int size = snprintf(partitions[i].name, sizeof(partitions[i].name), "p%d", i);
        partitions[i].token = murmur3_token(partitions[i].name, (size_t)size);
    }
    qsort(partitions, PARTITIONS, sizeof(*partitions), compare_partitions);
}

static void day_text(uint32_t row, char text[16])
{
    snprintf(text, 16, "2013-01-%02u", row + 1);
}

/* Rates set and deleted; the last third of the partitions stays empty. */
static void write_at_random(struct engine_fixture *fixture,
                            const struct partition partitions[PARTITIONS], uint64_t *state)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_RESELLER);
    for (int i = 0; i < WRITES; i++) {
        char day[16];
        day_text(below(state, ROWS), day);
        struct column_value values[] = {
            {RESELLER_ID, false, bytes_text(partitions[below(state, PARTITIONS * 2 / 3)].name)},
            {RESELLER_EFFECTIVE_SINCE, false, bytes_text(day)},
            {RESELLER_REWARD_PERCENT, false,
             write_batch_decimal(batch, decimal_from(below(state, 100), 2))},
        };
        if (below(state, 4) == 0)
            write_batch_delete(batch, table, values, 2);
        else
            write_batch_insert(batch, table, values, 3);
    }
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

/* Days descend in the table. */
static struct slice slice_at_random(uint64_t *state, char from[16], char to[16])
{
    struct slice slice = stream_slice_all();
    uint32_t first = below(state, ROWS);
    day_text(first, from);
    day_text(first + below(state, ROWS - first), to);
    if (below(state, 3) == 0)
        return slice;
    slice.start.prefix = (struct clustering){1, {bytes_text(to)}};
    slice.end.prefix = (struct clustering){1, {bytes_text(from)}};
    return slice;
}

static struct buffer rows_of(struct engine_fixture *fixture, const struct read_request *request)
{
    struct buffer text = {0};
    struct error err = {0};
    cr_assert_eq(engine_fixture_try_rows(fixture, request, &text, &err), 0, "%s", err.text);
    return text;
}

static void expect_alike(struct engine_fixture *fixture,
                         const struct partition partitions[PARTITIONS], uint64_t *state)
{
    static char from[16], to[16];
    struct bytes keys[PARTITIONS];
    struct buffer wanted = {0};
    struct read_request one = {.table_id = TABLE_RESELLER, .row_limit = 100};
    uint32_t count = 0;
    one.slice = slice_at_random(state, from, to);
    one.slice.reversed = below(state, 2) == 0;
    for (int i = 0; i < PARTITIONS; i++) {
        if (below(state, 3) == 0)
            continue;
        keys[count] = bytes_text(partitions[i].name);
        one.key = keys[count++];
        struct buffer rows = rows_of(fixture, &one);
        buffer_append_bytes(&wanted, buffer_view(&rows));
        buffer_release(&rows);
    }
    struct read_request many = {.table_id = TABLE_RESELLER,
                                .keys = keys,
                                .key_count = count,
                                .slice = one.slice,
                                .row_limit = 1 + below(state, 40)};
    struct buffer rows = rows_of(fixture, &many);
    cr_assert(bytes_equal(buffer_view(&rows), buffer_view(&wanted)), "%.*s\nbut alone\n%.*s",
              (int)rows.size, (char *)rows.data, (int)wanted.size, (char *)wanted.data);
    buffer_release(&rows);
    buffer_release(&wanted);
}

Test(engine_keys, partitions_read_at_once_are_what_they_are_one_by_one)
{
    struct engine_fixture fixture = {0};
    struct partition partitions[PARTITIONS];
    uint64_t state = 1;
    name_partitions(partitions);
    engine_fixture_start(&fixture);
    for (int round = 0; round < ROUNDS; round++) {
        write_at_random(&fixture, partitions, &state);
        for (int i = 0; i < READS; i++)
            expect_alike(&fixture, partitions, &state);
        if (round % 2 == 0)
            engine_fixture_flush(&fixture);
        if (round == ROUNDS / 2)
            engine_fixture_restart(&fixture);
    }
    engine_fixture_compact(&fixture);
    expect_alike(&fixture, partitions, &state);
    engine_fixture_stop(&fixture);
}

/* Slices of single partitions and of the whole table, in pages of any size. */
static struct buffer read_at_random(struct engine_fixture *fixture,
                                    const struct partition partitions[PARTITIONS], uint64_t state)
{
    static char from[16], to[16];
    struct buffer text = {0};
    for (int i = 0; i < 4 * READS; i++) {
        struct read_request request = {.table_id = TABLE_RESELLER,
                                       .key =
                                           bytes_text(partitions[below(&state, PARTITIONS)].name),
                                       .is_scan = below(&state, 4) == 0,
                                       .slice = slice_at_random(&state, from, to),
                                       .row_limit = 1 + below(&state, 40)};
        request.slice.reversed = below(&state, 2) == 0;
        struct buffer rows = rows_of(fixture, &request);
        buffer_append_bytes(&text, buffer_view(&rows));
        buffer_release(&rows);
    }
    return text;
}

/* A page of the open memtable alone is made without a capture, one of the disk by another way. */
Test(engine_keys, what_is_in_memory_alone_is_read_as_from_the_disk)
{
    struct engine_fixture fixture = {0};
    struct partition partitions[PARTITIONS];
    uint64_t state = 2;
    name_partitions(partitions);
    engine_fixture_start(&fixture);
    for (int round = 0; round < ROUNDS; round++)
        write_at_random(&fixture, partitions, &state);
    struct buffer memory = read_at_random(&fixture, partitions, state);
    engine_fixture_flush(&fixture);
    struct buffer disk = read_at_random(&fixture, partitions, state);
    cr_assert_gt(memory.size, 1000);
    cr_assert(bytes_equal(buffer_view(&memory), buffer_view(&disk)),
              "%.*s\nbut from the disk\n%.*s", (int)memory.size, (char *)memory.data,
              (int)disk.size, (char *)disk.data);
    buffer_release(&memory);
    buffer_release(&disk);
    engine_fixture_stop(&fixture);
}

/* ---- one of each ---- */

enum { ENTRY_DAYS = 6, ENTRY_PARTITIONS = 4, LATER_US = 30000, TABLE_ENTRY = 1000 };

/* As the ledger has them, in a table to which clients may write at times of their own. */
static void create_entries(struct engine_fixture *fixture)
{
    static const struct column_definition columns[] = {
        {0, "reseller", "text", COLUMN_PARTITION, false},
        {0, "day", "text", COLUMN_CLUSTERING, false},
        {0, "seq", "bigint", COLUMN_CLUSTERING, false},
        {0, "clicks", "bigint", COLUMN_REGULAR, false},
    };
    const struct table_definition definition = {
        .keyspace = "daybook", .name = "entry", .columns = columns, .column_count = 4};
    engine_fixture_create_table(fixture, &definition);
}

/* A whole day of entries deleted, by the time of the server or by a later one, which deletes for a
 * while what comes afterwards, too. */
static void delete_day(struct engine_fixture *fixture, struct write_batch *batch,
                       const struct partition *partition, const char *day, uint64_t *state)
{
    int64_t now_us = store_now_us(fixture->store);
    int64_t later_us = now_us + below(state, LATER_US);
    struct deletion deletion = {below(state, 2) == 0 ? TIMESTAMP_SERVER : later_us,
                                now_us / 1000000};
    struct clustering prefix = {.count = 1, .values = {arena_copy(batch->arena, bytes_text(day))}};
    struct unfiltered *items = arena_alloc(batch->arena, 2 * sizeof *items, 16);
    items[0] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                   .bound = {prefix, BOUND_BEFORE},
                                   .before = DELETION_NONE,
                                   .after = deletion};
    items[1] = (struct unfiltered){.kind = UNFILTERED_BOUND,
                                   .bound = {prefix, BOUND_AFTER},
                                   .before = deletion,
                                   .after = DELETION_NONE};
    struct mutation mutation = {.table_id = TABLE_ENTRY,
                                .token = partition->token,
                                .key = arena_copy(batch->arena, bytes_text(partition->name)),
                                .deletion = DELETION_NONE,
                                .items = items,
                                .item_count = 2};
    write_batch_add_mutation(batch, &mutation);
}

/* Entries of the ledger, of each day up to so many; some are deleted again, mostly the last ones.
 */
static void write_entries(struct engine_fixture *fixture,
                          const struct partition partitions[PARTITIONS], uint32_t entries,
                          uint64_t *state)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_ENTRY);
    for (uint32_t i = 0; i < 10 * entries; i++) {
        const struct partition *partition = &partitions[below(state, ENTRY_PARTITIONS)];
        char day[16];
        uint32_t number = below(state, entries);
        day_text(below(state, ENTRY_DAYS), day);
        const struct column_value values[] = {
            {table->columns[0].id, false, bytes_text(partition->name)},
            {table->columns[1].id, false, bytes_text(day)},
            {table->columns[2].id, false, write_batch_bigint(batch, number)},
            {table->columns[3].id, false, write_batch_bigint(batch, below(state, 100))},
        };
        if (below(state, 2 * entries) == 0)
            write_batch_delete(batch, table, values, 1);
        else if (below(state, entries) == 0)
            delete_day(fixture, batch, partition, day, state);
        else if (below(state, entries) < number / 2)
            write_batch_delete(batch, table, values, 3);
        else
            write_batch_insert(batch, table, values, 4);
    }
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

/* Of lines "partition|day|..." those whose partition and day the line before has not. */
static void append_first_lines(struct buffer *text, const struct buffer *lines)
{
    struct bytes last = {0};
    for (size_t at = 0; at < lines->size;) {
        const uint8_t *line = lines->data + at;
        const uint8_t *end = memchr(line, '\n', lines->size - at);
        const uint8_t *bar = memchr(line, '|', lines->size - at);
        const uint8_t *second = memchr(bar + 1, '|', lines->size - at - (size_t)(bar + 1 - line));
        struct bytes group = bytes_of(line, (size_t)(second - line));
        if (!bytes_equal(group, last))
            buffer_append_bytes(text, bytes_of(line, (size_t)(end + 1 - line)));
        last = group;
        at += (size_t)(end + 1 - line);
    }
}

static void expect_one_of_each(struct engine_fixture *fixture,
                               const struct partition partitions[PARTITIONS], uint64_t *state)
{
    struct bytes keys[ENTRY_PARTITIONS];
    struct buffer wanted = {0};
    struct read_request request = {.table_id = TABLE_ENTRY,
                                   .keys = keys,
                                   .slice = stream_slice_all(),
                                   .row_limit = 1 + below(state, 30),
                                   .is_scan = below(state, 4) == 0};
    request.slice.reversed = below(state, 2) == 0;
    for (uint32_t i = 0; i < ENTRY_PARTITIONS; i++)
        if (!request.is_scan && (below(state, 3) > 0 || (i == 3 && request.key_count == 0)))
            keys[request.key_count++] = bytes_text(partitions[i].name);
    struct buffer all = rows_of(fixture, &request);
    append_first_lines(&wanted, &all);
    request.one_of_each = true;
    struct buffer rows = rows_of(fixture, &request);
    cr_assert(bytes_equal(buffer_view(&rows), buffer_view(&wanted)), "%.*s\nbut of all\n%.*s",
              (int)rows.size, (char *)rows.data, (int)wanted.size, (char *)wanted.data);
    buffer_release(&all);
    buffer_release(&rows);
    buffer_release(&wanted);
}

static void count_flush(void *context, int status, const struct error *err)
{
    (void)err;
    cr_assert_eq(status, 0);
    ++*(int *)context;
}

/* A read that comes next finds a memtable that is frozen and not yet a segment. */
static void begin_flush(struct engine_fixture *fixture, int *ended)
{
    struct error err = {0};
    cr_assert_eq(engine_flush(fixture->store, count_flush, ended, &err), 0);
}

static void expect_one_of_each_of(uint32_t entries, uint64_t state)
{
    int flushes_ended = 0;
    struct engine_fixture fixture = {0};
    struct partition partitions[PARTITIONS];
    name_partitions(partitions);
    engine_fixture_start(&fixture);
    create_entries(&fixture);
    for (int round = 0; round < ROUNDS; round++) {
        write_entries(&fixture, partitions, entries, &state);
        for (int i = 0; i < READS; i++) {
            if (i % 8 == 0) {
                begin_flush(&fixture, &flushes_ended);
                write_entries(&fixture, partitions, entries, &state);
            }
            expect_one_of_each(&fixture, partitions, &state);
        }
        if (round % 3 == 2)
            engine_fixture_flush(&fixture);
    }
    engine_fixture_compact(&fixture);
    expect_one_of_each(&fixture, partitions, &state);
    cr_assert_gt(flushes_ended, 0);
    engine_fixture_stop(&fixture);
}

Test(engine_keys, one_of_each_is_the_first_live_row_of_its_value_in_pages_of_any_size)
{
    expect_one_of_each_of(12, 3);
}

/* Where many rows have the same value, those that nobody wants are passed over at once. */
Test(engine_keys, one_of_each_of_very_many_is_the_first_of_them_too)
{
    for (uint64_t state = 4; state < 8; state++)
        expect_one_of_each_of(150, state);
}

/* More deleted rows in memory than a page may step over: the memtable is frozen and read as a run.
 */
Test(engine_keys, a_partition_of_very_many_deleted_rows_in_memory_is_read_to_its_end)
{
    enum { DELETED = 25000 };
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture.store), TABLE_RESELLER);
    for (int i = 0; i <= DELETED; i++) {
        char day[16];
        snprintf(day, sizeof(day), "%06d", i);
        struct column_value values[] = {
            {RESELLER_ID, false, bytes_text("r")},
            {RESELLER_EFFECTIVE_SINCE, false, bytes_text(day)},
            {RESELLER_REWARD_PERCENT, false, write_batch_decimal(batch, decimal_from(1, 2))},
        };
        if (i > 0)
            write_batch_delete(batch, table, values, 2);
        else
            write_batch_insert(batch, table, values, 3);
    }
    cr_assert_eq(engine_fixture_apply(&fixture, batch), 0);
    write_batch_free(batch);
    /* Days descend: the one that is left is the last. */
    for (int is_scan = 0; is_scan < 2; is_scan++) {
        struct read_request request = {.table_id = TABLE_RESELLER,
                                       .key = bytes_text("r"),
                                       .is_scan = is_scan != 0,
                                       .slice = stream_slice_all(),
                                       .row_limit = 10};
        struct buffer rows = rows_of(&fixture, &request);
        buffer_put_u8(&rows, 0);
        cr_assert_neq(strstr((const char *)rows.data, "000000"), NULL);
        cr_assert_eq(strstr((const char *)rows.data, "000001"), NULL);
        buffer_release(&rows);
    }
    engine_fixture_stop(&fixture);
}

static void expect_refused(struct engine_fixture *fixture, const struct read_request *request)
{
    struct buffer text = {0};
    struct error err = {0};
    cr_assert_eq(engine_fixture_try_rows(fixture, request, &text, &err), ERROR_INVALID);
    buffer_release(&text);
}

Test(engine_keys, keys_out_of_order_or_too_many_or_of_clicks_are_refused)
{
    struct engine_fixture fixture = {0};
    struct partition partitions[PARTITIONS];
    struct bytes keys[READ_KEYS_MAX + 1];
    name_partitions(partitions);
    for (int i = 0; i <= READ_KEYS_MAX; i++)
        keys[i] = bytes_text(partitions[i % PARTITIONS].name);
    struct read_request request = {.table_id = TABLE_RESELLER,
                                   .keys = keys,
                                   .key_count = READ_KEYS_MAX + 1,
                                   .slice = stream_slice_all(),
                                   .row_limit = 10};
    engine_fixture_start(&fixture);
    expect_refused(&fixture, &request);
    request.key_count = 2;
    struct buffer rows = rows_of(&fixture, &request);
    buffer_release(&rows);
    request.table_id = TABLE_AD_CLICK;
    expect_refused(&fixture, &request);
    request.table_id = TABLE_RESELLER;
    keys[1] = keys[0];
    expect_refused(&fixture, &request);
    keys[0] = bytes_text(partitions[1].name);
    keys[1] = bytes_text(partitions[0].name);
    expect_refused(&fixture, &request);
    engine_fixture_stop(&fixture);
}
