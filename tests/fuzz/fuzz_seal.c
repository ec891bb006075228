/* fuzz_seal: rows of sealed_day and sealed_ad: refused, or written again as they were read.
 *
 * Input: a byte (odd: sealed_ad, even: sealed_day), then a row (fuzz.h).  Its checksum is not
 * looked at (open_checksum.c), but must be that of this program. */
#include "rollup/days/seal.h"
#include "tests/fuzz/fuzz.h"

/* What is left of a key that is none is an error's text. */
static bool is_key(struct bytes key)
{
    struct bytes part;
    return type_key_component(key, 2, 0, &part) == 0 && type_key_component(key, 2, 1, &part) == 0;
}

static void check_seal(const struct table *table, const struct page_row *row,
                       struct write_batch *batch)
{
    struct seal seal, again;
    struct error err = {0};
    int rc = seal_read(table, row, &seal, &err);
    check((rc == 0) == (err.text[0] == '\0'));
    if (rc == 0 && is_key(row->key)) {
        seal_write(batch, table, &seal);
        struct page_row written = fuzz_row_of(batch, 0);
        check(seal_read(table, &written, &again, NULL) == 0);
        check(bytes_equal(seal.key, again.key) && memcmp(seal.id, again.id, UUID_SIZE) == 0);
        check(seal.ads == again.ads && stats_equal(&seal.stats, &again.stats));
        stats_release(&again.stats);
    }
    stats_release(&seal.stats);
}

static void check_ad(const struct table *table, const struct page_row *row,
                     struct write_batch *batch)
{
    struct sealed_ad ad, again;
    struct error err = {0};
    int rc = seal_read_ad(table, row, &ad, &err);
    check((rc == 0) == (err.text[0] == '\0'));
    if (rc == 0 && is_key(row->key)) {
        seal_write_ad(batch, table, &ad);
        struct page_row written = fuzz_row_of(batch, 0);
        check(seal_read_ad(table, &written, &again, NULL) == 0);
        check(bytes_equal(ad.key, again.key) && memcmp(ad.id, again.id, UUID_SIZE) == 0);
        check(bytes_equal(ad.ad, again.ad) && ad.clicks == again.clicks);
        check(ad.gross.scale == again.gross.scale && decimal_compare(ad.gross, again.gross) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = bytes_of(data, size);
    bool is_ad = fuzz_take_byte(&input) % 2 == 1;
    const struct table *table =
        schema_table(fuzz_schema(), is_ad ? TABLE_SEALED_AD : TABLE_SEALED_DAY);
    struct write_batch *batch = write_batch_new();
    const struct page_row row = fuzz_take_row(&input, table, batch->arena);
    if (is_ad)
        check_ad(table, &row, batch);
    else
        check_seal(table, &row, batch);
    write_batch_free(batch);
    return 0;
}
