/* test_seal: rows of sealed days: what was written is read back, and what is damaged is told. */
#include "rollup/days/seal.h"

#include <criterion/criterion.h>

#include "rollup/days/dirty.h"
#include "storage/engine/store_rows.h"
#include "tests/lib/rollup_fixture.h"

static struct partition_stats some_stats(void)
{
    struct partition_stats stats = {0};
    stats_add_row(&stats, 1385605012000);
    stats_add_value(&stats, 5, 3);
    stats_add_row(&stats, 1385605013000);
    stats_add_value(&stats, 75, 4);
    return stats;
}

/* A timeuuid: the store takes no other id. */
static const uint8_t seal_id[UUID_SIZE] = {7, [6] = 0x10, [8] = 0x80};

/* One seal of r's 2013-11-28 and its only ad, written as the rollup does. */
static void put(struct rollup_fixture *fixture, struct buffer *key)
{
    const struct schema *schema = store_schema(fixture->store);
    struct write_batch *batch = write_batch_new();
    dirty_put_key(key, bytes_text("r"), 16037);
    struct seal seal = {.key = buffer_view(key), .stats = some_stats(), .ads = 1};
    struct sealed_ad ad = {
        .key = seal.key, .ad = bytes_text("ad42"), .clicks = 2, .gross = decimal_from(125, 4)};
    memcpy(seal.id, seal_id, UUID_SIZE);
    memcpy(ad.id, seal_id, UUID_SIZE);
    seal_write(batch, schema_table(schema, TABLE_SEALED_DAY), &seal);
    seal_write_ad(batch, schema_table(schema, TABLE_SEALED_AD), &ad);
    cr_assert_eq(rollup_fixture_apply(fixture, batch), 0);
    stats_release(&seal.stats);
    write_batch_free(batch);
}

struct reading {
    bool done;
    uint32_t rows;
};

static void reading_done(void *context, int status, const struct error *err)
{
    struct reading *reading = context;
    cr_assert_eq(status, 0, "%s", err != NULL ? err->text : "");
    reading->done = true;
}

static void read_all(struct rollup_fixture *fixture, uint32_t table_id, store_rows_each each)
{
    struct reading reading = {0};
    const struct read_request request = store_rows_request(table_id, NULL, READ_DURABLE);
    store_rows_read(fixture->store, &request, each, reading_done, &reading);
    rollup_fixture_step_until(fixture, &reading.done);
    cr_assert_eq(reading.rows, 1);
}

/* Each bit of each cell in turn: what is not told by its form is told by the checksum. */
static void flip_cells(const struct table *table, const struct page_row *row,
                       int (*reads)(const struct table *table, const struct page_row *row))
{
    struct cell cells[8];
    uint8_t flipped[256];
    cr_assert(row->row.cell_count <= 8);
    for (uint32_t i = 0; i < row->row.cell_count; i++) {
        struct bytes value = row->row.cells[i].value;
        struct page_row damaged = *row;
        cr_assert(value.size <= sizeof(flipped));
        memcpy(cells, row->row.cells, row->row.cell_count * sizeof(struct cell));
        damaged.row.cells = cells;
        for (size_t bit = 0; bit < value.size * 8; bit++) {
            memcpy(flipped, value.data, value.size);
            flipped[bit / 8] ^= (uint8_t)(1u << bit % 8);
            cells[i].value = bytes_of(flipped, value.size);
            cr_assert_eq(reads(table, &damaged), ERROR_CORRUPT, "cell %u, bit %zu", i, bit);
        }
        for (size_t size = 0; size < value.size; size++) {
            cells[i].value = bytes_of(value.data, size);
            cr_assert_eq(reads(table, &damaged), ERROR_CORRUPT, "cell %u, size %zu", i, size);
        }
    }
}

static int reads_seal(const struct table *table, const struct page_row *row)
{
    struct seal seal;
    struct error err = {0};
    return seal_read(table, row, &seal, &err);
}

static int reads_ad(const struct table *table, const struct page_row *row)
{
    struct sealed_ad ad;
    struct error err = {0};
    return seal_read_ad(table, row, &ad, &err);
}

static int check_seal(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct partition_stats expected = some_stats();
    struct seal seal;
    ((struct reading *)context)->rows++;
    cr_assert_eq(seal_read(table, row, &seal, err), 0, "%s", err->text);
    cr_assert(stats_equal(&seal.stats, &expected));
    cr_assert(seal.ads == 1 && memcmp(seal.id, seal_id, UUID_SIZE) == 0);
    stats_release(&seal.stats);
    stats_release(&expected);
    flip_cells(table, row, reads_seal);
    return 0;
}

static int check_ad(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct sealed_ad ad;
    ((struct reading *)context)->rows++;
    cr_assert_eq(seal_read_ad(table, row, &ad, err), 0, "%s", err->text);
    cr_assert(bytes_equal(ad.ad, bytes_text("ad42")) && ad.clicks == 2 &&
              memcmp(ad.id, seal_id, UUID_SIZE) == 0);
    cr_assert(ad.gross.scale == 4 && decimal_compare(ad.gross, decimal_from(125, 4)) == 0);
    flip_cells(table, row, reads_ad);
    return 0;
}

Test(seal, rows_are_read_back_and_every_damaged_bit_is_told)
{
    struct rollup_fixture fixture = {0};
    struct buffer key = {0};
    rollup_fixture_start(&fixture);
    put(&fixture, &key);
    read_all(&fixture, TABLE_SEALED_DAY, check_seal);
    read_all(&fixture, TABLE_SEALED_AD, check_ad);
    buffer_release(&key);
    rollup_fixture_stop(&fixture);
}

static int moved_seal(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct buffer key = {0};
    struct page_row moved = *row;
    struct seal seal;
    ((struct reading *)context)->rows++;
    dirty_put_key(&key, bytes_text("r"), 16038);
    moved.key = buffer_view(&key);
    cr_assert_eq(seal_read(table, &moved, &seal, err), ERROR_CORRUPT);
    cr_assert_str_eq(err->text, "table sealed_day, r 2013-11-29: the seal is damaged");
    buffer_release(&key);
    return 0;
}

Test(seal, a_row_that_stands_under_another_day_is_damaged)
{
    struct rollup_fixture fixture = {0};
    struct buffer key = {0};
    rollup_fixture_start(&fixture);
    put(&fixture, &key);
    read_all(&fixture, TABLE_SEALED_DAY, moved_seal);
    buffer_release(&key);
    rollup_fixture_stop(&fixture);
}
