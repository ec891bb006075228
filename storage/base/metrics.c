/* metrics: a list of values in the order in which they were added, those of one name together.
 *
 * Prometheus' text format wants the samples of one name in one group under one HELP and TYPE line,
 * so a metric is put behind the last one of its name. */
#include "storage/base/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "storage/base/memory.h"

struct metrics {
    struct metric *first;
};

struct metrics *metrics_new(void)
{
    return memory_zeroed(1, sizeof(struct metrics));
}

/* The texts of a metric are ours, though their type tells everybody else to keep off. */
static void metric_free_text(const char *text)
{
    memory_free((void *)(uintptr_t)text);
}

void metrics_free(struct metrics *metrics)
{
    if (metrics == NULL)
        return;
    struct metric *metric = metrics->first;
    while (metric != NULL) {
        struct metric *next = metric->next;
        metric_free_text(metric->name);
        metric_free_text(metric->labels);
        metric_free_text(metric->help);
        memory_free(metric);
        metric = next;
    }
    memory_free(metrics);
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
    struct metric *metric = memory_zeroed(1, sizeof *metric);
    metric->name = memory_string(name);
    metric->labels = memory_string(labels);
    metric->help = memory_string(help);
    metric->kind = kind;
    metric->next = *place;
    *place = metric;
    return metric;
}

const struct metric *metrics_first(const struct metrics *metrics)
{
    return metrics->first;
}

void metrics_write(const struct metrics *metrics, struct buffer *buffer)
{
    const char *name = "";
    for (const struct metric *metric = metrics->first; metric != NULL; metric = metric->next) {
        if (strcmp(metric->name, name) != 0) {
            name = metric->name;
            buffer_printf(buffer, "# HELP %s %s\n# TYPE %s %s\n", name, metric->help, name,
                          metric->kind == METRIC_COUNTER ? "counter" : "gauge");
        }
        buffer_append_text(buffer, name);
        if (metric->labels[0] != '\0')
            buffer_printf(buffer, "{%s}", metric->labels);
        buffer_printf(buffer, " %" PRId64 "\n", metric->value);
    }
}
