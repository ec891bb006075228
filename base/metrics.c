/* metrics: a list of metrics.  Metrics of one name are adjacent, as Prometheus' text format
 * requires. */
#include "base/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"

struct bucket {
    int64_t us_max;
    const char *seconds;
};

static const struct bucket buckets[METRIC_BUCKETS] = {
    {100, "0.0001"}, {250, "0.00025"}, {500, "0.0005"},    {1000, "0.001"}, {2500, "0.0025"},
    {5000, "0.005"}, {10000, "0.01"},  {25000, "0.025"},   {50000, "0.05"}, {100000, "0.1"},
    {1000000, "1"},  {10000000, "10"}, {INT64_MAX, "+Inf"}};

static const char *const kind_names[] = {"counter", "gauge", "histogram", "summary"};

enum { ARENA_CHUNK = 16 << 10 };

struct metrics {
    struct arena *arena;
    struct metric *first;
};

struct metrics *metrics_new(void)
{
    struct arena *arena = arena_new(ARENA_CHUNK);
    return arena_copy_item(arena, &(struct metrics){.arena = arena}, sizeof(struct metrics));
}

void metrics_free(struct metrics *metrics)
{
    if (metrics != NULL)
        arena_free(metrics->arena);
}

static const char *copy_text(struct metrics *metrics, const char *text)
{
    return arena_copy_item(metrics->arena, text, strlen(text) + 1);
}

struct metric *metrics_add(struct metrics *metrics, enum metric_kind kind, const char *name,
                           const char *labels, const char *help)
{
    struct metric **end = &metrics->first;
    struct metric **place = NULL;
    for (; *end != NULL; end = &(*end)->next) {
        if (strcmp((*end)->name, name) != 0)
            continue;
        if (strcmp((*end)->labels, labels) == 0)
            return *end;
        place = &(*end)->next;
    }
    if (place == NULL)
        place = end;
    struct metric metric = {
        .name = copy_text(metrics, name),
        .labels = copy_text(metrics, labels),
        .help = copy_text(metrics, help),
        .kind = kind,
        .next = *place,
    };
    *place = arena_copy_item(metrics->arena, &metric, sizeof metric);
    return *place;
}

const struct metric *metrics_find(const struct metrics *metrics, const char *name)
{
    const struct metric *metric = metrics->first;
    while (metric != NULL && (strcmp(metric->name, name) != 0 || metric->labels[0] != '\0'))
        metric = metric->next;
    return metric;
}

const struct metric *metrics_first(const struct metrics *metrics)
{
    return metrics->first;
}

struct metric *metrics_add_histogram(struct metrics *metrics, const char *name, const char *labels,
                                     const char *help)
{
    struct metric *metric = metrics_add(metrics, METRIC_HISTOGRAM, name, labels, help);
    if (metric->buckets == NULL)
        metric->buckets =
            arena_alloc_zeroed(metrics->arena, METRIC_BUCKETS * sizeof *metric->buckets, 8);
    return metric;
}

void metrics_observe_us(struct metric *metric, int64_t us)
{
    size_t at = 0;
    if (metric == NULL)
        return;
    us = us < 0 ? 0 : us;
    metric->value += us;
    metric->count++;
    if (metric->buckets == NULL)
        return;
    while (us > buckets[at].us_max)
        at++;
    metric->buckets[at]++;
}

static void sum_write(const struct metric *metric, struct buffer *buffer)
{
    const char *open = metric->labels[0] != '\0' ? "{" : "";
    const char *close = metric->labels[0] != '\0' ? "}" : "";
    buffer_printf(buffer, "%s_sum%s%s%s %" PRId64 ".%06" PRId64 "\n", metric->name, open,
                  metric->labels, close, metric->value / 1000000, metric->value % 1000000);
    buffer_printf(buffer, "%s_count%s%s%s %" PRIu64 "\n", metric->name, open, metric->labels, close,
                  metric->count);
}

/* A bucket includes the counts of the buckets before it. */
static void histogram_write(const struct metric *metric, struct buffer *buffer)
{
    const char *comma = metric->labels[0] != '\0' ? "," : "";
    uint64_t count = 0;
    for (size_t i = 0; i < METRIC_BUCKETS; i++) {
        count += metric->buckets[i];
        buffer_printf(buffer, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", metric->name,
                      metric->labels, comma, buckets[i].seconds, count);
    }
    sum_write(metric, buffer);
}

static void sample_write(const struct metric *metric, struct buffer *buffer)
{
    buffer_append_text(buffer, metric->name);
    if (metric->labels[0] != '\0')
        buffer_printf(buffer, "{%s}", metric->labels);
    buffer_printf(buffer, " %" PRId64 "\n", metric->value);
}

void metrics_write(const struct metrics *metrics, struct buffer *buffer)
{
    const char *name = "";
    for (const struct metric *metric = metrics->first; metric != NULL; metric = metric->next) {
        if (strcmp(metric->name, name) != 0) {
            name = metric->name;
            buffer_printf(buffer, "# HELP %s %s\n# TYPE %s %s\n", name, metric->help, name,
                          kind_names[metric->kind]);
        }
        if (metric->kind == METRIC_HISTOGRAM)
            histogram_write(metric, buffer);
        else if (metric->kind == METRIC_SUMMARY)
            sum_write(metric, buffer);
        else if (metric->value != METRIC_UNKNOWN)
            sample_write(metric, buffer);
    }
}
