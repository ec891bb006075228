/* live: see the header.
 *
 *     timer ─▶ live_clicks_turn ─▶ live_today_turn ─▶ JSON ─▶ made
 *       └────── the turn before is still under way ────▲
 *
 * A turn waits for the disk.  States are made also while a turn waits: they show that no click
 * becomes durable, and which shortage stops the store. */
#include "query/live/live.h"

#include <inttypes.h>

#include "base/memory.h"
#include "query/live/live_clicks.h"
#include "query/live/live_today.h"
#include "rollup/streams/streams.h"

struct live {
    struct live_options options;
    struct rollup *rollup;
    struct live_clicks clicks;
    struct live_today today;
    bool is_on;
    bool is_turning; /* a turn is under way */
    int64_t keep_us; /* monotonic: until then states are made without viewers */
    struct timer tick;
    struct buffer json;
    TAILQ_HEAD(, live_asker) askers;
    void (*closed)(void *context); /* NULL: not closing */
    void *closed_context;
};

/* ---- JSON ---- */

static struct bytes shown(struct bytes name)
{
    return bytes_utf8_cut(name, LIVE_NAME_MAX);
}

static void put_decimal(struct buffer *json, const char *name, struct decimal value)
{
    char text[DECIMAL_TEXT_MAX];

    (void)decimal_format(value, text);
    buffer_printf(json, ", \"%s\": \"%s\"", name, text);
}

static void put_list(struct buffer *json, const char *name, const char *column,
                     const struct live_clicks_list *list)
{
    uint32_t count = 0;
    double per_second;

    buffer_printf(json, ", \"%s\": [", name);
    for (uint32_t i = 0; i < list->count && count < LIVE_CLICKS_TOP; i++) {
        if (!live_rate_per_second(&list->keys[i].rate, &per_second))
            continue;
        buffer_printf(json, "%s{\"%s\": ", count++ > 0 ? ", " : "", column);
        buffer_append_json(json, shown(buffer_view(&list->keys[i].key)));
        buffer_printf(json, ", \"clicks\": %" PRIu64 ", \"per_second\": %.1f}",
                      list->keys[i].clicks, per_second);
    }
    buffer_append_text(json, "]");
}

static void put_clicks(struct live *live)
{
    double per_second;

    buffer_append_text(&live->json, ", \"clicks\": {\"per_second\": ");
    if (live_rate_per_second(&live->clicks.rate, &per_second))
        buffer_printf(&live->json, "%.1f", per_second);
    else
        buffer_append_text(&live->json, "null");
    put_list(&live->json, "resellers", "reseller_id", &live->clicks.resellers);
    put_list(&live->json, "ads", "ad_id", &live->clicks.ads);
    buffer_append_text(&live->json, "}");
}

static void put_figure(struct buffer *json, const struct live_today_row *row)
{
    const struct day_figure *figure = &row->figure;

    buffer_append_text(json, "{\"reseller_id\": ");
    buffer_append_json(json, shown(buffer_view(&row->reseller)));
    buffer_printf(json, ", \"clicks\": %" PRIu64, figure->clicks);
    put_decimal(json, "gross", figure->gross);
    if (figure->is_priced) {
        put_decimal(json, "rate", figure->rate);
        put_decimal(json, "amount", figure->amount);
    } else {
        buffer_append_text(json, ", \"rate\": null, \"amount\": null");
    }
    buffer_append_text(json, "}");
}

static void put_today(struct live *live, int64_t now_us)
{
    const struct live_today_sums *sums = &live->today.shown;
    struct buffer *json = &live->json;
    char day[DAY_TEXT_SIZE + 1];

    if (!sums->is_read) {
        buffer_append_text(json, ", \"today\": null");
        return;
    }
    calendar_day_format(sums->day, day);
    buffer_printf(json,
                  ", \"today\": {\"day\": \"%s\", \"resellers\": %" PRIu64 ", \"clicks\": %" PRIu64,
                  day, sums->resellers, sums->clicks);
    put_decimal(json, "gross", sums->gross);
    put_decimal(json, "amount", sums->amount);
    put_decimal(json, "unpriced_gross", sums->unpriced_gross);
    buffer_append_text(json, ", \"currency\": ");
    buffer_append_json(json, bytes_text(live->options.query->currency));
    buffer_printf(json, ", \"age_ms\": %" PRId64 ", \"rows\": [", (now_us - sums->read_us) / 1000);
    for (uint32_t i = 0; i < sums->row_count; i++) {
        buffer_append_text(json, i > 0 ? ", " : "");
        put_figure(json, &sums->rows[i]);
    }
    buffer_append_text(json, "]}");
}

static int64_t metric_value(const struct live *live, const char *name)
{
    const struct metric *metric = metrics_find(live->options.query->metrics, name);

    return metric != NULL ? metric->value : METRIC_UNKNOWN;
}

/* Clicks before the first viewer also set the metric, but the metric has whole seconds only. */
static void put_freshness(struct live *live, int64_t wall_ms)
{
    int64_t second = metric_value(live, "daybook_ingest_last_click_timestamp_seconds");
    int64_t newest_ms = second != METRIC_UNKNOWN ? second * 1000 : 0;

    newest_ms = live->clicks.newest_ms > newest_ms ? live->clicks.newest_ms : newest_ms;
    int64_t age_ms = wall_ms > newest_ms ? wall_ms - newest_ms : 0;
    buffer_append_text(&live->json, ", \"freshness\": {\"newest_click_ms\": ");
    if (newest_ms > 0)
        buffer_printf(&live->json, "%" PRId64, age_ms);
    else
        buffer_append_text(&live->json, "null");
    buffer_printf(&live->json, ", \"figures_behind_ms\": %" PRId64 "}",
                  rollup_behind_us(live->rollup) / 1000);
}

static void put_number(struct live *live, const char *separator, const char *name,
                       const char *metric)
{
    int64_t value = metric_value(live, metric);

    buffer_printf(&live->json, "%s\"%s\": %" PRId64, separator, name,
                  value != METRIC_UNKNOWN ? value : 0);
}

/* Append the rejected lines by code, and return their sum.  A metric's labels are like
 * code="bad_amount". */
static int64_t put_codes(const struct live *live, struct buffer *codes)
{
    const struct metric *metric = metrics_first(live->options.query->metrics);
    int64_t sum = 0;

    for (; metric != NULL; metric = metric->next) {
        if (strcmp(metric->name, "daybook_ingest_rejected_total") != 0 || metric->value == 0)
            continue;
        const char *code = metric->labels + strlen("code=");
        buffer_printf(codes, "%s{\"code\": %s, \"lines\": %" PRId64 "}", sum > 0 ? ", " : "", code,
                      metric->value);
        sum += metric->value;
    }
    return sum;
}

static void put_ingest(struct live *live, int64_t now_us)
{
    struct buffer *json = &live->json;
    struct buffer codes = {0};
    struct store_status status;
    int64_t rejected = put_codes(live, &codes);

    put_number(live, ", \"ingest\": {", "accepted", "daybook_ingest_clicks_total");
    buffer_printf(json, ", \"rejected\": %" PRId64, rejected);
    put_number(live, ", ", "duplicates", "daybook_ingest_duplicates_total");
    put_number(live, ", ", "connections", "daybook_ingest_connections");
    buffer_append_text(json, ", \"codes\": [");
    buffer_append_bytes(json, buffer_view(&codes));
    buffer_append_text(json, "], \"waiting\": ");
    buffer_release(&codes);
    store_status(live->options.query->store, &status);
    if (status.waiting.shortage == STORE_SHORT_OF_NOTHING)
        buffer_append_text(json, "null}");
    else
        buffer_printf(json, "{\"for\": \"%s\", \"stops_writes\": %s, \"since_ms\": %" PRId64 "}}",
                      store_shortage_name(status.waiting.shortage),
                      status.waiting.stops_writes ? "true" : "false",
                      (now_us - status.waiting.since_us) / 1000);
}

/* ---- states ---- */

static void call_askers(struct live *live)
{
    struct live_asker *asker;

    while ((asker = TAILQ_FIRST(&live->askers)) != NULL) {
        TAILQ_REMOVE(&live->askers, asker, link);
        asker->done(asker->context, buffer_view(&live->json));
    }
}

static void make(struct live *live)
{
    int64_t now_us = world_monotonic_us(live->options.world);
    int64_t wall_ms = world_wall_us(live->options.world) / 1000;

    buffer_clear(&live->json);
    buffer_append_text(&live->json, "{\"at\": \"");
    calendar_time_format(wall_ms, &live->json);
    buffer_append_text(&live->json, "\"");
    put_clicks(live);
    put_today(live, now_us);
    put_freshness(live, wall_ms);
    put_ingest(live, now_us);
    buffer_append_text(&live->json, "}");
    live->options.made(live->options.context, buffer_view(&live->json));
    call_askers(live);
}

/* ---- turns ---- */

static void stop(struct live *live)
{
    world_timer_stop(live->options.world, &live->tick);
    live->is_on = false;
    live_clicks_end(&live->clicks);
    live_today_end(&live->today);
    buffer_release(&live->json);
}

static void live_free(struct live *live)
{
    void (*closed)(void *context) = live->closed;
    void *context = live->closed_context;

    if (live->is_on)
        stop(live);
    memory_free(live);
    closed(context);
}

/* An error is not reported here, because the store's state names it.  The figures of the turn
 * before stay. */
static void turn_done(void *context, int status, const struct error *err)
{
    struct live *live = context;

    (void)status;
    (void)err;
    live->is_turning = false;
    if (live->closed != NULL)
        live_free(live);
    else
        make(live);
}

/* Today's figures are read also if the counters could not be read. */
static void clicks_done(void *context, int status, const struct error *err)
{
    struct live *live = context;

    if (live->closed != NULL)
        turn_done(live, status, err);
    else
        live_today_turn(&live->today, turn_done, live);
}

static void tick(struct timer *timer)
{
    struct live *live = timer->context;
    bool is_wanted = live->options.is_watched(live->options.context) ||
                     world_monotonic_us(live->options.world) < live->keep_us;

    if (!is_wanted && !live->is_turning) {
        stop(live);
        return;
    }
    world_timer_start(live->options.world, &live->tick, tick, live, LIVE_MS);
    if (live->is_turning) {
        live_clicks_note_waiting(&live->clicks);
        make(live);
        return;
    }
    live->is_turning = true;
    live_clicks_turn(&live->clicks, clicks_done, live);
}

void live_watch(struct live *live)
{
    const struct live_options *options = &live->options;

    if (live->is_on)
        return;
    live->is_on = true;
    live_clicks_begin(&live->clicks, options->query->store, options->world, live->rollup);
    live_today_begin(&live->today, live->rollup, options->world);
    world_timer_start(options->world, &live->tick, tick, live, 0);
}

void live_ask(struct live *live, struct live_asker *asker)
{
    live->keep_us = world_monotonic_us(live->options.world) + (int64_t)LIVE_KEEP_MS * 1000;
    live_watch(live);
    if (live->json.size > 0)
        asker->done(asker->context, buffer_view(&live->json));
    else
        TAILQ_INSERT_TAIL(&live->askers, asker, link);
}

void live_forget(struct live *live, struct live_asker *asker)
{
    TAILQ_REMOVE(&live->askers, asker, link);
}

/* ---- life ---- */

struct live *live_new(const struct live_options *options)
{
    struct live *live = memory_zeroed(1, sizeof *live);

    live->options = *options;
    live->rollup = streams_at(options->query->streams, 0);
    TAILQ_INIT(&live->askers);
    return live;
}

void live_close(struct live *live, void (*closed)(void *context), void *context)
{
    live->closed = closed;
    live->closed_context = context;
    world_timer_stop(live->options.world, &live->tick);
    if (!live->is_turning)
        live_free(live);
}
