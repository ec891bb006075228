/* day_times: see the header.
 *
 * Clicks of the built-in stream are read by descending time, so nearly every click falls into the
 * span of the click before it or into the next earlier span.  Tables of users may have any order.
 *
 * The thread that reads clicks also adds them up (`fold` in store.h).  Until the page arrives, the
 * engine thread must not use the struct reading. */
#include "rollup/days/day_times.h"

#include <string.h>

#include "base/memory.h"
#include "rollup/days/dirty.h"
#include "rollup/days/seal.h"
#include "storage/engine/store_rows.h"
#include "storage/schema/type.h"

struct reading {
    struct day_times times; /* must be first, because callers have its address */
    struct store *store;
    struct rollup *rollup;
    const struct zone *zone;
    struct click_stream_clicks clicks;
    int64_t unit_ms;
    struct error err; /* the first error in adding up; code 0: none */
    uint32_t capacity;
    struct calendar_span span; /* of the last click */
    uint32_t last;             /* the index of this span in `times` */
    struct buffer key;
    struct seal_pin pin;
    int32_t day;
    store_done done;
    void *context;
};

struct day_times *day_times_new(struct store *store, struct rollup *rollup, int64_t unit_ms)
{
    struct reading *reading = memory_zeroed(1, sizeof(*reading));
    reading->store = store;
    reading->rollup = rollup;
    reading->zone = rollup_zone(rollup);
    reading->unit_ms = unit_ms;
    return &reading->times;
}

void day_times_free(struct day_times *times)
{
    struct reading *reading = (struct reading *)times;
    if (times == NULL)
        return;
    memory_free(times->times);
    buffer_release(&reading->key);
    memory_free(reading);
}

size_t day_times_bytes(const struct day_times *times)
{
    return ((const struct reading *)times)->capacity * sizeof(*times->times);
}

static void read_done(struct reading *reading, int status, const struct error *err)
{
    rollup_unpin_seals(reading->rollup, &reading->pin);
    reading->done(reading->context, status, err);
}

/* ---- clicks ---- */

/* The index of the first time that is not after `at_ms`. */
static uint32_t place_of(const struct day_times *times, int64_t at_ms)
{
    uint32_t low = 0;
    uint32_t high = times->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (times->times[middle].at_ms > at_ms)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The entry for a click's time; NULL: there are DAY_TIMES_MAX already. */
static struct day_time *time_of(struct reading *reading, int64_t time_ms)
{
    struct day_times *times = &reading->times;
    if (times->count > 0 && time_ms >= reading->span.start_ms && time_ms < reading->span.end_ms)
        return &times->times[reading->last];
    reading->span = calendar_zone_span(reading->zone, time_ms, reading->unit_ms);
    reading->last = place_of(times, reading->span.start_ms);
    if (reading->last < times->count && times->times[reading->last].at_ms == reading->span.start_ms)
        return &times->times[reading->last];
    if (times->count == DAY_TIMES_MAX)
        return NULL;
    times->times =
        memory_make_room(times->times, times->count, &reading->capacity, sizeof(*times->times));
    struct day_time *time = &times->times[reading->last];
    memmove(time + 1, time, (times->count - reading->last) * sizeof(*time));
    times->count++;
    *time = (struct day_time){.at_ms = reading->span.start_ms};
    return time;
}

static bool read_time(const struct table *table, const struct page_row *row, uint32_t column_id,
                      int64_t *time_ms_out)
{
    struct bytes value;
    if (!store_row_value(table, row, column_id, &value) || value.size != 8)
        return false;
    *time_ms_out = type_value_bigint(value);
    return *time_ms_out >= TIME_MS_MIN && *time_ms_out <= TIME_MS_MAX;
}

static int refuse_times(const struct reading *reading, struct error *err)
{
    char day[DAY_TEXT_SIZE + 1];
    bool is_by_hour = reading->unit_ms == HOUR_MS;
    calendar_day_format(reading->day, day);
    return error_set(err, ERROR_LIMIT,
                     "the clicks of a reseller on %s lie in over %d different %s; ask by %s", day,
                     DAY_TIMES_MAX, is_by_hour ? "hours" : "minutes", is_by_hour ? "day" : "hour");
}

static int add_click(struct reading *reading, const struct table *table, const struct page_row *row,
                     struct error *err)
{
    const struct click_stream_clicks *clicks = &reading->clicks;
    struct bytes value;
    struct decimal amount;
    int64_t time_ms;
    if (!read_time(table, row, clicks->time, &time_ms)) {
        reading->times.untimed++;
        return 0;
    }
    struct day_time *time = time_of(reading, time_ms);
    if (time == NULL)
        return refuse_times(reading, err);
    time->clicks++;
    if (!store_row_value(table, row, clicks->amount, &value))
        return 0;
    int rc = type_decimal(schema_column(table, clicks->amount)->type, value, &amount);
    if (rc == 0)
        rc = decimal_add(time->gross, amount, &time->gross);
    return rc < 0 ? error_set(err, rc, "an amount has too many digits, or is no number") : 0;
}

static void fold_click(void *context, const struct table *table, const struct page_row *row)
{
    struct reading *reading = context;
    if (reading->err.code == 0)
        (void)add_click(reading, table, row, &reading->err);
}

static int add_clicks(void *context, const struct read_page *page, struct error *err)
{
    struct reading *reading = context;
    for (uint32_t i = 0; i < page->row_count; i++)
        fold_click(reading, page->table, &page->rows[i]);
    if (reading->err.code != 0) {
        *err = reading->err;
        return err->code;
    }
    return reading->times.look != NULL ? reading->times.look(reading->context, err) : 0;
}

/* ---- seals ---- */

static int add_seal(void *context, const struct table *table, const struct page_row *row,
                    struct error *err)
{
    struct reading *reading = context;
    struct seal seal;
    int rc = seal_read(table, row, &seal, err);
    if (rc < 0)
        return rc;
    reading->times.expired += seal.stats.rows;
    stats_release(&seal.stats);
    return 0;
}

static void seals_read(void *context, int status, const struct error *err)
{
    read_done(context, status, err);
}

static void clicks_read(void *context, int status, const struct error *err)
{
    struct reading *reading = context;
    struct bytes key = buffer_view(&reading->key);
    if (status < 0 || reading->day > rollup_sealed_to(reading->rollup)) {
        read_done(reading, status, err);
        return;
    }
    const struct read_request request =
        store_rows_request(rollup_stream(reading->rollup)->seals_table_id, &key, READ_DURABLE);
    store_rows_read(reading->store, &request, add_seal, seals_read, reading);
}

static void clicks_pinned(void *context)
{
    struct reading *reading = context;
    struct bytes key = buffer_view(&reading->key);
    struct read_request request =
        store_rows_request(rollup_stream(reading->rollup)->clicks.table_id, &key, READ_DURABLE);
    request.fold = fold_click;
    request.fold_context = reading;
    store_rows_read_pages(reading->store, &request, add_clicks, clicks_read, reading);
}

void day_times_read(struct day_times *times, struct bytes reseller, int32_t day, store_done done,
                    void *context)
{
    struct reading *reading = (struct reading *)times;
    times->count = 0;
    reading->err.code = 0;
    reading->clicks = rollup_stream(reading->rollup)->clicks;
    times->untimed = times->expired = 0;
    reading->day = day;
    reading->done = done;
    reading->context = context;
    buffer_clear(&reading->key);
    dirty_put_key(&reading->key, reseller, day);
    reading->pin = (struct seal_pin){.granted = clicks_pinned, .context = reading};
    rollup_pin_seals(reading->rollup, &reading->pin);
}
