/* Opens a rollup, and begins to close it. */
#include <stdio.h>

#include "rollup/days/rollup_private.h"
#include "base/memory.h"

#define HOUR_MS INT64_C(3600000)

enum { LABEL_SIZE = 64 }; /* bytes of a metric's label: stream="NAME" */

static void add_metrics(struct rollup *rollup, const char *defined_name, struct metrics *metrics)
{
    struct rollup_metrics *own = &rollup->metrics;
    const struct {
        struct metric **metric;
        enum metric_kind kind;
        const char *name;
        const char *help;
    } all[] = {
        {&own->dirty, METRIC_GAUGE, "daybook_rollup_dirty_figures",
         "Days whose figure is out of date."},
        {&own->written, METRIC_COUNTER, "daybook_rollup_figures_written_total",
         "Rows written to amount_by_day."},
        {&own->published, METRIC_COUNTER, "daybook_rollup_published_total", "Days published."},
        {&own->restated, METRIC_COUNTER, "daybook_rollup_restatements_total",
         "Changes of published figures."},
        {&own->overlay, METRIC_COUNTER, "daybook_rollup_figures_worked_out_total",
         "Dirty days worked out in memory for readers."},
        {&own->sealed, METRIC_COUNTER, "daybook_rollup_sealed_total",
         "Days sealed, their clicks expired."},
        {&own->evicted, METRIC_GAUGE, "daybook_rollup_figures_away",
         "Open days that are in their table alone, at most."},
        {&own->unpriced, METRIC_GAUGE, "daybook_rollup_unpriced_figures",
         "Days with clicks and without a rate."},
        {&own->verified, METRIC_GAUGE, "daybook_verify_timestamp_seconds",
         "When the last complete verification in this process ended, since 1970."},
        {&own->differences, METRIC_GAUGE, "daybook_verify_differences",
         "How many differences it found."}};
    char label[LABEL_SIZE] = "";
    if (defined_name != NULL)
        snprintf(label, sizeof(label), "stream=\"%s\"", defined_name);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        *all[i].metric = metrics_add(metrics, all[i].kind, all[i].name, label, all[i].help);
    own->unpriced->value = own->verified->value = own->differences->value = METRIC_UNKNOWN;
    own->lag = metrics_add_histogram(metrics, "daybook_figure_lag_seconds", label,
                                     "From the first click or rate that a refresh works off until "
                                     "the refresh has written the figures.");
}

static void start(struct rollup *rollup, const struct rollup_options *options)
{
    int64_t publish_after_ms = options->publish_after_ms > 0 ? options->publish_after_ms : HOUR_MS;
    const struct publication_rules rules = {.zone = rollup->zone,
                                            .publish_after_us = publish_after_ms * 1000};
    rollup->is_read_only = options->store->capabilities.read_only;
    rollup->is_automatic = options->is_automatic && !rollup->is_read_only;
    rollup->progress.time_slice = (struct timer){.fire = rollup_time_slice, .context = rollup};
    look_timer_init(&rollup->look, rollup->world, rollup->is_automatic, rollup_look, rollup);
    publication_queue_init(&rollup->due, &rules);
    live_rates_init(&rollup->rates);
    day_marks_init(&rollup->marks, rollup->store, rollup->stream, rollup->world->random);
    dirty_evicted_init(&rollup->evicted, rollup->store, rollup->world->executor,
                       options->open_days_bytes, rollup_pressed, rollup);
    known_resellers_init(&rollup->resellers, rollup->store, rollup->stream);
    retention_init(&rollup->retention, rollup->store, rollup->stream, options->keep_days);
    add_metrics(rollup, options->defined_name, options->metrics);
}

int rollup_open(const struct rollup_options *options, store_done opened, void *context,
                struct rollup **rollup_out, struct error *err)
{
    struct zone *zone;
    *rollup_out = NULL;
    int rc = calendar_zone_open(options->zone != NULL ? options->zone : "UTC", &zone, err);
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
    start(rollup, options);
    *rollup_out = rollup;
    rollup_load(rollup);
    return 0;
}

/* ---- closing ---- */

void rollup_close(struct rollup *rollup, store_done closed, void *context)
{
    check(rollup->closed == NULL);
    rollup->is_closing = true;
    rollup->closed = closed;
    rollup->closed_context = context;
    look_timer_stop(&rollup->look);
    world_timer_stop(rollup->world, &rollup->seal_timer);
    if (rollup->is_automatic && rollup->is_loaded && !rollup->is_failed) {
        /* A refresh without work ends within the call; the pin prevents it from freeing the
         * rollup. */
        rollup->pins++;
        rollup_refresh_now(rollup, false, NULL, NULL);
        rollup->pins--;
    }
    rollup_close_if_idle(rollup);
}
