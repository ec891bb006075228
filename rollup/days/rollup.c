/* The rollup's life: open, close, and small answers.  The hook is in rollup_hook.c, loading in
 * rollup_load.c, writes that read first in click_changes.c, the work in rollup_work.c, its timing
 * in rollup_schedule.c, figures for readers in rollup_figures.c. */
#include <stdio.h>

#include "rollup/days/rollup_private.h"
#include "rollup/days/seal.h"
#include "rollup/days/seal_pass.h"
#include "base/arena.h"
#include "base/memory.h"

#define HOUR_MS INT64_C(3600000)

enum { LABEL_SIZE = 64 }; /* of a metric: the stream's name, and some bytes around it */

const struct table *rollup_table(const struct rollup *rollup, uint32_t table_id)
{
    const struct table *table = schema_table(store_schema(rollup->store), table_id);
    check(table != NULL);
    return table;
}

/* Those of a defined stream have its name as a label. */
static struct metric *add_metric(const char *defined_name, struct metrics *metrics,
                                 enum metric_kind kind, const char *name, const char *help)
{
    char label[LABEL_SIZE] = "";
    if (defined_name != NULL)
        snprintf(label, sizeof(label), "stream=\"%s\"", defined_name);
    return metrics_add(metrics, kind, name, label, help);
}

static void add_metrics(struct rollup *rollup, const char *defined_name, struct metrics *metrics)
{
    rollup->metric_dirty =
        add_metric(defined_name, metrics, METRIC_GAUGE, "daybook_rollup_dirty_days",
                   "Days whose figure is out of date.");
    rollup->metric_written =
        add_metric(defined_name, metrics, METRIC_COUNTER, "daybook_rollup_figures_written_total",
                   "Rows written to amount_by_day.");
    rollup->metric_published = add_metric(defined_name, metrics, METRIC_COUNTER,
                                          "daybook_rollup_published_total", "Days published.");
    rollup->metric_restated =
        add_metric(defined_name, metrics, METRIC_COUNTER, "daybook_rollup_restatements_total",
                   "Changes of published figures.");
    rollup->metric_fresh =
        add_metric(defined_name, metrics, METRIC_COUNTER, "daybook_rollup_days_worked_out_total",
                   "Dirty days worked out in memory for readers.");
    rollup->metric_sealed =
        add_metric(defined_name, metrics, METRIC_COUNTER, "daybook_rollup_sealed_total",
                   "Days sealed, their clicks expired.");
    rollup->metric_away =
        add_metric(defined_name, metrics, METRIC_GAUGE, "daybook_rollup_days_away",
                   "Open days that are in their table alone, at most.");
}

static void rollup_free(struct rollup *rollup)
{
    struct executor *executor = rollup->world->executor;
    executor->timer_stop(executor, &rollup->tick);
    executor->timer_stop(executor, &rollup->turn);
    executor->timer_stop(executor, &rollup->seal_timer);
    zone_close(rollup->zone);
    rate_table_free(rollup->rates);
    away_release(rollup);
    dirty_set_free(rollup->dirty);
    key_map_free(rollup->resellers);
    memory_free(rollup);
}

static void set_rules(struct rollup *rollup, const struct rollup_options *options)
{
    int64_t publish_after_ms = options->publish_after_ms > 0 ? options->publish_after_ms : HOUR_MS;
    rollup->rules.zone = rollup->zone;
    rollup->rules.publish_after_us = publish_after_ms * 1000;
    rollup->is_read_only = store_capabilities(options->store).read_only;
    rollup->is_automatic = options->is_automatic && !rollup->is_read_only;
}

static void start(struct rollup *rollup, const struct rollup_options *options)
{
    rollup->rates = rate_table_new();
    rollup->dirty = dirty_set_new();
    rollup->world->random->fill(rollup->world->random, rollup->mark_maker, TIMEUUID_MAKER_SIZE);
    away_init(rollup, options->open_days_bytes);
    rollup->resellers = key_map_new();
    rollup->turn = (struct timer){.fire = rollup_turn, .context = rollup};
    rollup->tick = (struct timer){.fire = rollup_tick, .context = rollup};
    rollup->tick_at_us = rollup->due_next_us = INT64_MAX;
    rollup->keep_days = options->keep_days;
    rollup->sealed_to = SEALED_NONE;
    rollup->seal_from = DAY_MIN;
    rollup->seal_timer = (struct timer){.fire = seal_pass_tick, .context = rollup};
    add_metrics(rollup, options->defined_name, options->metrics);
}

int rollup_open(const struct rollup_options *options, store_done opened, void *context,
                struct rollup **rollup_out, struct error *err)
{
    struct zone *zone;
    *rollup_out = NULL;
    int rc = zone_open(options->zone, &zone, err);
    if (rc < 0)
        return rc;
    struct rollup *rollup = memory_zeroed(1, sizeof(*rollup));
    *rollup = (struct rollup){.store = options->store,
                              .world = options->world,
                              .stream = options->stream,
                              .is_defined = options->defined_name != NULL,
                              .zone = zone,
                              .figures = options->figures,
                              .opened = opened,
                              .opened_context = context};
    set_rules(rollup, options);
    start(rollup, options);
    *rollup_out = rollup;
    rc = rollup_load(rollup, err);
    if (rc < 0) {
        rollup_free(rollup);
        *rollup_out = NULL;
    }
    return rc;
}

/* ---- closing ---- */

void rollup_close_if_idle(struct rollup *rollup)
{
    if (rollup->closed == NULL || rollup->pins > 0 || rollup->work != NULL ||
        rollup->waiters != NULL || rollup->sealing != NULL || rollup->away.returns > 0 ||
        rollup->applies_durable < rollup->applies_sent)
        return;
    store_done closed = rollup->closed;
    void *context = rollup->closed_context;
    int status = rollup->is_failed ? rollup->failure.code : 0;
    struct error failure = rollup->failure;
    rollup_free(rollup);
    closed(context, status, status < 0 ? &failure : NULL);
}

static void last_work_done(void *context, int status, const struct error *err)
{
    (void)context;
    (void)status;
    (void)err;
}

void rollup_close(struct rollup *rollup, store_done closed, void *context)
{
    struct executor *executor = rollup->world->executor;
    check(rollup->closed == NULL);
    rollup->is_closing = true;
    rollup->closed = closed;
    rollup->closed_context = context;
    executor->timer_stop(executor, &rollup->tick);
    executor->timer_stop(executor, &rollup->seal_timer);
    if (rollup->is_automatic && rollup->is_loaded && !rollup->is_failed) {
        /* With nothing to do it is done within the call, which is not the time to free either. */
        rollup->pins++;
        int rc = rollup_settle(rollup, false, last_work_done, rollup, NULL);
        rollup->pins--;
        check(rc == 0);
    }
    rollup_close_if_idle(rollup);
}

void rollup_pin(struct rollup *rollup)
{
    rollup->pins++;
}

void rollup_unpin(struct rollup *rollup)
{
    check(rollup->pins > 0);
    rollup->pins--;
    rollup_close_if_idle(rollup);
}

void rollup_enter(struct rollup *rollup)
{
    rollup->users++;
}

void rollup_leave(struct rollup *rollup)
{
    check(rollup->users > 0);
    rollup->users--;
}

bool rollup_is_in_use(const struct rollup *rollup)
{
    return rollup->users > 0;
}

/* ---- small answers ---- */

uint32_t rollup_dirty_count(const struct rollup *rollup)
{
    return dirty_set_queued(rollup->dirty);
}

struct rollup_open_days rollup_open_days(const struct rollup *rollup)
{
    return (struct rollup_open_days){dirty_set_count(rollup->dirty), rollup->away.count};
}

const struct click_stream *rollup_stream(const struct rollup *rollup)
{
    return rollup->stream;
}

const struct zone *rollup_zone(const struct rollup *rollup)
{
    return rollup->zone;
}

int64_t rollup_now_us(const struct rollup *rollup)
{
    return rollup->world->clock->wall_us(rollup->world->clock);
}

bool rollup_trusts_clock(const struct rollup *rollup)
{
    return !store_clock(rollup->store).is_in_doubt;
}

void rollup_begin_change(struct rollup *rollup, struct change_row *change)
{
    change->at_ms = store_now_us(rollup->store) / 1000;
    timeuuid_make(store_now_us(rollup->store), rollup->world->random, change->id);
}

/* Texts that are not known have no cell. */
static uint32_t add_text(struct write_batch *batch, uint32_t column_id, const char *text,
                         struct column_value *value)
{
    if (text == NULL)
        return 0;
    *value = (struct column_value){column_id, false, write_batch_text(batch, text)};
    return 1;
}

void rollup_write_change(struct rollup *rollup, struct write_batch *batch,
                         const struct change_row *change)
{
    struct column_value values[CHANGE_COLUMNS];
    char month[DAY_TEXT_SIZE + 1];
    uint32_t count = 0;
    day_format(day_of_time(change->at_ms), month);
    month[MONTH_TEXT_SIZE] = '\0';
    values[count++] = (struct column_value){
        CHANGE_ID, false, write_batch_copy(batch, bytes_of(change->id, UUID_SIZE))};
    values[count++] =
        (struct column_value){CHANGE_AT, false, write_batch_bigint(batch, change->at_ms)};
    count += add_text(batch, CHANGE_MONTH, month, &values[count]);
    count += add_text(batch, CHANGE_DOOR, change->door, &values[count]);
    count += add_text(batch, CHANGE_PEER, change->peer, &values[count]);
    count += add_text(batch, CHANGE_ACTOR, change->actor, &values[count]);
    count += add_text(batch, CHANGE_COMMAND, change->command, &values[count]);
    count += add_text(batch, CHANGE_NOTE, change->note, &values[count]);
    if (change->lines != NULL)
        count += change_lines_values(change->lines, &values[count]);
    write_batch_insert(batch, rollup_table(rollup, TABLE_CHANGE), values, count);
}

void rollup_add_change(struct rollup *rollup, struct write_batch *batch, struct change_row *change)
{
    rollup_begin_change(rollup, change);
    rollup_write_change(rollup, batch, change);
}
