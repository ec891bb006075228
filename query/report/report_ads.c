/* report_ads: see the header.  Each day is first summed by itself, because the day's rate applies
 * to the day's sums only. */
#include "query/report/report_ads.h"

#include <stdlib.h>

#include "rollup/days/dirty.h"
#include "base/key_map.h"
#include "storage/engine/store_rows.h"
#include "rollup/days/seal.h"
#include "storage/schema/type.h"
#include "base/memory.h"

struct entry {
    struct report_ad ad;
    uint64_t day_clicks; /* clicks of the day being read */
    struct decimal day_gross;
};

struct report_ads {
    struct command_output *output;
    size_t kept_bytes; /* as reserved by command_keep */
    struct store *store;
    struct rollup *rollup;
    const struct click_stream *stream;
    struct key_map *numbers;
    struct entry *entries; /* by number */
    uint32_t capacity;
    struct report_ad *sorted;
    bool is_priced; /* whether the day being read has a rate */
    struct decimal rate;
    struct seal_pin pin; /* while a day's clicks and seals are read */
    struct buffer key;   /* partition key of the day being read */
    int32_t day;
    store_done done;
    void *context;
};

struct report_ads *report_ads_new(struct store *store, struct rollup *rollup,
                                  struct command_output *output)
{
    struct report_ads *ads = memory_zeroed(1, sizeof(*ads));
    ads->output = output;
    ads->store = store;
    ads->rollup = rollup;
    ads->stream = rollup_stream(rollup);
    ads->numbers = key_map_new();
    return ads;
}

void report_ads_free(struct report_ads *ads)
{
    if (ads == NULL)
        return;
    key_map_free(ads->numbers);
    memory_free(ads->entries);
    memory_free(ads->sorted);
    buffer_release(&ads->key);
    memory_free(ads);
}

void report_ads_clear(struct report_ads *ads)
{
    key_map_free(ads->numbers);
    ads->numbers = key_map_new();
}

/* Reserve memory for the map of ads, the entries, and their sorted copies. */
static int keep_entries(struct report_ads *ads, struct error *err)
{
    size_t bytes = key_map_bytes(ads->numbers) +
                   ads->capacity * (sizeof(*ads->entries) + sizeof(*ads->sorted));
    int64_t change = (int64_t)bytes - (int64_t)ads->kept_bytes;
    if (change != 0 && !command_keep(ads->output, change))
        return error_set(err, ERROR_LIMIT, COMMAND_NO_ROOM);
    ads->kept_bytes = bytes;
    return 0;
}

static int entry_of(struct report_ads *ads, struct bytes ad, struct entry **entry_out,
                    struct error *err)
{
    uint32_t count = key_map_count(ads->numbers);
    uint32_t number = key_map_add(ads->numbers, ad);
    ads->entries = memory_make_room(ads->entries, number, &ads->capacity, sizeof(*ads->entries));
    *entry_out = &ads->entries[number];
    if (number < count)
        return 0;
    **entry_out = (struct entry){.ad = {.ad = key_map_key(ads->numbers, number)}};
    return keep_entries(ads, err);
}

static int add_click(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct report_ads *ads = context;
    struct bytes ad;
    struct bytes value;
    struct decimal amount;
    if (!store_row_value(table, row, ads->stream->clicks.ad, &ad))
        return 0;
    struct entry *entry;
    int rc = entry_of(ads, ad, &entry, err);
    if (rc < 0)
        return rc;
    entry->day_clicks++;
    if (!store_row_value(table, row, ads->stream->clicks.amount, &value))
        return 0;
    const struct column *column = schema_column(table, ads->stream->clicks.amount);
    rc = type_decimal(column->type, value, &amount);
    if (rc == 0)
        rc = decimal_add(entry->day_gross, amount, &entry->day_gross);
    return rc < 0 ? error_set(err, rc, "an amount has too many digits") : 0;
}

/* Add the day's sums to the sums of the ad, and clear the day's sums. */
static int day_fold(const struct report_ads *ads, struct entry *entry)
{
    struct report_sum day = {.clicks = entry->day_clicks, .gross = entry->day_gross};
    int rc = 0;
    if (ads->is_priced) {
        rc = decimal_multiply(day.gross, ads->rate, &day.amount);
    } else {
        day.unpriced_days = 1;
        day.unpriced_gross = day.gross;
    }
    rc = rc == 0 ? report_sum_add(&entry->ad.sum, &day) : rc;
    entry->day_clicks = 0;
    entry->day_gross = decimal_from(0, 0);
    return rc;
}

static void day_read(void *context, int status, const struct error *err)
{
    struct report_ads *ads = context;
    rollup_unpin_seals(ads->rollup, &ads->pin);
    for (uint32_t i = 0; status == 0 && i < key_map_count(ads->numbers); i++)
        if (ads->entries[i].day_clicks > 0)
            status = day_fold(ads, &ads->entries[i]);
    ads->done(ads->context, status, err);
}

static int add_sealed(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct report_ads *ads = context;
    struct sealed_ad sealed;
    struct entry *entry;
    int rc = seal_read_ad(table, row, &sealed, err);
    rc = rc == 0 ? entry_of(ads, sealed.ad, &entry, err) : rc;
    if (rc < 0)
        return rc;
    entry->day_clicks += sealed.clicks;
    rc = decimal_add(entry->day_gross, sealed.gross, &entry->day_gross);
    return rc < 0 ? error_set(err, rc, "an amount has too many digits") : 0;
}

static void clicks_read(void *context, int status, const struct error *err)
{
    struct report_ads *ads = context;
    struct bytes key = buffer_view(&ads->key);
    if (status < 0 || ads->day > rollup_sealed_to(ads->rollup)) {
        day_read(ads, status, err);
        return;
    }
    const struct read_request request =
        store_rows_request(ads->stream->sealed_ads_table_id, &key, READ_DURABLE);
    store_rows_read(ads->store, &request, add_sealed, day_read, ads);
}

static void seals_pinned(void *context)
{
    struct report_ads *ads = context;
    struct bytes key = buffer_view(&ads->key);
    struct read_request request =
        store_rows_request(ads->stream->clicks.table_id, &key, READ_DURABLE);
    request.row_limit = READ_ROWS_MAX;
    store_rows_read(ads->store, &request, add_click, clicks_read, ads);
}

void report_ads_add(struct report_ads *ads, const struct day_figure *figure, store_done done,
                    void *context)
{
    ads->is_priced = figure->is_priced;
    ads->rate = figure->rate;
    ads->day = figure->day;
    ads->done = done;
    ads->context = context;
    buffer_clear(&ads->key);
    dirty_put_key(&ads->key, figure->reseller, figure->day);
    ads->pin = (struct seal_pin){.granted = seals_pinned, .context = ads};
    rollup_pin_seals(ads->rollup, &ads->pin);
}

static int compare_ads(const void *a, const void *b)
{
    return bytes_compare(((const struct report_ad *)a)->ad, ((const struct report_ad *)b)->ad);
}

const struct report_ad *report_ads_sorted(struct report_ads *ads, uint32_t *count_out)
{
    *count_out = key_map_count(ads->numbers);
    ads->sorted = memory_resize(ads->sorted, (*count_out + 1) * sizeof(*ads->sorted));
    for (uint32_t i = 0; i < *count_out; i++)
        ads->sorted[i] = ads->entries[i].ad;
    qsort(ads->sorted, *count_out, sizeof(*ads->sorted), compare_ads);
    return ads->sorted;
}
