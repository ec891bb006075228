/* seal: see the header.
 *
 * What decides correctness: a row has the day and the id of its seal, and its checksum covers both.
 * So a row that is damaged, or that is in the place of another row, is detected.
 *
 *     sealed_day   CRC-32C of    key | id | stats | ads
 *     sealed_ad    CRC-32C of    key | id | clicks | gross | ad
 *
 * key is the partition key as the store has it.  id has 16 bytes.  clicks and ads have 8 bytes
 * each, big-endian.  stats, gross and ad are the values of these columns as they are in the row. */
#include "rollup/days/seal.h"

#include "storage/engine/store_rows.h"
#include "base/crc32c.h"
#include "base/memory.h"

/* ---- checksums ---- */

static int64_t checksum_of(struct bytes key, const uint8_t id[UUID_SIZE], struct bytes first,
                           struct bytes second, struct bytes third)
{
    uint32_t sum = crc32c(0, key.data, key.size);
    sum = crc32c(sum, id, UUID_SIZE);
    sum = crc32c(sum, first.data, first.size);
    sum = crc32c(sum, second.data, second.size);
    return crc32c(sum, third.data, third.size);
}

static int corrupt(const struct table *table, struct bytes key, struct bytes ad, struct error *err)
{
    struct bytes reseller = {0};
    struct bytes day = {0};
    if (type_key_component(key, 2, 0, &reseller) != 0 || type_key_component(key, 2, 1, &day) != 0)
        return error_set(err, ERROR_CORRUPT, "table %s: a key that is none", table->name);
    return error_set(err, ERROR_CORRUPT, "table %s, %.*s %.*s%s%.*s: the seal is damaged",
                     table->name, (int)(reseller.size < 100 ? reseller.size : 100),
                     (const char *)reseller.data, (int)day.size, (const char *)day.data,
                     ad.size > 0 ? " ad " : "", (int)(ad.size < 100 ? ad.size : 100),
                     (const char *)ad.data);
}

/* Read a column of 8 bytes; false: it is missing, of another size, or negative. */
static bool read_count(const struct table *table, const struct page_row *row, uint32_t column_id,
                       struct bytes *value_out, uint64_t *count_out)
{
    if (!store_row_value(table, row, column_id, value_out) || value_out->size != 8 ||
        type_value_bigint(*value_out) < 0)
        return false;
    *count_out = (uint64_t)type_value_bigint(*value_out);
    return true;
}

static bool read_id(const struct table *table, const struct page_row *row, uint32_t column_id,
                    uint8_t id[UUID_SIZE])
{
    struct bytes value;
    if (!store_row_value(table, row, column_id, &value) || value.size != UUID_SIZE)
        return false;
    memcpy(id, value.data, UUID_SIZE);
    return true;
}

/* ---- days ---- */

int seal_read(const struct table *table, const struct page_row *row, struct seal *seal_out,
              struct error *err)
{
    struct bytes none = bytes_of("", 0);
    struct bytes stats, ads, sum;
    uint64_t checksum;
    *seal_out = (struct seal){.key = row->key};
    if (!read_id(table, row, SEALED_ID, seal_out->id) ||
        !store_row_value(table, row, SEALED_STATS, &stats) ||
        !read_count(table, row, SEALED_ADS, &ads, &seal_out->ads) ||
        !read_count(table, row, SEALED_CHECKSUM, &sum, &checksum) ||
        (int64_t)checksum != checksum_of(row->key, seal_out->id, stats, ads, none))
        return corrupt(table, row->key, none, err);
    struct reader reader = reader_of(stats);
    if (stats_deserialize(&reader, &seal_out->stats) < 0 || reader_left(&reader) > 0) {
        stats_release(&seal_out->stats);
        return corrupt(table, row->key, none, err);
    }
    return 0;
}

/* `number` 0: the reseller; 1: the day. */
static struct bytes key_part(struct bytes key, uint32_t number)
{
    struct bytes part = {0};
    int rc = type_key_component(key, 2, number, &part);
    check(rc == 0);
    return part;
}

void seal_write(struct write_batch *batch, const struct table *table, const struct seal *seal)
{
    struct buffer stats = {0};
    stats_serialize(&seal->stats, &stats);
    struct bytes packed = buffer_view(&stats);
    struct bytes ads = write_batch_bigint(batch, (int64_t)seal->ads);
    int64_t checksum = checksum_of(seal->key, seal->id, packed, ads, bytes_of("", 0));
    const struct column_value values[] = {
        {SEALED_RESELLER_ID, false, key_part(seal->key, 0)},
        {SEALED_DAY, false, key_part(seal->key, 1)},
        {SEALED_ID, false, bytes_of(seal->id, UUID_SIZE)},
        {SEALED_STATS, false, packed},
        {SEALED_ADS, false, ads},
        {SEALED_CHECKSUM, false, write_batch_bigint(batch, checksum)}};
    write_batch_insert(batch, table, values, sizeof(values) / sizeof(values[0]));
    buffer_release(&stats);
}

/* ---- ads ---- */

int seal_read_ad(const struct table *table, const struct page_row *row, struct sealed_ad *ad_out,
                 struct error *err)
{
    struct bytes clicks, gross, sum;
    uint64_t checksum;
    *ad_out = (struct sealed_ad){.key = row->key};
    if (!store_row_value(table, row, SEALED_AD_AD_ID, &ad_out->ad) ||
        !read_id(table, row, SEALED_AD_ID, ad_out->id) ||
        !read_count(table, row, SEALED_AD_CLICKS, &clicks, &ad_out->clicks) ||
        !store_row_value(table, row, SEALED_AD_GROSS, &gross) ||
        !read_count(table, row, SEALED_AD_CHECKSUM, &sum, &checksum) ||
        (int64_t)checksum != checksum_of(row->key, ad_out->id, clicks, gross, ad_out->ad) ||
        decimal_deserialize(gross, &ad_out->gross) < 0)
        return corrupt(table, row->key, ad_out->ad, err);
    return 0;
}

void seal_write_ad(struct write_batch *batch, const struct table *table, const struct sealed_ad *ad)
{
    struct bytes clicks = write_batch_bigint(batch, (int64_t)ad->clicks);
    struct bytes gross = write_batch_decimal(batch, ad->gross);
    int64_t checksum = checksum_of(ad->key, ad->id, clicks, gross, ad->ad);
    const struct column_value values[] = {
        {SEALED_AD_RESELLER_ID, false, key_part(ad->key, 0)},
        {SEALED_AD_DAY, false, key_part(ad->key, 1)},
        {SEALED_AD_AD_ID, false, ad->ad},
        {SEALED_AD_ID, false, bytes_of(ad->id, UUID_SIZE)},
        {SEALED_AD_CLICKS, false, clicks},
        {SEALED_AD_GROSS, false, gross},
        {SEALED_AD_CHECKSUM, false, write_batch_bigint(batch, checksum)}};
    write_batch_insert(batch, table, values, sizeof(values) / sizeof(values[0]));
}

/* ---- the sum of a day ---- */

static void part_read(void *context, int status, const struct error *err)
{
    struct seal_sum *sum = context;
    if (status < 0 && sum->err == NULL)
        sum->err = memory_zeroed(1, sizeof(*sum->err));
    if (status < 0)
        error_keep(sum->err, status, err);
    if (--sum->parts > 0)
        return;
    struct error *failure = sum->err;
    sum->err = NULL;
    sum->done(sum->context, failure != NULL ? failure->code : 0, failure);
    memory_free(failure);
}

static void add_clicks(void *context, int status, const struct error *err,
                       const struct partition_figure *figures, uint32_t count,
                       struct bytes position)
{
    struct seal_sum *sum = context;
    (void)position;
    if (status == 0 && count > 0) {
        stats_add(&sum->stats, &figures[0].stats);
        sum->clicks = figures[0].stats.rows;
    }
    part_read(sum, status, err);
}

static int add_seal(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct seal_sum *sum = context;
    struct seal seal;
    int rc = seal_read(table, row, &seal, err);
    if (rc < 0)
        return rc;
    stats_add(&sum->stats, &seal.stats);
    stats_release(&seal.stats);
    sum->seals++;
    return 0;
}

void seal_sum_read(struct store *store, const struct click_stream *stream, struct bytes key,
                   bool may_have_seals, enum read_view view, struct seal_sum *sum)
{
    const struct read_request request = store_rows_request(stream->seals_table_id, &key, view);
    struct error err = {0};
    check(sum->done != NULL && sum->parts == 0);
    sum->parts = may_have_seals ? 2 : 1;
    int rc = store_stats(store, stream->clicks.table_id, stream->clicks.amount, key, view,
                         add_clicks, sum, &err);
    if (rc < 0)
        part_read(sum, rc, &err);
    if (may_have_seals)
        store_rows_read(store, &request, add_seal, part_read, sum);
}
