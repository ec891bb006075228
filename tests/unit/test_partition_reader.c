/* test_partition_reader: many small partitions lie in one page, and are read without decoding it
 * for each of them; what is read stays what was written, beside merges, deletions and new columns.
 */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>

#include "tests/lib/engine_fixture.h"

enum { RESELLERS = 40, DAYS = 5, PARTITIONS = RESELLERS * DAYS, CLICKS = 4 * PARTITIONS };

/* ---- a disk that counts reads ---- */

static atomic_uint disk_reads;
static int64_t (*disk_read)(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                            size_t size);

static int64_t counting_read(struct disk *disk, struct disk_file *file, uint64_t offset, void *to,
                             size_t size)
{
    atomic_fetch_add(&disk_reads, 1);
    return disk_read(disk, file, offset, to, size);
}

static void count_reads(struct engine_fixture *fixture)
{
    disk_read = fixture->world->disk->read;
    fixture->world->disk->read = counting_read;
}

/* ---- clicks ---- */

static void name_partition(uint32_t partition, char reseller[16], char day[16])
{
    snprintf(reseller, 16, "r%u", partition / DAYS);
    snprintf(day, 16, "2013-11-0%u", 1 + partition % DAYS);
}

/* A few clicks of each partition, `from_ms` into its day. */
static void send(struct engine_fixture *fixture, int64_t from_ms)
{
    static struct click clicks[CLICKS];
    static char resellers[PARTITIONS][16], days[PARTITIONS][16], ads[CLICKS][16];
    for (uint32_t i = 0; i < CLICKS; i++) {
        uint32_t partition = i % PARTITIONS;
        name_partition(partition, resellers[partition], days[partition]);
        snprintf(ads[i], sizeof ads[i], "ad-%u", i * 7 % 300);
        clicks[i] = (struct click){resellers[partition], days[partition],
                                   1383264000000 + from_ms + i, ads[i], "0.01"};
    }
    cr_assert_eq(engine_fixture_clicks(fixture, clicks, CLICKS), 0);
}

/* All partitions, read one by one in the order of their names. */
static struct buffer read_all(struct engine_fixture *fixture)
{
    struct buffer all = {0};
    struct buffer key = {0};
    for (uint32_t i = 0; i < PARTITIONS; i++) {
        char reseller[16], day[16];
        name_partition(i, reseller, day);
        buffer_clear(&key);
        engine_fixture_key(&key, reseller, day);
        struct buffer rows =
            engine_fixture_rows(fixture, TABLE_AD_CLICK, buffer_view(&key), 3, false);
        buffer_append_text(&all, (const char *)rows.data);
        buffer_release(&rows);
    }
    buffer_release(&key);
    return all;
}

static void expect_all(struct engine_fixture *fixture, const struct buffer *expected,
                       uint32_t reads_max)
{
    atomic_store(&disk_reads, 0);
    struct buffer all = read_all(fixture);
    cr_assert(bytes_equal(buffer_view(&all), buffer_view(expected)));
    cr_expect_leq(atomic_load(&disk_reads), reads_max, "%u reads", atomic_load(&disk_reads));
    buffer_release(&all);
}

static void delete_day(struct engine_fixture *fixture, uint32_t partition)
{
    struct write_batch *batch = write_batch_new();
    const struct table *table = schema_table(store_schema(fixture->store), TABLE_AD_CLICK);
    char reseller[16], day[16];
    name_partition(partition, reseller, day);
    struct column_value values[] = {{AD_CLICK_RESELLER_ID, false, bytes_text(reseller)},
                                    {AD_CLICK_DAY, false, bytes_text(day)}};
    write_batch_delete(batch, table, values, 2);
    cr_assert_eq(engine_fixture_apply(fixture, batch), 0);
    write_batch_free(batch);
}

Test(partition_reader, small_partitions_in_a_page_are_read_by_decoding_it_once)
{
    enum { PAGES = 2 }; /* one of rows, and one of the dictionary */
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    send(&fixture, 0);
    struct buffer expected = read_all(&fixture);
    engine_fixture_flush(&fixture);
    count_reads(&fixture);
    expect_all(&fixture, &expected, PAGES);
    expect_all(&fixture, &expected, 0);
    atomic_store(&disk_reads, 0);
    struct buffer scanned =
        engine_fixture_rows(&fixture, TABLE_AD_CLICK, (struct bytes){0}, 3, false);
    cr_expect_eq(scanned.size, expected.size + 1);
    cr_expect_eq(atomic_load(&disk_reads), 0);
    buffer_release(&scanned);
    buffer_release(&expected);
    engine_fixture_stop(&fixture);
}

Test(partition_reader, pages_that_readers_left_are_of_the_segments_that_live)
{
    enum { RUNS = 3, READS_MAX = 2 * RUNS };
    struct engine_fixture fixture = {0};
    engine_fixture_start(&fixture);
    count_reads(&fixture);
    for (int64_t run = 0; run < RUNS; run++) {
        send(&fixture, run * 3600000);
        struct buffer expected = read_all(&fixture);
        engine_fixture_flush(&fixture);
        expect_all(&fixture, &expected, READS_MAX);
        buffer_release(&expected);
    }
    for (uint32_t i = 0; i < PARTITIONS; i += 3)
        delete_day(&fixture, i);
    struct buffer expected = read_all(&fixture);
    engine_fixture_compact(&fixture);
    expect_all(&fixture, &expected, READS_MAX);
    send(&fixture, RUNS * 3600000);
    delete_day(&fixture, 1);
    struct buffer later = read_all(&fixture);
    engine_fixture_restart(&fixture);
    expect_all(&fixture, &later, UINT32_MAX);
    buffer_release(&later);
    buffer_release(&expected);
    engine_fixture_stop(&fixture);
}
