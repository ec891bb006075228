/* Counts the days without a rate once; from then on rollup_refresh.c keeps the metric up to date.
 *
 *     rollup_count_unpriced ─▶ read all rows ─▶ set the metric ─▶ refreshes change the metric
 *                                   └─ a batch changed the number: the next call reads again
 *
 * A reading returns durable rows, but not all of one moment.  So it counts right only if, when it
 * began, all earlier batches that changed the number were durable, and no batch changed the number
 * until it ended. */
#include "rollup/days/rollup_private.h"

static bool count_day(void *context, const struct day_figure *figure)
{
    struct rollup *rollup = context;
    rollup->unpriced.counted += day_figure_is_unpriced(figure);
    return !rollup->is_closing;
}

static void days_counted(void *context, int status, const struct error *err)
{
    struct rollup *rollup = context;
    struct unpriced_count *unpriced = &rollup->unpriced;
    (void)err; /* the next call tries again */
    unpriced->is_counting = false;
    if (status == 0 && !rollup->is_closing && unpriced->changes == unpriced->changes_before)
        rollup->metrics.unpriced->value = (int64_t)unpriced->counted;
    rollup_unpin(rollup);
}

void rollup_count_unpriced(struct rollup *rollup)
{
    const struct figure_query query = {
        .day_from = DAY_MIN, .day_to = DAY_MAX, .in_any_order = true};
    struct unpriced_count *unpriced = &rollup->unpriced;
    bool is_known = rollup->metrics.unpriced->value != METRIC_UNKNOWN;
    bool may_count = rollup->is_automatic && rollup->is_loaded && !rollup->is_closing &&
                     rollup->progress.applies_durable >= unpriced->changed_in;
    if (is_known || unpriced->is_counting || !may_count)
        return;
    unpriced->is_counting = true;
    unpriced->counted = 0;
    unpriced->changes_before = unpriced->changes;
    rollup_pin(rollup);
    rollup_figures(rollup, &query, count_day, days_counted, rollup);
}
