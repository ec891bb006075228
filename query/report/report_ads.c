/* report_ads: see the header.  Each day is summed by itself first, because its rate applies to its
 * sums only.
 *
 * No loop turn processes all ads: at a day's end FOLDED_MAX ads are added up at a time, and a heap
 * sorts the ads while they are printed. */
#include "query/report/report_ads.h"

#include "rollup/days/dirty.h"
#include "base/heap.h"
#include "base/key_map.h"
#include "storage/engine/store_rows.h"
#include "rollup/days/seal.h"
#include "storage/schema/type.h"
#include "base/memory.h"

enum { FOLDED_MAX = 1000 }; /* ads that one turn of the loop adds up */

struct entry {
    struct report_ad ad;
    uint64_t day_clicks;
    struct decimal day_gross;
    uint32_t day_next; /* the number plus one of the day's next ad; 0: there is none */
};

struct report_ads {
    struct command_output *output;
    size_t kept_bytes;
    struct store *store;
    struct rollup *rollup;
    struct bytes only;
    const struct click_stream *stream;
    struct key_map *numbers;
    struct entry *entries; /* by number */
    uint32_t capacity;
    struct heap ads_left; /* numbers of the ads that report_ads_next did not return yet */
    uint32_t ads_left_capacity;
    uint32_t day_first; /* the number plus one of an ad with clicks in the day being read, or 0 */
    bool is_priced;
    struct decimal rate;
    struct seal_pin pin;
    struct buffer key;
    int32_t day;
    store_done done;
    void *context;
    struct timer time_slice;
};

static void fold_some(struct timer *timer);

struct report_ads *report_ads_new(struct store *store, struct rollup *rollup, struct bytes only,
                                  struct command_output *output)
{
    struct report_ads *ads = memory_zeroed(1, sizeof(*ads));
    ads->output = output;
    ads->store = store;
    ads->rollup = rollup;
    ads->only = only;
    ads->stream = rollup_stream(rollup);
    ads->numbers = key_map_new();
    ads->time_slice = (struct timer){.fire = fold_some, .context = ads};
    return ads;
}

void report_ads_free(struct report_ads *ads)
{
    if (ads == NULL)
        return;
    key_map_free(ads->numbers);
    memory_free(ads->entries);
    memory_free(ads->ads_left.items);
    buffer_release(&ads->key);
    memory_free(ads);
}

void report_ads_clear(struct report_ads *ads)
{
    key_map_free(ads->numbers);
    ads->numbers = key_map_new();
    ads->ads_left.count = 0;
}

static int keep_entries(struct report_ads *ads, struct error *err)
{
    size_t bytes = key_map_bytes(ads->numbers) + ads->capacity * sizeof(*ads->entries) +
                   ads->ads_left_capacity * sizeof(*ads->ads_left.items);
    int64_t change = (int64_t)bytes - (int64_t)ads->kept_bytes;
    if (change != 0 && !command_keep(ads->output, change))
        return error_set(err, ERROR_LIMIT, COMMAND_NO_ROOM);
    ads->kept_bytes = bytes;
    return 0;
}

/* The heap's items are numbers, because entries move when the array grows. */
static struct entry *entry_at(const struct report_ads *ads, const void *item)
{
    return &ads->entries[(uintptr_t)item];
}

static bool is_before(const void *context, const void *a, const void *b)
{
    const struct report_ads *ads = context;
    return bytes_compare(entry_at(ads, a)->ad.ad, entry_at(ads, b)->ad.ad) < 0;
}

static bool is_left_out(const struct report_ads *ads, struct bytes ad)
{
    return ads->only.size > 0 && !bytes_equal(ads->only, ad);
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
    ads->ads_left.items = memory_make_room(ads->ads_left.items, number, &ads->ads_left_capacity,
                                           sizeof(*ads->ads_left.items));
    heap_push(&ads->ads_left, is_before, ads, (void *)(uintptr_t)number);
    return keep_entries(ads, err);
}

static void entry_count(struct report_ads *ads, struct entry *entry, uint64_t clicks)
{
    if (entry->day_clicks == 0 && clicks > 0) {
        entry->day_next = ads->day_first;
        ads->day_first = (uint32_t)(entry - ads->entries) + 1;
    }
    entry->day_clicks += clicks;
}

static int add_click(void *context, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    struct report_ads *ads = context;
    struct bytes ad;
    struct bytes value;
    struct decimal amount;
    if (!store_row_value(table, row, ads->stream->clicks.ad, &ad) || is_left_out(ads, ad))
        return 0;
    struct entry *entry;
    int rc = entry_of(ads, ad, &entry, err);
    if (rc < 0)
        return rc;
    entry_count(ads, entry, 1);
    if (!store_row_value(table, row, ads->stream->clicks.amount, &value))
        return 0;
    const struct column *column = schema_column(table, ads->stream->clicks.amount);
    rc = type_decimal(column->type, value, &amount);
    if (rc == 0)
        rc = decimal_add(entry->day_gross, amount, &entry->day_gross);
    return rc < 0 ? error_set(err, rc, "an amount has too many digits") : 0;
}

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

static void fold_some(struct timer *timer)
{
    struct report_ads *ads = timer->context;
    int status = 0;
    for (uint32_t i = 0; i < FOLDED_MAX && status == 0 && ads->day_first > 0; i++) {
        struct entry *entry = &ads->entries[ads->day_first - 1];
        ads->day_first = entry->day_next;
        status = day_fold(ads, entry);
    }
    if (status == 0 && ads->day_first > 0)
        rollup_yield(ads->rollup, &ads->time_slice);
    else
        ads->done(ads->context, status, NULL);
}

static void day_read(void *context, int status, const struct error *err)
{
    struct report_ads *ads = context;
    rollup_unpin_seals(ads->rollup, &ads->pin);
    if (status == 0)
        fold_some(&ads->time_slice);
    else
        ads->done(ads->context, status, err);
}

static int add_sealed(void *context, const struct table *table, const struct page_row *row,
                      struct error *err)
{
    struct report_ads *ads = context;
    struct sealed_ad sealed;
    struct entry *entry;
    int rc = seal_read_ad(table, row, &sealed, err);
    if (rc == 0 && is_left_out(ads, sealed.ad))
        return 0;
    rc = rc == 0 ? entry_of(ads, sealed.ad, &entry, err) : rc;
    if (rc < 0)
        return rc;
    entry_count(ads, entry, sealed.clicks);
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

const struct report_ad *report_ads_next(struct report_ads *ads)
{
    if (ads->ads_left.count == 0)
        return NULL;
    return &entry_at(ads, heap_pop(&ads->ads_left, is_before, ads))->ad;
}
